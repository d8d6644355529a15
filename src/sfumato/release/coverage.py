"""How the rows that are asked about lie to boxes: which are inside, which are touched, and what a row there is worth.

A question is about a union of disjoint parts. Whether a row is in one depends on its box and on its sensitive value;
values that are asked about alike are one class. Inside a part conditions are on each axis by itself, so how much of a
box is in it is a product over axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.estimation.shape import Side
from sfumato.release.codes import allowed_in, counted, lie
from sfumato.schema import Axis, Schema
from sfumato.schema.codes import Codes, positions_among
from sfumato.schema.numeric import NumericAxis

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
T = TypeVar("T", bound=np.generic)
COVERAGE = 0.95
DEVIATIONS = NormalDist().inv_cdf((1 + COVERAGE) / 2)
"""How many standard deviations on either side of a normal variable's mean hold it so often."""
NEARLY = 1 - 1e-6
"""The share of a box from which on positions are counted exactly, to tell whether all of it is there."""


@dataclass(frozen=True, eq=False)
class Part:
    """Values that are allowed on every axis of a schema, and what a row among them is worth, if that is no column's."""

    codes: tuple[Codes, ...]
    worth: float = 1.0


@dataclass(frozen=True, eq=False)
class Region:
    """Disjoint parts, and the place of the numeric column that tells what a row is worth, if one does.

    All that asks which axes are sensitive is asked here: `quasi`, `chosen` and `worths_of_values`.
    """

    schema: Schema
    parts: tuple[Part, ...]
    target: int | None = None

    @property
    def of(self) -> NumericAxis | None:
        """The column whose values are added up."""
        axis = None if self.target is None else self.schema.axes[self.target]
        assert axis is None or isinstance(axis, NumericAxis)
        return axis

    @property
    def of_values(self) -> bool:
        """Whether that column is sensitive."""
        return self.target is not None and self.target >= len(self.schema.quasi)

    def quasi(self, part: Part) -> tuple[Codes, ...]:
        """What a part allows on the quasi-identifiers."""
        return part.codes[: len(self.schema.quasi)]

    def chosen(self, part: Part) -> Flags:
        """The positions of the sensitive attribute that a part allows."""
        secrets = part.codes[len(self.schema.quasi) : len(self.schema.axes)]
        return positions_among(self.schema.sensitive, secrets)

    @property
    def codes_of_values(self) -> Integers:
        """The code in the column whose values are added up of each position of the sensitive attribute."""
        assert self.target is not None
        apart = self.schema.sensitive.apart(np.arange(self.schema.sensitive.positions))
        return apart[self.target - len(self.schema.quasi)].astype(np.int64)

    def worths_of_values(self) -> tuple[Floats, Floats]:
        """The least and the most that a sensitive value is worth, by position; a missing one nothing."""
        axis, codes = self.of, self.codes_of_values
        assert axis is not None
        low, high = axis.worths(np.maximum(codes, 0))
        return np.where(codes < 0, 0.0, low), np.where(codes < 0, 0.0, high)


class Extent(NamedTuple):
    """Of every box and class of values, whether all rows are surely asked about, whether some may be, and the least and
    the most that such a row is worth: each (boxes, classes)."""

    inside: Flags
    touched: Flags
    least: Floats
    most: Floats

    def ends(self, shift: float = 0.0) -> tuple[Floats, Floats]:
        """The least and the most that a row adds, if `shift` is taken off the worth of everyone asked about."""
        low, high = self.least - shift, self.most - shift
        return (
            np.where(self.inside, low, np.where(self.touched, np.minimum(low, 0), 0)),
            np.where(self.inside, high, np.where(self.touched, np.maximum(high, 0), 0)),
        )

    def of_boxes(self, some: NDArray[np.generic]) -> Extent:
        """The same of some of the boxes."""
        return Extent(*(part[some] for part in self))


@dataclass(frozen=True, eq=False)
class Coverage:
    """A region held against boxes: the class of every sensitive value, the last one for those not asked about."""

    region: Region
    class_of: Integers
    extent: Extent

    @classmethod
    def of(cls, region: Region, sides: Sequence[Side]) -> Coverage:
        """The region held against boxes along each quasi-identifier."""
        masks = np.zeros((len(region.parts), region.schema.sensitive.positions), dtype=bool)
        for mask, part in zip(masks, region.parts, strict=True):
            mask[:] = region.chosen(part)
        asked = np.flatnonzero(masks.any(axis=0))
        kinds: dict[tuple[object, ...], int] = {}
        worth = region.codes_of_values if region.of_values else np.zeros(masks.shape[1], dtype=np.int64)
        for value in asked.tolist():
            kinds.setdefault((worth[value], masks[:, value].tobytes()), len(kinds))
        class_of, first = np.full(masks.shape[1], len(kinds)), np.zeros(len(kinds), dtype=np.int64)
        for value in asked.tolist()[::-1]:
            class_of[value] = kinds[worth[value], masks[:, value].tobytes()]
            first[class_of[value]] = value
        worths = [worth_of(part, region.target, region.schema.axes, sides) for part in region.parts]
        if region.of_values:
            low, high = region.worths_of_values()
            worths = [(low[None, first], high[None, first])] * len(region.parts)
        return cls(
            region, class_of, cover(sides, [region.quasi(part) for part in region.parts], masks[:, first], worths)
        )

    @property
    def classes(self) -> int:
        """How many there are, that of values not asked about counted."""
        return int(self.extent.inside.shape[1])

    def by_class(self, counts: Floats) -> Floats:
        """Counts of sensitive values added up by class: (rows, classes)."""
        return np.stack([counts[:, self.class_of == number].sum(axis=1) for number in range(self.classes)], axis=1)

    def by_value(self, amounts: NDArray[T]) -> NDArray[T]:
        """What each class has, for each of its values: (rows, values)."""
        return np.asarray(amounts[:, self.class_of])


