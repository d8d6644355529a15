"""Runs are stored as they end, taken up again, measured anew where something changed, and summed up over seeds."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from sfumato.errors import UnsatisfiableError
from sfumato.reproduce import running
from sfumato.reproduce.data import Data
from sfumato.reproduce.experiment import SEEDS_OF_A_RUN, Case, Experiment, Mode
from sfumato.reproduce.paper import Paper
from sfumato.reproduce.papers import PAPERS
from sfumato.reproduce.running import Plan, code_digest, load

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def square(data: Data, seed: int, *, x: float) -> dict[str, float]:
    return {"square": x * x, "seed": float(seed)}


def _cases(mode: Mode) -> Iterator[Case]:
    for x in mode.pick((1.0, 2.0, 3.0), (1.0,)):
        yield Case(series="squares", setting={"x": x}, run=partial(square, x=x), seeds=mode.seeds(3))


EXPERIMENT = Experiment(name="figure-1", title="Squares", shows="squares", needs=(), cases=_cases)
PAPER = Paper(name="li2009", title="T", reference="R", experiments=(EXPERIMENT,), statements=())


def plan(folder: Path, **mode: bool | int) -> Plan:
    chosen = [(PAPER, EXPERIMENT)]
    return Plan(mode=Mode(**mode), data=Data(folder=folder), chosen=chosen, store=folder / "runs.jsonl")


def run(one: Plan, workers: int = 1) -> list[str]:
    """What was measured, in order."""
    labels: list[str] = []
    one.run(workers, lambda label, done, total: labels.append(f"{label} {done}/{total}"))
    return labels


def test_every_setting_is_measured_with_every_seed_and_summed_up(tmp_path: Path) -> None:
    made = plan(tmp_path)
    assert run(made)[-1] == "li2009 figure-1, squares 9/9"
    rows = made.rows(PAPER, EXPERIMENT)
    assert [row.values["square"] for row in rows] == [1, 4, 9]
    assert [row.seeds for row in rows] == [3, 3, 3]
    assert rows[0].values["seed"] == SEEDS_OF_A_RUN + 1
    low, high = rows[0].intervals["seed"]
    # Student's quantile with two degrees of freedom is 4.3027, the deviation of 0, 1, 2 is 1.
    assert (high - low) / 2 == pytest.approx(4.3027 / 3**0.5, abs=1e-3)


def test_what_is_stored_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(plan(tmp_path))
    before = (tmp_path / "runs.jsonl").read_text()
    monkeypatch.setattr(running, "measure", None)
    assert run(plan(tmp_path)) == ["starting 9/9"]
    assert (tmp_path / "runs.jsonl").read_text() == before


def test_an_interrupt_loses_only_what_was_not_done(tmp_path: Path) -> None:
    def stop(label: str, done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plan(tmp_path).run(1, stop)
    assert len(load(tmp_path / "runs.jsonl")) == 4
    assert run(plan(tmp_path))[0] == "starting 4/9"


@pytest.mark.parametrize("change", ["code", "data", "seed", "quick"])
def test_whatever_can_change_a_figure_makes_another_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    run(plan(tmp_path))
    mode: dict[str, bool | int] = {}
    if change == "code":
        monkeypatch.setattr(running, "code_digest", lambda _: "other")
    elif change == "data":
        monkeypatch.setattr(Data, "digest", lambda *_: "other")
    else:
        mode = {"first_seed": 2} if change == "seed" else {"quick": True}
    assert run(plan(tmp_path, **mode))[0].startswith("starting 0/")


def test_a_line_cut_short_is_measured_again(tmp_path: Path) -> None:
    run(plan(tmp_path))
    store = tmp_path / "runs.jsonl"
    store.write_text(store.read_text()[:-20])
    assert run(plan(tmp_path))[0] == "starting 8/9"
    assert len(load(store)) == 9
    assert len(plan(tmp_path).rows(PAPER, EXPERIMENT)) == 3


def test_processes_find_what_one_finds(tmp_path: Path) -> None:
    run(plan(tmp_path / "one"))
    run(plan(tmp_path / "two"), workers=2)
    values = [
        {key: entry["values"] for key, entry in load(tmp_path / name / "runs.jsonl").items()} for name in ("one", "two")
    ]
    assert values[0] == values[1]
    entry = json.loads((tmp_path / "one" / "runs.jsonl").read_text().splitlines()[0])
    assert (entry["paper"], entry["experiment"], entry["setting"]) == ("li2009", "figure-1", {"x": 1.0})


def test_values_that_are_no_numbers_are_left_out(tmp_path: Path) -> None:
    def nothing(data: Data, seed: int) -> dict[str, float]:
        return {"good": 1.0, "bad": float("nan")}

    cases = [Case(series="s", setting={}, run=nothing, seeds=2)]
    experiment = replace(EXPERIMENT, cases=lambda _: cases)
    made = replace(plan(tmp_path), chosen=[(PAPER, experiment)])
    run(made)
    assert dict(made.rows(PAPER, experiment)[0].values) == {"good": 1.0}


def test_a_setting_that_the_table_refuses_has_no_values(tmp_path: Path) -> None:
    def refuse(data: Data, seed: int) -> dict[str, float]:
        raise UnsatisfiableError("too few rows")

    experiment = replace(EXPERIMENT, cases=lambda _: [Case(series="s", setting={}, run=refuse)])
    made = replace(plan(tmp_path), chosen=[(PAPER, experiment)])
    run(made)
    assert dict(made.rows(PAPER, experiment)[0].values) == {}


def test_the_digest_of_the_code_is_the_same_twice_and_differs_between_papers() -> None:
    digests = {name: code_digest(name) for name in PAPERS}
    assert len(set(digests.values())) == len(PAPERS)
    assert digests == {name: code_digest.__wrapped__(name) for name in PAPERS}
