"""Mondrian's scan: one sweep per region and axis over the points in the order of their positions.

The sweep proposes cuts with a cost each, and the histogram of the left side; deciding which of them the
requirements allow is left to the caller.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.methods.growing.cuts import TIE, Cuts, SweepRule, double, keep_best
from sfumato.methods.growing.points import PointArrays, Runs
from sfumato.methods.growing.scan import Integer, count_steps

EMPTY = np.array([[2**31 - 1], [-1], [0]], dtype=np.int32)
"""A box that holds nothing yet."""


Box = NDArray[np.int32]
"""The lowest and highest position of each axis among some points, and 1 for a missing value: (3, axes)."""


class Sweep(NamedTuple):
    """The points of one region in their order along an axis, their rows and box, and the axes on which they differ."""

    points: PointArrays
    ordered: NDArray[np.int64]
    axis: Integer
    rows: int
    whole: Box
    varying: NDArray[np.int64]


@compiled
def _sort_by_position(
    positions: NDArray[np.int32], members: NDArray[np.int64], axis: Integer, whole: Box, buckets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The members in the order of their positions: by counting where these are dense, else by comparing.

    Missing values, of which the box `whole` knows, come first.
    """
    smallest, largest = np.int64(0 if whole[2, axis] else whole[0, axis]), np.int64(whole[1, axis])
    span = largest - smallest + 1
    if span >= len(buckets) or span > 4 * len(members) + 64:
        return members[np.argsort(positions[members, axis], kind="mergesort")]
    buckets[: span + 1] = 0
    for member in members:
        buckets[positions[member, axis] - smallest + 1] += 1
    for bucket in range(span):
        buckets[bucket + 1] += buckets[bucket]
    ordered = np.empty_like(members)
    for member in members:
        bucket = positions[member, axis] - smallest
        ordered[buckets[bucket]] = member
        buckets[bucket] += 1
    return ordered


@compiled
def extend(
    box: Box, positions: NDArray[np.int32], missing: NDArray[np.int32], axes: NDArray[np.int64], point: np.int64
) -> None:
    """Make a box hold one more point, on some axes."""
    for axis in axes:
        position = positions[point, axis]
        if position == missing[axis]:
            box[2, axis] = 1
        else:
            box[0, axis] = min(box[0, axis], position)
            box[1, axis] = max(box[1, axis], position)


@compiled
def _extend_open(
    box: Box,
    positions: NDArray[np.int32],
    missing: NDArray[np.int32],
    whole: Box,
    axes: NDArray[np.int64],
    still_open: int,
    point: np.int64,
) -> int:
    """The same on the first axes, on which the box is not `whole` yet; how many of them are left, which then are first.

    Boxes of many points are soon whole on most axes, and need not be looked at there any more.
    """
    i = 0
    while i < still_open:
        axis = axes[i]
        position = positions[point, axis]
        if position == missing[axis]:
            box[2, axis] = 1
        else:
            box[0, axis] = min(box[0, axis], position)
            box[1, axis] = max(box[1, axis], position)
        if box[0, axis] == whole[0, axis] and box[1, axis] == whole[1, axis] and box[2, axis] == whole[2, axis]:
            still_open -= 1
            axes[i] = axes[still_open]
            axes[still_open] = axis
        else:
            i += 1
    return still_open


@compiled
def cost_of(box: Box, axes: NDArray[np.int64], scale: NDArray[np.float64]) -> float:
    """The normalized certainty penalty of one row in a box that is a point on all other axes: Σ (width − 1) · scale."""
    total = 0.0
    for axis in axes:
        if box[1, axis] >= 0:
            total += (box[1, axis] - box[0, axis] + box[2, axis]) * scale[axis]
    return total