def everywhere(axes: Sequence[Axis]) -> list[Side]:
    """The one box that covers the whole domain, along each axis."""
    zero = np.zeros(1, dtype=np.int64)
    return [Side(zero, zero + axis.size - 1, np.array([axis.nullable]), axis.size) for axis in axes]


def cover(
    sides: Sequence[Side], parts: Sequence[Sequence[Codes]], held: Flags, worths: Sequence[tuple[Floats, Floats]]
) -> Extent:
    """How boxes lie to the parts that each class is in: `held` (parts, classes); one class more is in none.

    `worths` are the least and the most that a row of each part is worth, by box and class.
    """
    boxes, classes = len(sides[0].lo), held.shape[1]
    inside, touched = np.zeros((2, boxes, classes + 1), dtype=bool)
    least, most = np.full((boxes, classes + 1), np.inf), np.full((boxes, classes + 1), -np.inf)
    share, meets = np.zeros((boxes, classes + 1)), np.zeros((boxes, classes + 1), dtype=np.int64)
    for codes, some, (low, high) in zip(parts, held, worths, strict=True):
        within, over = lie(sides, codes)
        column = np.append(some, False)
        there = over[:, None] & column
        inside |= within[:, None] & column
        touched |= there
        low, high = (np.pad(np.broadcast_to(end, (boxes, classes)), ((0, 0), (0, 1))) for end in (low, high))
        np.minimum(least, low, out=least, where=there)
        np.maximum(most, high, out=most, where=there)
        if len(parts) > 1:
            share += np.where(there, _share(sides, codes)[:, None], 0)
            meets += there
    doubtful = ~inside & (meets > 1) & (share > NEARLY)
    for number in np.flatnonzero(doubtful.any(axis=0)):
        some = np.flatnonzero(doubtful[:, number])
        own = [codes for codes, there in zip(parts, held[:, number], strict=True) if there]
        inside[some, number] = fill([_some(side, some) for side in sides], own)
    return Extent(inside, touched, np.where(touched, least, 0), np.where(touched, most, 0))


def fill(sides: Sequence[Side], parts: Sequence[Sequence[Codes]]) -> Flags:
    """Which boxes are wholly in disjoint parts together; positions are counted exactly, however many there are."""
    widths = [side.hi - side.lo + 1 + side.missing for side in sides]
    whole = _product(widths)
    found = [_product([_within(side, own) for side, own in zip(sides, codes, strict=True)]) for codes in parts]
    return np.asarray(sum(found, np.zeros(len(whole), dtype=object)) == whole, dtype=np.bool_)


def _product(factors: Sequence[Integers]) -> NDArray[np.object_]:
    found = np.ones(len(factors[0]), dtype=object)
    for factor in factors:
        found = found * factor.astype(object)
    return found


def _within(side: Side, codes: Codes) -> Integers:
    """How many positions of each box are allowed along one axis."""
    return np.asarray(np.rint(allowed_in(side, codes, counted)[0]), dtype=np.int64)


def _share(sides: Sequence[Side], codes: Sequence[Codes]) -> Floats:
    share = np.ones(len(sides[0].lo))
    for side, own in zip(sides, codes, strict=True):
        share *= _within(side, own) / (side.hi - side.lo + 1 + side.missing)
    return share


def _some(side: Side, some: Integers) -> Side:
    return Side(side.lo[some], side.hi[some], side.missing[some], side.size)


def worth_of(part: Part, target: int | None, axes: Sequence[Axis], sides: Sequence[Side]) -> tuple[Floats, Floats]:
    """The least and the most that a row of a part is worth, in each box or, without a target among these, in all."""
    if target is None or target >= len(sides):
        return np.full((1, 1), part.worth), np.full((1, 1), part.worth)
    axis = axes[target]
    assert isinstance(axis, NumericAxis)
    return worths_inside(sides[target], part.codes[target], axis)


def worths_inside(side: Side, codes: Codes, axis: NumericAxis) -> tuple[Floats, Floats]:
    """The least and the most of the allowed numbers in each box, (boxes, 1); anything where none is allowed."""
    if not codes.runs:
        return np.zeros((len(side.lo), 1)), np.zeros((len(side.lo), 1))
    starts, ends = np.array(codes.runs).T
    first = np.maximum(starts[np.minimum(np.searchsorted(ends, side.lo), len(ends) - 1)], side.lo)
    last = np.minimum(ends[np.maximum(np.searchsorted(starts, side.hi, side="right") - 1, 0)], side.hi)
    low, high = axis.worths(np.clip(first, 0, axis.size - 1))[0], axis.worths(np.clip(last, 0, axis.size - 1))[1]
    return low[:, None], high[:, None]
