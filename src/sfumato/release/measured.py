"""Tables that were measured with noise, beside the rows made from them: what counts of their cells are, with intervals.

A line is a cell of a table: a label for every column, `*` for those that the table leaves out, its noisy count, and the
standard deviation of its noise, which no other line shares. A table parts all rows, so a count of rows is a sum of
lines wherever conditions cut no cell, and its noise is known.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.estimation.shape import Side
from sfumato.release.boxes import Boxes
from sfumato.release.coverage import DEVIATIONS, Extent, Floats, Integers, Part, cover, worth_of
from sfumato.release.folder import read_columns, read_numbers
from sfumato.release.inside import sides_of
from sfumato.release.labels import parse_labels, span_keys, spell_boxes, unused_names
from sfumato.schema import Axis

MEASURED = "measured"
"""The name of the file."""
OWN = ("table", "count", "noise")
"""Its columns that are not the schema's."""
NOISE = (1e-4, 1e15)
"""The least and the most that noise may be: beyond, squares and their sums lose what they tell."""
MOST_ROWS = 2**53
SLACK, TINY = 1e-9, 1e-300


class NoisyAmount(NamedTuple):
    """What some rows add up to: an unbiased amount, and the standard deviation of its noise.

    Where conditions cut cells, or a cell has rows of different worth, it may be from the `least` to the `most`.
    """

    least: float
    amount: float
    most: float
    deviation: float


class Told(ABC):
    """What tables tell of some rows."""

    @abstractmethod
    def amount(self, shift: float = 0.0) -> NoisyAmount:
        """What the rows add up to, with `shift` taken off the worth of each."""

    def ends(self, shift: float = 0.0) -> tuple[float, float]:
        """Its interval."""
        found = self.amount(shift)
        return found.least - DEVIATIONS * found.deviation, found.most + DEVIATIONS * found.deviation


@dataclass(frozen=True, eq=False)
class ByTables(Told):
    """Lines inside the conditions, of one or more tables of which no cell is cut; their noise is independent.

    What they tell together is Σ(c_t/v_t) / Σ(1/v_t) with variance 1 / Σ(1/v_t).
    """

    table: Integers
    counts: Floats
    variances: Floats
    extent: Extent

    def amount(self, shift: float = 0.0) -> NoisyAmount:
        low, high = (end[:, 0] for end in self.extent.ends(shift))
        variances = np.bincount(self.table, self.variances * np.maximum(np.abs(low), np.abs(high)) ** 2)
        trust = 1 / np.maximum(variances, TINY)
        least, most = (
            float(np.average(np.bincount(self.table, self.counts * end), weights=trust)) for end in (low, high)
        )
        deviation = math.sqrt(1 / trust.sum()) if variances.any() else 0.0
        return NoisyAmount(least, (least + most) / 2, most, deviation)


