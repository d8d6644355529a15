"""Trials one after the other and in processes: the same results, and an end that says what happened."""

from __future__ import annotations

import queue
import re
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from brute_force import small_table
from sfumato.errors import SfumatoError
from sfumato.measures.measure import MEASURES, measure
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import Anatomy, FullSuppression, Method, Mondrian, Original
from sfumato.trials import runner
from sfumato.trials.runner import run_trials
from sfumato.trials.trial import SEEDS, Trial, run_trial

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.data import Table

METHODS: list[Method] = [
    Original(),
    FullSuppression(),
    Mondrian(k=5),
    Mondrian(k=3, t=0.2, recoding="bucketize"),
    Anatomy(l=2),
    Anatomy(l=5),
]
STUDENT_95_TWO_DEGREES = 0.95 * (2 / (1 - 0.95**2)) ** 0.5


@pytest.fixture(autouse=True)
def processes_are_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "WORTH_PROCESSES", 0)


@pytest.fixture(scope="module")
def table() -> Table:
    return small_table()


def without_time(trial: Trial) -> dict[str, object]:
    spec = {key: value for key, value in trial.spec().items() if key != "seconds"}
    return {**spec, "intervals": {name: list(interval) for name, interval in trial.intervals.items()}}


def test_two_processes_find_what_one_finds(table: Table) -> None:
    inline = {trial.id: without_time(trial) for trial in run_trials(table, METHODS, 1)}
    parallel = {trial.id: without_time(trial) for trial in run_trials(table, METHODS, 2)}
    assert len(inline) == len(METHODS)
    assert parallel == inline
    assert inline["anatomy:l=5"]["refused"]
    assert set(inline["anatomy:l=2"]["intervals"]) == set(MEASURES)


def test_inline_trials_come_in_order(table: Table) -> None:
    assert [trial.make() for trial in run_trials(table, METHODS[:3], 1)] == METHODS[:3]
    assert list(run_trials(table, [], 4)) == []


def test_few_small_trials_start_no_process(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **named: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(runner, "WORTH_PROCESSES", 1 + table.n * len(METHODS))
    assert len(list(run_trials(table, METHODS, 2))) == len(METHODS)
    monkeypatch.setattr(runner, "WORTH_PROCESSES", table.n * len(METHODS))
    with pytest.raises(AssertionError, match="a process was started"):
        list(run_trials(table, METHODS, 2))


def executable(path: Path, script: str) -> str:
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o700)
    return str(path)


@pytest.mark.parametrize(
    "script",
    ["exit 3", "read line; kill -9 $$", "read line; echo; exit 0"],
    ids=["never reads", "is killed", "says something else"],
)
def test_a_process_that_dies_is_reported(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    """Whether it never reads, is killed at work, or says something else than a trial."""
    monkeypatch.setattr(sys, "executable", executable(tmp_path / "worker", script))
    raised = queue.SimpleQueue[BaseException]()

    def run() -> None:
        try:
            list(run_trials(table, METHODS, 2))
        except BaseException as error:
            raised.put(error)

    threading.Thread(target=run, daemon=True).start()
    error = raised.get(timeout=60)
    assert isinstance(error, SfumatoError)
    assert re.fullmatch(r"the process that tried .+ ended unexpectedly", str(error))


def test_a_randomized_method_is_tried_with_several_seeds(table: Table) -> None:
    """The mean over three seeds, and Student's interval with two degrees of freedom."""
    trial = run_trial(table, Anatomy(l=2))
    runs = [measure(table, Anatomy(l=2).publish(table, SimulatedSource(seed))) for seed in SEEDS]
    assert len(runs) == 3
    for name in MEASURES:
        values = [run[name].value for run in runs]
        assert trial.measures[name] == pytest.approx(sum(values) / 3)
        half = STUDENT_95_TWO_DEGREES * np.std(values, ddof=1) / 3**0.5
        low, high = trial.intervals[name]
        assert (high - low) / 2 == pytest.approx(half, abs=1e-12)
        assert (high + low) / 2 == pytest.approx(trial.measures[name])
    assert any(high > low for low, high in trial.intervals.values())


def test_a_method_without_randomness_is_tried_once(table: Table) -> None:
    trial = run_trial(table, Mondrian(k=5))
    assert trial.intervals == {}
    values = {name: found.value for name, found in measure(table, Mondrian(k=5).publish(table)).items()}
    assert trial.measures == values
    assert trial.seconds > 0


def test_what_the_table_refuses_is_a_trial_with_a_reason(table: Table) -> None:
    trial = run_trial(table, Mondrian(k=91))
    assert trial.refused
    assert "k-anonymity (k=91)" in trial.refused
    assert trial.measures == {}
    assert not trial.promises


def test_which_trials_promise_something(table: Table) -> None:
    assert run_trial(table, Anatomy(l=2)).promises
    assert run_trial(table, FullSuppression()).promises
    assert not run_trial(table, Original()).promises
