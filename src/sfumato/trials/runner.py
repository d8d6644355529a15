"""Running many trials in parallel processes; each is handed back as it ends."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

from sfumato.data import Table
from sfumato.errors import SfumatoError
from sfumato.methods import Method
from sfumato.trials.trial import Trial, run_trial

WORTH_PROCESSES = 20_000
"""Rows times settings below which one process is done before others have started."""
ONE_THREAD = dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def run_trials(table: Table, methods: Sequence[Method], workers: int) -> Generator[Trial]:
    """Try every setting, in `workers` processes if more than one, in the order in which they end."""
    waiting = list(methods)
    while waiting and (workers <= 1 or _soon_done(table, waiting)):
        yield run_trial(table, waiting.pop(0))
    if not waiting:
        return
    with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
        path = Path(folder) / "table.pickle"
        path.write_bytes(pickle.dumps(table.without_rows()))
        pool = _Pool(path, waiting, min(workers, len(waiting)))
        try:
            yield from pool.results()
        finally:
            pool.close()


def _soon_done(table: Table, methods: Sequence[Method]) -> bool:
    """Whether the trials that are left cost less than starting processes for them."""
    return len(methods) == 1 or table.n * len(methods) < WORTH_PROCESSES


class _Pool:
    """Worker processes, each fed by a thread of its own from one queue of settings."""

    def __init__(self, table: Path, methods: Sequence[Method], workers: int) -> None:
        self._expected = len(methods)
        self._waiting: queue.SimpleQueue[Method] = queue.SimpleQueue()
        self._finished: queue.SimpleQueue[Trial | SfumatoError] = queue.SimpleQueue()
        for method in methods:
            self._waiting.put(method)
        command = [sys.executable, "-m", "sfumato.trials.worker", str(table)]
        environment = {**os.environ, **ONE_THREAD}
        self._workers = [
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, bufsize=1
            )
            for _ in range(workers)
        ]
        for worker in self._workers:
            threading.Thread(target=self._feed, args=(worker,), daemon=True).start()

    def results(self) -> Iterator[Trial]:
        for _ in range(self._expected):
            result = self._finished.get()
            if isinstance(result, SfumatoError):
                raise result
            yield result

    def close(self) -> None:
        for worker in self._workers:
            worker.kill()
            worker.wait()
            for pipe in (worker.stdin, worker.stdout):
                if pipe:
                    with contextlib.suppress(OSError):
                        pipe.close()

    def _feed(self, worker: subprocess.Popen[str]) -> None:
        assert worker.stdin
        assert worker.stdout
        while True:
            try:
                method = self._waiting.get_nowait()
            except queue.Empty:
                return
            try:
                worker.stdin.write(json.dumps({"method": method.name, "parameters": method.parameters()}) + "\n")
                worker.stdin.flush()
                trial = Trial(**json.loads(worker.stdout.readline()))
            except (OSError, ValueError, TypeError):
                self._finished.put(SfumatoError(f"the process that tried {method.label} ended unexpectedly"))
                return
            self._finished.put(trial)