@dataclass(frozen=True, eq=False)
class Measured:
    """Cells of tables, as boxes over all columns, the sensitive one last."""

    file: ClassVar[str] = MEASURED
    whole: ClassVar[bool] = True
    """Whether counts are whole numbers, as they are where noise was added to them alone."""
    axes: tuple[Axis, ...]
    boxes: Boxes
    table: NDArray[np.int64]  # rising
    counts: NDArray[np.int64] | NDArray[np.float64]
    noise: NDArray[np.float64]

    @cached_property
    def lines(self) -> list[NDArray[np.int64]]:
        """The lines of every table."""
        return np.split(np.arange(len(self.table)), np.flatnonzero(np.diff(self.table)) + 1)

    def tell(self, parts: Sequence[Part], target: int | None = None) -> Told | None:
        """What rows in disjoint parts add up to, by all tables of which these cut no cell; nothing if there is none.

        Of tables whose cells hold rows of different worth, those tell that leave least open.
        """
        extent = self.extent(parts, target)
        inside, touched = extent.inside[:, 0], extent.touched[:, 0]
        tables = self.table[-1] + 1
        whole = np.bincount(self.table, touched & ~inside, tables) == 0
        if not whole.any():
            return None
        open_ = np.bincount(self.table, np.abs(self.counts) * (extent.most - extent.least)[:, 0], tables)
        whole &= open_ <= open_[whole].min() * (1 + SLACK)
        some = np.flatnonzero(inside & whole[self.table])
        some = some if len(some) else np.flatnonzero(whole[self.table])[:1]
        number = np.unique(self.table[some], return_inverse=True)[1]
        return ByTables(number, self.counts[some].astype(np.float64), self.noise[some] ** 2, extent.of_boxes(some))

    def extent(self, parts: Sequence[Part], target: int | None = None) -> Extent:
        """How the parts lie to the lines, all of whose columns are conditions here."""
        sides, held = self.sides, np.ones((len(parts), 1), dtype=bool)
        worths = [worth_of(part, target, self.axes, sides) for part in parts]
        return cover(sides, [part.codes for part in parts], held, worths)

    @cached_property
    def sides(self) -> list[Side]:
        """The lines along each axis."""
        return sides_of(self.boxes, [axis.size for axis in self.axes])

    def frame(self) -> pl.DataFrame:
        """The lines as they are published, in the order of tables and labels."""
        labels, number = spell_boxes(self.boxes, self.axes)
        order = np.lexsort((number, self.table))
        table, count, noise = unused_names(OWN, self.axes)
        return (
            labels[number[order]]
            .insert_column(0, pl.Series(table, self.table[order] + 1))
            .with_columns(
                pl.Series(count, self.counts[order]), pl.Series(noise, [float(f"{x:.6g}") for x in self.noise[order]])
            )
        )

    def refuse(self, path: Path) -> None:
        """Refuse tables that do not part the whole domain: a cell for every combination of parts of its axes."""
        for lines in self.lines:
            some, cells, code = self.boxes[lines], 1, np.zeros(len(lines), dtype=np.int64)
            parted = True
            for axis, lo, hi, missing in zip(self.axes, some.lo.T, some.hi.T, some.missing.T, strict=True):
                _, first, part = np.unique(span_keys(lo, hi, missing), return_index=True, return_inverse=True)
                parted = parted and _parts(axis, lo[first], hi[first], missing[first])
                cells, code = cells * len(first), code * len(first) + part
            if not parted or not cells == len(np.unique(code)) == len(lines):
                raise ReleaseError(f"{path}: the lines of a table do not part the values of its columns")


def read_measured(path: Path, axes: tuple[Axis, ...], kind: type[Measured] = Measured) -> Measured:
    """The tables in a file that a release wrote."""
    table, count, noise = unused_names(OWN, axes)
    frame = read_columns(path, [table, *(axis.name for axis in axes), count, noise])
    parsed = [parse_labels(frame[axis.name], axis, str(path), own=True) for axis in axes]
    boxes = Boxes.of_spans(np.stack([column.spans[column.code] for column in parsed], axis=1))
    numbers = read_numbers(frame[table], path) - 1
    deviations = read_numbers(frame[noise], path, whole=False)
    counts = read_numbers(frame[count], path, whole=kind.whole, least=-MOST_ROWS)
    if (np.diff(numbers) < 0).any() or len(np.unique(numbers)) != numbers[-1] + 1:
        raise ReleaseError(f"{path}: tables are not numbered 1, 2, 3 and so on, one after the other")
    least, most = NOISE
    if not ((deviations >= least) & (deviations <= most)).all():
        raise ReleaseError(f"{path}: a {noise} is not between {least:g} and {most:g}")
    found = kind(axes, boxes, numbers, counts, deviations)
    found.refuse(path)
    return found


def _parts(axis: Axis, lo: NDArray[np.int32], hi: NDArray[np.int32], missing: NDArray[np.bool_]) -> bool:
    """Whether spans, rising, hold every value of an axis once."""
    some = lo <= hi
    first, last = lo[some], hi[some]
    once = len(first) > 0 and first[0] == 0 and last[-1] == axis.size - 1 and (first[1:] == last[:-1] + 1).all()
    return bool(once) and int(missing.sum()) == axis.nullable
