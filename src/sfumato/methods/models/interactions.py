"""Interactions: what a table of counts tells beyond all smaller ones, and how best to share noise among them.

The table over some columns is the sum of orthogonal parts, one for each subset of them: its total, how each column by
itself is off even, what every pair tells beyond that, and so on. One row changes an interaction by a vector of squared
length Π (1 − 1/n) over its columns, which is less than a table, and measuring interactions one by one pays for nothing
twice. How best to share the noise among them has a closed form (Xiao, He, Zhang and Kifer, 2023).
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Axes = tuple[int, ...]


def subsets(columns: Axes) -> list[Axes]:
    """All subsets, smaller ones first."""
    return [part for size in range(len(columns) + 1) for part in combinations(columns, size)]


def cost_of(sizes: Sequence[int], part: Axes) -> float:
    """The squared length by which one row changes an interaction."""
    return math.prod(1 - 1 / sizes[column] for column in part)


def best_deviations(sizes: Sequence[int], weights: Mapping[Axes, float]) -> dict[Axes, float]:
    """The deviation of the noise of every interaction at which weighted tables are known best for ρ = 1/2 in all.

    Minimizes the squared error of all cells of the tables, each table's cells weighted: Σ gains · σ² subject to
    Σ cost / σ² = 1, hence σ² ∝ √(cost / gain), and an interaction's share of ρ is cost / σ².
    """
    terms: dict[Axes, list[float]] = {}
    for table, weight in weights.items():
        cells = math.prod(sizes[column] for column in table)
        for part in subsets(table):
            terms.setdefault(part, []).append(weight * cells * _seen(sizes, table, part))
    gains = {part: math.fsum(gain) for part, gain in terms.items()}
    roots = {part: math.sqrt(gain * cost_of(sizes, part)) for part, gain in gains.items() if gain > 0}
    total = math.fsum(roots.values())
    return {part: math.sqrt(total * root / gains[part]) for part, root in roots.items()}


def cell_variance(sizes: Sequence[int], table: Axes, deviations: Mapping[Axes, float]) -> float:
    """The variance of one cell of a table that is put together from its interactions."""
    return math.fsum(deviations[part] ** 2 * _seen(sizes, table, part) for part in subsets(table) if part in deviations)


def _seen(sizes: Sequence[int], table: Axes, part: Axes) -> float:
    """How much of the variance of an interaction's noise a cell of a table has: Π (1 − 1/n), and 1/n² for the rest."""
    return cost_of(sizes, part) / math.prod(sizes[column] ** 2 for column in table if column not in part)


def margin(counts: NDArray[np.int64], table: Axes, part: Axes) -> NDArray[np.int64]:
    """The table over some of the columns of a table."""
    return np.asarray(counts.sum(axis=tuple(place for place, column in enumerate(table) if column not in part)))


def centre(counts: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
    """The interaction of all columns of a table, or what is left of noise that was added to it."""
    found = counts.astype(np.float64)
    for axis in range(found.ndim):
        found = found - found.mean(axis=axis, keepdims=True)
    return found


def scaled_interaction(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Π n times the interaction of all columns, in whole numbers, and the squared length by which one row changes it.

    Along an axis, a row more adds n − 1 in its place and −1 in the n − 1 others: (n − 1)² + (n − 1) = n(n − 1).
    """
    scaled = counts
    for axis, size in enumerate(counts.shape):
        scaled = size * scaled - scaled.sum(axis=axis, keepdims=True)
    return scaled, math.prod(size * (size - 1) for size in counts.shape)


def put_together(
    sizes: Sequence[int], table: Axes, interactions: Mapping[Axes, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """The table whose interactions these are: each spread evenly over the columns that it leaves out."""
    found = np.zeros([sizes[column] for column in table])
    for part in subsets(table):
        others = [place for place, column in enumerate(table) if column not in part]
        spread = math.prod(found.shape[place] for place in others)
        found += np.expand_dims(interactions[part], others) / spread
    return found
