"""Mondrian's scan: one sweep per region and axis over the points in the order of their positions.

The sweep proposes cuts with a cost each; deciding which of them the requirements allow is left to the caller.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled_if_many
from sfumato.methods.growing.box import EMPTY, Box, varies
from sfumato.methods.growing.cuts import TIE, Cuts, SweepRule, double, keep_best, worth_trying
from sfumato.methods.growing.points import PointArrays, Runs
from sfumato.methods.growing.scan import Integer

FEW = 24
"""So few points are sorted by inserting one after the other."""


class Scratch(NamedTuple):
    """Room for the points of one region: what is known of them, and of the cuts along one axis."""

    positions: NDArray[np.int32]  # (axes, points)
    rows: NDArray[np.int64]
    ordered: NDArray[np.int64]
    rows_left: NDArray[np.int64]
    widths: NDArray[np.float64]  # of the boxes on both sides of each cut: (2, cuts)
    buckets: NDArray[np.int64]


class Sweep(NamedTuple):
    """The points of one region, numbered as they come, in their order along an axis; their rows and box."""

    positions: NDArray[np.int32]  # (axes, points)
    rows: NDArray[np.int64]
    ordered: NDArray[np.int64]
    total: int
    whole: Box
    missing: NDArray[np.int32]
    axis: Integer


@compiled_if_many
def _room_for(points: int, axes: int) -> Scratch:
    numbers = np.empty((3, points), dtype=np.int64)
    positions, buckets = np.empty((axes, points), dtype=np.int32), np.empty(4 * points + 128, dtype=np.int64)
    return Scratch(positions, numbers[0], numbers[1], numbers[2], np.empty((2, points)), buckets)


@compiled_if_many
def _sort_by_position(
    along: NDArray[np.int32], box: Box, buckets: NDArray[np.int64], ordered: NDArray[np.int64]
) -> None:
    """Write which point comes first along an axis, and so on, equals as they come; missing values come first.

    Few points are sorted by inserting, many by counting where positions are dense, else by comparing. `box` is the
    column of this axis.
    """
    if len(along) <= FEW:
        for number in range(len(along)):
            place = number
            while place > 0 and along[ordered[place - 1]] > along[number]:
                ordered[place] = ordered[place - 1]
                place -= 1
            ordered[place] = number
        return
    smallest = np.int64(0 if box[2] else box[0])
    span = box[1] - smallest + 1
    if span >= len(buckets) or span > 4 * len(along) + 64:
        ordered[:] = np.argsort(along, kind="mergesort")
        return
    buckets[: span + 1] = 0
    for position in along:
        buckets[position - smallest + 1] += 1
    for bucket in range(span):
        buckets[bucket + 1] += buckets[bucket]
    for number in range(len(along)):
        bucket = along[number] - smallest
        ordered[buckets[bucket]] = number
        buckets[bucket] += 1


@compiled_if_many
def _widen(
    along: NDArray[np.int32],
    ordered: NDArray[np.int64],
    missing: int,
    whole: int,
    places: NDArray[np.int64],
    scale: float,
    widths: NDArray[np.float64],
) -> None:
    """Add what one axis contributes to the widths of the boxes on both sides of each cut: (width − 1) · scale.

    A box grows from cut to cut. Once it is as wide as the region's, the rest are as wide, and nothing is looked at.
    """
    for side in range(2):
        lo, hi, hole = np.int64(2**31 - 1), np.int64(-1), np.int64(0)
        at, step = (0, 1) if side == 0 else (len(ordered) - 1, -1)
        narrower = True
        for number in range(len(places)):
            cut = number if side == 0 else len(places) - 1 - number
            end = places[cut] + 1 - side
            while narrower and at != end:
                position = along[ordered[at]]
                if position == missing:
                    hole = np.int64(1)
                else:
                    lo, hi = min(lo, position), max(hi, position)
                at += step
            width = hi - lo + hole if hi >= 0 else np.int64(0)
            narrower = bool(width < whole)
            widths[side, cut] += width * scale


@compiled_if_many
def _cut_by_cost(
    sweep: Sweep, rule: SweepRule, scale: NDArray[np.float64], scratch: Scratch, cuts: Cuts, found: int
) -> int:
    """Write every allowed cut along the axis: after which member, and the penalty per row it leaves.

    A side is judged by the penalty of its rows once it is cut on: see `SweepRule`.
    """
    along, ordered, first, left = sweep.positions[sweep.axis], sweep.ordered, found, 0
    for place in range(len(ordered) - 1):
        left += sweep.rows[ordered[place]]
        if sweep.total - left < rule.min_rows:
            break
        if left >= rule.min_rows and along[ordered[place]] != along[ordered[place + 1]]:
            cuts.place[found], scratch.rows_left[found - first] = place, left
            found += 1
    if found == first:
        return found
    widths, places, last = scratch.widths[:, : found - first], cuts.place[first:found], len(rule.narrowing) - 1
    widths[:] = 0.0
    for axis in range(len(scale)):
        if varies(sweep.whole, axis):
            width = np.int64(sweep.whole[1, axis]) - sweep.whole[0, axis] + sweep.whole[2, axis]
            _widen(sweep.positions[axis], ordered, sweep.missing[axis], width, places, scale[axis], widths)
    for cut in range(found - first):
        left = scratch.rows_left[cut]
        right = sweep.total - left
        cost = left * widths[0, cut] * rule.narrowing[min(left // rule.aim, last)]
        cost += right * widths[1, cut] * rule.narrowing[min(right // rule.aim, last)]
        cuts.cost[first + cut] = cost / sweep.total
    return found


@compiled_if_many
def _cut_at_median(sweep: Sweep, min_rows: int, scale: NDArray[np.float64], cuts: Cuts, found: int) -> int:
    """Write the cuts on both sides of the median: the widest axis is the cheapest, the median goes left if it can."""
    axis, along = sweep.axis, sweep.positions[sweep.axis][sweep.ordered]
    reached = np.cumsum(sweep.rows[sweep.ordered])
    median = along[np.searchsorted(2 * reached, sweep.total)]
    present = along[along != sweep.missing[axis]]
    width = present[-1] - present[0] + (len(present) < len(along)) if len(present) else 0
    for i in range(len(along) - 1):
        here, following = along[i], along[i + 1]
        at_median, fair = here == median or following == median, min_rows <= reached[i] <= sweep.total - min_rows
        if here != following and at_median and fair:
            cuts.place[found], cuts.cost[found] = i, -width * scale[axis] + (0.0 if here == median else 10 * TIE)
            found += 1
    return found


@compiled_if_many
def _look_at(points: PointArrays, members: NDArray[np.int64], scratch: Scratch, whole: Box) -> int:
    """Write the positions and rows of the points of a region, and the box around them; all their rows."""
    whole[:] = EMPTY
    positions, missing, total = points.positions, points.missing, 0
    for number, point in enumerate(members):
        scratch.rows[number] = points.weights[point]
        total += points.weights[point]
        for axis in range(len(missing)):
            position = positions[point, axis]
            scratch.positions[axis, number] = position
            if position == missing[axis]:
                whole[2, axis] = 1
            else:
                whole[0, axis] = min(whole[0, axis], position)
                whole[1, axis] = max(whole[1, axis], position)
    return total


@compiled_if_many
def sweep_cuts(points: PointArrays, runs: Runs, rule: SweepRule) -> Cuts:
    """All cuts of the regions that follow the rule, by region, axis and position."""
    axes, largest = len(points.sizes), (runs.ends - runs.starts).max()
    scale, whole, scratch = 1 / np.maximum(points.sizes - 1, 1), np.empty((3, axes), np.int32), _room_for(largest, axes)
    room = 4 * len(runs.starts) * axes + largest
    where = np.empty((4, room), np.int64)
    cuts = Cuts(where[0], where[1], where[2], where[3], np.empty(room, np.float64))
    chosen, found = np.empty(max(rule.most, 1), dtype=np.int64), 0
    for region in range(len(runs.starts)):
        members, first_of_region = runs.order[runs.starts[region] : runs.ends[region]], found
        size, total = len(members), _look_at(points, members, scratch, whole)
        if total < 2 * rule.min_rows:
            continue
        positions, rows, ordered = scratch.positions[:, :size], scratch.rows[:size], scratch.ordered[:size]
        for axis in range(axes):
            if not varies(whole, axis):
                continue
            if found + size > len(cuts.region):
                region_of, axis_of, place = double(cuts.region), double(cuts.axis), double(cuts.place)
                cuts = Cuts(region_of, axis_of, place, double(cuts.position), double(cuts.cost))
            _sort_by_position(positions[axis], whole[:, axis], scratch.buckets, ordered)
            sweep, first = Sweep(positions, rows, ordered, total, whole, points.missing, axis), found
            if rule.by_median:
                found = _cut_at_median(sweep, rule.min_rows, scale, cuts, found)
            else:
                found = _cut_by_cost(sweep, rule, scale, scratch, cuts, found)
            for cut in range(first, found):
                cuts.region[cut], cuts.axis[cut] = region, axis
                cuts.position[cut] = positions[axis, ordered[cuts.place[cut]]] + 1
        if rule.most:
            found = keep_best(cuts, first_of_region, found, worth_trying(total, rule.min_rows, rule.most), chosen)
    region_of, axis_of, place, position, cost = cuts
    return Cuts(region_of[:found], axis_of[:found], place[:found], position[:found], cost[:found])
