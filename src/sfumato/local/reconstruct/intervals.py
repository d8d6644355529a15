"""Intervals for shares, cumulative shares, the mean and quantiles.

Where the channel can be inverted, from the variance of the unbiased estimate (the delta method, exact because the
estimate is linear in the reports); from resampled estimates otherwise. A quantile's interval holds every value at
which the band of the cumulative shares allows it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from sfumato.local.reconstruct.variances import cdf_variances, cell_variances, mean_variance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.privacy.channels import Channel

    Floats = NDArray[np.float64]

ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class Band:
    """Lower and upper ends, one of each per value."""

    low: Floats
    high: Floats

    def around(self, shares: Floats) -> Band:
        """Cut to what shares can be, then widened to hold these ones."""
        return Band(
            low=np.minimum(np.clip(self.low, 0.0, 1.0), shares), high=np.maximum(np.clip(self.high, 0.0, 1.0), shares)
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Intervals:
    """Intervals of shares, of cumulative shares (each by itself, not all at once) and of the mean."""

    confidence: float
    method: str
    cells: Band
    cdf: Band
    mean: tuple[float, float]

    def around(self, shares: Floats, values: Floats) -> Intervals:
        """Cut to what is possible, then widened where needed to hold a point estimate."""
        mean = float(shares @ values)
        low, high = (float(np.clip(end, values[0], values[-1])) for end in self.mean)
        return replace(
            self,
            cells=self.cells.around(shares),
            cdf=self.cdf.around(np.cumsum(shares)),
            mean=(min(low, mean), max(high, mean)),
        )

    def quantile(self, share: float) -> tuple[int, int]:
        """The first and the last position where the cumulative shares may first reach `share`."""
        first = reaches(self.cdf.high, share)
        below = np.flatnonzero(self.cdf.low < share - ROUNDING)
        last = min(int(below[-1]) + 1, len(self.cdf.low) - 1) if len(below) else 0
        return first, max(first, last)


def reaches(cumulative: Floats, share: float) -> int:
    """The first position at which cumulative shares are at least `share`."""
    found = np.flatnonzero(cumulative >= share - ROUNDING)
    return int(found[0]) if len(found) else len(cumulative) - 1


def normal_quantile(confidence: float) -> float:
    """How many standard deviations an interval reaches to each side."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def delta_intervals(channel: Channel, counts: NDArray[np.int64], values: Floats, confidence: float) -> Intervals:
    """Intervals of the unbiased estimate, from its variance."""
    reports = int(counts.sum())
    observed = counts / reports
    shares = channel.invert(observed)
    reach = normal_quantile(confidence) / math.sqrt(reports)
    # A report that nobody sent may still be as common as one in all, so no share is taken to be known exactly.
    cells = reach * np.sqrt(cell_variances(channel, np.maximum(counts, 1) / reports))
    cdf = reach * np.sqrt(cdf_variances(channel, observed))
    mean, half = float(shares @ values), reach * math.sqrt(mean_variance(channel, observed, values))
    cumulative = np.cumsum(shares)
    return Intervals(
        confidence=confidence,
        method="delta",
        cells=Band(low=shares - cells, high=shares + cells),
        cdf=Band(low=cumulative - cdf, high=cumulative + cdf),
        mean=(mean - half, mean + half),
    )


def percentile_intervals(draws: Floats, values: Floats, confidence: float) -> Intervals:
    """Intervals between two quantiles of resampled shares, which are (repeats, size)."""
    tail = (1 - confidence) / 2

    def ends(estimates: Floats) -> Band:
        low, high = np.quantile(estimates, [tail, 1 - tail], axis=0)
        return Band(low=low, high=high)

    mean = ends(draws @ values)
    return Intervals(
        confidence=confidence,
        method="bootstrap",
        cells=ends(draws),
        cdf=ends(np.cumsum(draws, axis=1)),
        mean=(float(mean.low), float(mean.high)),
    )
