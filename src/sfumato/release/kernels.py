"""The two inner loops over boxes: which boxes hold a point, and how much of each box a region covers."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.release.boxes import BoxArrays

Integers = NDArray[np.int64]
SMALL_ENOUGH = 2048
"""Below this many (point, box) pairs, comparing all of them beats splitting further."""


class Contents(NamedTuple):
    """What lies in boxes: the rows of each, its group, and how the sensitive values of the groups are shared out."""

    weights: NDArray[np.float64]
    group_of: NDArray[np.int64]
    shares: NDArray[np.float64]  # (groups, values)


@compiled
def _limiting_axes(boxes: BoxArrays, regions: BoxArrays) -> NDArray[np.bool_]:
    """The axes on which each region leaves out some part of some box: (regions, axes)."""
    limiting = np.zeros(regions.lo.shape, dtype=np.bool_)
    for axis in range(regions.lo.shape[1]):
        first, last, any_missing = np.int32(2**31 - 1), np.int32(-1), False
        for box in range(len(boxes.lo)):
            if boxes.lo[box, axis] <= boxes.hi[box, axis]:
                first = min(first, boxes.lo[box, axis])
                last = max(last, boxes.hi[box, axis])
            any_missing = any_missing or boxes.missing[box, axis]
        for region in range(len(regions.lo)):
            inside = regions.lo[region, axis] <= first and regions.hi[region, axis] >= last
            limiting[region, axis] = not inside or (any_missing and not regions.missing[region, axis])
    return limiting


@compiled
def _share(boxes: BoxArrays, box: int, regions: BoxArrays, region: int, limiting: NDArray[np.bool_]) -> float:
    """The share of a box that lies in a region, the box being spread evenly over its positions."""
    share = 1.0
    for axis in range(boxes.lo.shape[1]):
        if not limiting[region, axis]:
            continue
        lo, hi = boxes.lo[box, axis], boxes.hi[box, axis]
        common = max(min(hi, regions.hi[region, axis]) - max(lo, regions.lo[region, axis]) + 1, 0)
        width = hi - lo + 1
        if boxes.missing[box, axis]:
            width += 1
            if regions.missing[region, axis]:
                common += 1
        if common == 0:
            return 0.0
        if common != width:
            share *= common / width
    return share


@compiled
def covered_histograms(boxes: BoxArrays, contents: Contents, regions: BoxArrays) -> NDArray[np.float64]:
    """The rows in each region by sensitive value: (regions, values)."""
    values = contents.shares.shape[1]
    inside = np.zeros((len(regions.lo), values))
    limiting = _limiting_axes(boxes, regions)
    for region in range(len(regions.lo)):
        for box in range(len(boxes.lo)):
            share = _share(boxes, box, regions, region, limiting)
            if share > 0:
                rows, group = contents.weights[box] * share, contents.group_of[box]
                for value in range(values):
                    inside[region, value] += rows * contents.shares[group, value]
    return inside


@compiled
def covered_counts(
    boxes: BoxArrays, cumulated: Contents, regions: BoxArrays, first: NDArray[np.int64], last: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The rows in each region whose sensitive code lies in `first..last`, by shares added up from zero."""
    inside = np.zeros(len(regions.lo))
    limiting = _limiting_axes(boxes, regions)
    for region in range(len(regions.lo)):
        for box in range(len(boxes.lo)):
            share = _share(boxes, box, regions, region, limiting)
            if share > 0:
                group = cumulated.group_of[box]
                within = cumulated.shares[group, last[region] + 1] - cumulated.shares[group, first[region]]
                inside[region] += cumulated.weights[box] * share * within
    return inside


@compiled
def _holds(boxes: BoxArrays, box: np.int64, point: NDArray[np.int32]) -> bool:
    for axis in range(len(point)):
        code = point[axis]
        if code < 0:
            if not boxes.missing[box, axis]:
                return False
        elif code < boxes.lo[box, axis] or code > boxes.hi[box, axis]:
            return False
    return True


@compiled
def _sides(boxes: BoxArrays, some: Integers, axis: int, code: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which of some boxes may hold points up to a code of an axis, and which may hold points beyond it."""
    return (boxes.lo[some, axis] <= code) | boxes.missing[some, axis], boxes.hi[some, axis] > code


@compiled
def _best_cut(
    points: NDArray[np.int32], boxes: BoxArrays, some_points: Integers, some_boxes: Integers
) -> tuple[int, int]:
    """The axis and code at which a cut leaves the fewest (point, box) pairs; axis -1 if none leaves fewer."""
    best, best_axis, best_code = len(some_points) * len(some_boxes), -1, 0
    for axis in range(points.shape[1]):
        codes = points[some_points, axis]
        code = (codes.min() + codes.max()) // 2
        if code == codes.max():
            continue
        points_left = (codes <= code).sum()
        left, right = _sides(boxes, some_boxes, axis, code)
        pairs = points_left * left.sum() + (len(codes) - points_left) * right.sum()
        if pairs < best:
            best, best_axis, best_code = pairs, axis, code
    return best_axis, best_code


@compiled
def holding_pairs(points: NDArray[np.int32], boxes: BoxArrays) -> tuple[Integers, Integers]:
    """All (point, box) pairs where the box holds the point, found by halving both sets together."""
    found_points = np.empty(len(points) + 16, dtype=np.int64)
    found_boxes = np.empty(len(points) + 16, dtype=np.int64)
    found = 0
    waiting = [(np.arange(len(points)), np.arange(len(boxes.lo)))]
    while len(waiting) > 0:
        some_points, some_boxes = waiting.pop()
        if len(some_points) == 0 or len(some_boxes) == 0:
            continue
        axis, code = -1, 0
        if len(some_points) * len(some_boxes) > SMALL_ENOUGH:
            axis, code = _best_cut(points, boxes, some_points, some_boxes)
        if axis >= 0:
            before = points[some_points, axis] <= code
            left, right = _sides(boxes, some_boxes, axis, code)
            waiting.append((some_points[before], some_boxes[left]))
            waiting.append((some_points[~before], some_boxes[right]))
            continue
        for point in some_points:
            for box in some_boxes:
                if _holds(boxes, box, points[point]):
                    if found == len(found_points):
                        found_points = np.concatenate((found_points, np.empty_like(found_points)))
                        found_boxes = np.concatenate((found_boxes, np.empty_like(found_boxes)))
                    found_points[found] = point
                    found_boxes[found] = box
                    found += 1
    return found_points[:found], found_boxes[:found]
