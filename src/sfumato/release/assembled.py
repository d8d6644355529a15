"""Tables that agree with one another: sums of interactions, each of which was measured once, with noise of its own.

A column has the same steps in every table, and with a table every one of fewer of its columns is published. Cells share
noise, and so do tables; but how much noise every interaction has follows from the noise beside the cells, and from that
the noise of every sum of cells.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.estimation.shape import Side
from sfumato.release.codes import shares_inside
from sfumato.release.coverage import Extent, Floats, Part
from sfumato.release.measured import Measured, NoisyAmount, Told
from sfumato.schema.codes import Codes

Axes = tuple[int, ...]
ASSEMBLED = "tables"
"""The name of the file."""
LAST_DIGIT, ROUNDING = 1e-3, 1e-9
"""How far counts may be off as they are written, and, as a share of the largest one, by arithmetic."""


@dataclass(frozen=True, eq=False)
class Assembled(Measured):
    """All tables of up to some number of columns, with as much noise in one cell of a table as in another."""

    file: ClassVar[str] = ASSEMBLED
    whole: ClassVar[bool] = False

    def tell(self, parts: Sequence[Part], target: int | None = None) -> Told | None:
        """What rows in disjoint parts add up to, by the smallest table with all columns that are asked about.

        All tables that can answer give the same answer, for they agree. There may be none; without one that has the
        column to add up, there may be one that tells how many rows there are.
        """
        everything = [Codes.of([axis.everything]) for axis in self.axes]
        asked = {axis for part in parts for axis, codes in enumerate(part.codes) if codes != everything[axis]}
        for wanted in (asked | {target} - {None}, asked):
            axes = tuple(sorted(axis for axis in wanted if axis is not None))
            if axes in self.columns:
                lines = self.columns[axes]
                order = lines[np.lexsort(self.steps[lines][:, axes[::-1]].T)] if axes else lines
                sides = [Side(side.lo[order], side.hi[order], side.missing[order], side.size) for side in self.sides]
                share = sum((shares_inside(sides, part.codes) for part in parts), np.zeros(len(order)))
                return ByCells(self, axes, order, share, self.extent(parts, target).of_boxes(order))
        return None

    def variance(self, axes: Axes, worth: Floats) -> float:
        """The variance of Σ a_i c_i over the cells of a table, by the steps of its axes.

        An interaction of which a cell has the variance w is noise whose sums along each of its n_a steps are zero: it
        adds w Π n_a/(n_a − 1) · ‖u‖², where u is the worth averaged over all other columns, less its mean along each.
        """
        found = 0.0
        for part in _parts(axes):
            own = worth.mean(axis=tuple(place for place, axis in enumerate(axes) if axis not in part))
            scale = self.own_variance[part]
            for place, axis in enumerate(part):
                own = own - own.mean(axis=place, keepdims=True)
                scale *= self.sizes[axis] / max(self.sizes[axis] - 1, 1)
            found += scale * float((own**2).sum())
        return found

    @cached_property
    def own_variance(self) -> dict[Axes, float]:
        """The variance of a cell of each interaction: that of a cell of its table, less what smaller ones add to it."""
        found: dict[Axes, float] = {}
        for axes, lines in sorted(self.columns.items(), key=lambda table: len(table[0])):
            added = (
                found[part] / math.prod(self.sizes[axis] ** 2 for axis in axes if axis not in part)
                for part in _parts(axes)[:-1]
            )
            found[axes] = max(float(self.noise[lines[0]]) ** 2 - math.fsum(added), 0.0)
        return found

    @cached_property
    def columns(self) -> dict[Axes, NDArray[np.int64]]:
        """The lines of every table, by the axes that it does not leave out."""
        some = self.boxes.widths < [axis.positions for axis in self.axes]
        return {tuple(np.flatnonzero(some[lines[0]]).tolist()): lines for lines in self.lines}

    @cached_property
    def sizes(self) -> dict[int, int]:
        """In how many steps each axis is counted."""
        return {axes[0]: len(lines) for axes, lines in self.columns.items() if len(axes) == 1}

    @cached_property
    def steps(self) -> NDArray[np.int64]:
        """Where the step of each line begins on each axis, −1 being that of the missing value: (lines, axes)."""
        return np.where(self.boxes.lo > self.boxes.hi, -1, self.boxes.lo).astype(np.int64)

    def starts(self, axis: int) -> NDArray[np.int64]:
        """Where the steps of an axis begin, the missing value last, as positions."""
        found = np.unique(self.steps[self.columns[axis,], axis])
        return np.append(found[found >= 0], [self.axes[axis].size] * int(found[0] < 0))

    def counts_of(self, axes: Axes) -> NDArray[np.float64]:
        """The counts of a table by the steps of its axes."""
        lines = self.columns[axes]
        order = np.lexsort(self.steps[lines][:, axes[::-1]].T) if axes else np.zeros(1, dtype=np.int64)
        return np.asarray(self.counts[lines][order].reshape([self.sizes[axis] for axis in axes]))

    def refuse(self, path: Path) -> None:
        """Refuse tables that cannot be sums of interactions."""
        super().refuse(path)
        if len(self.columns) <= self.table[-1]:
            raise ReleaseError(f"{path}: two tables have the same columns")
        for axes, lines in self.columns.items():
            if any(part not in self.columns for part in _parts(axes)):
                raise ReleaseError(f"{path}: a table is there, but not all tables of fewer of its columns")
            if (self.noise[lines] != self.noise[lines[0]]).any():
                raise ReleaseError(f"{path}: cells of one table differ in their noise")
            for axis in axes:
                alone = self.steps[self.columns[axis,], axis]
                if not np.array_equal(np.unique(self.steps[lines, axis]), np.sort(alone)):
                    raise ReleaseError(f"{path}: tables count {self.axes[axis].name!r} in different steps")
        self._refuse_disagreement(path)

    def _refuse_disagreement(self, path: Path) -> None:
        """Refuse tables of which one is not a margin of the other, but for the digits that were rounded off."""
        exactness = ROUNDING * float(np.abs(self.counts).max())
        for axes in self.columns:
            for place, axis in enumerate(axes):
                margin, other = self.counts_of(axes).sum(axis=place), self.counts_of(axes[:place] + axes[place + 1 :])
                if (np.abs(margin - other) > LAST_DIGIT * (self.sizes[axis] + 1) + exactness).any():
                    raise ReleaseError(f"{path}: two tables with {self.axes[axis].name!r} do not agree")


@dataclass(frozen=True, eq=False)
class ByCells(Told):
    """The lines of a table in the order of their steps, and the share of each that is asked about."""

    tables: Assembled
    axes: Axes
    lines: NDArray[np.int64]
    share: Floats
    extent: Extent

    def amount(self, shift: float = 0.0) -> NoisyAmount:
        low, high = (end[:, 0] for end in self.extent.ends(shift))
        middle = self.share * ((self.extent.least + self.extent.most)[:, 0] / 2 - shift)
        counts, shape = self.tables.counts[self.lines], [self.tables.sizes[axis] for axis in self.axes]
        least, amount, most = (float(counts @ worth) for worth in (low, middle, high))
        variance = max(self.tables.variance(self.axes, worth.reshape(shape)) for worth in (low, high))
        return NoisyAmount(min(least, amount), amount, max(most, amount), math.sqrt(variance))


def _parts(axes: Axes) -> list[Axes]:
    """All subsets of the axes, smaller ones first."""
    return [part for size in range(len(axes) + 1) for part in combinations(axes, size)]
