"""Bayesian networks over binned attributes: what each attribute may depend on, and how strongly it does.

A child is always seen through the finest view of its attribute, a parent through any of them (the hierarchical
parents of Zhang et al., 2017), so that a child can listen a little to many parents.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.data.keys import pack
from sfumato.methods.models.binning import PRECISION, Attribute
from sfumato.methods.models.rows import Columns

MAX_CANDIDATES = 2_000
"""Candidates of one selection; with more, children listen to fewer parents."""
MAX_SEARCH = 20
"""Sets looked at for each one that may be offered."""
MAX_KEPT = 2**25
"""Numbers of combinations, one for each cell, that are kept for sets of parents seen lately."""
MIN_KEPT = 8
"""Sets of parents for which they are kept, however many cells there are."""

View = tuple[int, int]
"""An attribute, and the number of its view."""
Parents = tuple[View, ...]


class BinnedCells:
    """The rows of a table as weighted combinations of bins."""

    def __init__(self, attributes: Sequence[Attribute], columns: Columns) -> None:
        self.attributes = attributes
        most = max(attribute.bins for attribute in attributes)
        bins = [
            attribute.bin_of(column).astype(np.min_scalar_type(most))
            for attribute, column in zip(attributes, columns.positions, strict=True)
        ]
        key = pack(bins, [attribute.bins for attribute in attributes])
        _, first, cell = np.unique(key, return_index=True, return_inverse=True)
        self.bins = [column[first] for column in bins]
        self.weights = np.bincount(cell, columns.weights).astype(np.int64)
        self._keys: dict[Parents, NDArray[np.int64]] = {}
        self._most_keys = max(MAX_KEPT // max(len(self.weights), 1), MIN_KEPT)
        self._scores: dict[tuple[int, Parents], int] = {}

    def counts(self, child: int, parents: Parents) -> NDArray[np.int64]:
        """Rows by combination of parents and bin of the child: (combinations, bins)."""
        attribute = self.attributes[child]
        combinations = combinations_of(self.attributes, parents)
        flat = self._key(parents) * attribute.bins + self.bins[child]
        counts = np.bincount(flat, self.weights, combinations * attribute.bins)
        return counts.astype(np.int64).reshape(combinations, attribute.bins)

    def table(self, views: Parents) -> NDArray[np.int64]:
        """Rows by combination of groups of some attributes."""
        counts = np.bincount(self._key(views), self.weights, combinations_of(self.attributes, views))
        return counts.astype(np.int64)

    def scores(self, offered: Sequence[tuple[int, Parents]]) -> NDArray[np.int64]:
        """The score of each child with its parents; those with the same parents are looked at together."""
        found = np.empty(len(offered), dtype=np.int64)
        for number in sorted(range(len(offered)), key=lambda number: offered[number][::-1]):
            found[number] = self.score(*offered[number])
        return found

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
        """The number of each cell's combination of groups; those asked for longest ago are forgotten."""
        if not parents:
            return np.zeros(len(self.weights), dtype=np.int64)
        key = self._keys.pop(parents, None)
        if key is None:
            attribute, view = parents[-1]
            chosen = self.attributes[attribute]
            group = chosen.views[view][self.bins[attribute]]
            key = np.asarray(self._key(parents[:-1]) * chosen.sizes[view] + group)
            while len(self._keys) >= self._most_keys:
                del self._keys[next(iter(self._keys))]
        self._keys[parents] = key
        return key


def combinations_of(attributes: Sequence[Attribute], parents: Parents) -> int:
    """How many combinations of groups the parents have."""
    return math.prod(attributes[attribute].sizes[view] for attribute, view in parents)


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
        sets = ParentSets(attributes, known, max_cells / attributes[child].bins, most)
        found += [(child, parents) for parents in sets.within(degree if attributes[child].bins > 1 else 0)]
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
        others = [sizes for number, sizes in enumerate(self.sizes) if number not in views]
        seen = [(self.sizes[number], view) for number, view in views.items() if view > 0]
        grown = [cells // sizes[view] * sizes[view - 1] for sizes, view in seen]
        grown += [cells * sizes[-1] for sizes in others if len(views) < degree]
        return any(larger <= self.room for larger in grown)
