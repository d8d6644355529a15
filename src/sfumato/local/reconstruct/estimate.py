"""From counts of reports to an estimate with intervals, and to the document that pages and commands show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from sfumato.errors import ParameterError
from sfumato.local.reconstruct.bootstrap import resampled
from sfumato.local.reconstruct.em import STEPS as EM_STEPS
from sfumato.local.reconstruct.em import em
from sfumato.local.reconstruct.intervals import Intervals, delta_intervals, percentile_intervals, reaches
from sfumato.local.reconstruct.inversion import inversion
from sfumato.local.reconstruct.likelihood import likelihood
from sfumato.local.reconstruct.smooth import STEPS as SMOOTH_STEPS
from sfumato.local.reconstruct.smooth import smooth
from sfumato.local.reconstruct.solution import GAP, Solution
from sfumato.local.reconstruct.variances import one_report_moves

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sfumato.privacy.channels import Channel

    Floats = NDArray[np.float64]

Solver = Literal["likelihood", "inversion", "em", "smooth"]
QUANTILES = (0.25, 0.5, 0.75)
REPEATS = 100
"""How often reports are resampled where the channel has no inverse."""
RESAMPLED_STEPS = 3_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """What a number of reports says about the people behind them.

    The point estimate is that of the solver; the intervals are those of the unbiased estimate, cut to what is possible
    and widened where needed to hold the point estimate.
    """

    channel: Channel
    counts: NDArray[np.int64]
    values: NDArray[Any]
    solver: Solver
    solution: Solution
    intervals: Intervals

    @property
    def shares(self) -> Floats:
        """The share of people with each value."""
        return self.solution.shares

    @property
    def reports(self) -> int:
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        return float(self.shares @ self.values)

    @cached_property
    def cdf(self) -> Floats:
        """The share of people with at most each value."""
        return np.cumsum(self.shares)

    def document(self) -> dict[str, Any]:
        """The estimate as JSON; what is infinite or does not exist is null."""
        low, high = self.intervals.mean
        return {
            "reports": self.reports,
            "estimate": self.solver,
            "gap": self.solution.gap if math.isfinite(self.solution.gap) else None,
            "reached": self.solution.reached,
            "confidence": self.intervals.confidence,
            "cells": self._rows(self.shares, self.intervals.cells.low, self.intervals.cells.high),
            "cdf": self._rows(self.cdf, self.intervals.cdf.low, self.intervals.cdf.high),
            "mean": {"value": self.mean, "low": low, "high": high},
            "quantiles": [self._quantile(share) for share in QUANTILES],
            "one_report_moves": one_report_moves(self.channel),
        }

    def _rows(self, *columns: Floats) -> list[dict[str, Any]]:
        return [
            {"value": value, "share": share, "low": low, "high": high}
            for value, share, low, high in zip(self.values.tolist(), *(c.tolist() for c in columns), strict=True)
        ]

    def _quantile(self, share: float) -> dict[str, Any]:
        at = reaches(self.cdf, share)
        first, last = self.intervals.quantile(share)
        places = {"value": at, "low": min(first, at), "high": max(last, at)}
        return {"share": share, **{name: self.values[place].item() for name, place in places.items()}}


def estimate(
    counts: ArrayLike,
    channel: Channel,
    *,
    solver: Solver = "likelihood",
    gap: float = GAP,
    steps: int | None = None,
    confidence: float = 0.95,
    values: ArrayLike | None = None,
    repeats: int = REPEATS,
    seed: int = 0,
) -> Estimate:
    """The distribution of values behind counts of reports, lowest report first.

    `values` are what the positions on the axis stand for. `repeats` and `seed` serve channels without an inverse.
    """
    checked, axis = check_counts(counts, channel), _check_values(values, channel)
    _check_options(solver, gap, steps, confidence)
    numbers, reports = axis.astype(np.float64), int(checked.sum())
    solution = _solve(channel, checked / reports, solver, gap, steps)
    if channel.invertible:
        intervals = delta_intervals(channel, checked, numbers, confidence)
    else:
        # A tenth of a unit of the whole log likelihood is far below what resampling itself changes.
        few = min(steps or RESAMPLED_STEPS, RESAMPLED_STEPS)
        draws = resampled(
            checked,
            lambda observed: _solve(channel, observed, solver, 0.1 / reports, few).shares,
            np.random.default_rng(seed),
            repeats,
        )
        intervals = percentile_intervals(draws, numbers, confidence)
    return Estimate(
        channel=channel,
        counts=checked,
        values=axis,
        solver=solver,
        solution=solution,
        intervals=intervals.around(solution.shares, numbers),
    )


def _solve(channel: Channel, observed: Floats, solver: Solver, gap: float, steps: int | None) -> Solution:
    if solver == "inversion":
        return inversion(channel, observed, gap=gap)
    if solver == "em":
        return em(channel, observed, gap=gap, steps=EM_STEPS if steps is None else steps)
    if solver == "smooth":
        return smooth(channel, observed, gap=gap, steps=SMOOTH_STEPS if steps is None else steps)
    return likelihood(channel, observed, gap=gap, steps=steps)


def check_counts(counts: ArrayLike, channel: Channel) -> NDArray[np.int64]:
    """Counts as an array, if they can be counts of a channel's reports."""
    given = np.asarray(counts)
    if given.shape != (channel.reports,):
        raise ParameterError(
            f"there are {given.size} counts; expected one for each of {channel.reports} possible reports"
        )
    if not np.issubdtype(given.dtype, np.integer):
        raise ParameterError(f"counts are of type {given.dtype}; expected whole numbers")
    if given.min() < 0:
        at = int(np.flatnonzero(given < 0)[0])
        raise ParameterError(f"the count of report {at} is {given[at]}; expected at least 0")
    if not given.any():
        raise ParameterError("there are no reports to estimate from; expected at least one")
    return given.astype(np.int64)


def _check_options(solver: Solver, gap: float, steps: int | None, confidence: float) -> None:
    if solver not in get_args(Solver):
        raise ParameterError(f"{solver!r} is not a known estimate; expected one of {', '.join(get_args(Solver))}")
    if not 0 < confidence < 1:
        raise ParameterError(f"the confidence is {confidence}; expected a number between 0 and 1")
    if not gap >= 0:
        raise ParameterError(f"the gap is {gap}; expected a number of at least 0")
    if steps is not None and steps < 1:
        raise ParameterError(f"the number of steps is {steps}; expected at least 1")


def _check_values(values: ArrayLike | None, channel: Channel) -> NDArray[Any]:
    if values is None:
        return np.arange(channel.size)
    given = np.asarray(values)
    numeric = np.issubdtype(given.dtype, np.integer) or np.issubdtype(given.dtype, np.floating)
    if given.shape != (channel.size,) or not numeric or not np.isfinite(given).all() or (np.diff(given) <= 0).any():
        raise ParameterError(f"the values of an axis of {channel.size} must be as many numbers in rising order")
    return given
