"""Mondrian's scan: one sweep per region and axis over the points in the order of their positions.

The sweep proposes cuts with a cost each, and the histogram of the left side; deciding which of them the
requirements allow is left to the caller.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.methods.growing.points import PointArrays, Runs
from sfumato.methods.growing.scan import count_steps

EMPTY = np.array([[2**31 - 1], [-1], [0]], dtype=np.int32)
"""A box that holds nothing yet."""
TIE = 1e-9
"""Costs per row that differ by less are equal but for rounding; the first axis and position then win."""


Box = NDArray[np.int32]
"""The lowest and highest position of each axis among some points, and 1 for a missing value: (3, axes)."""


class SweepRule(NamedTuple):
    """Which cuts are proposed: with `min_rows` on both sides; at the median or anywhere; all or the cheapest alone."""

    min_rows: int
    by_median: bool
    only_best: bool


class Cuts(NamedTuple):
    """Cuts of regions: points below `position` of the axis go left, the last of them at `place` of the sweep."""

    region: NDArray[np.int64]
    axis: NDArray[np.int64]
    place: NDArray[np.int64]
    position: NDArray[np.int64]
    cost: NDArray[np.float64]
    left: NDArray[np.int64]  # the histogram of the left side: (cuts, values), or (cuts, 0) if only the best is kept


class Sweep(NamedTuple):
    """The points of one region in their order along an axis, and the rows they stand for."""

    points: PointArrays
    ordered: NDArray[np.int64]
    axis: int
    rows: int


@compiled
def _sort_by_position(
    positions: NDArray[np.int32], members: NDArray[np.int64], axis: int, buckets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The members in the order of their positions: by counting where these are dense, else by comparing."""
    smallest, largest = positions[members[0], axis], positions[members[0], axis]
    for member in members:
        smallest = min(smallest, positions[member, axis])
        largest = max(largest, positions[member, axis])
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
def _extend(box: Box, positions: NDArray[np.int32], missing: NDArray[np.int32], point: np.int64) -> None:
    """Make a box hold one more point."""
    for axis in range(positions.shape[1]):
        position = positions[point, axis]
        if position == missing[axis]:
            box[2, axis] = 1
        else:
            box[0, axis] = min(box[0, axis], position)
            box[1, axis] = max(box[1, axis], position)


@compiled
def _cost(box: Box, scale: NDArray[np.float64]) -> float:
    """The normalized certainty penalty of one row in a box: Σ (width − 1) · scale."""
    total = 0.0
    for axis in range(len(scale)):
        if box[1, axis] >= 0:
            total += (box[1, axis] - box[0, axis] + box[2, axis]) * scale[axis]
    return total


@compiled
def _cut_by_cost(sweep: Sweep, min_rows: int, scale: NDArray[np.float64], box: Box, cuts: Cuts, found: int) -> int:
    """Write every allowed cut along the axis: after which member, and the penalty per row it leaves."""
    positions, weights, missing = sweep.points.positions, sweep.points.weights, sweep.points.missing
    ordered, axis, place, cost = sweep.ordered, sweep.axis, cuts.place, cuts.cost
    last, first, left = len(ordered) - 1, found, 0
    box[:] = EMPTY
    for i in range(last):
        left += weights[ordered[i]]
        _extend(box, positions, missing, ordered[i])
        if sweep.rows - left < min_rows:
            break
        if left >= min_rows and positions[ordered[i], axis] != positions[ordered[i + 1], axis]:
            place[found], cost[found] = i, left * _cost(box, scale)
            found += 1
    box[:] = EMPTY
    right, i = 0, last
    for cut in range(found - 1, first - 1, -1):
        while i > place[cut]:
            right += weights[ordered[i]]
            _extend(box, positions, missing, ordered[i])
            i -= 1
        cost[cut] = (cost[cut] + right * _cost(box, scale)) / sweep.rows
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
def _double(array: NDArray[Any]) -> NDArray[Any]:
    """The array with as much room again behind it."""
    return np.concatenate((array, np.empty_like(array)))


@compiled
def sweep_cuts(points: PointArrays, runs: Runs, rule: SweepRule) -> Cuts:
    """All cuts of the regions that follow the rule, by region, axis and position."""
    positions, axes, largest = points.positions, len(points.sizes), (runs.ends - runs.starts).max()
    scale = 1 / np.maximum(points.sizes - 1, 1)
    box = np.empty((3, axes), np.int32)
    buckets = np.empty(4 * largest + 128, dtype=np.int64)
    room = 4 * len(runs.starts) * axes + largest
    where, left = np.empty((4, room), np.int64), np.empty((room, 0 if rule.only_best else points.values), np.int64)
    cuts = Cuts(where[0], where[1], where[2], where[3], np.empty(room, np.float64), left)
    found = 0
    for region in range(len(runs.starts)):
        members = runs.order[runs.starts[region] : runs.ends[region]]
        rows = points.weights[members].sum()
        if rows < 2 * rule.min_rows:
            continue
        first_of_region = found
        for axis in range(axes):
            if found + len(members) > len(cuts.region):
                region_of, axis_of, place = _double(cuts.region), _double(cuts.axis), _double(cuts.place)
                cuts = Cuts(region_of, axis_of, place, _double(cuts.position), _double(cuts.cost), _double(cuts.left))
            sweep, first = Sweep(points, _sort_by_position(positions, members, axis, buckets), axis, rows), found
            if rule.by_median:
                found = _cut_at_median(sweep, rule.min_rows, scale, cuts, found)
            else:
                found = _cut_by_cost(sweep, rule.min_rows, scale, box, cuts, found)
            for cut in range(first, found):
                cuts.region[cut], cuts.axis[cut] = region, axis
                cuts.position[cut] = positions[sweep.ordered[cuts.place[cut]], axis] + 1
            if found > first and not rule.only_best:
                _count_left(sweep, cuts, first, found)
        if rule.only_best and found > first_of_region:
            best = first_of_region
            for cut in range(first_of_region + 1, found):
                if cuts.cost[cut] < cuts.cost[best] - TIE:
                    best = cut
            found = first_of_region + 1
            for array in (cuts.region, cuts.axis, cuts.position):
                array[first_of_region] = array[best]
    region_of, axis_of, place, position, cost, left = cuts
    return Cuts(region_of[:found], axis_of[:found], place[:found], position[:found], cost[:found], left[:found])