@compiled
def _expected(rows: int, box: Box, axes: NDArray[np.int64], scale: NDArray[np.float64], rule: SweepRule) -> float:
    """The penalty of the rows in a box once it is cut on: see `SweepRule`."""
    classes = min(rows // rule.aim, len(rule.narrowing) - 1)
    return rows * cost_of(box, axes, scale) * float(rule.narrowing[classes])


@compiled
def penalties(points: PointArrays, runs: Runs) -> NDArray[np.float64]:
    """The normalized certainty penalty of each region as one class, summed over its rows."""
    scale = 1 / np.maximum(points.sizes - 1, 1)
    box, found, axes = np.empty((3, len(scale)), np.int32), np.empty(len(runs.starts)), np.arange(len(scale))
    for region in range(len(runs.starts)):
        box[:] = EMPTY
        rows = 0
        for point in runs.order[runs.starts[region] : runs.ends[region]]:
            rows += points.weights[point]
            extend(box, points.positions, points.missing, axes, point)
        found[region] = rows * cost_of(box, axes, scale)
    return found


@compiled
def _cut_by_cost(sweep: Sweep, rule: SweepRule, scale: NDArray[np.float64], box: Box, cuts: Cuts, found: int) -> int:
    """Write every allowed cut along the axis: after which member, and the penalty per row it leaves."""
    positions, weights, missing = sweep.points.positions, sweep.points.weights, sweep.points.missing
    ordered, axis, place, cost = sweep.ordered, sweep.axis, cuts.place, cuts.cost
    min_rows, last, first, left = rule.min_rows, len(ordered) - 1, found, 0
    axes, still_open, whole = sweep.varying.copy(), len(sweep.varying), sweep.whole
    box[:] = EMPTY
    for i in range(last):
        left += weights[ordered[i]]
        still_open = _extend_open(box, positions, missing, whole, axes, still_open, ordered[i])
        if sweep.rows - left < min_rows:
            break
        if left >= min_rows and positions[ordered[i], axis] != positions[ordered[i + 1], axis]:
            place[found], cost[found] = i, _expected(left, box, sweep.varying, scale, rule)
            found += 1
    box[:] = EMPTY
    right, i, still_open = 0, last, len(axes)
    for cut in range(found - 1, first - 1, -1):
        while i > place[cut]:
            right += weights[ordered[i]]
            still_open = _extend_open(box, positions, missing, whole, axes, still_open, ordered[i])
            i -= 1
        cost[cut] = (cost[cut] + _expected(right, box, sweep.varying, scale, rule)) / sweep.rows
    return found


@compiled
def _cut_at_median(sweep: Sweep, min_rows: int, scale: NDArray[np.float64], cuts: Cuts, found: int) -> int:
    """Write the cuts on both sides of the median: the widest axis is the cheapest, the median goes left if it can."""
    axis, along = sweep.axis, sweep.points.positions[sweep.ordered, sweep.axis]
    reached = np.cumsum(sweep.points.weights[sweep.ordered])
    median = along[np.searchsorted(2 * reached, sweep.rows)]
    present = along[along != sweep.points.missing[axis]]
    width = present[-1] - present[0] + (len(present) < len(along)) if len(present) else 0
    for i in range(len(along) - 1):
        here, following = along[i], along[i + 1]
        at_median, fair = here == median or following == median, min_rows <= reached[i] <= sweep.rows - min_rows
        if here != following and at_median and fair:
            cuts.place[found], cuts.cost[found] = i, -width * scale[axis] + (0.0 if here == median else 10 * TIE)
            found += 1
    return found


@compiled
def _count_left(sweep: Sweep, cuts: Cuts, first: int, end: int) -> None:
    """Write the histogram of the left side of each cut; cuts come in rising order of place."""
    members = sweep.ordered[: cuts.place[end - 1] + 1]
    step_of = np.empty(len(members), dtype=np.int64)
    at = 0
    for cut in range(first, end):
        step_of[at : cuts.place[cut] + 1] = cut - first
        at = cuts.place[cut] + 1
    cuts.left[first:end] = count_steps(sweep.points, members, step_of, end - first, True)[1:, 1:]


@compiled
def sweep_cuts(points: PointArrays, runs: Runs, rule: SweepRule) -> Cuts:
    """All cuts of the regions that follow the rule, by region, axis and position."""
    positions, axes, largest = points.positions, len(points.sizes), (runs.ends - runs.starts).max()
    scale = 1 / np.maximum(points.sizes - 1, 1)
    box, whole, every = np.empty((3, axes), np.int32), np.empty((3, axes), np.int32), np.arange(axes)
    buckets = np.empty(4 * largest + 128, dtype=np.int64)
    room = 4 * len(runs.starts) * axes + largest
    where, left = np.empty((4, room), np.int64), np.empty((room, 0 if rule.most else points.values), np.int64)
    cuts = Cuts(where[0], where[1], where[2], where[3], np.empty(room, np.float64), left)
    chosen, found = np.empty(max(rule.most, 1), dtype=np.int64), 0
    for region in range(len(runs.starts)):
        members = runs.order[runs.starts[region] : runs.ends[region]]
        rows = points.weights[members].sum()
        if rows < 2 * rule.min_rows:
            continue
        first_of_region, whole[:] = found, EMPTY
        for point in members:
            extend(whole, positions, points.missing, every, point)
        varying = np.flatnonzero((whole[1] >= 0) & (whole[1] - whole[0] + whole[2] > 0))
        for axis in varying:
            if found + len(members) > len(cuts.region):
                region_of, axis_of, place = double(cuts.region), double(cuts.axis), double(cuts.place)
                cuts = Cuts(region_of, axis_of, place, double(cuts.position), double(cuts.cost), double(cuts.left))
            ordered, first = _sort_by_position(positions, members, axis, whole, buckets), found
            sweep = Sweep(points, ordered, axis, rows, whole, varying)
            if rule.by_median:
                found = _cut_at_median(sweep, rule.min_rows, scale, cuts, found)
            else:
                found = _cut_by_cost(sweep, rule, scale, box, cuts, found)
            for cut in range(first, found):
                cuts.region[cut], cuts.axis[cut] = region, axis
                cuts.position[cut] = positions[sweep.ordered[cuts.place[cut]], axis] + 1
            if found > first and not rule.most:
                _count_left(sweep, cuts, first, found)
        if rule.most:
            found = keep_best(cuts, first_of_region, found, rule.most, chosen)
    region_of, axis_of, place, position, cost, left = cuts
    return Cuts(region_of[:found], axis_of[:found], place[:found], position[:found], cost[:found], left[:found])
