"""The frontier: what is tried, what is stored, and going on after an interrupt."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

import sfumato.trials.processes as processes
import sfumato.trials.runner as runner
from brute_force import dominated, small_table
from sfumato.errors import ParameterError
from sfumato.measures.measure import MEASURES
from sfumato.methods import METHODS, Anatomy, Method, Mondrian
from sfumato.methods.base import epsilon_grid
from sfumato.privacy.ledger import Ledger
from sfumato.trials.dominance import ROUNDING
from sfumato.trials.frontier import STORE_NAME, Frontier, default_methods, frontier
from sfumato.trials.trial import Trial, trial_id

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sfumato.data import Table

SOME: list[Method] = [Mondrian(k=k) for k in (2, 5, 10, 20)] + [Anatomy(l=2), Anatomy(l=5)]


@pytest.fixture(scope="module")
def table() -> Table:
    return small_table()


@pytest.fixture(scope="module")
def front(table: Table) -> Frontier:
    return frontier(table, SOME, workers=1)


def test_the_end_points_are_always_tried_and_first(front: Frontier) -> None:
    assert [trial.method.name for trial in front.trials[:2]] == ["original", "suppression"]
    assert [trial.method for trial in front.trials[2:]] == SOME[:-1]
    assert [trial.method for trial in front.refused] == [SOME[-1]]
    assert front.references.suppressed["p_loss"] == pytest.approx(0, abs=1e-12)
    assert front.references.original["u_loss"] == pytest.approx(0, abs=1e-12)


def test_a_setting_given_twice_is_tried_once(table: Table) -> None:
    seen: list[tuple[str, int, int]] = []
    twice = frontier(
        table, [Mondrian(k=5), Mondrian(k=5)], workers=1, progress=lambda trial, *count: seen.append((trial.id, *count))
    )
    assert len(twice.trials) == 3
    assert [count for _, *count in seen] == [[1, 3], [2, 3], [3, 3]]


def test_by_default_every_setting_of_every_method_is_tried(table: Table) -> None:
    offered = default_methods(table)
    assert [trial_id(method) for method in offered] == [
        trial_id(method)
        for kind in METHODS.values()
        if kind.by_default
        for method in kind.grid(table, epsilon_grid(table.n))
    ]
    assert {method.name for method in offered} == set(METHODS) - {"mst", "tables"}


def test_efficient_trials_are_those_no_other_dominates(front: Frontier) -> None:
    for privacy, utility in (("p_loss", "u_loss"), ("smallest_class", "ncp"), ("realized_l", "query_error")):
        sign = 1 if MEASURES[privacy].direction == "lower" else -1
        points = [(sign * trial.measures[privacy], trial.measures[utility]) for trial in front.trials]
        expected = [
            trial.id for trial, beaten in zip(front.trials, dominated(points, ROUNDING), strict=True) if not beaten
        ]
        assert front.efficient(privacy, utility) == expected
    assert front.efficient() == front.efficient("disclosure_added", "query_error")


@pytest.mark.parametrize("name", ["classes", "no such measure"])
def test_a_measure_without_a_better_direction_has_no_frontier(front: Frontier, name: str) -> None:
    with pytest.raises(ParameterError, match=name):
        front.efficient(name, "u_loss")


def stopping_after(count: int) -> Callable[[Trial, int, int], None]:
    def progress(trial: Trial, done: int, total: int) -> None:
        if done == count:
            raise KeyboardInterrupt

    return progress


def ids(folder: Path, table: Table) -> list[str]:
    lines = (folder / STORE_NAME).read_text(encoding="utf-8").splitlines()
    assert all(table.fingerprint in line for line in lines)
    return [line.split('"method": ')[1] for line in lines]


def test_after_an_interrupt_only_the_rest_is_run(
    table: Table, front: Frontier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    whole = runner.run_trial

    def counting(table: Table, method: Method, *how: Any) -> Trial:
        ran.append(trial_id(method))
        return whole(table, method, *how)

    monkeypatch.setattr(runner, "run_trial", counting)
    with pytest.raises(KeyboardInterrupt):
        frontier(table, SOME, folder=tmp_path, workers=1, progress=stopping_after(3))
    assert len(ran) == len(ids(tmp_path, table)) == 3
    counts: list[tuple[int, int]] = []
    again = frontier(table, SOME, folder=tmp_path, workers=1, progress=lambda trial, *count: counts.append(count))
    assert len(ran) == len(set(ran)) == len(ids(tmp_path, table)) == 2 + len(SOME)
    assert counts == [(done, 8) for done in range(1, 9)]
    assert [trial.measures for trial in again.trials] == [trial.measures for trial in front.trials]
    assert [trial.refused for trial in again.refused] == [trial.refused for trial in front.refused]
    frontier(table, SOME, folder=tmp_path, workers=1)
    assert len(ran) == 8


def test_an_interrupt_ends_the_processes_and_keeps_what_they_found(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The processes are gone even while somebody, such as a notebook, still holds the traceback."""
    started: list[Any] = []

    class Recorded(processes.ProcessPoolExecutor):  # type: ignore[misc]
        def submit(self, *arguments: Any) -> Any:
            submitted = super().submit(*arguments)
            started.extend(set(self._processes.values()) - set(started))
            return submitted

    monkeypatch.setattr(processes, "ProcessPoolExecutor", Recorded)
    monkeypatch.setattr(runner, "WORTH_PROCESSES", 0)
    with pytest.raises(KeyboardInterrupt) as held:
        frontier(table, SOME, folder=tmp_path, workers=2, progress=stopping_after(3))
    running = [process.is_alive() for process in started]
    del held
    stored = len(ids(tmp_path, table))
    assert stored == 3
    frontier(table, SOME, folder=tmp_path, workers=2)
    assert len(ids(tmp_path, table)) == len(set(ids(tmp_path, table))) == 8
    assert running == [False, False]


