"""Cuts of regions: which are proposed, what is known of them, and which are the cheapest."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled_if_many

TIE = 1e-9
"""Costs per row that differ by less are equal but for rounding; the first axis and position then win."""
MOST_OF_AXIS = 2
"""Of the best cuts of a region, at most so many are on one axis: cuts side by side lead to much the same."""


class SweepRule(NamedTuple):
    """Which cuts are proposed: with `min_rows` on both sides; at the median or anywhere; `most` of a region, 0 for all.

    A side of n rows will be cut on, into classes of about `aim` rows. If there are L of these, its penalty will then be
    `narrowing[L]` times what it is now.
    """

    min_rows: int
    by_median: bool
    most: int
    aim: int = 1
    narrowing: NDArray[np.float64] = np.ones(1)


class Cuts(NamedTuple):
    """Cuts of regions: points below `position` of the axis go left, the last of them at `place` of the sweep."""

    region: NDArray[np.int64]
    axis: NDArray[np.int64]
    place: NDArray[np.int64]
    position: NDArray[np.int64]
    cost: NDArray[np.float64]  # infinite where a cut may not be made


@compiled_if_many
def double(array: NDArray[Any]) -> NDArray[Any]:
    """The array with as much room again behind it."""
    return np.concatenate((array, np.empty_like(array)))


@compiled_if_many
def worth_trying(rows: int, min_rows: int, most: int) -> int:
    """How many cuts of a region to try: where no side can be cut on, the cheapest is known to be the best."""
    return most if rows >= 3 * min_rows else min(most, 1)


@compiled_if_many
def choose_best(cuts: Cuts, first: int, end: int, most: int, chosen: NDArray[np.int64]) -> int:
    """Write which of the cuts of a region are the cheapest, in order, few of one axis; how many there are."""
    axes = cuts.axis[first:end]
    used = np.zeros(axes.max() + 1 if end > first else 0, dtype=np.int64)
    free = np.ones(end - first, dtype=np.bool_)
    found = 0
    while found < most:
        best = -1
        for cut in range(first, end):
            offered = free[cut - first] and used[cuts.axis[cut]] < MOST_OF_AXIS and cuts.cost[cut] < np.inf
            if offered and (best < 0 or cuts.cost[cut] < cuts.cost[best] - TIE):
                best = cut
        if best < 0:
            break
        chosen[found] = best
        free[best - first] = False
        used[cuts.axis[best]] += 1
        found += 1
    return found


@compiled_if_many
def keep_best(cuts: Cuts, first: int, end: int, most: int, chosen: NDArray[np.int64]) -> int:
    """Leave only the best of a region's cuts, which are the last ones found; where they end."""
    kept = choose_best(cuts, first, end, most, chosen)
    axis, position, cost = cuts.axis[chosen[:kept]], cuts.position[chosen[:kept]], cuts.cost[chosen[:kept]]
    cuts.axis[first : first + kept], cuts.position[first : first + kept] = axis, position
    cuts.cost[first : first + kept] = cost
    return first + kept
