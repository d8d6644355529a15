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


class Covered(NamedTuple):
    """The boxes that the conditions on the first axes leave, and how much of each they cover: (axes + 1, boxes)."""

    boxes: NDArray[np.int64]
    shares: NDArray[np.float64]
    left: NDArray[np.int64]  # (axes + 1,)


@compiled
def _narrow(boxes: BoxArrays, regions: BoxArrays, region: int, axis: int, covered: Covered, level: int) -> None:
    """Put a region's condition on one axis upon the boxes left at `level`; what it leaves goes to level `axis + 1`."""
    lo, hi, missing = boxes.lo[:, axis], boxes.hi[:, axis], boxes.missing[:, axis]
    first, last, with_missing = regions.lo[region, axis], regions.hi[region, axis], regions.missing[region, axis]
    some, shares = covered.boxes[level, : covered.left[level]], covered.shares[level]
    next_boxes, next_shares = covered.boxes[axis + 1], covered.shares[axis + 1]
    found = 0
    for i in range(len(some)):
        box = some[i]
        common = max(min(hi[box], last) - max(lo[box], first) + 1, 0) + (missing[box] and with_missing)
        if common > 0:
            next_boxes[found] = box
            next_shares[found] = shares[i] * (common / (hi[box] - lo[box] + 1 + missing[box]))
            found += 1
    covered.left[axis + 1] = found


@compiled
def _first_difference(regions: BoxArrays, region: int) -> int:
    """The first axis on which a region differs from the one before it."""
    for axis in range(regions.lo.shape[1] if region else 0):
        if (
            regions.lo[region, axis] != regions.lo[region - 1, axis]
            or regions.hi[region, axis] != regions.hi[region - 1, axis]
            or regions.missing[region, axis] != regions.missing[region - 1, axis]
        ):
            return axis
    return regions.lo.shape[1] if region else 0


@compiled
def covered_histograms(boxes: BoxArrays, contents: Contents, regions: BoxArrays) -> NDArray[np.float64]:
    """The rows in each region by sensitive value: (regions, values).

    What the first conditions of a region leave is kept for the regions after it that begin alike; regions in the
    order of their axes take least time.
    """
    many, axes, values = len(boxes.lo), boxes.lo.shape[1], contents.shares.shape[1]
    inside = np.zeros((len(regions.lo), values))
    limiting = _limiting_axes(boxes, regions)
    covered = Covered(np.empty((axes + 1, many), np.int64), np.empty((axes + 1, many)), np.zeros(axes + 1, np.int64))
    covered.boxes[0], covered.shares[0], covered.left[0] = np.arange(many), 1.0, many
    level_after = np.zeros(axes + 1, dtype=np.int64)
    for region in range(len(regions.lo)):
        for axis in range(_first_difference(regions, region), axes):
            level_after[axis + 1] = level_after[axis]
            if limiting[region, axis]:
                _narrow(boxes, regions, region, axis, covered, level_after[axis])
                level_after[axis + 1] = axis + 1
        level, row = level_after[axes], inside[region]
        some, shares = covered.boxes[level, : covered.left[level]], covered.shares[level]
        for i in range(len(some)):
            rows, histogram = contents.weights[some[i]] * shares[i], contents.shares[contents.group_of[some[i]]]
            for value in range(values):
                row[value] += rows * histogram[value]
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


class Masses(NamedTuple):
    """What lies below the ends of boxes and of regions on each axis, for each class of a shape."""

    box_start: NDArray[np.float64]  # (axes, boxes, classes)
    box_end: NDArray[np.float64]
    region_start: NDArray[np.float64]  # (axes, regions, classes)
    region_end: NDArray[np.float64]
    absent: NDArray[np.float64]  # (axes, classes)
    at_ends: NDArray[np.float64]  # (boxes,)


@compiled
def shaped_counts(
    boxes: BoxArrays,
    rows: NDArray[np.float64],
    masses: Masses,
    regions: BoxArrays,
    first: NDArray[np.int64],
    last: NDArray[np.int64],
) -> NDArray[np.float64]:
    """The rows in each region whose sensitive code lies in `first..last`, boxes being spread as a shape says.

    `rows` are those of each box by sensitive value, added up from zero, and by class: (boxes, values + 1, classes).
    """
    inside = np.zeros(len(regions.lo))
    limiting = _limiting_axes(boxes, regions)
    lo, hi, missing = boxes.lo, boxes.hi, boxes.missing
    start, end, absent, at_ends = masses.box_start, masses.box_end, masses.absent, masses.at_ends
    share = np.empty(rows.shape[2])
    for region in range(len(regions.lo)):
        region_lo, region_hi, with_missing = regions.lo[region], regions.hi[region], regions.missing[region]
        axes = np.flatnonzero(limiting[region])
        for box in range(len(lo)):
            touched = True
            for axis in axes:
                if min(hi[box, axis], region_hi[axis]) < max(lo[box, axis], region_lo[axis]) and not (
                    missing[box, axis] and with_missing[axis]
                ):
                    touched = False
                    break
            if not touched:
                continue
            share[:] = 1.0
            for axis in axes:
                whole = lo[box, axis] >= region_lo[axis] and hi[box, axis] <= region_hi[axis]
                if (whole or lo[box, axis] > hi[box, axis]) and (with_missing[axis] or not missing[box, axis]):
                    continue
                ends, allowed = 0, 0
                if lo[box, axis] <= hi[box, axis]:
                    ends += 1
                    allowed += region_lo[axis] <= lo[box, axis] <= region_hi[axis]
                if lo[box, axis] < hi[box, axis]:
                    ends += 1
                    allowed += region_lo[axis] <= hi[box, axis] <= region_hi[axis]
                if missing[box, axis]:
                    ends += 1
                    allowed += with_missing[axis]
                for z in range(len(share)):
                    below, above = start[axis, box, z], end[axis, box, z]
                    of_missing = absent[axis, z] if missing[box, axis] else 0.0
                    common = min(above, masses.region_end[axis, region, z]) - max(
                        below, masses.region_start[axis, region, z]
                    )
                    common = max(common, 0.0) + (of_missing if with_missing[axis] else 0.0)
                    between = min(common / max(above - below + of_missing, 1e-300), 1.0)
                    share[z] *= between * (1 - ends * at_ends[box]) + allowed * at_ends[box]
            for z in range(len(share)):
                inside[region] += share[z] * (rows[box, last[region] + 1, z] - rows[box, first[region], z])
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
