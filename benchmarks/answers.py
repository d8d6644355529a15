"""Tables without rows: the least noise with which all tables of Adult can be published, and what it takes for it.

The table over some columns is the sum of orthogonal interactions, one for each subset of them. One row changes an
interaction by a vector of squared length Π (1 − 1/n) over its columns. Measuring interactions one by one pays nothing
twice, and how best to share the noise among them has a closed form (Xiao, He, Zhang and Kifer, 2023).
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.timing import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ADULT = (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2)
"""The sizes of Adult's fourteen columns that the optimum was published for."""
PUBLISHED = {1: 3.047, 2: 6.359, 3: 10.515}
"""The root of the mean squared error of all cells of all tables of so many columns, for ρ = 1/2."""

Axes = tuple[int, ...]


def answers(_: str) -> Iterator[Result]:
    """A line for all tables of one, two and three columns, beside whole tables that share ρ evenly."""
    for ways, published in PUBLISHED.items():
        tables = list(combinations(range(len(ADULT)), ways))
        deviations = best_deviations(ADULT, dict.fromkeys(tables, 1.0))
        cells = [math.prod(ADULT[axis] for axis in table) for table in tables]
        variances = [cell_variance(ADULT, table, deviations) for table in tables]
        found = math.sqrt(float(np.average(variances, weights=cells)))
        got = f"{found:.3f}; whole tables {math.sqrt(len(tables)):.3f}"
        yield Result(
            f"error of all tables of {ways} columns of Adult", f"{published}", got, abs(found - published) < 5e-4
        )


def best_deviations(sizes: Sequence[int], weights: Mapping[Axes, float]) -> dict[Axes, float]:
    """The deviation of the noise of every interaction at which weighted tables are known best for ρ = 1/2 in all.

    Minimizes the mean squared error of all cells of the tables, each table's cells weighted: Σ gains · σ² subject to
    Σ cost / σ² = 1, hence σ² ∝ √(cost / gain).
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
