"""The two inner loops over boxes: which boxes hold a point, and how much of each box a region covers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALL_ENOUGH = 2048
"""Below this many (point, box) pairs, comparing all of them beats splitting further."""


@compiled
def covered_weights(
    box_lo: NDArray[np.int32], box_hi: NDArray[np.int32], box_missing: NDArray[np.bool_],
    weights: NDArray[np.float64], group_of: NDArray[np.int64], groups: int,
    lo: NDArray[np.int32], hi: NDArray[np.int32], missing: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """The weight of each group inside each region, every box spread evenly: (regions, groups)."""
    inside = np.zeros((len(lo), groups))
    for region in range(len(lo)):
        for box in range(len(box_lo)):
            share = 1.0
            for axis in range(box_lo.shape[1]):
                first = max(box_lo[box, axis], lo[region, axis])
                last = min(box_hi[box, axis], hi[region, axis])
                common = last - first + 1
                if common < 0:
                    common = 0
                if box_missing[box, axis] and missing[region, axis]:
                    common += 1
                if common == 0:
                    share = 0.0
                    break
                width = box_hi[box, axis] - box_lo[box, axis] + 1
                if box_missing[box, axis]:
                    width += 1
                if common != width:
                    share *= common / width
            if share > 0:
                inside[region, group_of[box]] += weights[box] * share
    return inside


@compiled
def _holds(
    point: NDArray[np.int32], box: np.int64, lo: NDArray[np.int32], hi: NDArray[np.int32], missing: NDArray[np.bool_]
) -> bool:
    for axis in range(len(point)):
        code = point[axis]
        if code < 0:
            if not missing[box, axis]:
                return False
        elif code < lo[box, axis] or code > hi[box, axis]:
            return False
    return True


@compiled
def _best_cut(
    points: NDArray[np.int32], lo: NDArray[np.int32], hi: NDArray[np.int32], missing: NDArray[np.bool_],
    some_points: NDArray[np.int64], some_boxes: NDArray[np.int64],
) -> tuple[int, int]:
    """The axis and code at which a cut leaves the fewest (point, box) pairs; axis -1 if none leaves fewer."""
    best, best_axis, best_code = len(some_points) * len(some_boxes), -1, 0
    for axis in range(points.shape[1]):
        smallest, largest = points[some_points[0], axis], points[some_points[0], axis]
        for point in some_points:
            smallest = min(smallest, points[point, axis])
            largest = max(largest, points[point, axis])
        if smallest == largest:
            continue
        code = (smallest + largest) // 2
        points_left, boxes_left, boxes_right = 0, 0, 0
        for point in some_points:
            if points[point, axis] <= code:
                points_left += 1
        for box in some_boxes:
            if lo[box, axis] <= code or missing[box, axis]:
                boxes_left += 1
            if hi[box, axis] > code:
                boxes_right += 1
        pairs = points_left * boxes_left + (len(some_points) - points_left) * boxes_right
        if pairs < best:
            best, best_axis, best_code = pairs, axis, code
    return best_axis, best_code


@compiled
def holding_pairs(
    points: NDArray[np.int32], lo: NDArray[np.int32], hi: NDArray[np.int32], missing: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All (point, box) pairs where the box holds the point, found by halving both sets together."""
    found_points = np.empty(len(points) + 16, dtype=np.int64)
    found_boxes = np.empty(len(points) + 16, dtype=np.int64)
    found = 0
    waiting = [(np.arange(len(points)), np.arange(len(lo)))]
    while len(waiting) > 0:
        some_points, some_boxes = waiting.pop()
        if len(some_points) == 0 or len(some_boxes) == 0:
            continue
        axis, code = -1, 0
        if len(some_points) * len(some_boxes) > SMALL_ENOUGH:
            axis, code = _best_cut(points, lo, hi, missing, some_points, some_boxes)
        if axis < 0:
            for point in some_points:
                for box in some_boxes:
                    if _holds(points[point], box, lo, hi, missing):
                        if found == len(found_points):
                            found_points = np.concatenate((found_points, np.empty_like(found_points)))
                            found_boxes = np.concatenate((found_boxes, np.empty_like(found_boxes)))
                        found_points[found] = point
                        found_boxes[found] = box
                        found += 1
            continue
        codes = points[some_points, axis]
        left = (lo[some_boxes, axis] <= code) | missing[some_boxes, axis]
        right = hi[some_boxes, axis] > code
        waiting.append((some_points[codes <= code], some_boxes[left]))
        waiting.append((some_points[codes > code], some_boxes[right]))
    return found_points[:found], found_boxes[:found]
