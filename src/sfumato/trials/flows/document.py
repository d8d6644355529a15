"""Evaluated runs side by side, as one document: all that the page of an evaluation is made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato.errors import ParameterError
from sfumato.measures.flows.distances import SizeClass
from sfumato.measures.flows.evaluation import PARTS, Counts, Evaluation, SideCounts
from sfumato.measures.flows.measures import measures, swept_measures
from sfumato.trials.document import Document, Intervals, MeasureEntry, Values
from sfumato.trials.flows.comparison import Run
from sfumato.trials.repetition import finite_intervals, finite_values

MAX_POINTS = 1_000
"""Destinations drawn in one figure; the numbers are always those of all destinations."""
RUNS_WITH_FIGURES = 2


@dataclass(frozen=True, kw_only=True)
class EvaluationEntry:
    """The figures of one synthetic table, without its table of destinations."""

    unit: str
    short: float
    levels: tuple[str, ...]
    counts: Counts
    measures: Values
    sizes: Mapping[str, Sequence[SizeClass]]
    bins: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, found: Evaluation) -> EvaluationEntry:
        """The entry of an evaluation."""
        return cls(
            unit=found.unit,
            short=found.short,
            levels=found.levels,
            counts=found.counts,
            measures=found.values(),
            sizes=found.sizes,
            bins=found.bins,
        )


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

    @classmethod
    def of(cls, run: Run) -> RunEntry:
        """A run in figures that JSON can hold."""
        first, (means, intervals) = run.evaluations[0], run.summary()
        return cls(
            label=run.label,
            epsilon=run.epsilon,
            delta=run.delta,
            options=run.options,
            paper=run.paper,
            repetitions=len(run.evaluations),
            evaluation=EvaluationEntry.of(first),
            measures=finite_values(means),
            intervals=finite_intervals(intervals, {name: one.measure for name, one in first.measurements.items()}),
        )


@dataclass(frozen=True, kw_only=True)
class FigurePoints:
    """Destinations in columns: name, people, and average distance on both sides."""

    destination: Sequence[str]
    people: Sequence[int]
    original: Sequence[float]
    synthetic: Sequence[float]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Average distance by number of workers, of a sample of the compared destinations."""

    run: str
    part: str
    destinations: int
    points: FigurePoints
    number: int

    @classmethod
    def of(cls, number: int, run: Run, part: str) -> Figure:
        """Ordered by number of workers, then by place, the sample takes destinations at even steps."""
        prefix = "" if part == "all" else "short_"
        sides = [f"{prefix}distance", f"{prefix}distance_synthetic"]
        table = run.evaluations[0].destinations.select("destination", "people", *sides).drop_nulls()
        steps = np.unique(np.linspace(0, table.height - 1, min(table.height, MAX_POINTS)).round().astype(np.int64))
        sample = table.sort("people", maintain_order=True)[steps].with_columns(pl.col(sides).round(3))
        destination, people, original, synthetic = (column.to_list() for column in sample.iter_columns())
        points = FigurePoints(destination=destination, people=people, original=original, synthetic=synthetic)
        return cls(run=run.label, part=part, destinations=table.height, points=points, number=number)


@dataclass(frozen=True, kw_only=True)
class FlowsDocument(Document):
    """Runs that compare the same original in the same way, and figures of the `drawn` ones."""

    title: str
    claim: str
    unit: str
    short: float
    measures: Mapping[str, MeasureEntry]
    sweep: tuple[str, ...]
    runs: tuple[RunEntry, ...]
    drawn: tuple[str, ...]
    figures: tuple[Figure, ...]

    @classmethod
    def of(cls, *, title: str, claim: str, runs: Sequence[Run], figures: Sequence[str] | None = None) -> FlowsDocument:
        """The document of some runs, with figures of those named, or without names of the first two.

        Figures show average distance by number of workers, for all and short commutes.
        """
        first = _comparable(runs)
        drawn = tuple(figures) if figures is not None else tuple(run.label for run in runs[:RUNS_WITH_FIGURES])
        known = {run.label: run for run in runs}
        for label in drawn:
            if label not in known:
                raise ParameterError(f"there is no run {label!r} to draw; the runs are {', '.join(known)}")
        pictures = [(known[label], part) for label in drawn for part in PARTS]
        about = measures(first.unit, first.short, first.levels)
        return cls(
            title=title,
            claim=claim,
            unit=first.unit,
            short=first.short,
            measures={name: MeasureEntry.of(measure) for name, measure in about.items()},
            sweep=swept_measures(first.levels),
            runs=tuple(map(RunEntry.of, runs)),
            drawn=drawn,
            figures=tuple(Figure.of(number, *one) for number, one in enumerate(pictures, start=1)),
        )

    def run(self, label: str) -> RunEntry:
        """The run of a label."""
        return next(run for run in self.runs if run.label == label)


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
            if _totals(one.counts.original) != _totals(first.counts.original):
                raise ParameterError(f"the run {run.label!r} was compared with another original")
    return first


def _totals(side: SideCounts) -> tuple[int, int]:
    return side.people, side.destinations
