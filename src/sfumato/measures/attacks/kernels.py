"""The inner loops of guesses: how far people are from lines, and how many rows a predicate picks.

A line that holds a person is at distance 0. Otherwise numbers count by the share of their public range that lies
between, categories and missing values by 1 each (Gower, 1971).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.release.boxes import BoxArrays

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
SAME = 1e-9
"""Distances that differ by no more are the same."""


class Index(NamedTuple):
    """Boxes sorted by their spans, axis after axis, so that those that agree on the first axes are left out together.

    `differs` is the first axis on which a box differs from the one before; `beyond` is, for each box and axis, the next
    box that differs from it up to that axis.
    """

    boxes: BoxArrays
    rows: Floats
    steps: Floats
    differs: Integers
    beyond: Integers  # (boxes, axes)


@compiled
def _apart(boxes: BoxArrays, box: int, axis: int, code: int, step: float) -> float:
    """How far a value is from a box on one axis."""
    lo, hi = boxes.lo[box, axis], boxes.hi[box, axis]
    if code < 0:
        return 0.0 if boxes.missing[box, axis] else 1.0
    if lo > hi:
        return 1.0
    return min(float(max(lo - code, code - hi, 0)) * step, 1.0)


@compiled
def _search(person: Codes, index: Index, reach: float, rows: float, boxes: Integers, away: Floats) -> int:
    """Put the boxes within reach, and how far they are, into the last two arrays; return how many there are.

    Where one row is enough, the reach shrinks to the nearest.
    """
    axes, found, box, axis = len(person), 0, 0, 0
    upto = np.zeros(axes + 1)
    while box < len(index.rows):
        while axis < axes:
            upto[axis + 1] = upto[axis] + _apart(index.boxes, box, axis, person[axis], index.steps[axis])
            if upto[axis + 1] > reach + SAME:
                break
            axis += 1
        if axis == axes:
            boxes[found], away[found] = box, upto[axes]
            found += 1
            if rows <= 1:
                reach = min(reach, upto[axes])
            box += 1
        else:
            box = index.beyond[box, axis]
        if box < len(index.rows):
            axis = index.differs[box]
    return found


@compiled
def _radius(index: Index, boxes: Integers, away: Floats, rows: float) -> float:
    """How far the so-many-th row is, or the farthest."""
    if rows <= 1:
        return float(away.min())
    counted = 0.0
    for place in np.argsort(away):
        counted += index.rows[boxes[place]]
        if counted >= rows:
            return float(away[place])
    return float(away.max())


@compiled
def nearest(people: Codes, index: Index, rows: float) -> tuple[Integers, Integers, Floats]:
    """The boxes of the so many rows nearest to each person, all that are equally near: (person, box) and how far.

    The reach grows until there are enough of them.
    """
    some, away = np.empty(len(index.rows), dtype=np.int64), np.empty(len(index.rows))
    whose, boxes = np.empty(2 * len(people) + 16, dtype=np.int64), np.empty(2 * len(people) + 16, dtype=np.int64)
    far, total = np.empty(2 * len(people) + 16), 0
    for person in range(len(people)):
        found, reach = 0, 0.0
        while True:
            found = _search(people[person], index, reach, rows, some, away)
            if found == len(index.rows) or index.rows[some[:found]].sum() >= rows:
                break
            reach = 0.1 if reach == 0.0 else max(reach * 2, reach + 0.5)
        radius = _radius(index, some[:found], away[:found], rows)
        for place in range(found):
            if away[place] > radius + SAME:
                continue
            if total == len(boxes):
                whose, boxes = np.concatenate((whose, whose)), np.concatenate((boxes, boxes))
                far = np.concatenate((far, far))
            whose[total], boxes[total], far[total] = person, some[place], away[place]
            total += 1
    return whose[:total], boxes[:total], far[:total]


@compiled
def count_matches(boxes: BoxArrays, weights: Floats, regions: BoxArrays, columns: Integers, most: float) -> Floats:
    """The rows in each region, boxes being spread evenly; any number above `most` if there are more.

    A region is limited on its `columns` alone, up to the first -1.
    """
    found = np.zeros(len(columns))
    for region in range(len(columns)):
        total = 0.0
        for box in range(len(weights)):
            share = 1.0
            for place in range(columns.shape[1]):
                axis = columns[region, place]
                if axis < 0:
                    break
                lo, hi = boxes.lo[box, axis], boxes.hi[box, axis]
                inside = max(min(hi, regions.hi[region, place]) - max(lo, regions.lo[region, place]) + 1, 0)
                width = hi - lo + 1
                if boxes.missing[box, axis]:
                    width += 1
                    inside += regions.missing[region, place]
                if inside == 0:
                    share = 0.0
                    break
                if inside != width:
                    share *= inside / width
            total += weights[box] * share
            if total > most:
                break
        found[region] = total
    return found
