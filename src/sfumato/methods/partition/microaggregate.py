"""Groups of at least k rows that lie near each other, by the maximum distance to the average (MDAV).

Rows that look alike stay together: a point of k rows or more is a group by itself, and the others, lighter than that,
make groups of k to 2k − 2 rows. What is left in the end, fewer than k rows, joins the nearest groups. Looking for the
next group goes through all points left, so a large table is cut into blocks first, at the median row of the widest
column.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MAX_POINTS = 4096
"""Points of a block that is grouped as a whole."""
ROOM = 3
"""Blocks have room for so many groups at least."""


def microaggregate(places: Floats, rows: Integers, k: int) -> Integers:
    """The group of each point at its place (points, axes), of at least k rows each."""
    group_of, count = np.empty(len(rows), dtype=np.int64), 0
    for block in _blocks(places, rows, k):
        group_of[block] = count + _group(places[block], rows[block], k)
        count = int(group_of[block].max()) + 1
    return group_of


def _blocks(places: Floats, rows: Integers, k: int) -> list[Integers]:
    """The points, cut until there are few in each part or a part could not hold enough groups."""
    found, waiting = [], [np.arange(len(rows))]
    while waiting:
        block = waiting.pop()
        sides = _halves(places[block], rows[block], ROOM * k) if len(block) > MAX_POINTS else None
        if sides is None:
            found.append(block)
        else:
            waiting += [block[side] for side in sides]
    return found


def _halves(places: Floats, rows: Integers, least: int) -> tuple[Integers, Integers] | None:
    """Both sides of the median row of the widest axis that leaves enough rows on either."""
    for axis in np.argsort(places.min(axis=0) - places.max(axis=0), kind="stable"):
        order = np.argsort(places[:, axis], kind="stable")
        upto, rising = np.cumsum(rows[order]), places[order, axis]
        edges = np.flatnonzero(np.diff(rising) > 0) + 1
        edges = edges[(upto[edges - 1] >= least) & (upto[-1] - upto[edges - 1] >= least)]
        if len(edges):
            middle = edges[int(np.argmin(np.abs(2 * upto[edges - 1] - upto[-1])))]
            return order[:middle], order[middle:]
    return None


def _group(places: Floats, rows: Integers, k: int) -> Integers:
    """The groups of one block: around what is farthest from the average, and around what is farthest from there."""
    group_of = np.full(len(rows), -1)
    heavy = np.flatnonzero(rows >= k)
    group_of[heavy] = np.arange(len(heavy))
    left, count = np.flatnonzero(rows < k), len(heavy)
    opposite: Floats | None = None
    while (weight := int(rows[left].sum())) >= 2 * k:
        here, mine = places[left], rows[left]
        if opposite is None:
            seed = here[_farthest(here, (here * mine[:, None]).sum(axis=0) / weight)]
            opposite = seed if weight >= 3 * k else None
        else:
            seed, opposite = here[_farthest(here, opposite)], None
        members = _nearest(here, mine, seed, k)
        group_of[left[members]], count = count, count + 1
        left = np.delete(left, members)
    if not count or rows[left].sum() >= k:
        group_of[left] = count
    elif len(left):
        group_of[left] = _nearest_group(places, rows, group_of, count, left)
    return group_of


def _squares(places: Floats, centre: Floats) -> Floats:
    """The squared distance of each place from one."""
    return np.asarray(((places - centre) ** 2).sum(axis=1))


def _farthest(places: Floats, centre: Floats) -> int:
    return int(np.argmax(_squares(places, centre)))


def _nearest(places: Floats, rows: Integers, seed: Floats, k: int) -> Integers:
    """The points nearest to a place that have k rows together; of those equally near the first."""
    away = _squares(places, seed)
    near = np.flatnonzero(away <= np.partition(away, min(k, len(away)) - 1)[min(k, len(away)) - 1])
    near = near[np.argsort(away[near], kind="stable")]
    return near[: int(np.searchsorted(np.cumsum(rows[near]), k)) + 1]


def _nearest_group(places: Floats, rows: Integers, group_of: Integers, count: int, left: Integers) -> Integers:
    """The group whose mean is nearest to each point that is left."""
    inside = np.flatnonzero(group_of >= 0)
    weight = np.bincount(group_of[inside], rows[inside], count)
    sums = [np.bincount(group_of[inside], rows[inside] * column, count) for column in places[inside].T]
    means = np.column_stack(sums) / weight[:, None]
    return np.array([int(np.argmin(_squares(means, place))) for place in places[left]])
