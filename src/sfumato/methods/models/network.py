"""Bayesian networks over binned attributes: what each attribute may depend on, and how strongly it does.

An attribute is seen through *views*: its axis cut into up to twelve bins of similar noisy mass, and those gathered
into six, four, three and two. A child is always seen through its finest view, a parent through any of them (the
hierarchical parents of Zhang et al., 2017), so that a child can listen a little to many parents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

FINEST = 12
VIEWS = (12, 6, 4, 3, 2)
"""Bins of each view; every number divides the first, so that the bins are nested."""
WIDEST = 256
"""Steps in which a wide axis is counted; within a step its rows are spread evenly."""
PRECISION = 2**20
"""Shares of bins are whole multiples of one in this many, so that scores are exact integers."""
MAX_CANDIDATES = 2_000
"""Candidates of one selection; with more, children listen to fewer parents."""
MAX_SEARCH = 20
"""Sets looked at for each one that may be offered."""

View = tuple[int, int]
"""An attribute, and the number of its view."""
Parents = tuple[View, ...]


def even_starts(size: int, nullable: bool, most: int = WIDEST) -> NDArray[np.int64]:
    """Where the public steps of an axis begin: at most `most` even ones, the missing value on its own."""
    steps = min(size, most)
    starts = np.arange(steps, dtype=np.int64) * size // steps
    return np.append(starts, size) if nullable else starts


@dataclass(frozen=True, eq=False)
class Attribute:
    """The steps of an axis with their noisy counts, and the bin of each step."""

    name: str
    starts: NDArray[np.int64]
    positions: int
    counts: NDArray[np.float64]  # not negative
    variance: float  # of the noise in each count
    bin_of_step: NDArray[np.int64]
    views: tuple[NDArray[np.int64], ...]  # the group of each bin, finest view first

    @staticmethod
    def binned(
        name: str, starts: NDArray[np.int64], positions: int, counts: NDArray[np.float64], variance: float
    ) -> Attribute:
        """Bins and views by the middle of each step's share of the noisy mass."""
        mass = counts + max(counts.sum(), 1.0) * 1e-9
        middle = (np.cumsum(mass) - mass / 2) / mass.sum()
        fine = np.minimum((middle * FINEST).astype(np.int64), FINEST - 1)
        used, bin_of_step = np.unique(fine, return_inverse=True)
        views: list[NDArray[np.int64]] = []
        for groups in VIEWS:
            view = np.unique(used * groups // FINEST, return_inverse=True)[1]
            if not views or 0 < view.max() < views[-1].max():
                views.append(view)
        return Attribute(name, starts, positions, counts, variance, bin_of_step, tuple(views))

    @property
    def bins(self) -> int:
        return len(self.views[0])

    @cached_property
    def sizes(self) -> list[int]:
        """How many groups each view has."""
        return [int(view.max()) + 1 for view in self.views]

    @cached_property
    def bin_counts(self) -> NDArray[np.float64]:
        """Noisy rows of each bin."""
        return np.bincount(self.bin_of_step, self.counts, self.bins).astype(np.float64)

    @cached_property
    def shares(self) -> NDArray[np.int64]:
        """The bins' shares of the noisy mass in units of one in `PRECISION`, which they sum up to."""
        reached = np.cumsum(self.bin_counts)
        edges = np.round(reached / reached[-1] * PRECISION) if reached[-1] > 0 else np.zeros(self.bins)
        edges[-1] = PRECISION
        return np.diff(edges, prepend=0).astype(np.int64)

    def bin_of(self, positions: NDArray[np.integer]) -> NDArray[np.int64]:
        """The bin of each position."""
        return self.bin_of_step[np.searchsorted(self.starts, positions, side="right") - 1]


class BinnedCells:
    """The rows of a table as weighted combinations of bins."""

    def __init__(
        self, attributes: Sequence[Attribute], positions: Sequence[NDArray[np.integer]], weights: NDArray[np.int64]
    ) -> None:
        self.attributes = attributes
        bins = [attribute.bin_of(column) for attribute, column in zip(attributes, positions, strict=True)]
        order = np.lexsort(bins)
        rows = np.column_stack(bins)[order]
        new = np.ones(len(rows), dtype=bool)
        new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
        starts = np.flatnonzero(new)
        self.bins = rows[starts].T
        self.weights = np.add.reduceat(weights[order], starts) if len(starts) else np.zeros(0, dtype=np.int64)
        self._keys: dict[Parents, NDArray[np.int64]] = {}
        self._scores: dict[tuple[int, Parents], int] = {}

    def counts(self, child: int, parents: Parents) -> NDArray[np.int64]:
        """Rows by combination of parents and bin of the child: (combinations, bins)."""
        attribute = self.attributes[child]
        combinations = combinations_of(self.attributes, parents)
        flat = self._key(parents) * attribute.bins + self.bins[child]
        counts = np.bincount(flat, self.weights, combinations * attribute.bins)
        return counts.astype(np.int64).reshape(combinations, attribute.bins)

    def score(self, child: int, parents: Parents) -> int:
        """How far the child is from independent of its parents, in rows: ⌊½ Σ |N(x, π) − q(x) N(π)|⌋.

        q are the child's noisy shares, fixed before; so one row changes the sum by at most 1 (privbayes.proof.md).
        """
        if (child, parents) not in self._scores:
            counts, shares = self.counts(child, parents), self.attributes[child].shares
            distance = np.abs(counts * PRECISION - counts.sum(axis=1, keepdims=True) * shares).sum()
            self._scores[child, parents] = int(distance) // (2 * PRECISION)
        return self._scores[child, parents]

    def _key(self, parents: Parents) -> NDArray[np.int64]:
        if not parents:
            return np.zeros(len(self.weights), dtype=np.int64)
        if parents not in self._keys:
            attribute, view = parents[-1]
            chosen = self.attributes[attribute]
            group = chosen.views[view][self.bins[attribute]]
            self._keys[parents] = self._key(parents[:-1]) * chosen.sizes[view] + group
        return self._keys[parents]


def combinations_of(attributes: Sequence[Attribute], parents: Parents) -> int:
    """How many combinations of groups the parents have."""
    found = 1
    for attribute, view in parents:
        found *= attributes[attribute].sizes[view]
    return found


def candidates(
    attributes: Sequence[Attribute], known: Sequence[int], max_cells: float, degree: int
) -> list[tuple[int, Parents]]:
    """Every child outside `known` with every greatest set of parents whose table has no more than `max_cells`.

    It looks at the number of groups of each view alone, never at the rows.
    """
    children = [child for child in range(len(attributes)) if child not in known]
    most = max(MAX_CANDIDATES // len(children), 1)
    found: list[tuple[int, Parents]] = []
    for child in children:
        bins = attributes[child].bins
        sets = ParentSets(attributes, known, max_cells / bins, most).within(degree) if bins > 1 else [()]
        found += [(child, parents) for parents in sets]
    return found


class ParentSets:
    """The sets of parents that fit into a room of cells and cannot grow."""

    def __init__(self, attributes: Sequence[Attribute], known: Sequence[int], room: float, most: int) -> None:
        self.names = sorted(name for name in known if attributes[name].bins > 1)
        self.sizes = [attributes[name].sizes for name in self.names]
        self.room, self.most = room, most

    def within(self, degree: int) -> list[Parents]:
        """Those of at most `degree` parents, or of fewer where they would be too many to score."""
        found: list[Parents] = [()]
        for size in range(1, min(degree, len(self.names)) + 1):
            larger = self._greatest(size)
            if larger is None or larger == found:
                break
            found = larger
        return found

    def _greatest(self, degree: int) -> list[Parents] | None:
        """No parent can be added to these, and none seen through its next finer view; `None` if too many."""
        found: list[Parents] = []
        waiting: list[tuple[int, Parents, int]] = [(0, (), 1)]
        for _ in range(MAX_SEARCH * self.most):
            if not waiting:
                return found if len(found) <= self.most else None
            place, chosen, cells = waiting.pop()
            if place == len(self.names):
                if not self._can_grow(dict(chosen), cells, degree):
                    found.append(tuple((self.names[number], view) for number, view in chosen))
                continue
            waiting.append((place + 1, chosen, cells))
            if len(chosen) < degree:
                for view, size in enumerate(self.sizes[place]):
                    if cells * size <= self.room:
                        waiting.append((place + 1, (*chosen, (place, view)), cells * size))
        return None

    def _can_grow(self, views: dict[int, int], cells: int, degree: int) -> bool:
        for number, sizes in enumerate(self.sizes):
            if number in views:
                view = views[number]
                if view > 0 and cells // sizes[view] * sizes[view - 1] <= self.room:
                    return True
            elif len(views) < degree and cells * sizes[-1] <= self.room:
                return True
        return False
