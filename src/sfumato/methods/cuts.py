"""Where a set of points can be cut in two: one sweep per node and axis over the points in code order.

The sweep proposes cuts with a cost each, and the histogram of the left side; deciding which of them the
requirements allow is left to the caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOTHING = np.int32(2**31 - 1)
TIE = 1e-9
"""Costs per row that differ by less are equal but for rounding; the first axis and code then win."""


@compiled
def _sorted_by_code(
    points: NDArray[np.int32], members: NDArray[np.int64], axis: int, buckets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The members in the order of their codes: by counting where codes are dense, else by comparing."""
    smallest, largest = points[members[0], axis], points[members[0], axis]
    for member in members:
        smallest = min(smallest, points[member, axis])
        largest = max(largest, points[member, axis])
    span = largest - smallest + 1
    if span >= len(buckets) or span > 4 * len(members) + 64:
        return members[np.argsort(points[members, axis], kind="mergesort")]
    buckets[: span + 1] = 0
    for member in members:
        buckets[points[member, axis] - smallest + 1] += 1
    for code in range(span):
        buckets[code + 1] += buckets[code]
    ordered = np.empty_like(members)
    for member in members:
        code = points[member, axis] - smallest
        ordered[buckets[code]] = member
        buckets[code] += 1
    return ordered


@compiled
def _empty(lo: NDArray[np.int32], hi: NDArray[np.int32], missing: NDArray[np.int32], box: int) -> None:
    """Make a box hold nothing."""
    for axis in range(lo.shape[1]):
        lo[box, axis], hi[box, axis], missing[box, axis] = NOTHING, -1, 0


@compiled
def _extend(
    points: NDArray[np.int32], point: np.int64,
    lo: NDArray[np.int32], hi: NDArray[np.int32], missing: NDArray[np.int32], box: int, grown: int,
) -> None:
    """Make `grown` the box that holds `box` and one more point."""
    for axis in range(points.shape[1]):
        code = points[point, axis]
        lo[grown, axis], hi[grown, axis], missing[grown, axis] = lo[box, axis], hi[box, axis], missing[box, axis]
        if code < 0:
            missing[grown, axis] = 1
        else:
            lo[grown, axis] = min(lo[box, axis], code)
            hi[grown, axis] = max(hi[box, axis], code)


@compiled
def _width(
    lo: NDArray[np.int32], hi: NDArray[np.int32], missing: NDArray[np.int32], box: int, axis: int
) -> int:
    """How many positions of an axis a box covers."""
    return int(hi[box, axis] - lo[box, axis] + 1 + missing[box, axis]) if hi[box, axis] >= 0 else 1


@compiled
def _cost(
    lo: NDArray[np.int32], hi: NDArray[np.int32], missing: NDArray[np.int32], box: int, scale: NDArray[np.float64]
) -> float:
    """The normalized certainty penalty of one row in a box: Σ (width − 1) · scale."""
    total = 0.0
    for axis in range(len(scale)):
        total += (_width(lo, hi, missing, box, axis) - 1) * scale[axis]
    return total


@compiled
def _spread(points: NDArray[np.int32], ordered: NDArray[np.int64], axis: int) -> int:
    """How many positions lie between the first and the last code; a missing value counts as one more."""
    first, last = points[ordered[0], axis], points[ordered[-1], axis]
    if first >= 0:
        return int(last - first)
    for member in ordered:
        if points[member, axis] >= 0:
            return int(last - points[member, axis] + 1)
    return 0


