"""How Mondrian cuts a table down to classes: level by level, and in the end in several ways of which the best stays.

Where a region will become few classes, its few best cuts are all made for trial, and so are those of their parts for
as many cuts as are looked ahead. From there on each part is cut by its best cut as long as it can be, so that a cut is
worth what it really leads to: what follows is estimated only to choose which cuts to try (see `SweepRule`).
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled_if_many
from sfumato.methods.growing.box import penalties
from sfumato.methods.growing.cuts import TIE, Cuts
from sfumato.methods.growing.points import PointArrays, Runs
from sfumato.methods.partition.search import FAR, Search, cut_runs

WIDTH = 3
"""How many cuts of a region are made for trial."""
MAX_CLASSES = 12
"""Regions that will become so many classes or more are cut without trial: the estimate is as good for them."""
POINTS_AT_ONCE = 2**19


class Settled(NamedTuple):
    """Regions with their points ordered by class, where classes begin, and the penalty of all rows of each region."""

    runs: Runs
    begins: NDArray[np.bool_]
    penalty: NDArray[np.float64]


def cut_down(search: Search, runs: Runs, steps: int, look_ahead: int = 0) -> NDArray[np.bool_]:
    """Cut the regions down to classes by at most so many cuts in a row; where classes begin in their order.

    The points of the regions are reordered in place, so that those of a class stand together.
    """
    begins, few = np.zeros(len(runs.order), dtype=bool), defaultdict(list)
    while len(runs.starts) and steps:
        if look_ahead:
            is_few = search.classes_of(runs, steps) < MAX_CLASSES
            few[min(steps, FAR)].append(_some(runs, is_few))
            runs = _some(runs, ~is_few)
            if not len(runs.starts):
                break
        cuts = decide(search.within(steps), runs)
        begins[_some(runs, _uncut(runs, cuts)).starts] = True
        runs, steps = cut_in_place(search.points.positions, runs, cuts), steps - 1
    begins[runs.starts] = True
    for left, regions in few.items():
        starts, ends = (np.concatenate([some[side] for some in regions]) for side in (1, 2))
        _settle_in_place(search, Runs(runs.order, starts, ends), left, look_ahead, begins)
    return begins


def settle(search: Search, runs: Runs, steps: int, look_ahead: int) -> Settled:
    """The regions cut down to classes in the best of the ways that are tried."""
    cuts = search.within(steps).best(runs, WIDTH)
    parts = cut_runs(search.points.positions, runs, cuts)
    if look_ahead and steps > 1 and len(parts.starts):
        settled = settle(search, parts, steps - 1, look_ahead - 1)
    else:
        begins = cut_down(search, parts, steps - 1)
        settled = Settled(parts, begins, _penalties_of_regions(search.points, parts, begins))
    penalty, uncut = np.zeros(len(runs.starts)), _uncut(runs, cuts)
    penalty[uncut] = penalties(search.points, _some(runs, uncut))
    return adopt_best(runs, penalty, cuts.region, settled)


def _settle_in_place(search: Search, runs: Runs, steps: int, look_ahead: int, begins: NDArray[np.bool_]) -> None:
    for batch in _batches(runs, POINTS_AT_ONCE // WIDTH ** (look_ahead + 1)):
        some = _some(runs, batch)
        settled = settle(search, some, steps, look_ahead)
        places = _places(some)
        runs.order[places], begins[places] = settled.runs.order, settled.begins


def _penalties_of_regions(points: PointArrays, runs: Runs, begins: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The penalty of the classes of each region; regions stand one after the other."""
    starts = np.flatnonzero(begins)
    each = penalties(points, Runs(runs.order, starts, np.append(starts[1:], len(begins))))
    return np.add.reduceat(each, np.searchsorted(starts, runs.starts)) if len(starts) else each


def decide(search: Search, runs: Runs) -> Cuts:
    """The best cut of each region that can be cut."""
    parts = []
    for batch in _batches(runs, POINTS_AT_ONCE):
        cuts = search.best(_some(runs, batch))
        parts.append(cuts._replace(region=cuts.region + batch.start))
    return Cuts(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _batches(runs: Runs, most: int) -> Iterator[slice]:
    """Regions one after the other with about so many points together."""
    if len(runs.starts):
        batch = np.cumsum(runs.ends - runs.starts) // max(most, 1)
        edges = [0, *(np.flatnonzero(np.diff(batch)) + 1).tolist(), len(batch)]
        yield from (slice(start, end) for start, end in pairwise(edges))


def _some(runs: Runs, which: NDArray[np.bool_] | slice) -> Runs:
    return Runs(runs.order, runs.starts[which], runs.ends[which])


def _uncut(runs: Runs, cuts: Cuts) -> NDArray[np.bool_]:
    uncut = np.ones(len(runs.starts), dtype=bool)
    uncut[cuts.region] = False
    return uncut


def _places(runs: Runs) -> NDArray[np.int64]:
    """The places of the points of all regions in their order, region by region."""
    sizes = runs.ends - runs.starts
    return np.repeat(runs.starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())


@compiled_if_many
def cut_in_place(positions: NDArray[np.int32], runs: Runs, cuts: Cuts) -> Runs:
    """The points of both sides of each cut, in turn, where the region's were; every region has one cut at most."""
    starts, ends = np.empty(2 * len(cuts.region), dtype=np.int64), np.empty(2 * len(cuts.region), dtype=np.int64)
    for cut in range(len(cuts.region)):
        start, end = runs.starts[cuts.region[cut]], runs.ends[cuts.region[cut]]
        along, right, at = positions[:, cuts.axis[cut]], np.empty(end - start, dtype=np.int64), start
        for place in range(start, end):
            point = runs.order[place]
            if along[point] < cuts.position[cut]:
                runs.order[at] = point
                at += 1
            else:
                right[place - at] = point
        runs.order[at:end] = right[: end - at]
        starts[2 * cut], ends[2 * cut], starts[2 * cut + 1], ends[2 * cut + 1] = start, at, at, end
    return Runs(runs.order, starts, ends)


@compiled_if_many
def adopt_best(runs: Runs, penalty: NDArray[np.float64], region: NDArray[np.int64], parts: Settled) -> Settled:
    """Each region cut in the way that leaves the least penalty, the first of equals; one without cuts is a class.

    Cut i of `region[i]` has the parts 2i and 2i + 1.
    """
    best = np.full(len(runs.starts), -1, dtype=np.int64)
    for cut in range(len(region)):
        left = parts.penalty[2 * cut] + parts.penalty[2 * cut + 1]
        if best[region[cut]] < 0 or left < penalty[region[cut]] * (1 - TIE):
            best[region[cut]], penalty[region[cut]] = cut, left
    sizes = runs.ends - runs.starts
    order, begins = np.empty(sizes.sum(), dtype=np.int64), np.zeros(sizes.sum(), dtype=np.bool_)
    ends = np.cumsum(sizes)
    for number in range(len(best)):
        start, end = ends[number] - sizes[number], ends[number]
        if best[number] < 0:
            order[start:end] = runs.order[runs.starts[number] : runs.ends[number]]
            begins[start] = True
        else:
            first, last = parts.runs.starts[2 * best[number]], parts.runs.ends[2 * best[number] + 1]
            order[start:end], begins[start:end] = parts.runs.order[first:last], parts.begins[first:last]
    return Settled(Runs(order, ends - sizes, ends), begins, penalty)
