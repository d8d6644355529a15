"""Attributes in bins: an axis in public steps with noisy counts, and its steps gathered into bins of similar mass.

An attribute is seen through *views*: its axis cut into up to twelve bins of similar noisy mass, and those gathered
into six, four, three and two.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sfumato.estimation.consistency import histograms_with_totals
from sfumato.mechanisms.budget import Budget, ticks
from sfumato.methods.models.rows import MAX_ROWS, Columns
from sfumato.methods.positions import MAX_STEPS, even_starts, steps_of
from sfumato.privacy.loss import Pure
from sfumato.schema import Axis

SINGLE = Fraction(1, 10)
"""Share of the budget for counting every attribute by itself."""
FINEST = 12
VIEWS = (12, 6, 4, 3, 2)
"""Bins of each view; every number divides the first, so that the bins are nested."""
PRECISION = 2**20
"""Shares of bins are whole multiples of one in this many, so that scores are exact integers."""
MAX_VALUES = 2 * 10**8
"""Values of all sampled rows together."""
MIN_VARIANCE = 1e-6
"""The variance of noise too small to matter, so that a fit can divide by it."""


@dataclass(frozen=True, eq=False)
class Attribute:
    """The steps of an axis with their noisy counts, and the bin of each step."""

    name: str
    starts: NDArray[np.int64]
    positions: int
    counts: NDArray[np.float64]  # not negative
    variance: float  # of the noise in each count
    bin_of_step: NDArray[np.int64]
    views: tuple[NDArray[np.int64], ...]  # the group of each bin, finest view first
    counted: tuple[tuple[NDArray[np.int64], float], ...] = ()  # how the steps were counted, and with what variance

    @classmethod
    def binned(cls, axis: Axis, starts: NDArray[np.int64], counts: NDArray[np.float64], variance: float) -> Self:
        """Bins and views by the middle of each step's share of the noisy mass."""
        mass = counts + max(counts.sum(), 1.0) * 1e-9
        middle = (np.cumsum(mass) - mass / 2) / mass.sum()
        fine = np.minimum((middle * FINEST).astype(np.int64), FINEST - 1)
        used, bin_of_step = np.unique(fine, return_inverse=True)
        views: list[NDArray[np.int64]] = []
        for groups in VIEWS:
            view = np.unique(used * groups // FINEST, return_inverse=True)[1]
            if not views or 0 < view.max() < views[-1].max():
                views.append(view)
        return cls(axis.name, starts, axis.positions, counts, variance, bin_of_step, tuple(views))

    @classmethod
    def every(cls, axis: Axis) -> Self:
        """Every position a bin of its own, all alike."""
        each = np.arange(axis.positions)
        return cls(axis.name, each, axis.positions, np.ones(axis.positions), 0.0, each, (each,))

    def coarse(self, bins: int) -> Self:
        """The attribute in the groups of its finest view with at most `bins`."""
        view = next((view for view in self.views if view.max() < bins), np.zeros(self.bins, dtype=np.int64))
        return replace(self, bin_of_step=view[self.bin_of_step], views=(np.arange(view.max() + 1),))

    @property
    def bins(self) -> int:
        return len(self.views[0])

    @cached_property
    def sizes(self) -> list[int]:
        """How many groups each view has."""
        return [int(view.max()) + 1 for view in self.views]

    @cached_property
    def bin_counts(self) -> NDArray[np.float64]:
        """Noisy rows of each bin."""
        return np.bincount(self.bin_of_step, self.counts, self.bins).astype(np.float64)

    @property
    def deviation(self) -> float:
        """Of the noise in a bin, whose steps were counted one by one."""
        return float(np.sqrt(self.variance * len(self.starts) / self.bins))

    @cached_property
    def shares(self) -> NDArray[np.int64]:
        """The bins' shares of the noisy mass in units of one in `PRECISION`, which they sum up to."""
        reached = np.cumsum(self.bin_counts)
        edges = np.round(reached / reached[-1] * PRECISION) if reached[-1] > 0 else np.zeros(self.bins)
        edges[-1] = PRECISION
        return np.diff(edges, prepend=0).astype(np.int64)

    def group_starts(self, view: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the groups of a view begin, which are rising runs of steps."""
        group = view[self.bin_of_step]
        return self.starts[np.searchsorted(group, np.arange(group[-1] + 1))]

    def bin_of(self, positions: NDArray[np.integer]) -> NDArray[np.int64]:
        """The bin of each position."""
        return self.bin_of_step[steps_of(self.starts, positions)]


Cut = Callable[[Axis, NDArray[np.int64], NDArray[np.float64], float], Attribute]
"""How an axis with noisy counts of its steps, and their variance, becomes an attribute in bins."""


Find = Callable[[Axis, NDArray[np.integer], NDArray[np.int64], Budget, int], NDArray[np.int64]]
"""Where the steps of a wide axis begin, found for a part of a price in the positions of cells and their rows."""


def count_steps(
    starts: NDArray[np.int64], positions: NDArray[np.integer], weights: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The exact rows in each step."""
    return np.bincount(steps_of(starts, positions), weights, len(starts)).astype(np.int64)


def count_attributes(
    columns: Columns,
    budget: Budget,
    share: Fraction = SINGLE,
    cut: Cut = Attribute.binned,
    *,
    find: Find | None = None,
    by_size: bool = False,
) -> list[Attribute]:
    """Every attribute by itself: noisy counts of its steps that agree on the number of rows, for a share in all.

    They pay alike or, `by_size`, so that counts of all steps together are off as little as they can be. Steps of wide
    axes are even, unless they are found for a part of the price.
    """
    starts = [even_starts(axis) for axis in columns.axes]
    prices = prices_of([len(begin) for begin in starts], ticks(share), budget, by_size)
    for number, axis in enumerate(columns.axes if find else ()):
        if find and axis.size > MAX_STEPS:
            left = int(budget.left[0])
            starts[number] = find(axis, columns.positions[number], columns.weights, budget, int(prices[number]))
            prices[number] -= left - int(budget.left[0])
    variances = np.maximum(budget.variance(prices), MIN_VARIANCE)
    noisy = []
    for begin, positions, price in zip(starts, columns.positions, prices, strict=True):
        exact = count_steps(begin, positions, columns.weights)
        noisy.append(budget.counts(exact[None, :], price)[0])  # proof: single-attributes
    precision = 1 / (variances * [len(begin) for begin in starts])
    rows = max(1.0, float(np.average([counts.sum() for counts in noisy], weights=precision)))
    found = []
    for axis, begin, counts, variance in zip(columns.axes, starts, noisy, variances.tolist(), strict=True):
        attribute = cut(axis, begin, _with_total(counts, rows), variance)
        found.append(replace(attribute, counted=((counts, variance),)))
    return found


def _with_total(counts: NDArray[np.number], rows: float) -> NDArray[np.float64]:
    """Counts that are not negative and add up to the rows, as near to noisy ones as can be."""
    level = counts + (rows - counts.sum()) / len(counts)
    return np.asarray(histograms_with_totals(level[None, :], np.array([rows]))[0])


def prices_of(steps: Sequence[int], total: int, budget: Budget, by_size: bool = True) -> NDArray[np.int64]:
    """What counting attributes of so many steps costs each, in all at most `total`.

    The mean error of all steps is Σ n·b under ε with Σ 1/b given, where b ∝ 1/√n is best, so prices ∝ √n. Under ρ it is
    Σ n·σ with Σ 1/σ² given, where σ³ ∝ 1/n is, so prices ∝ n^(2/3).
    """
    power = (1 / 2 if isinstance(budget.total, Pure) else 2 / 3) if by_size else 0
    weights = np.array(steps, dtype=np.float64) ** power
    whole = np.rint(weights * PRECISION).astype(np.int64).tolist()
    return np.array([max(total * weight // sum(whole), 1) for weight in whole], dtype=np.int64)


def count_again(attributes: Sequence[Attribute], columns: Columns, budget: Budget) -> list[Attribute]:
    """The same attributes and bins, counted once more for all that is left, averaged by how little noise there is."""
    prices = prices_of([len(attribute.starts) for attribute in attributes], int(budget.left[0]), budget)
    variances = np.maximum(budget.variance(prices), MIN_VARIANCE)
    rows = max(float(attributes[0].counts.sum()), 1.0)
    found = []
    for attribute, positions, price, variance in zip(
        attributes, columns.positions, prices, variances.tolist(), strict=True
    ):
        exact = count_steps(attribute.starts, positions, columns.weights)
        noisy = budget.counts(exact[None, :], price)[0]  # proof: counted-again
        trust = attribute.variance / (attribute.variance + variance)
        counts = _with_total(attribute.counts + trust * (noisy - attribute.counts), rows)
        counted = (*attribute.counted, (noisy, variance))
        found.append(replace(attribute, counts=counts, variance=trust * variance, counted=counted))
    return found


def rows_to_sample(attributes: Sequence[Attribute]) -> int:
    """As many rows as the noisy counts speak of, up to a limit; fewer of many attributes."""
    most = min(MAX_ROWS, MAX_VALUES // len(attributes))
    return min(max(1, round(float(attributes[0].counts.sum()))), most)
