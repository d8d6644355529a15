"""The papers as data: every statement names rows that exist, every name is used once, and all of it runs quickly."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from sfumato.errors import DataError, ParameterError
from sfumato.reproduce.data import SOURCES, Data
from sfumato.reproduce.experiment import Mode
from sfumato.reproduce.papers import PAPERS
from sfumato.reproduce.results import NOT_MEASURED, reproduction
from sfumato.reproduce.running import Plan
from sfumato.reproduce.tables import TABLES

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.reproduce.paper import Paper

EACH = pytest.mark.parametrize("paper", PAPERS.values(), ids=list(PAPERS))


@EACH
def test_statements_are_judged_by_experiments_that_exist(paper: Paper) -> None:
    known = {one.name for one in paper.experiments}
    for one in paper.statements:
        assert one.experiment in known if one.judge else not one.experiment
        assert one.judge or one.why, f"{one.says}: nothing says why it cannot be checked"
    assert len({(one.place, one.says) for one in paper.statements}) == len(paper.statements)


@EACH
def test_names_are_used_once_and_needs_are_known(paper: Paper) -> None:
    names = [one.name for one in paper.experiments]
    panels = [panel.name for one in paper.experiments for panel in one.panels]
    assert max(Counter(names).values()) == 1
    assert max(Counter(panels).values()) == 1
    assert {need for one in paper.experiments for need in one.needs} <= set(SOURCES)
    assert {spec.source for spec in TABLES.values()} <= set(SOURCES)


@EACH
def test_a_figure_is_found_by_its_number(paper: Paper) -> None:
    for one in paper.experiments:
        assert one in paper.choose(one.name)
        assert one in paper.choose(one.name.removeprefix("figure-"))
    with pytest.raises(ParameterError, match=f"{paper.name} has no figure '99' to reproduce; expected one of "):
        paper.choose("99")


@EACH
def test_the_same_setting_is_not_measured_twice(paper: Paper) -> None:
    for one in paper.experiments:
        for mode in (Mode(), Mode(quick=True)):
            settings = Counter((case.series, tuple(sorted(case.setting.items()))) for case in one.cases(mode))
            assert max(settings.values()) == 1, one.name


@EACH
def test_everything_runs_quickly(paper: Paper, data_folder: Path, tmp_path: Path) -> None:
    """Every experiment on small samples; verdicts do not count there, but judges must not stumble."""
    data = Data.find(data_folder, quick=True)
    chosen = [(paper, one) for one in paper.experiments]
    plan = Plan(mode=Mode(quick=True), data=data, chosen=chosen, store=tmp_path / "runs.jsonl")
    plan.run(1, lambda *_: None)
    found = reproduction(plan).papers[0]
    assert len(found.statements) == len(paper.statements)
    assert all(one.rows for one in found.experiments)
    for one in found.experiments:
        assert all(any(panel.shows(row) for row in one.rows) for panel in one.panels[:1]), one.name
    judged = [one for one in found.statements if one.measured not in (NOT_MEASURED, "–")]
    assert len(judged) >= len(paper.statements) // 3


def test_missing_data_is_told_with_its_origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SFUMATO_DATA", raising=False)
    with pytest.raises(DataError, match="expected its folder as --data FOLDER or in the variable SFUMATO_DATA"):
        Data.find(None)
    with pytest.raises(DataError, match="this folder does not exist"):
        Data.find(tmp_path / "nowhere")
    for name, source in SOURCES.items():
        with pytest.raises(DataError, match="this file does not exist") as refused:
            Data.find(tmp_path).expect(name)
        assert source.origin in str(refused.value)
    monkeypatch.setenv("SFUMATO_DATA", str(tmp_path))
    assert Data.find(None).folder == tmp_path
