"""Trials one after the other and in processes: the same results, and an end that says what happened."""

from __future__ import annotations

import os
import queue
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import brute_force
import sfumato
from brute_force import small_table
from sfumato.errors import SfumatoError
from sfumato.measures.attacks.sampled_risk import SampledRisk
from sfumato.measures.measure import MEASURES, measure
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import Anatomy, FullSuppression, Method, Mondrian, Original
from sfumato.trials import processes, runner
from sfumato.trials.runner import Crew
from sfumato.trials.trial import SEEDS, Trial, run_trial

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
FITTED = {"fitted_guesses", "fitted_surest"}
SURVEYED = {measure.name for measure in SampledRisk.measures}
"""Measures of tables with survey weights alone."""
"""No model is fitted to buckets, whose rows have no sensitive value of their own."""


@pytest.fixture(autouse=True)
def processes_are_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "WORTH_PROCESSES", 0)


@pytest.fixture(scope="module")
def table() -> Table:
    return small_table()


def tried(table: Table, methods: Sequence[Method], workers: int) -> list[Trial]:
    """Every trial in the order in which they ended."""
    with Crew(table, workers) as crew:
        return list(crew.run(methods))


def without_time(trial: Trial) -> dict[str, object]:
    spec = {key: value for key, value in trial.spec().items() if key != "seconds"}
    return {**spec, "intervals": {name: list(interval) for name, interval in trial.intervals.items()}}


def test_two_processes_find_what_one_finds(table: Table) -> None:
    inline = {trial.id: without_time(trial) for trial in tried(table, METHODS, 1)}
    parallel = {trial.id: without_time(trial) for trial in tried(table, METHODS, 2)}
    assert len(inline) == len(METHODS)
    assert parallel == inline
    assert inline["anatomy:l=5"]["refused"]
    assert set(inline["anatomy:l=2"]["intervals"]) == set(MEASURES) - FITTED - SURVEYED


def test_inline_trials_come_in_order(table: Table) -> None:
    assert [trial.method for trial in tried(table, METHODS[:3], 1)] == METHODS[:3]
    assert tried(table, [], 4) == []


def test_few_small_trials_start_no_process(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **named: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(processes, "ProcessPoolExecutor", refuse)
    monkeypatch.setattr(runner, "WORTH_PROCESSES", 1 + table.n * len(METHODS))
    assert len(tried(table, METHODS, 2)) == len(METHODS)
    monkeypatch.setattr(runner, "WORTH_PROCESSES", table.n * len(METHODS))
    with pytest.raises(AssertionError, match="a process was started"):
        tried(table, METHODS, 2)


def run_with(work: Callable[..., object], table: Table, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What comes back, the error last, if every worker does this in place of trying a method."""
    monkeypatch.setattr(runner, "_run_in_worker", work)
    found = queue.SimpleQueue[list[object]]()

    def run() -> None:
        results: list[object] = []
        try:
            with Crew(table, 2) as crew:
                results.extend(crew.run(METHODS))
        except BaseException as error:
            results.append(error)
        found.put(results)

    threading.Thread(target=run, daemon=True).start()
    return found.get(timeout=60)


class Garbage:
    """What no other process can read."""

    def __reduce__(self) -> tuple[object, ...]:
        return int, ("garbage",)


@pytest.mark.parametrize(
    "work",
    [lambda *_: os._exit(3), lambda *_: os.kill(os.getpid(), 9), lambda *_: Garbage()],
    ids=["ends", "is killed", "says something else"],
)
def test_a_process_that_dies_is_reported(
    table: Table, monkeypatch: pytest.MonkeyPatch, work: Callable[..., object]
) -> None:
    """Whether it ends, is killed at work, or says something else than a trial."""
    *_, error = run_with(work, table, monkeypatch)
    assert isinstance(error, SfumatoError)
    assert re.fullmatch(r"the process that tried .+ ended unexpectedly", str(error))


def test_a_process_that_never_starts_is_reported(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_start_worker", lambda _: os._exit(3))
    (error,) = run_with(runner._run_in_worker, table, monkeypatch)
    assert str(error) == "the process that tried Original table or Full suppression ended unexpectedly"


def test_trials_that_ended_before_a_process_died_are_handed_back(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def die_at_anatomy(method: Method, *how: Any) -> Trial:
        from sfumato.trials import runner

        if method.name == "anatomy":
            os.kill(os.getpid(), 9)
        return runner.run_trial(runner._table, method, *how)

    *trials, error = run_with(die_at_anatomy, table, monkeypatch)
    before = {trial.id for trial in tried(table, METHODS[:4], 1)}
    # The other process may still be at one of the four.
    assert len({trial.id for trial in trials if isinstance(trial, Trial)} & before) >= 3
    assert "Anatomy l=2" in str(error)


def test_a_worker_has_one_thread_ignores_interrupts_and_keeps_off_standard_output(
    table: Table, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def look(method: Method, *how: Any) -> tuple[list[str | None], bool]:
        import signal

        print("chatter")
        os.kill(os.getpid(), signal.SIGINT)
        return [os.environ.get(name) for name in names], signal.getsignal(signal.SIGINT) == signal.SIG_IGN

    names = list(processes.ONE_THREAD)
    assert run_with(look, table, monkeypatch) == [(["1"] * len(names), True)] * len(METHODS)
    assert "chatter" not in capfd.readouterr().out


def test_an_error_in_a_trial_is_raised_as_it_is(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(method: Method, *how: Any) -> Trial:
        raise ZeroDivisionError("somewhere in a method")

    *_, error = run_with(fail, table, monkeypatch)
    assert isinstance(error, ZeroDivisionError)


def test_a_randomized_method_is_tried_with_several_seeds(table: Table) -> None:
    """The mean over three seeds, and Student's interval with two degrees of freedom."""
    trial = run_trial(table, Anatomy(l=2))
    runs = [measure(table, Anatomy(l=2).publish(table, SimulatedSource(seed))) for seed in SEEDS]
    assert len(runs) == 3
    for name in set(MEASURES) - FITTED - SURVEYED:
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


ENDLESS = """
import os, time
from brute_force import small_table
from sfumato.methods import Mondrian
from sfumato.trials import runner

def wait(method, *how):
    os.write(2, f"{os.getpid()}\\n".encode())
    time.sleep(600)

runner.WORTH_PROCESSES, runner._run_in_worker = 0, wait
with runner.Crew(small_table(), 2) as crew:
    list(crew.run([Mondrian(k=k) for k in (2, 3, 4)]))
"""


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked for in /proc")
def test_no_process_outlives_a_program_that_is_killed() -> None:
    folders = [str(Path(sfumato.__path__[0]).parent), str(Path(brute_force.__file__).parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    program = subprocess.Popen([sys.executable, "-c", ENDLESS], env=environment, stderr=subprocess.PIPE, text=True)
    assert program.stderr
    workers = [int(program.stderr.readline()) for _ in range(2)]
    assert all(map(is_alive, workers))
    program.kill()
    program.wait()
    for _ in range(300):
        if not any(map(is_alive, workers)):
            break
        time.sleep(0.1)
    program.stderr.close()
    assert not any(map(is_alive, workers))
