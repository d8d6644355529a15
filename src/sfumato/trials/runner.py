"""Running many trials in parallel processes; each is handed back as it ends.

Processes stay until all is tried, since each remembers what measures find out about the table itself.
"""

import pickle
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from sfumato.data import Table
from sfumato.methods import Method
from sfumato.trials.processes import Processes
from sfumato.trials.purpose import COUNTS, Purpose
from sfumato.trials.trial import SEEDS, Trial, run_trial

WORTH_PROCESSES = 20_000
"""Rows times settings below which one process is done before others have started."""

_table: Table
"""What a worker process tries settings on."""


@dataclass
class Crew:
    """Up to so many processes that try settings on a table, started once there is enough to do."""

    table: Table
    workers: int
    purpose: Purpose = COUNTS
    _resources: ExitStack = field(default_factory=ExitStack)
    _processes: Processes | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._processes = None
        self._resources.close()

    def run(self, methods: Sequence[Method], seeds: Sequence[int] = SEEDS) -> Generator[Trial]:
        """Try every setting, in the order in which they end."""
        waiting = list(methods)
        while waiting and not self._uses_processes(len(waiting)):
            yield run_trial(self.table, waiting.pop(0), seeds, self.purpose)
        if waiting:
            yield from self._run_in_processes(waiting, seeds)

    def _uses_processes(self, count: int) -> bool:
        worth = count > 1 and self.table.n * count >= WORTH_PROCESSES
        return self.workers > 1 and (worth or self._processes is not None)

    def _run_in_processes(self, methods: Sequence[Method], seeds: Sequence[int]) -> Generator[Trial]:
        purpose = self.purpose

        def work(method: Method) -> Trial:
            return _run_in_worker(method, seeds, purpose)

        self._processes = self._processes or self._start()
        yield from self._processes.run(work, methods, label=lambda method: method.label)

    def _start(self) -> Processes:
        folder = self._resources.enter_context(TemporaryDirectory(prefix="sfumato-"))
        # A file, because loky waits for each process to have read its arguments before it starts the next.
        path = Path(folder) / "table.pickle"
        path.write_bytes(pickle.dumps(self.table.without_rows()))
        return self._resources.enter_context(Processes(self.workers, partial(_start_worker, path)))


def _start_worker(path: Path) -> None:
    global _table
    _table = pickle.loads(path.read_bytes())


def _run_in_worker(method: Method, seeds: Sequence[int], purpose: Purpose) -> Trial:
    return run_trial(_table, method, seeds, purpose)
