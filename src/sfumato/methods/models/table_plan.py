"""What Tables measures, in which steps and at which price: all of it from the schema and the total, nothing from rows.

So whoever has the schema and the parameters of a release knows the noise of every cell.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.budget import WHOLE, Budget
from sfumato.mechanisms.noise import SystemSource
from sfumato.methods.models.binning import MIN_VARIANCE
from sfumato.methods.models.interactions import Axes, best_deviations, cell_variance, cost_of, subsets
from sfumato.methods.positions import even_starts
from sfumato.privacy.loss import Loss, Pure
from sfumato.schema import Axis

Best = Literal["largest", "all"]
MAX_CELLS = 2**18
"""Of all published tables together."""
MAX_TABLES = 2**12
STEPS = (256, 192, 128, 96, 64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2)
"""An axis is counted in at most so many steps: the most with which there are not too many cells."""
MAX_DEVIATION = 2.0**48
"""Of the noise in any cell, so that a file holds what it tells."""
MAX_SCALED = 2.0**55
"""Of the noise in whole numbers, so that they fit into 63 bits."""


@dataclass(frozen=True, eq=False)
class TablePlan:
    """All tables of up to `ways` of some axes, in steps that begin at `starts`, for a total of ε or ρ."""

    axes: tuple[Axis, ...]
    starts: tuple[NDArray[np.int64], ...]
    ways: int
    total: Loss
    best: Best = "largest"

    @classmethod
    def of(cls, axes: tuple[Axis, ...], ways: int, total: Loss, best: Best = "largest") -> Self:
        """The plan for the axes of a schema; those with one position tell nothing."""
        varying = tuple(axis for axis in axes if axis.positions > 1)
        ways = min(ways, len(varying))
        return cls(varying, public_steps(varying, ways), ways, total, best)

    def places_of(self, columns: Sequence[Axis]) -> list[Axes]:
        """The table of some columns together, or where it is too large, those of each by itself."""
        places = tuple(self.axes.index(axis) for axis in columns)
        return [places] if len(places) <= self.ways else [(place,) for place in places]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many steps each axis has."""
        return tuple(len(starts) for starts in self.starts)

    @cached_property
    def largest(self) -> list[Axes]:
        """The tables of which all others are margins."""
        return list(combinations(range(len(self.axes)), self.ways))

    @cached_property
    def tables(self) -> list[Axes]:
        """Every table that is published, the total first, smaller ones before larger ones."""
        return [axes for size in range(self.ways + 1) for axes in combinations(range(len(self.axes)), size)]

    @property
    def weights(self) -> dict[Axes, float]:
        """What the squared error of a cell counts in each table: the same in the largest, or all sizes alike."""
        if self.best == "largest":
            return dict.fromkeys(self.largest, 1.0)
        cells = [0] * (self.ways + 1)
        for axes in self.tables:
            cells[len(axes)] += self._cells(axes)
        return {axes: 1 / cells[len(axes)] for axes in self.tables if axes}

    @cached_property
    def prices(self) -> dict[Axes, int]:
        """What every interaction costs under ρ, or every largest table under ε; the dearest takes what is left.

        Under ρ the share is cost / σ² of `best_deviations` for the weighted tables. Under ε the top interactions have
        most of the error, Σ Π(n − 1) · 2/e² with Σ e given, where e ∝ (Π(n − 1))^(1/3) is best.
        """
        if isinstance(self.total, Pure):
            wanted = {axes: math.prod(self.sizes[axis] - 1 for axis in axes) ** (1 / 3) for axes in self.largest}
        else:
            best = best_deviations(self.sizes, self.weights)
            wanted = {part: cost_of(self.sizes, part) / deviation**2 for part, deviation in best.items()}
        whole = math.fsum(wanted.values())
        found = {axes: max(math.floor(share / whole * WHOLE), 1) for axes, share in wanted.items()}
        dearest = max(found, key=lambda axes: found[axes])
        return {**found, dearest: found[dearest] + WHOLE - sum(found.values())}

    @cached_property
    def variances(self) -> dict[Axes, float]:
        """The variance of every interaction's noise, the same in every direction.

        Under ρ, Π n times the interaction gets noise of Π n(n − 1) times the variance that the price buys. Under ε it
        is that of the mean of several tables, each with its own noise.
        """
        if not isinstance(self.total, Pure):
            return {part: max(cost_of(self.sizes, part) * self._bought(part), MIN_VARIANCE) for part in self.tables}
        precisions: dict[Axes, list[float]] = {}
        for axes in self.largest:
            for part in subsets(axes):
                precisions.setdefault(part, []).append(1 / self.variance_within(axes, part))
        return {part: 1 / math.fsum(precision) for part, precision in precisions.items()}

    def variance_within(self, table: Axes, part: Axes) -> float:
        """The variance of an interaction that is told by one whole table: each of its cells is a sum of others."""
        added = math.prod(self.sizes[axis] for axis in table if axis not in part)
        return max(self._bought(table), MIN_VARIANCE) * added

    def cell_variance(self, table: Axes) -> float:
        """The variance of every cell of a table."""
        return cell_variance(self.sizes, table, {part: math.sqrt(self.variances[part]) for part in subsets(table)})

    @property
    def fits(self) -> bool:
        """Whether numbers hold the noise: that of every cell and, under ρ, that of scaled interactions."""
        cells = max(math.sqrt(self.cell_variance(table)) for table in self.tables)
        scaled = max(self._cells(part) * math.sqrt(self.variances[part]) for part in self.tables)
        return cells <= MAX_DEVIATION and (isinstance(self.total, Pure) or scaled <= MAX_SCALED)

    def _cells(self, axes: Axes) -> int:
        return math.prod(self.sizes[axis] for axis in axes)

    def _bought(self, axes: Axes) -> float:
        """The variance of a count for the price of a table."""
        return float(Budget(self.total, SystemSource()).variance(self.prices[axes]))


def public_steps(axes: tuple[Axis, ...], ways: int) -> tuple[NDArray[np.int64], ...]:
    """Where the steps of every axis begin: as many steps as all tables of up to `ways` axes leave cells for."""
    tables = sum(math.comb(len(axes), size) for size in range(ways + 1))
    for steps in STEPS if tables <= MAX_TABLES else ():
        starts = tuple(even_starts(axis, steps) for axis in axes)
        if cells_of([len(begin) for begin in starts], ways) <= MAX_CELLS:
            return starts
    raise ParameterError(
        f"ways is {ways}; all tables of up to {ways} of {len(axes)} columns are {tables:,}, and may be at most "
        f"{MAX_TABLES:,} with at most {MAX_CELLS:,} cells; choose fewer ways, or give some columns the role ignore"
    )


def cells_of(sizes: list[int], ways: int) -> int:
    """How many cells all tables of up to `ways` axes have: sums of products, one axis after the other."""
    sums = [1] + [0] * ways
    for size in sizes:
        for number in range(ways, 0, -1):
            sums[number] += sums[number - 1] * size
    return sum(sums)
