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
def _cost(
    lo: NDArray[np.int32], hi: NDArray[np.int32], missing: NDArray[np.int32], scale: NDArray[np.float64]
) -> float:
    """The normalized certainty penalty of one row in a box: Σ (width − 1) · scale."""
    total = 0.0
    for axis in range(len(scale)):
        width = missing[axis]
        if hi[axis] >= lo[axis]:
            width += hi[axis] - lo[axis] + 1
        total += (width - 1) * scale[axis]
    return total


@compiled
def _extend(
    point: NDArray[np.int32], lo: NDArray[np.int32], hi: NDArray[np.int32], missing: NDArray[np.int32]
) -> None:
    """Grow a box to hold one more point."""
    for axis in range(len(point)):
        code = point[axis]
        if code < 0:
            missing[axis] = 1
        else:
            lo[axis] = min(lo[axis], code)
            hi[axis] = max(hi[axis], code)


@compiled
def _suffix_boxes(
    points: NDArray[np.int32], ordered: NDArray[np.int64],
    lo: NDArray[np.int32], hi: NDArray[np.int32], missing: NDArray[np.int32],
) -> None:
    """`lo[i]`, `hi[i]`, `missing[i]`: the box around the members from `i` on."""
    last = len(ordered) - 1
    lo[last + 1], hi[last + 1], missing[last + 1] = NOTHING, -1, 0
    for i in range(last, -1, -1):
        lo[i], hi[i], missing[i] = lo[i + 1], hi[i + 1], missing[i + 1]
        _extend(points[ordered[i]], lo[i], hi[i], missing[i])


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
    suffix_lo = np.empty((largest + 1, axes), dtype=np.int32)
    suffix_hi = np.empty((largest + 1, axes), dtype=np.int32)
    suffix_missing = np.empty((largest + 1, axes), dtype=np.int32)
    buckets = np.empty(4 * largest + 128, dtype=np.int64)
    lo, hi, missing = np.empty(axes, np.int32), np.empty(axes, np.int32), np.empty(axes, np.int32)
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
                lo[:], hi[:], missing[:] = NOTHING, -1, 0
                for member in ordered:
                    _extend(points[member], lo, hi, missing)
                width = missing[axis] + max(hi[axis] - lo[axis] + 1, 0)
                spread = (width - 1) * scale[axis]
            else:
                _suffix_boxes(points, ordered, suffix_lo, suffix_hi, suffix_missing)
            lo[:], hi[:], missing[:] = NOTHING, -1, 0
            left = 0
            left_histogram[:] = 0
            for i in range(last):
                member = ordered[i]
                left += weights[member]
                if not by_median:
                    _extend(points[member], lo, hi, missing)
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
                    cost = -2.0 * spread + (0.0 if code == median else 1e-9)
                else:
                    cost = left * _cost(lo, hi, missing, scale) + (total - left) * _cost(
                        suffix_lo[i + 1], suffix_hi[i + 1], suffix_missing[i + 1], scale
                    )
                if only_best and found > before:
                    if cost < cost_of[before] - 1e-9 * abs(cost_of[before]):
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
