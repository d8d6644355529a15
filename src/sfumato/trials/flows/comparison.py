"""Evaluated runs side by side, as one JSON document: all that the page of an evaluation is made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import polars as pl

from sfumato.errors import ParameterError
from sfumato.measures.flows.evaluation import PARTS, Evaluation
from sfumato.measures.flows.measures import measures
from sfumato.trials.repetition import finite_intervals, finite_values, summarize
from sfumato.version import __version__

MOST_POINTS = 1_000
"""Destinations drawn in one figure; the numbers are always those of all destinations."""
RUNS_WITH_FIGURES = 2


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

    def spec(self) -> dict[str, Any]:
        """The run with the mean of every measure over its repetitions; classes and bins are those of the first."""
        about = {name: one.measure for name, one in self.evaluations[0].measurements.items()}
        means, intervals = summarize([{name: one[name] for name in about} for one in self.evaluations])
        return {
            "label": self.label,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "options": self.options,
            "paper": self.paper,
            "repetitions": len(self.evaluations),
            "evaluation": self.evaluations[0].spec(),
            "measures": finite_values(means),
            "intervals": finite_intervals(intervals, about),
        }


def document(*, title: str, claim: str, runs: Sequence[Run], figures: Sequence[str] | None = None) -> dict[str, Any]:
    """The runs, which must compare the same original in the same way, and figures of those named.

    Without names the first two runs get figures: average distance by number of workers, for all and short commutes.
    """
    first = _first(runs)
    drawn = [run.label for run in runs[:RUNS_WITH_FIGURES]] if figures is None else list(figures)
    known = {run.label: run for run in runs}
    for label in drawn:
        if label not in known:
            raise ParameterError(f"there is no run {label!r} to draw; the runs are {', '.join(known)}")
    about = measures(first.unit, first.short, first.levels)
    return {
        "format": 1,
        "sfumato": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "title": title,
        "claim": claim,
        "unit": first.unit,
        "short": first.short,
        "measures": {name: measure.spec() | {"scale": []} for name, measure in about.items()},
        "sweep": _sweep(first.levels),
        "runs": [run.spec() for run in runs],
        "drawn": drawn,
        "figures": [
            _figure(known[label], part) | {"number": number}
            for number, (label, part) in enumerate(((label, part) for label in drawn for part in PARTS), start=1)
        ],
    }


def _first(runs: Sequence[Run]) -> Evaluation:
    """The evaluation that all others are like."""
    if not runs:
        raise ParameterError("there are no runs to compare; expected at least one")
    seen: set[str] = set()
    first = runs[0].evaluations[0]
    for run in runs:
        if run.label in seen:
            raise ParameterError(f"two runs are called {run.label!r}; expected different labels")
        seen.add(run.label)
        for one in run.evaluations:
            if (one.unit, one.short, one.levels) != (first.unit, first.short, first.levels):
                raise ParameterError(f"the run {run.label!r} was evaluated with another unit, limit or regions")
            if _totals(one) != _totals(first):
                raise ParameterError(f"the run {run.label!r} was compared with another original")
    return first


def _totals(evaluation: Evaluation) -> tuple[int, int]:
    original = evaluation.counts["original"]
    return original["people"], original["destinations"]


def _sweep(levels: tuple[str, ...]) -> list[str]:
    """The measures to be shown against epsilon: flows between regions where there are any, else between places."""
    suffix = f"_{levels[0]}" if levels else ""
    return ["short_error", f"common_part{suffix}", "distance_variation", f"top_origins{suffix}"]


def _figure(run: Run, part: str) -> dict[str, Any]:
    """Average distance by number of workers, of a sample of the compared destinations.

    Ordered by number of workers, then by place, the sample takes destinations at even steps from first to last.
    """
    prefix = "" if part == "all" else "short_"
    sides = [f"{prefix}distance", f"{prefix}distance_synthetic"]
    table = run.evaluations[0].destinations.select("destination", "people", *sides).drop_nulls()
    steps = np.unique(np.linspace(0, table.height - 1, min(table.height, MOST_POINTS)).round().astype(np.int64))
    sample = table.sort("people", maintain_order=True)[steps].with_columns(pl.col(sides).round(3))
    columns = zip(("destination", "people", "original", "synthetic"), sample.iter_columns(), strict=True)
    return {
        "run": run.label,
        "part": part,
        "destinations": table.height,
        "points": {name: column.to_list() for name, column in columns},
    }