@compiled
def propose_cuts(
    points: NDArray[np.int32], weights: NDArray[np.int64], scale: NDArray[np.float64],
    order: NDArray[np.int64], starts: NDArray[np.int64], ends: NDArray[np.int64], smallest: int,
    by_median: bool, only_best: bool,
    cell_start: NDArray[np.int64], cell_value: NDArray[np.int32], cell_weight: NDArray[np.int64], values: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """All cuts of the nodes `order[starts[i]:ends[i]]` that leave `smallest` rows on both sides.

    Returns node, axis, code (left is `<= code`), cost, and the left histogram (cuts, values) of each. With
    `only_best` just the cheapest cut of each node is kept, and histograms stay empty.
    """
    axes = points.shape[1]
    largest = 0
    for node in range(len(starts)):
        largest = max(largest, ends[node] - starts[node])
    # Box i holds the members from i on; the last one, `left_box`, those before the cut.
    lo = np.empty((largest + 2, axes), dtype=np.int32)
    hi = np.empty((largest + 2, axes), dtype=np.int32)
    missing = np.empty((largest + 2, axes), dtype=np.int32)
    left_box = largest + 1
    buckets = np.empty(4 * largest + 128, dtype=np.int64)
    left_histogram = np.zeros(values, dtype=np.int64)

    capacity = len(starts) + 16 if only_best else 4 * len(starts) * axes + 16
    node_of = np.empty(capacity, dtype=np.int64)
    axis_of = np.empty(capacity, dtype=np.int64)
    code_of = np.empty(capacity, dtype=np.int64)
    cost_of = np.empty(capacity, dtype=np.float64)
    left_of = np.empty((0 if only_best else capacity, values), dtype=np.int64)
    found = 0
    for node in range(len(starts)):
        members = order[starts[node] : ends[node]]
        total = 0
        for member in members:
            total += weights[member]
        if total < 2 * smallest:
            continue
        before = found
        for axis in range(axes):
            ordered = _sorted_by_code(points, members, axis, buckets)
            last = len(ordered) - 1
            if points[ordered[0], axis] == points[ordered[last], axis]:
                continue
            median = 0
            if by_median:
                reached = 0
                for member in ordered:
                    reached += weights[member]
                    if 2 * reached >= total:
                        median = points[member, axis]
                        break
                spread = _spread(points, ordered, axis) * scale[axis]
            else:
                _empty(lo, hi, missing, last + 1)
                for i in range(last, -1, -1):
                    _extend(points, ordered[i], lo, hi, missing, i + 1, i)
            _empty(lo, hi, missing, left_box)
            left = 0
            left_histogram[:] = 0
            for i in range(last):
                member = ordered[i]
                left += weights[member]
                if not by_median:
                    _extend(points, member, lo, hi, missing, left_box, left_box)
                if not only_best:
                    for cell in range(cell_start[member], cell_start[member + 1]):
                        left_histogram[cell_value[cell]] += cell_weight[cell]
                code, following = points[member, axis], points[ordered[i + 1], axis]
                if code == following:
                    continue
                if total - left < smallest:
                    break
                if left < smallest:
                    continue
                if by_median:
                    if code != median and following != median:
                        continue
                    # The widest axis first; on it, the median itself to the left before to the right.
                    cost = -spread + (0.0 if code == median else 10 * TIE)
                else:
                    cost = left * _cost(lo, hi, missing, left_box, scale)
                    cost += (total - left) * _cost(lo, hi, missing, i + 1, scale)
                    cost /= total
                if only_best and found > before:
                    if cost < cost_of[before] - TIE:
                        axis_of[before], code_of[before], cost_of[before] = axis, code, cost
                    continue
                if found == len(node_of):
                    node_of = np.concatenate((node_of, np.empty_like(node_of)))
                    axis_of = np.concatenate((axis_of, np.empty_like(axis_of)))
                    code_of = np.concatenate((code_of, np.empty_like(code_of)))
                    cost_of = np.concatenate((cost_of, np.empty_like(cost_of)))
                    left_of = np.concatenate((left_of, np.empty_like(left_of)))
                node_of[found], axis_of[found], code_of[found], cost_of[found] = node, axis, code, cost
                if not only_best:
                    left_of[found] = left_histogram
                found += 1
    return node_of[:found], axis_of[:found], code_of[:found], cost_of[:found], left_of[:found]


@compiled
def split(
    points: NDArray[np.int32], order: NDArray[np.int64], starts: NDArray[np.int64], ends: NDArray[np.int64],
    axes: NDArray[np.int64], codes: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Reorder each node's points so that its left side comes first; returns where the right side starts."""
    middles = np.empty_like(starts)
    for node in range(len(starts)):
        members = order[starts[node] : ends[node]].copy()
        at = starts[node]
        for member in members:
            if points[member, axes[node]] <= codes[node]:
                order[at] = member
                at += 1
        middles[node] = at
        for member in members:
            if points[member, axes[node]] > codes[node]:
                order[at] = member
                at += 1
    return middles
