"""From counts of reports to an estimate with intervals, and to the document that pages and commands show."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import ParameterError
from sfumato.estimation.intervals import (
    Intervals,
    check_confidence,
    check_values,
    cumulate,
    delta_intervals,
    first_reaching,
)
from sfumato.estimation.likelihood import likelihood
from sfumato.estimation.solution import GAP, Solution, fits
from sfumato.estimation.unbiased import inversion
from sfumato.estimation.updates import em, smooth
from sfumato.estimation.variances import one_report_moves
from sfumato.mechanisms.channels.base import Channel, Floats

Solver = Literal["likelihood", "inversion", "em", "smooth"]
SOLVERS: dict[str, Callable[..., Solution]] = {each.__name__: each for each in (likelihood, inversion, em, smooth)}
QUANTILES = (0.25, 0.5, 0.75)
QUICK_STEPS = 300
"""How long the likeliest distribution is looked for where it is not what was asked for."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """What a number of reports says about the people behind them.

    The point estimate is that of the solver; the intervals are those of the unbiased estimate, cut to what is possible
    and widened where needed to hold the point estimate. `fits` is false if reports like these hardly ever come through
    the channel, whoever the people are: a client forgot the noise, or another ε is meant.

    >>> channel = sf.local.RandomizedResponse(size=3, epsilon=1)
    >>> found = sf.local.estimate([50, 30, 20], channel)
    >>> round(float(found.shares.sum()), 6)
    1.0
    """

    channel: Channel
    counts: NDArray[np.int64]
    values: NDArray[Any]
    solver: Solver
    solution: Solution
    intervals: Intervals
    fits: bool

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
        return cumulate(self.shares)

    def document(self) -> dict[str, Any]:
        """The estimate as JSON; what is infinite or does not exist is null."""
        low, high = self.intervals.mean
        return {
            "reports": self.reports,
            "estimate": self.solver,
            "gap": self.solution.gap if math.isfinite(self.solution.gap) else None,
            "reached": self.solution.reached,
            "fits": self.fits,
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
        at = first_reaching(self.cdf, share)
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
) -> Estimate:
    """The distribution of values behind counts of reports, lowest report first.

    `values` are what the positions on the axis stand for.

    >>> channel = sf.local.RandomizedResponse(size=3, epsilon=1)
    >>> sf.local.estimate([50, 30, 20], channel).reports
    100
    """
    checked, axis = _check_counts(counts, channel), check_values(values, channel.size)
    _check_options(solver, gap, steps)
    check_confidence(confidence)
    observed, numbers = checked / checked.sum(), axis.astype(np.float64)
    limit = {} if steps is None or solver == "inversion" else {"steps": steps}
    solution = SOLVERS[solver](channel, observed, gap=gap, **limit)
    likeliest = solution if solution.gap <= GAP else likelihood(channel, observed, steps=QUICK_STEPS)
    best = min(solution, likeliest, key=lambda found: found.gap)
    return Estimate(
        channel=channel,
        counts=checked,
        values=axis,
        solver=solver,
        solution=solution,
        intervals=delta_intervals(channel, checked, best.shares, numbers, confidence).around(solution.shares, numbers),
        fits=fits(checked, best),
    )


def _check_counts(counts: ArrayLike, channel: Channel) -> NDArray[np.int64]:
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


def _check_options(solver: Solver, gap: float, steps: int | None) -> None:
    if solver not in SOLVERS:
        raise ParameterError(f"{solver!r} is not a known estimate; expected one of {', '.join(SOLVERS)}")
    if not gap >= 0:
        raise ParameterError(f"the gap is {gap}; expected a number of at least 0")
    if steps is not None and steps < 1:
        raise ParameterError(f"the number of steps is {steps}; expected at least 1")
