"""What a careful recipient expects of the rows asked about: how many there are in each box, and what they are worth.

Inside a box rows are spread as the shape of the release tells, given a class of the shape each axis by itself. So the
expected rows are a product of shares over axes, and what they are worth has, in place of the share along the column
that is added up, the share times the mean of its allowed values there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sfumato.estimation.shape import TINY, Side, Spread
from sfumato.release.codes import allowed_in, lie
from sfumato.release.content import Content
from sfumato.release.coverage import Part, Region
from sfumato.schema.codes import Codes
from sfumato.schema.numeric import NumericAxis

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def expect(release: Content, region: Region) -> tuple[float, float]:
    """How many rows are asked about, and what they are worth in all."""
    rows, worth = 0.0, 0.0
    for part in region.parts:
        more, amount = _expect_part(release, region, part)
        rows, worth = rows + more, worth + amount
    return rows, worth


def _expect_part(release: Content, region: Region, part: Part) -> tuple[float, float]:
    """Rows that are surely there are counted as they are; others by the share of their box that is asked about."""
    inside, touched = lie(release.sides, region.quasi(part))
    chosen, counts = region.chosen(part), release.counts
    simple = region.target is None
    partly = touched & ~inside if simple else touched
    sure = float(counts[inside][:, chosen].sum()) if simple else 0.0
    if not partly.any() or not chosen.any():
        return sure, sure * part.worth
    each = chosen.astype(np.float64)
    rows = release.shape.rows_by_class(counts, each)[partly]
    shares = _shares(release, region, part, partly)
    found = sure + float((rows * np.prod(shares, axis=0)).sum())
    if region.target is None:
        return found, found * part.worth
    if region.of_values:
        low, high = region.worths_of_values()
        worth = release.shape.rows_by_class(counts, each * (low + high) / 2)[partly]
        return found, float((worth * np.prod(shares, axis=0)).sum())
    axis = region.of
    assert axis is not None
    shares[region.target] = _along(release, partly, region.target, part.codes[region.target], axis)
    lowest = float(axis.worths(np.zeros(1, dtype=np.int64))[0][0])
    return found, found * lowest + float((rows * np.prod(shares, axis=0)).sum())


def _shares(release: Content, region: Region, part: Part, some: NDArray[np.bool_]) -> list[Floats]:
    """The share of some boxes that a part allows along each axis, for each class of the shape: (boxes, classes)."""
    return [_along(release, some, place, codes, None) for place, codes in enumerate(region.quasi(part))]


def _along(release: Content, some: NDArray[np.bool_], place: int, codes: Codes, axis: NumericAxis | None) -> Floats:
    """The share that is allowed along one axis or, with the axis, that times how far its values lie above the least."""
    whole, spread, at_ends = release.sides[place], release.shape.spreads[place], release.at_ends[some]
    side = Side(whole.lo[some], whole.hi[some], whole.missing[some], whole.size)
    up_to = spread.up_to if axis is None else _amounts(spread, axis)
    between = allowed_in(side, codes, up_to) / np.maximum(spread.inside(side), TINY)
    if axis is None:
        between = np.minimum(between, 1)
    ends, allowed = _ends(side, codes, axis)
    return np.asarray((between * (1 - ends * at_ends) + allowed * at_ends).T)


def _ends(side: Side, codes: Codes, axis: NumericAxis | None) -> tuple[Integers, Floats]:
    """How many ends the range of each box has (lowest, highest and missing value), and how many are allowed, or how far
    these lie above the least value of the axis."""
    lowest, highest = side.lo <= side.hi, side.lo < side.hi
    ends = lowest.astype(np.int64) + highest + side.missing
    found = (side.missing & codes.missing).astype(np.float64) if axis is None else np.zeros(len(side.lo))
    for there, end in ((lowest, side.lo), (highest, side.hi)):
        height = np.ones(len(end)) if axis is None else _heights(axis)(np.clip(end, 0, axis.size - 1))
        found += (there & codes.hold(end.astype(np.int32))) * height
    return ends, found


def _heights(axis: NumericAxis) -> Callable[[Integers], Floats]:
    """How far above the least value of the axis the number at a code is, or the middle of a bin."""
    lowest = axis.worths(np.zeros(1, dtype=np.int64))[0][0]

    def height(codes: Integers) -> Floats:
        low, high = axis.worths(codes)
        return np.asarray((low + high) / 2 - lowest)

    return height


def _amounts(spread: Spread, axis: NumericAxis) -> Callable[[Integers], Floats]:
    """The share of each class below each position times the height of its values: (classes, positions)."""
    if axis.edges:
        sums = np.append(0.0, np.cumsum(_heights(axis)(np.arange(axis.size))))

        def below(positions: Integers) -> Floats:
            return np.asarray(sums[np.minimum(positions, axis.size)])
    else:

        def below(positions: Integers) -> Floats:
            number = np.minimum(positions, axis.size).astype(np.float64)
            return np.asarray(axis.step * number * (number - 1) / 2)

    heights = np.diff(below(spread.cuts))
    density = np.diff(spread.below, axis=1) / np.diff(spread.cuts)
    reached = np.pad(np.cumsum(density * heights, axis=1), ((0, 0), (1, 0)))

    def up_to(positions: Integers) -> Floats:
        last = np.clip(np.searchsorted(spread.cuts, positions, side="right") - 1, 0, len(spread.cuts) - 2)
        return np.asarray(reached[:, last] + density[:, last] * (below(positions) - below(spread.cuts[last])))

    return up_to
