"""Tables that agree with one another: sums of interactions, each of which was measured once, with noise of its own.

A column has the same steps in every table, and with a table every one of fewer of its columns is published. Cells share
noise, and so do tables; but how much noise every interaction has follows from the noise beside the cells, and from that
the noise of every sum of cells.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.release.codes import shares_inside
from sfumato.release.inside import sides_of
from sfumato.release.measured import Measured, NoisyCount
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

    def count(self, allowed: Sequence[Codes]) -> NoisyCount | None:
        """How many rows have allowed values, by the smallest table with all columns of which not all values are.

        All tables that can answer give the same answer, for they agree. There may be none.
        """
        everything = [Codes.of([axis.everything]) for axis in self.axes]
        asked = tuple(axis for axis, codes in enumerate(allowed) if codes != everything[axis])
        if asked not in self.columns:
            return None
        lines = self.columns[asked]
        share = shares_inside(sides_of(self.boxes[lines], [axis.size for axis in self.axes]), allowed)
        least, rows, most = (float(self.counts[lines] @ part) for part in (share == 1, share, share > 0))
        deviation = math.sqrt(max(self._variance(asked, lines[some]) for some in (share == 1, share > 0)))
        return NoisyCount(rows, deviation, max(rows - least, 0.0), max(most - rows, 0.0))

    def _variance(self, axes: Axes, lines: NDArray[np.int64]) -> float:
        """The variance of the sum of some lines of a table, all those in some steps of each of its axes."""
        return self.sum_variance({axis: len(np.unique(self.steps[lines, axis])) for axis in axes})

    def sum_variance(self, chosen: Mapping[int, int]) -> float:
        """The variance of a sum of cells: of all those in some steps of every column of a table, so many as are chosen.

        With s of n steps chosen, an interaction of which a cell has the variance w adds w · Π s(n − s)/(n − 1) over its
        columns, times s²/n² for every other column of the table.
        """
        sizes = self.sizes
        return math.fsum(
            self.own_variance[part]
            * math.prod(chosen[axis] * (sizes[axis] - chosen[axis]) / (sizes[axis] - 1) for axis in part)
            * math.prod((some / sizes[axis]) ** 2 for axis, some in chosen.items() if axis not in part)
            for part in _parts(tuple(chosen))
        )

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


def _parts(axes: Axes) -> list[Axes]:
    """All subsets of the axes, smaller ones first."""
    return [part for size in range(len(axes) + 1) for part in combinations(axes, size)]
