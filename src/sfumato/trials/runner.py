"""Running many trials in parallel processes; each is handed back as it ends."""

import os
import pickle
import signal
import sys
import threading
import time
import warnings
from collections.abc import Generator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from tempfile import TemporaryDirectory

from loky import ProcessPoolExecutor

from sfumato.data import Table
from sfumato.errors import SfumatoError
from sfumato.methods import Method
from sfumato.trials.trial import Trial, run_trial

WORTH_PROCESSES = 20_000
"""Rows times settings below which one process is done before others have started."""
ONE_THREAD = dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

_table: Table
"""What a worker process tries settings on."""


def run_trials(table: Table, methods: Sequence[Method], workers: int) -> Generator[Trial]:
    """Try every setting, in `workers` processes if more than one, in the order in which they end."""
    waiting = list(methods)
    while waiting and (workers <= 1 or len(waiting) == 1 or table.n * len(waiting) < WORTH_PROCESSES):
        yield run_trial(table, waiting.pop(0))
    if waiting:
        yield from _run_in_processes(table, waiting, min(workers, len(waiting)))


def _run_in_processes(table: Table, methods: Sequence[Method], workers: int) -> Generator[Trial]:
    """Processes take settings in order, so those that a dead one may have been trying are the first ones lost."""
    with TemporaryDirectory(prefix="sfumato-") as folder:
        # A file, because loky waits for each process to have read its arguments before it starts the next.
        path = Path(folder) / "table.pickle"
        path.write_bytes(pickle.dumps(table.without_rows()))
        executor = ProcessPoolExecutor(workers, initializer=_start_worker, initargs=(path, os.getpid()), env=ONE_THREAD)
        try:
            with ThreadPoolExecutor(1) as starter:
                # Interrupts reach the main thread alone; halfway through a start they would leave processes behind.
                trials = starter.submit(_submit, executor, methods).result()
            for trial in as_completed(trials):
                if not isinstance(trial.exception(), BrokenExecutor):
                    yield trial.result()
            lost = [method for trial, method in trials.items() if trial.exception()]
        except BrokenExecutor:
            lost = list(methods)
        finally:
            with warnings.catch_warnings():
                # Without pgrep, loky warns that it ends the workers alone; they have no processes of their own.
                warnings.simplefilter("ignore")
                executor.shutdown(kill_workers=True)
    if lost:
        tried = " or ".join(method.label for method in lost[:workers])
        raise SfumatoError(f"the process that tried {tried} ended unexpectedly")


def _submit(executor: Executor, methods: Sequence[Method]) -> dict[Future[Trial], Method]:
    return {executor.submit(_run_in_worker, method): method for method in methods}


def _start_worker(path: Path, parent: int) -> None:
    """Read the table; leave interrupts to the parent, and its standard output too. End when the parent is killed."""
    global _table
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr
    _table = pickle.loads(path.read_bytes())


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _run_in_worker(method: Method) -> Trial:
    return run_trial(_table, method)
