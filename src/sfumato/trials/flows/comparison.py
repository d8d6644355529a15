"""Settings of synthetic flows with the evaluations of what they made, and all of them as one document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato.errors import ParameterError
from sfumato.measures.flows.distances import SizeClass
from sfumato.measures.flows.evaluation import PARTS, Counts, Evaluation
from sfumato.measures.flows.measures import measures, swept_measures
from sfumato.trials.document import Document, Intervals, MeasureEntry, Values, finite
from sfumato.trials.repetition import Interval, summarize

MAX_POINTS = 1_000
"""Destinations drawn in one figure; the numbers are always those of all destinations."""
RUNS_WITH_FIGURES = 2


@dataclass(frozen=True)
class EvaluationEntry:
    """The figures of one synthetic table, without its table of destinations."""

    unit: str
    short: float
    levels: tuple[str, ...]
    counts: Counts
    measures: Values
    sizes: Mapping[str, Sequence[SizeClass]]
    bins: Mapping[str, Sequence[int]]


@dataclass(frozen=True, kw_only=True)
class RunEntry:
    """A run with the mean of every measure over its repetitions; its evaluation is that of the first."""

    label: str
    epsilon: float | None
    delta: float | None
    options: str
    paper: bool
    repetitions: int
    evaluation: EvaluationEntry
    measures: Values
    intervals: Intervals


@dataclass(frozen=True)
class Figure:
    """Average distance by number of workers, of a sample of the compared destinations in columns."""

    run: str
    part: str
    destinations: int
    points: Mapping[str, Sequence[Any]]
    number: int


@dataclass(frozen=True, kw_only=True)
class FlowsDocument(Document):
    """Runs that compare the same original in the same way, and figures of the `drawn` ones."""

    title: str
    claim: str
    unit: str
    short: float
    measures: Mapping[str, MeasureEntry]
    sweep: Sequence[str]
    runs: Sequence[RunEntry]
    drawn: Sequence[str]
    figures: Sequence[Figure]


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """One setting and the evaluations of what it made: several where the setting was repeated.

    `refused` says why there are none. Runs with the same `options` and `delta` are joined by a line over epsilon;
    `paper` marks the published setting. A run that claims nothing has no epsilon and no delta.
    """

    label: str
    evaluations: Sequence[Evaluation] = ()
    refused: str | None = None
    epsilon: float | None = None
    delta: float | None = None
    options: str = ""
    paper: bool = False

    def __post_init__(self) -> None:
        if not self.evaluations and self.refused is None:
            raise ParameterError(f"the run {self.label!r} has no evaluation; expected at least one")

    def summary(self) -> tuple[dict[str, float], dict[str, Interval]]:
        """The mean of every measure over the repetitions, and intervals where there are several."""
        return summarize([one.measurements for one in self.evaluations])

    def entry(self) -> RunEntry:
        """The run as a document says it."""
        one = self.evaluations[0]
        measures, intervals = finite(*self.summary(), {name: found.measure for name, found in one.measurements.items()})
        return RunEntry(
            label=self.label,
            epsilon=self.epsilon,
            delta=self.delta,
            options=self.options,
            paper=self.paper,
            repetitions=len(self.evaluations),
            evaluation=EvaluationEntry(one.unit, one.short, one.levels, one.counts, one.values(), one.sizes, one.bins),
            measures=measures,
            intervals=intervals,
        )


def flows_document(title: str, claim: str, runs: Sequence[Run], figures: Sequence[str] | None = None) -> FlowsDocument:
    """The document of some runs, with figures of those named, or without names of the first two.

    Figures show average distance by number of workers, for all and short commutes.
    """
    first = _comparable(runs)
    known = {run.label: run for run in runs}
    drawn = list(known)[:RUNS_WITH_FIGURES] if figures is None else list(figures)
    for label in drawn:
        if label not in known:
            raise ParameterError(f"there is no run {label!r} to draw; the runs are {', '.join(known)}")
    pictures = [(known[label], part) for label in drawn for part in PARTS]
    about = measures(first.unit, first.short, first.levels)
    return FlowsDocument(
        title=title,
        claim=claim,
        unit=first.unit,
        short=first.short,
        measures={name: MeasureEntry.of(measure) for name, measure in about.items()},
        sweep=swept_measures(first.levels),
        runs=[run.entry() for run in runs],
        drawn=drawn,
        figures=[_figure(number, *picture) for number, picture in enumerate(pictures, start=1)],
    )


def _comparable(runs: Sequence[Run]) -> Evaluation:
    """The evaluation that all others are like."""
    if not runs:
        raise ParameterError("there are no runs to compare; expected at least one")
    first, seen = runs[0].evaluations[0], set[str]()
    for run in runs:
        if run.label in seen:
            raise ParameterError(f"two runs are called {run.label!r}; expected different labels")
        seen.add(run.label)
        for one in run.evaluations:
            if (one.unit, one.short, one.levels) != (first.unit, first.short, first.levels):
                raise ParameterError(f"the run {run.label!r} was evaluated with another unit, limit or regions")
            # People from outside and short commutes also depend on how far each run's domain reaches.
            ours, theirs = one.counts.original, first.counts.original
            if (ours.people, ours.destinations) != (theirs.people, theirs.destinations):
                raise ParameterError(f"the run {run.label!r} was compared with another original")
    return first


def _figure(number: int, run: Run, part: str) -> Figure:
    """Average distance by number of workers: ordered by these, then by place, every so many destinations are drawn."""
    prefix = "" if part == "all" else "short_"
    sides = {"original": pl.col(f"{prefix}distance"), "synthetic": pl.col(f"{prefix}distance_synthetic")}
    table = run.evaluations[0].destinations.select("destination", "people", **sides).drop_nulls()
    steps = np.unique(np.linspace(0, table.height - 1, min(table.height, MAX_POINTS)).round().astype(np.int64))
    sample = table.sort("people", maintain_order=True)[steps].with_columns(pl.col(list(sides)).round(3))
    return Figure(run.label, part, table.height, sample.to_dict(as_series=False), number)
