"""Steps of a wide axis, found by noisy counts: short where many rows lie, single positions where a value is frequent.

The axis is counted in 256 even intervals. Those that hold clearly more than noise, and more than a 256th of the rows,
are cut into sixteen and counted again, down to single positions. What is light in the end is joined to runs, so that an
amount with a long tail, or a code that a tenth of all rows have, is counted where its rows are.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.budget import Budget
from sfumato.methods.models.binning import count_steps
from sfumato.methods.models.quantiles import NO_BORDERS, runs
from sfumato.methods.positions import MAX_STEPS, even_starts
from sfumato.schema import Axis

FINDING = Fraction(1, 2)
"""Share of an attribute's price for finding its steps."""
PARTS = 16
"""Into which an interval is cut."""
SURE = 3
"""How many deviations of noise an interval holds at least that is cut."""
CLEAR = 1
"""How many deviations of noise a run of light intervals holds at least."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """Neighbouring intervals of an axis, what was counted in each, and which were cut from another just now."""

    starts: NDArray[np.int64]
    end: int
    counts: NDArray[np.int64]
    fresh: NDArray[np.bool_]

    @classmethod
    def even(cls, size: int) -> Self:
        """The intervals to begin with."""
        starts = np.arange(MAX_STEPS, dtype=np.int64) * size // MAX_STEPS
        return cls(starts, size, np.zeros(MAX_STEPS, dtype=np.int64), np.ones(MAX_STEPS, dtype=np.bool_))

    @property
    def widths(self) -> NDArray[np.int64]:
        return np.diff(np.append(self.starts, self.end))

    def counted(self, fresh_counts: NDArray[np.int64]) -> Self:
        """With counts of those that had none."""
        counts = self.counts.copy()
        counts[self.fresh] = fresh_counts
        return type(self)(self.starts, self.end, counts, self.fresh)

    def cut(self, chosen: NDArray[np.bool_]) -> Self:
        """The chosen ones in even parts, which are not counted yet."""
        parts = np.where(chosen, np.minimum(self.widths, PARTS), 1)
        whole = np.repeat(np.arange(len(parts)), parts)
        part = np.arange(len(whole)) - np.repeat(np.cumsum(parts) - parts, parts)
        starts = self.starts[whole] + part * self.widths[whole] // parts[whole]
        return type(self)(starts, self.end, np.where(chosen, 0, self.counts)[whole], chosen[whole])


def levels_of(size: int) -> int:
    """How often an axis is counted at most until its intervals are single positions: it looks at its size alone."""
    levels, intervals = 1, MAX_STEPS
    while intervals < size:
        levels, intervals = levels + 1, intervals * PARTS
    return levels


def find_steps(
    axis: Axis,
    positions: NDArray[np.integer],
    weights: NDArray[np.int64],
    budget: Budget,
    price: int,
    borders: Mapping[str, NDArray[np.int64]] = NO_BORDERS,
) -> NDArray[np.int64]:
    """Where the steps of an axis begin, for at most half of the price; its borders and the missing value begin one."""
    each = math.floor(price * FINDING) // levels_of(axis.size)
    starts = _find(axis, positions, weights, budget, each) if each > 0 else even_starts(axis)
    return np.union1d(starts, borders.get(axis.name, ())).astype(np.int64)


def _find(
    axis: Axis, positions: NDArray[np.integer], weights: NDArray[np.int64], budget: Budget, each: int
) -> NDArray[np.int64]:
    """Steps that are found, every count for the same price."""
    deviation = math.sqrt(float(budget.variance(each)))
    present = positions < axis.size
    found = _cut_heavy(Intervals.even(axis.size), positions[present], weights[present], budget, each)
    run = runs(np.maximum(found.counts, 0).astype(np.float64), CLEAR * deviation, MAX_STEPS // 2)
    starts = found.starts[np.searchsorted(run, np.arange(run[-1] + 1))]
    return np.append(starts, axis.size) if axis.nullable else starts


def _cut_heavy(
    intervals: Intervals, positions: NDArray[np.integer], weights: NDArray[np.int64], budget: Budget, price: int
) -> Intervals:
    """Count what is fresh, cut what is heavy, and so on; every count has the same price."""
    sure, rows = SURE * math.sqrt(float(budget.variance(price))), 0
    while True:
        exact = count_steps(intervals.starts, positions, weights)[intervals.fresh]
        intervals = intervals.counted(budget.counts(exact[None, :], price)[0])  # proof: levels
        rows = rows or max(int(intervals.counts.sum()), 1)
        heavy = intervals.fresh & (intervals.widths > 1) & (intervals.counts >= max(sure, rows / MAX_STEPS))
        if not heavy.any():
            return intervals
        intervals = intervals.cut(heavy)
