"""What of the rows in boxes lies inside regions, and where rows inside a box are, as a shape or a spread tells."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.estimation.shape import TINY, Shape, Side, Spread
from sfumato.release.boxes import Boxes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def sides_of(boxes: Boxes, sizes: Sequence[int]) -> list[Side]:
    """The boxes along each axis; `sizes` counts the values of each."""
    lo, hi, missing = boxes.arrays
    return [
        Side(lo[:, axis].astype(np.int64), hi[:, axis].astype(np.int64), missing[:, axis], size)
        for axis, size in enumerate(sizes)
    ]


def counts_inside(
    boxes: Boxes, counts: Floats, at_ends: Floats, shape: Shape, regions: Boxes, first: Integers, last: Integers
) -> Floats:
    """The rows in each region whose sensitive code lies in `first..last`, boxes with `counts` being spread by a shape.

    `at_ends` is the share of each box's rows that surely stands at each end of its range on an axis.
    """
    from sfumato.release.kernels import Masses, shaped_counts

    sizes = [int(spread.cuts[-1]) - 1 for spread in shape.spreads]
    lo, hi = regions.lo.astype(np.int64), regions.hi.astype(np.int64)
    parts = [
        (
            spread.up_to(side.lo),
            spread.up_to(side.hi + 1),
            spread.up_to(lo[:, axis]),
            spread.up_to(hi[:, axis] + 1),
            np.diff(spread.up_to(np.array([side.size, side.size + 1]))),
        )
        for axis, (side, spread) in enumerate(zip(sides_of(boxes, sizes), shape.spreads, strict=True))
    ]
    start, end, begin, stop, absent = (np.stack([each.T for each in every]) for every in zip(*parts, strict=True))
    by_value = counts / np.maximum(shape.likely @ shape.values, TINY)
    rows = by_value[:, :, None] * shape.likely[:, None, :] * shape.values.T
    added = np.pad(np.cumsum(rows, axis=1), ((0, 0), (1, 0), (0, 0)))
    masses = Masses(start, end, begin, stop, absent[:, 0], at_ends)
    return shaped_counts(boxes.arrays, added, masses, regions.arrays, first, last)


def places_inside(boxes: Boxes, axis: int, owner: Integers, part: Floats, spread: Spread | None) -> NDArray[np.int32]:
    """The code on an axis that a part of the rows in a box lies below, −1 where that is the missing value.

    `owner` is the box and `part`, in [0, 1), the part that each place asks about; without a spread rows lie evenly.
    """
    lo, hi, missing = (side[owner, axis].astype(np.int64) for side in boxes.arrays)
    if spread is None:
        width = hi - lo + 1 + missing
        code = lo + np.minimum((part * width).astype(np.int64), width - 1)
    else:
        side = Side(lo, hi, missing.astype(bool), int(spread.cuts[-1]) - 1)
        target = spread.up_to(lo)[0] + part * spread.inside(side)[0]
        among = np.clip(spread.find(target), lo, hi)
        code = np.where(side.missing & (target >= spread.up_to(hi + 1)[0]), hi + 1, among)
    return np.where(code > hi, -1, code).astype(np.int32)
