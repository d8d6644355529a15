"""The file of finished trials: nothing that was stored is lost, nothing that belongs elsewhere is read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sfumato.measures.measure import MEASURES
from sfumato.methods import Anatomy, Mondrian
from sfumato.trials.store import TrialStore
from sfumato.trials.trial import Trial

if TYPE_CHECKING:
    from pathlib import Path


def trial(k: int, value: float = 0.1) -> Trial:
    return Trial(
        method=Mondrian(k=k), measures=dict.fromkeys(MEASURES, value), intervals={"p_loss": (0.1, 1 / 3)}, seconds=0.25
    )


@pytest.fixture
def store(tmp_path: Path) -> TrialStore:
    return TrialStore(tmp_path / "deep" / "trials.jsonl", "table one")


def test_trials_come_back_as_they_were_stored(store: TrialStore) -> None:
    assert store.load() == []
    refused = Trial(method=Anatomy(l=9), refused="no buckets of this table can be 9-diverse")
    precise = trial(2, value=0.1 + 0.2)
    for one in (precise, refused, trial(5)):
        store.add(one)
    assert TrialStore(store.path, store.table).load() == [precise, refused, trial(5)]


def test_a_setting_stored_twice_is_read_once_with_its_last_values(store: TrialStore) -> None:
    for one in (trial(2, 0.1), trial(3, 0.2), trial(2, 0.3)):
        store.add(one)
    assert store.load() == [trial(2, 0.3), trial(3, 0.2)]


@pytest.mark.parametrize("kept", [1, 20, -2, -1])
def test_a_line_cut_short_by_a_crash_loses_no_other(store: TrialStore, kept: int) -> None:
    for k in (2, 3):
        store.add(trial(k))
    whole = store.path.read_bytes()
    first_line = whole.index(b"\n") + 1
    store.path.write_bytes(whole[:first_line] + whole[first_line:][:kept])
    survived = [trial(2)] if kept != -1 else [trial(2), trial(3)]
    assert store.load() == survived
    store.add(trial(4))
    store.add(trial(5))
    assert store.load() == [*survived, trial(4), trial(5)]


def test_lines_of_other_tables_and_versions_are_passed_over(store: TrialStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.add(trial(2))
    TrialStore(store.path, "table two").add(trial(3))
    with monkeypatch.context() as older:
        older.setattr("sfumato.trials.store.__version__", "0.0.1")
        store.add(trial(4))
    assert store.load() == [trial(2)]
    assert TrialStore(store.path, "table two").load() == [trial(3)]


def test_trials_that_lack_a_measure_are_run_again(store: TrialStore) -> None:
    fewer = {name: 0.5 for name in MEASURES if name != "u_loss"}
    store.add(replace(trial(2), measures=fewer))
    assert store.load() == []


@pytest.mark.parametrize("line", ["", "[]", "3", "null", "NaN", '{"table": "table one"}', '{"table": 1, "trial": {}}'])
def test_lines_that_are_no_trials_are_passed_over(store: TrialStore, line: str) -> None:
    store.add(trial(2))
    with store.path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    store.add(trial(3))
    assert store.load() == [trial(2), trial(3)]


@pytest.mark.parametrize("change", [{"method": "datafly"}, {"parameters": {"k": 0}}, {"parameters": {"z": 1}}])
def test_a_line_with_an_unknown_setting_is_passed_over(store: TrialStore, change: dict[str, object]) -> None:
    store.add(trial(2))
    entry = json.loads(store.path.read_text(encoding="utf-8"))
    entry["trial"] |= change
    with store.path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")
    assert store.load() == [trial(2)]
