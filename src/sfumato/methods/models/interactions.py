"""Interactions of attributes: what a table of counts tells beyond all smaller ones, measured by itself.

The table over some axes is the sum of orthogonal parts, one for each subset of them: its total, the deviations of each
single axis, the interaction of every pair, and so on. One row changes an interaction by less than a table: by a vector
of squared length Π (1 − 1/n) over its axes. Measuring interactions one by one pays for nothing twice, and how best to
share the noise among them has a closed form (Xiao, He, Zhang, Kifer, 2023).
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.budget import Budget
from sfumato.methods.models.graphical import centre

Axes = tuple[int, ...]


def scaled_interaction(table: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Π n times the interaction of all axes, in whole numbers, and the squared length by which one row changes it."""
    scaled = table
    for axis, size in enumerate(table.shape):
        scaled = size * scaled - scaled.sum(axis=axis, keepdims=True)
    return scaled, math.prod(size * (size - 1) for size in table.shape)


def measure_interaction(table: NDArray[np.int64], budget: Budget, cost: int) -> tuple[NDArray[np.float64], float]:
    """The noisy interaction of all axes of a table under ρ, and the variance of its noise in every direction."""
    scaled, reach = scaled_interaction(table)
    noisy = budget.counts(scaled[None, ...], cost, reach=reach)[0]  # proof: interactions
    share = reach / table.size**2
    return centre(noisy / table.size), share * float(budget.variance(cost))


def best_deviations(sizes: Sequence[int], weights: Mapping[Axes, float]) -> dict[Axes, float]:
    """The deviation of the noise of every interaction at which weighted tables are known best for ρ = 1/2 in all.

    Minimizes the mean squared error of all cells of the tables, each table's cells weighted: Σ gains · σ² subject to
    Σ cost / σ² = 1, hence σ² ∝ √(cost / gain). To spend another ρ, divide by √(2ρ).
    """
    gains: dict[Axes, float] = {}
    for table, weight in weights.items():
        cells = math.prod(sizes[axis] for axis in table)
        for part in _subsets(table):
            spread = math.prod(sizes[axis] ** 2 for axis in table if axis not in part)
            gains[part] = gains.get(part, 0.0) + weight * cells * cost_of(sizes, part) / spread
    roots = {part: math.sqrt(gain * cost_of(sizes, part)) for part, gain in gains.items() if gain > 0}
    total = sum(roots.values())
    return {part: math.sqrt(total * root / gains[part]) for part, root in roots.items()}


def cost_of(sizes: Sequence[int], part: Axes) -> float:
    """The squared length by which one row changes an interaction."""
    return math.prod(1 - 1 / sizes[axis] for axis in part)


def cell_variance(sizes: Sequence[int], table: Axes, deviations: Mapping[Axes, float]) -> float:
    """The variance of one cell of a table that is put together from its interactions."""
    return math.fsum(
        deviations[part] ** 2 * cost_of(sizes, part) / math.prod(sizes[axis] ** 2 for axis in table if axis not in part)
        for part in _subsets(table)
        if part in deviations
    )


def _subsets(axes: Axes) -> list[Axes]:
    return [part for size in range(len(axes) + 1) for part in combinations(axes, size)]
