"""The noisy margin of every column, bought beside a tree, which tells how the rows of a box are spread inside it.

A tree cuts an axis a few times only, and with neighbours that are unlike, the rows of a box are far from evenly spread:
which categories are neighbours is a matter of their order. A margin has no order.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.estimation.consistency import MIN_VARIANCE
from sfumato.estimation.margins import shares_of_margin
from sfumato.estimation.shape import Spread, even_spread, spread_of_steps
from sfumato.mechanisms.budget import Budget
from sfumato.methods.positions import MAX_STEPS, even_starts, positions_of, steps_of
from sfumato.release.margins import round_shares
from sfumato.schema import Axis

MAX_CATEGORIES = 2**12
"""Up to so many categories each have a count; more are counted with their neighbours."""


@dataclass(frozen=True, eq=False)
class Margin:
    """The noisy rows in each step of an axis, where the steps begin, and the variance of the noise."""

    starts: NDArray[np.int64]
    counts: NDArray[np.int64]
    variance: float


def buy_spreads(table: Table, budget: Budget, price: int, rows: float, variance: float) -> tuple[Spread, ...] | None:
    """How rows lie along each axis, for a price in all; `None` where noise drowns every margin.

    `rows` is a noisy number of rows with a known variance.
    """
    margins = _buy_margins(table, budget, price)
    sums = [rows, *(float(margin.counts.sum()) for margin in margins.values())]
    precision = 1 / np.maximum([variance, *(m.variance * len(m.counts) for m in margins.values())], MIN_VARIANCE)
    total = float(np.average(sums, weights=precision))
    axes = table.schema.quasi
    spreads, told = [even_spread(axis.size) for axis in axes], False
    for number, margin in margins.items():
        widths = np.diff(margin.starts, append=axes[number].positions)
        shares = shares_of_margin(margin.counts, widths, margin.variance, total)
        if shares is not None:
            spreads[number] = spread_of_steps(margin.starts, round_shares(shares), axes[number].size)
            told = True
    return tuple(spreads) if told else None


def _buy_margins(table: Table, budget: Budget, price: int) -> dict[int, Margin]:
    """The margin of every axis with more than one position, by its number; each has the same part of the price."""
    axes, positions = table.schema.quasi, positions_of(table)
    wide = [number for number, axis in enumerate(axes) if axis.positions > 1]
    each, found = max(price // max(len(wide), 1), 1), dict[int, Margin]()
    for number in wide:
        starts = steps_of_margin(axes[number])
        exact = np.bincount(steps_of(starts, positions[:, number]), table.weights, len(starts)).astype(np.int64)
        noisy = budget.counts(exact[None, :], each)[0]  # proof: margins
        found[number] = Margin(starts, noisy, float(budget.variance(each)))
    return found


def steps_of_margin(axis: Axis) -> NDArray[np.int64]:
    """Where the public steps begin in which an axis is counted: every category, and even steps of numbers."""
    return even_starts(axis, MAX_STEPS if axis.spaced else MAX_CATEGORIES)
