"""Boxes as rows of numbers, for learners and clusterings.

A number is its position on its axis, from 0 to 1. A category is one indicator per value, because neighbours in a
taxonomy need not be alike; only an axis with very many values is taken in the order of its taxonomy. A missing value
has an indicator of its own and, as a number, stands in the middle. A box is the mean of its points.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.estimation.shape import Spread
from sfumato.privacy.distances import Floats
from sfumato.release import Boxes
from sfumato.release.inside import places_inside
from sfumato.schema import Axis
from sfumato.streams import stream

Codes = NDArray[np.int64]

MAX_INDICATORS = 64
"""An axis with more categories than this is taken in the order of its taxonomy."""
MIDDLE = 0.5


def mean_features(axes: Sequence[Axis], boxes: Boxes, indicator: float = 1.0) -> Floats:
    """The mean over the points of each box, (boxes, columns); a category that is there counts `indicator`."""
    parts = []
    for position, axis in enumerate(axes):
        lo, hi, missing = (side[:, position].astype(np.int64) for side in boxes.arrays)
        width = boxes.widths[:, position]
        if axis.spaced or axis.size > MAX_INDICATORS:
            positions = np.maximum(hi - lo + 1, 0) * (lo + hi) / (2 * max(axis.size - 1, 1))
            parts += [(positions + missing * MIDDLE) / width]
        else:
            codes = np.arange(axis.size)[:, None]
            parts += [*((codes >= lo) & (codes <= hi)) * indicator / width]
        if axis.nullable:
            parts += [missing * indicator / width]
    return np.ascontiguousarray(np.stack(parts, axis=1))


def points_inside(
    boxes: Boxes, draws: Codes, seed: int, spreads: Sequence[Spread] | None = None
) -> tuple[NDArray[np.int32], Codes]:
    """So many random points of each box, and the box each is from.

    On every axis the draws of a box are spread evenly: of d draws, one falls into each d-th part of its positions, or
    of the rows in it, where `spreads` says how they lie along the axes.
    """
    generator = stream("points in boxes", seed)
    owner = np.repeat(np.arange(len(boxes)), draws)
    turn = np.arange(len(owner)) - np.repeat(np.cumsum(draws) - draws, draws)
    points = np.empty((len(owner), boxes.lo.shape[1]), dtype=np.int32)
    for axis in range(points.shape[1]):
        part = np.empty(len(owner))
        part[np.lexsort((generator.random(len(owner)), owner))] = turn
        part += generator.random(len(owner))
        spread = None if spreads is None else spreads[axis]
        points[:, axis] = places_inside(boxes, axis, owner, part / draws[owner], spread)
    return points, owner


def heaviest_holder(points: NDArray[np.int32], boxes: Boxes, weights: Floats) -> Codes:
    """The box that holds each point, of several the heaviest, then the first; -1 where there is none."""
    from sfumato.release.kernels import holding_pairs

    point, box = holding_pairs(points, boxes.arrays)
    order = np.lexsort((-box, weights[box], point))
    point, box = point[order], box[order]
    last = np.flatnonzero(np.diff(point, append=-1))
    holder = np.full(len(points), -1)
    holder[point[last]] = box[last]
    return holder