def test_an_interrupt_while_processes_start_leaves_none(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []

    class Interrupted(processes.ProcessPoolExecutor):  # type: ignore[misc]
        def _adjust_process_count(self) -> None:
            super()._adjust_process_count()
            started.extend(self._processes.values())
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)

    monkeypatch.setattr(processes, "ProcessPoolExecutor", Interrupted)
    monkeypatch.setattr(runner, "WORTH_PROCESSES", 0)
    with pytest.raises(KeyboardInterrupt):
        frontier(table, SOME, workers=2)
    assert [process.is_alive() for process in started] == [False, False]


def test_trials_of_another_table_are_not_taken_over(table: Table, tmp_path: Path) -> None:
    frontier(table, [Mondrian(k=5)], folder=tmp_path, workers=1)
    other = small_table(seed=6)
    found = frontier(other, [Mondrian(k=5)], folder=tmp_path, workers=1)
    again = frontier(table, [Mondrian(k=5)], folder=tmp_path, workers=1)
    assert [trial.measures for trial in found.trials] != [trial.measures for trial in again.trials]
    assert len((tmp_path / STORE_NAME).read_text(encoding="utf-8").splitlines()) == 6


def test_a_table_in_memory_buys_one_pilot_for_each_ledger(tmp_path: Path) -> None:
    table, ledgers = small_table(), [Ledger(tmp_path / f"{name}.sqlite") for name in "ab"]
    for _ in range(3):
        frontier(table, [Mondrian(k=2)], epsilon=8, workers=1, ledger=ledgers[0])
    assert len(ledgers[0].entries()) == 1
    frontier(table, [Mondrian(k=2)], epsilon=8, workers=1, ledger=ledgers[0], new_pilot=True)
    frontier(table, [Mondrian(k=2)], epsilon=8, workers=1, ledger=ledgers[1])
    assert [len(ledger.entries()) for ledger in ledgers] == [2, 1]
