"""Work in parallel processes; each result is handed back as it comes.

The processes run on one thread each, leave interrupts and standard output to their parent, and end with it.
"""

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from loky import ProcessPoolExecutor

from sfumato.errors import SfumatoError

ONE_THREAD = dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass
class Processes:
    """So many processes, started by the first work and kept until the end; each prepares itself once."""

    workers: int
    prepare: Callable[[], None]
    _executor: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._executor:
            with warnings.catch_warnings():
                # Without pgrep, loky warns that it ends the workers alone; they have no processes of their own.
                warnings.simplefilter("ignore")
                self._executor.shutdown(kill_workers=True)

    def run(
        self, work: Callable[[Item], Result], items: Sequence[Item], label: Callable[[Item], str]
    ) -> Generator[Result]:
        """What `work` makes of every item.

        Processes take items in order, so those that a dead one may have been working on are the first ones lost; these
        are named by their labels.
        """
        preparing = self.prepare, os.getpid()
        self._executor = self._executor or ProcessPoolExecutor(
            self.workers, initializer=_begin, initargs=preparing, env=ONE_THREAD
        )
        try:
            with ThreadPoolExecutor(1) as starter:
                # Interrupts reach the main thread alone; halfway through a start they would leave processes behind.
                results = starter.submit(_submit, self._executor, work, items).result()
            for result in as_completed(results):
                if not isinstance(result.exception(), BrokenExecutor):
                    yield result.result()
            lost = [item for result, item in results.items() if result.exception()]
        except BrokenExecutor:
            lost = list(items)
        if lost:
            tried = " or ".join(map(label, lost[: self.workers]))
            raise SfumatoError(f"the process that tried {tried} ended unexpectedly")


def run_in_processes(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    workers: int,
    *,
    prepare: Callable[[], None],
    label: Callable[[Item], str],
) -> Generator[Result]:
    """What `work` makes of every item, in processes that end with the last."""
    with Processes(workers, prepare) as processes:
        yield from processes.run(work, items, label)


def _submit(executor: Executor, work: Callable[[Item], Result], items: Sequence[Item]) -> dict[Future[Result], Item]:
    return {executor.submit(work, item): item for item in items}


def _begin(prepare: Callable[[], None], parent: int) -> None:
    """Leave interrupts to the parent, and its standard output too. End when the parent is killed."""
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr
    prepare()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
