"""Tables that can be measured next: a pair of attributes at any resolution, beside any of the common attributes.

A few narrow attributes are *common*: any pair may be measured for each of their combinations. A table of four
attributes then costs no more than one of two, and tells the three and four together as well.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.methods.models.binning import PRECISION, Attribute
from sfumato.methods.models.graphical import coarsen
from sfumato.methods.models.junction import Attributes

MAX_COMMON = 8
"""Combinations of values of the common attributes, at most."""
MAX_EXPECTED = 2**41
"""Rows of a table that are expected at most; noise may speak of more at a tiny ε."""


def common_attributes(attributes: Sequence[Attribute]) -> Attributes:
    """The narrowest attributes, the sensitive one before others as narrow, as long as two others are left."""
    found: list[int] = []
    left = MAX_COMMON
    telling = [number for number, attribute in enumerate(attributes) if attribute.bins > 1]
    for number in sorted(telling, key=lambda number: (attributes[number].bins, -number)):
        if attributes[number].bins <= left and len(telling) - len(found) > 2:
            found.append(number)
            left //= attributes[number].bins
    return tuple(sorted(found))


@dataclass(frozen=True)
class Offer:
    """A table: up to two attributes by a view of each, and some of the common ones, whole."""

    base: Attributes
    views: tuple[int, ...]
    beside: Attributes

    @property
    def attributes(self) -> Attributes:
        return (*self.base, *self.beside)


class Offers:
    """All tables over some attributes and any of the common ones."""

    def __init__(self, attributes: Sequence[Attribute], common: Attributes, base: Attributes) -> None:
        self.attributes, self.common, self.base = attributes, common, base
        sizes = [attributes[number].bins for number in common]
        combination = np.indices(sizes).reshape(len(common), math.prod(sizes))
        beside = [some for size in range(len(common) + 1) for some in combinations(range(len(common)), size)]
        self.beside = [some for some in beside if len(some) + len(base) > 1]
        combined = np.zeros((len(self.beside), combination.shape[1]), dtype=np.int64)
        for place, some in enumerate(self.beside):
            for axis in some:
                combined[place] = combined[place] * sizes[axis] + combination[axis]
        no_axis = np.zeros((1, 1), dtype=np.int64)
        one, other = (*(np.stack(attributes[number].views) for number in base), no_axis, no_axis)[:2]
        self._axes = Axes(one, other, combined)

    def __len__(self) -> int:
        return math.prod(self._kinds)

    def __getitem__(self, place: int) -> Offer:
        one, other, some = np.unravel_index(place, self._kinds)
        views = (int(one), int(other))[: len(self.base)]
        return Offer(self.base, views, self.besides[some])

    @property
    def besides(self) -> list[Attributes]:
        """The common attributes of each table, which change fastest along the offers."""
        return [tuple(self.common[number] for number in some) for some in self.beside]

    @property
    def _kinds(self) -> tuple[int, ...]:
        """How many views each axis has."""
        return tuple(len(views) for views in self._axes)

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """How many cells each table has."""
        groups = [views.max(axis=1, initial=0) + 1 for views in self._axes]
        return np.asarray(reduce(np.multiply.outer, groups)).reshape(-1)

    def wrong(self, counts: NDArray[np.int64], expected: NDArray[np.float64]) -> NDArray[np.int64]:
        """⌊Σ |count − expected|⌋ of each table, from the one of all attributes by bins.

        Expected counts are rounded to a fixed precision, so that sums are exact, and bounded, so that they fit into 63
        bits; one row changes a sum by at most 1.
        """
        shape = tuple(views.shape[1] for views in self._axes)
        sane = np.clip(expected.reshape(shape), 0, MAX_EXPECTED / expected.size)
        apart = counts.reshape(shape) * PRECISION - np.rint(sane * PRECISION).astype(np.int64)
        return _distances(apart, self._axes).reshape(-1) // PRECISION

    def table(self, offer: Offer, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The table of an offer, from the one of all attributes by bins."""
        everything = (*self.base, *self.common)
        left_out = tuple(place for place, number in enumerate(everything) if number not in offer.attributes)
        whole = counts.reshape([self.attributes[number].bins for number in everything])
        return coarsen(whole.sum(axis=left_out), self.groups(offer))

    def groups(self, offer: Offer) -> tuple[NDArray[np.int64], ...]:
        """The group of each bin of every attribute of an offer."""
        views = (*offer.views, *(0 for _ in offer.beside))
        return tuple(self.attributes[number].views[view] for number, view in zip(offer.attributes, views, strict=True))


class Axes(NamedTuple):
    """The groups of every view of two attributes, and of every set of common ones: each (views, places)."""

    one: NDArray[np.int64]
    other: NDArray[np.int64]
    beside: NDArray[np.int64]


@compiled
def _distances(apart: NDArray[np.int64], axes: Axes) -> NDArray[np.int64]:
    """Σ |x| after adding up by groups, for every view of each of the three axes."""
    ones, others, beside = axes
    found = np.zeros((len(ones), len(others), len(beside)), dtype=np.int64)
    n, m, size = apart.shape
    for one in range(len(ones)):
        by_one = np.zeros((ones[one].max() + 1, m, size), dtype=np.int64)
        for i in range(n):
            by_one[ones[one, i]] += apart[i]
        for other in range(len(others)):
            by_two = np.zeros((len(by_one), others[other].max() + 1, size), dtype=np.int64)
            for j in range(m):
                by_two[:, others[other, j]] += by_one[:, j]
            cells = by_two.reshape(-1, size)
            for some in range(len(beside)):
                found[one, other, some] = _distance(cells, beside[some])
    return found


@compiled
def _distance(cells: NDArray[np.int64], groups: NDArray[np.int64]) -> int:
    """Σ |x| after adding up the columns by groups."""
    total = 0
    sums = np.zeros(groups.max() + 1, dtype=np.int64)
    for cell in range(len(cells)):
        sums[:] = 0
        for place in range(len(groups)):
            sums[groups[place]] += cells[cell, place]
        for group in range(len(sums)):
            total += abs(sums[group])
    return total
