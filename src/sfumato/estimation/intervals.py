"""Intervals for shares, cumulative shares, the mean and quantiles.

They come from the variance of the unbiased estimate (the delta method, exact because the estimate is linear in the
reports), whatever the point estimate is: the likeliest distribution lies at the edge of what is possible, where
resampled estimates vary too little. A quantile's interval holds every value at which the band of the cumulative shares
allows it.
"""

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import ParameterError
from sfumato.estimation.unbiased import unbiased_shares
from sfumato.estimation.variances import cdf_variances, cell_variances, mean_variance
from sfumato.mechanisms.channels.base import Channel, Floats

ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class Band:
    """Lower and upper ends, one of each per value."""

    low: Floats
    high: Floats

    def around(self, shares: Floats) -> Self:
        """Cut to what shares can be, then widened to hold these ones."""
        low, high = np.clip((self.low, self.high), 0.0, 1.0)
        return replace(self, low=np.minimum(low, shares), high=np.maximum(high, shares))


@dataclass(frozen=True, kw_only=True, eq=False)
class Intervals:
    """Intervals of shares, of cumulative shares (each by itself, not all at once) and of the mean."""

    confidence: float
    cells: Band
    cdf: Band
    mean: tuple[float, float]

    def around(self, shares: Floats, values: Floats) -> Self:
        """Cut to what is possible, then widened where needed to hold a point estimate."""
        mean = float(shares @ values)
        low, high = (float(np.clip(end, values[0], values[-1])) for end in self.mean)
        return replace(
            self,
            cells=self.cells.around(shares),
            cdf=self.cdf.around(cumulate(shares)),
            mean=(min(low, mean), max(high, mean)),
        )

    def quantile(self, share: float) -> tuple[int, int]:
        """The first and the last position where the cumulative shares may first reach `share`."""
        first = first_reaching(self.cdf.high, share)
        below = np.flatnonzero(self.cdf.low < share - ROUNDING)
        last = min(int(below[-1]) + 1, len(self.cdf.low) - 1) if len(below) else 0
        return first, max(first, last)


def first_reaching(cumulative: Floats, share: float) -> int:
    """The first position at which cumulative shares are at least `share`."""
    found = np.flatnonzero(cumulative >= share - ROUNDING)
    return int(found[0]) if len(found) else len(cumulative) - 1


def cumulate(shares: Floats) -> Floats:
    """Cumulative shares: the last is 1, and no other is above it unless a share is negative, whatever was rounded."""
    cumulative = np.cumsum(shares)
    if shares.min() >= 0:
        cumulative = np.minimum(cumulative, 1.0)
    cumulative[-1] = 1.0
    return cumulative


def normal_quantile(confidence: float) -> float:
    """How many standard deviations an interval reaches to each side."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def delta_intervals(
    channel: Channel, counts: NDArray[np.int64], likeliest: Floats, values: Floats, confidence: float
) -> Intervals:
    """Intervals of the unbiased estimate, from its variance.

    Few reports leave many possible ones unseen, which are not impossible for that. Each cell's variance takes a report
    that nobody sent to be as common as one in all. Those of sums over cells would add up such guesses, and take reports
    as the likeliest distribution expects them, and one more person who may be anybody.
    """
    reports = int(counts.sum())
    observed = counts / reports
    shares = unbiased_shares(channel, observed)
    reach = normal_quantile(confidence) / math.sqrt(reports)
    expected = channel.spread((reports * likeliest + 1 / channel.size) / (reports + 1))
    cells = reach * np.sqrt(cell_variances(channel, np.maximum(counts, 1) / reports))
    cdf = reach * np.sqrt(cdf_variances(channel, expected))
    mean, half = float(shares @ values), reach * math.sqrt(mean_variance(channel, expected, values))
    cumulative = cumulate(shares)
    return Intervals(
        confidence=confidence,
        cells=Band(low=shares - cells, high=shares + cells),
        cdf=Band(low=cumulative - cdf, high=cumulative + cdf),
        mean=(mean - half, mean + half),
    )


def check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ParameterError(f"the confidence is {confidence}; expected a number between 0 and 1")


def check_values(values: ArrayLike | None, size: int) -> NDArray[Any]:
    """What the positions on an axis stand for: themselves, if nothing is said."""
    if values is None:
        return np.arange(size)
    given = np.asarray(values)
    numeric = np.issubdtype(given.dtype, np.integer) or np.issubdtype(given.dtype, np.floating)
    if given.shape != (size,) or not numeric or not np.isfinite(given).all() or (np.diff(given) <= 0).any():
        raise ParameterError(f"the values of an axis of {size} must be as many numbers in ascending order")
    return given
