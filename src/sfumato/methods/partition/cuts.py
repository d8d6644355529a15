"""Where a set of points can be cut in two: one sweep per node and axis over the points in code order.

The sweep proposes cuts with a cost each, and the histogram of the left side; deciding which of them the
requirements allow is left to the caller.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled

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
def _empty(lo: NDArray[np.int32], hi: NDArray[np.int32], missing: NDArray[np.int32]) -> None:
    """Make a box hold nothing."""
    lo[:], hi[:], missing[:] = NOTHING, -1, 0


@compiled
def _extend(
    points: NDArray[np.int32], point: np.int64, lo: NDArray[np.int32], hi: NDArray[np.int32], missing: NDArray[np.int32]
) -> None:
    """Make a box hold one more point."""
    for axis in range(points.shape[1]):
        code = points[point, axis]
        if code < 0:
            missing[axis] = 1
        else:
            lo[axis] = min(lo[axis], code)
            hi[axis] = max(hi[axis], code)


@compiled
def _cost(
    lo: NDArray[np.int32], hi: NDArray[np.int32], missing: NDArray[np.int32], scale: NDArray[np.float64]
) -> float:
    """The normalized certainty penalty of one row in a box: Σ (width − 1) · scale."""
    total = 0.0
    for axis in range(len(scale)):
        if hi[axis] >= 0:
            total += (hi[axis] - lo[axis] + missing[axis]) * scale[axis]
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
def _doubled(array: NDArray[Any]) -> NDArray[Any]:
    """The array with as much room again behind it."""
    return np.concatenate((array, np.empty_like(array)))


@compiled
def _median(
    points: NDArray[np.int32], weights: NDArray[np.int64], ordered: NDArray[np.int64], axis: int, total: int
) -> int:
    """The smallest code up to which half of the rows lie."""
    reached = 0
    for member in ordered:
        reached += weights[member]
        if 2 * reached >= total:
            return int(points[member, axis])
    return -1


@compiled
def _cuts_by_cost(
    points: NDArray[np.int32],
    weights: NDArray[np.int64],
    scale: NDArray[np.float64],
    ordered: NDArray[np.int64],
    axis: int,
    total: int,
    smallest: int,
    lo: NDArray[np.int32],
    hi: NDArray[np.int32],
    missing: NDArray[np.int32],
    place_of: NDArray[np.int64],
    cost_of: NDArray[np.float64],
    found: int,
) -> int:
    """Write every allowed cut of a node along an axis: after which member, and the penalty per row it leaves."""
    last = len(ordered) - 1
    first = found
    _empty(lo, hi, missing)
    left = 0
    for i in range(last):
        left += weights[ordered[i]]
        _extend(points, ordered[i], lo, hi, missing)
        if total - left < smallest:
            break
        if left >= smallest and points[ordered[i], axis] != points[ordered[i + 1], axis]:
            place_of[found], cost_of[found] = i, left * _cost(lo, hi, missing, scale)
            found += 1
    _empty(lo, hi, missing)
    right, i = 0, last
    for cut in range(found - 1, first - 1, -1):
        while i > place_of[cut]:
            right += weights[ordered[i]]
            _extend(points, ordered[i], lo, hi, missing)
            i -= 1
        cost_of[cut] = (cost_of[cut] + right * _cost(lo, hi, missing, scale)) / total
    return found


@compiled
def _cuts_at_median(
    points: NDArray[np.int32],
    weights: NDArray[np.int64],
    scale: NDArray[np.float64],
    ordered: NDArray[np.int64],
    axis: int,
    total: int,
    smallest: int,
    place_of: NDArray[np.int64],
    cost_of: NDArray[np.float64],
    found: int,
) -> int:
    """Write the cuts on both sides of the median: the widest axis is the cheapest, the median goes left if it can."""
    median = _median(points, weights, ordered, axis, total)
    spread = _spread(points, ordered, axis) * scale[axis]
    left = 0
    for i in range(len(ordered) - 1):
        left += weights[ordered[i]]
        code, following = points[ordered[i], axis], points[ordered[i + 1], axis]
        if code != following and (code == median or following == median) and smallest <= left <= total - smallest:
            place_of[found], cost_of[found] = i, -spread + (0.0 if code == median else 10 * TIE)
            found += 1
    return found


@compiled
def _cheapest(cost_of: NDArray[np.float64], first: int, end: int) -> int:
    """The first of the cheapest cuts; costs that differ by rounding only are equal."""
    best = first
    for cut in range(first + 1, end):
        if cost_of[cut] < cost_of[best] - TIE:
            best = cut
    return best


@compiled
def _left_histograms(
    ordered: NDArray[np.int64],
    place_of: NDArray[np.int64],
    first: int,
    end: int,
    histograms: NDArray[np.int64],
    cell_start: NDArray[np.int64],
    cell_value: NDArray[np.int32],
    cell_weight: NDArray[np.int64],
) -> None:
    """Write the histogram of the left side of each cut; cuts come in rising order of place."""
    running = np.zeros(histograms.shape[1], dtype=np.int64)
    at = 0
    for cut in range(first, end):
        while at <= place_of[cut]:
            for cell in range(cell_start[ordered[at]], cell_start[ordered[at] + 1]):
                running[cell_value[cell]] += cell_weight[cell]
            at += 1
        histograms[cut] = running


@compiled
def propose_cuts(
    points: NDArray[np.int32],
    weights: NDArray[np.int64],
    scale: NDArray[np.float64],
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    smallest: int,
    by_median: bool,
    only_best: bool,
    cell_start: NDArray[np.int64],
    cell_value: NDArray[np.int32],
    cell_weight: NDArray[np.int64],
    values: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """All cuts of the nodes `order[starts[i]:ends[i]]` that leave `smallest` rows on both sides.

    Returns node, axis, code (left is `<= code`), cost, and the left histogram (cuts, values) of each. With
    `only_best` just the cheapest cut of each node is kept, and histograms stay empty.
    """
    axes, largest = points.shape[1], (ends - starts).max()
    lo, hi, missing = np.empty(axes, np.int32), np.empty(axes, np.int32), np.empty(axes, np.int32)
    buckets = np.empty(4 * largest + 128, dtype=np.int64)
    capacity = 4 * len(starts) * axes + largest
    node_of, axis_of = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    code_of, place_of = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    cost_of = np.empty(capacity, np.float64)
    left_of = np.empty((0 if only_best else capacity, values), np.int64)
    found = 0
    for node in range(len(starts)):
        members = order[starts[node] : ends[node]]
        total = weights[members].sum()
        if total < 2 * smallest:
            continue
        first_of_node = found
        for axis in range(axes):
            if found + len(members) > len(node_of):
                node_of, axis_of, code_of = _doubled(node_of), _doubled(axis_of), _doubled(code_of)
                place_of, cost_of, left_of = _doubled(place_of), _doubled(cost_of), _doubled(left_of)
            ordered = _sorted_by_code(points, members, axis, buckets)
            first = found
            if by_median:
                found = _cuts_at_median(
                    points, weights, scale, ordered, axis, total, smallest, place_of, cost_of, found
                )
            else:
                found = _cuts_by_cost(
                    points, weights, scale, ordered, axis, total, smallest, lo, hi, missing, place_of, cost_of, found
                )
            for cut in range(first, found):
                node_of[cut], axis_of[cut] = node, axis
                code_of[cut] = points[ordered[place_of[cut]], axis]
            if not only_best:
                _left_histograms(ordered, place_of, first, found, left_of, cell_start, cell_value, cell_weight)
        if only_best and found > first_of_node:
            best = _cheapest(cost_of, first_of_node, found)
            node_of[first_of_node], axis_of[first_of_node] = node_of[best], axis_of[best]
            code_of[first_of_node], cost_of[first_of_node] = code_of[best], cost_of[best]
            found = first_of_node + 1
    return node_of[:found], axis_of[:found], code_of[:found], cost_of[:found], left_of[:found]


@compiled
def split(
    points: NDArray[np.int32],
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    axes: NDArray[np.int64],
    codes: NDArray[np.int64],
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
