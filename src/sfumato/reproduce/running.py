"""Running experiments: every setting with every seed, in parallel, each on disk the moment it ends.

A run is known by its setting, its seed, the data and the code that can change it. The same command goes on where an
earlier one stopped, and measures again what has changed since.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import groupby
from math import isfinite
from pathlib import Path
from typing import Any

from sfumato.errors import UnsatisfiableError
from sfumato.files import append_line
from sfumato.report.reproduction.document import Row
from sfumato.reproduce.data import Data
from sfumato.reproduce.experiment import SEEDS_OF_A_RUN, Case, Experiment, Mode
from sfumato.reproduce.paper import Paper
from sfumato.trials.processes import run_in_processes
from sfumato.trials.repetition import summarize_values

STORE_NAME = "runs.jsonl"
MEASURING = ("schema", "data", "privacy", "mechanisms", "estimation", "release", "methods", "measures")
"""The packages whose code decides what is measured."""
SHARED = ("data.py", "tables.py", "queries.py")
"""The files beside the papers that do."""
JUDGING = ("__init__.py", "judges.py", "panels.py", "statements.py")
"""How the files of a paper end that do not."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, kw_only=True)
class Task:
    """One setting of an experiment with one seed."""

    paper: str
    experiment: str
    case: Case
    seed: int
    key: str

    @property
    def label(self) -> str:
        return f"{self.paper} {self.experiment}, {self.case.series}"


@dataclass(frozen=True, kw_only=True)
class Done:
    """What a task measured."""

    key: str
    values: Mapping[str, float]
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The experiments to run, the tasks they consist of, and what is known of them."""

    mode: Mode
    data: Data
    chosen: Sequence[tuple[Paper, Experiment]]
    store: Path

    def tasks(self) -> list[Task]:
        """Every task of every experiment, those of the experiments in turn."""
        return [task for paper, experiment in self.chosen for task in self._tasks(paper, experiment)]

    def _tasks(self, paper: Paper, experiment: Experiment) -> list[Task]:
        known = [code_digest(paper.name), self.data.digest(experiment.needs), self.mode.quick]
        first = self.mode.first_seed * SEEDS_OF_A_RUN
        return [
            Task(
                paper=paper.name,
                experiment=experiment.name,
                case=case,
                seed=seed,
                key=_key(known, paper.name, experiment.name, case, seed),
            )
            for case in experiment.cases(self.mode)
            for seed in range(first, first + case.seeds)
        ]

    def run(self, workers: int, progress: Progress) -> None:
        """Measure what is not stored yet; each result is stored as it comes."""
        for name in {name for _, experiment in self.chosen for name in experiment.needs}:
            self.data.expect(name)
        tasks, stored = self.tasks(), load(self.store)
        waiting = [task for task in tasks if task.key not in stored]
        labels = {task.key: task for task in tasks}
        done = len(tasks) - len(waiting)
        progress("starting", done, len(tasks))
        for result in _results(waiting, self.data, workers):
            task = labels[result.key]
            about: dict[str, Any] = {"paper": task.paper, "experiment": task.experiment, "series": task.case.series}
            about |= {"setting": dict(task.case.setting), "seed": task.seed}
            append_line(self.store, json.dumps(vars(result) | about))
            done += 1
            progress(task.label, done, len(tasks))

    def rows(self, paper: Paper, experiment: Experiment) -> list[Row]:
        """The rows of an experiment, from what is stored: one for each setting of which there is a run."""
        stored, found = load(self.store), []
        for _, tasks in groupby(self._tasks(paper, experiment), key=lambda task: id(task.case)):
            own = list(tasks)
            runs = [stored[task.key] for task in own if task.key in stored]
            found += [_row(own[0].case, runs)] if runs else []
        return found


def _results(waiting: Sequence[Task], data: Data, workers: int) -> Iterable[Done]:
    def work(task: Task) -> Done:
        return measure(task, data)

    if workers == 1 or len(waiting) < 2:
        return map(work, waiting)
    return run_in_processes(work, waiting, min(workers, len(waiting)), prepare=_prepare, label=lambda task: task.label)


def _prepare() -> None:
    """Tables are read when a task first asks for them."""


def measure(task: Task, data: Data) -> Done:
    """Run a task; its time is that of the processor. A setting that the table refuses has no values."""
    started = time.process_time()
    try:
        values = {name: float(value) for name, value in task.case.run(data, task.seed).items()}
    except UnsatisfiableError:
        values = {}
    return Done(key=task.key, values=values, seconds=time.process_time() - started)


def _row(case: Case, runs: Sequence[Mapping[str, Any]]) -> Row:
    values, intervals = summarize_values([run["values"] for run in runs])
    values = {name: value for name, value in values.items() if isfinite(value)}
    intervals = {name: ends for name, ends in intervals.items() if isfinite(sum(ends))}
    return Row(
        series=case.series,
        setting=dict(case.setting),
        values=values,
        intervals=intervals,
        seeds=len(runs),
        seconds=sum(run["seconds"] for run in runs),
    )


def load(store: Path) -> dict[str, dict[str, Any]]:
    """Every stored run by its key; lines that a crash cut short are passed over."""
    found: dict[str, dict[str, Any]] = {}
    if store.exists():
        for line in store.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
                found[entry["key"]] = entry
            except (ValueError, KeyError, TypeError):
                continue
    return found


def _key(known: Sequence[Any], paper: str, experiment: str, case: Case, seed: int) -> str:
    parts = [*known, paper, experiment, case.series, sorted(case.setting.items()), seed]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:20]


@cache
def code_digest(paper: str) -> str:
    """A digest of the code that decides what a paper's experiments measure, without that of statements and pages."""
    package = files("sfumato")
    found = [one for name in MEASURING for one in _sources(package / name)]
    found += [package / "reproduce" / name for name in SHARED]
    found += [one for one in _sources(package / "reproduce" / paper) if not one.name.endswith(JUDGING)]
    digest = hashlib.sha256()
    for one in found:
        digest.update(one.read_bytes())
    return digest.hexdigest()[:16]


def _sources(folder: Traversable) -> list[Traversable]:
    """The modules of a package and of those inside it, in order."""
    found: list[Traversable] = []
    for one in sorted(folder.iterdir(), key=lambda one: one.name):
        if one.is_dir() and one.name != "__pycache__":
            found += _sources(one)
        elif one.name.endswith(".py"):
            found.append(one)
    return found
