"""How alike two tables of flows are, cell by cell: between places, or between the regions they lie in.

"Outside" is one more origin. Cells that are empty on both sides never count.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sfumato.data.flows import Flows, add_equal
from sfumato.data.places import Partition

TOP = 10
"""How many of a destination's largest origins are looked for."""
TOP_PEOPLE = 20
"""Destinations with fewer people have no largest origins to speak of."""


@dataclass(frozen=True, eq=False)
class Cells:
    """A table of people by destination and origin: rising keys `destination · width + origin`, and their people."""

    keys: NDArray[np.int64]
    people: NDArray[np.int64]
    width: int

    @property
    def destinations(self) -> NDArray[np.int64]:
        return self.keys // self.width

    @property
    def origins(self) -> NDArray[np.int64]:
        return self.keys % self.width

    def only(self, kept: NDArray[np.bool_ | np.integer]) -> Self:
        return replace(self, keys=self.keys[kept], people=self.people[kept])

    def arriving_in(self, regions: Partition) -> Self:
        """The same table with destinations gathered into regions."""
        keys = regions.codes[self.destinations] * np.int64(self.width) + self.origins
        return type(self)(*add_equal(keys, self.people), self.width)


def cells(flows: Flows, *, origins: Partition | None = None) -> Cells:
    """The flows by destination and by origin, or by the region of the origin; the last origin is "outside"."""
    width = (len(origins.labels) if origins else len(flows.places)) + 1
    comes_from = np.append(origins.codes, width - 1)[flows.origins] if origins else flows.origins
    return Cells(*add_equal(flows.destination_of_pair.astype(np.int64) * width + comes_from, flows.counts), width)


def align(one: Cells, other: Cells) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The people of both tables in every cell that is occupied on either side."""
    union = np.union1d(one.keys, other.keys)
    both = np.zeros((2, len(union)), dtype=np.int64)
    for people, table in zip(both, (one, other), strict=True):
        people[np.searchsorted(union, table.keys)] = table.people
    return both[0], both[1]


def common_part(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """2 Σ min(x, y) / Σ (x + y): the share of people who travel between the same cells on both sides."""
    everyone = one.sum() + other.sum()
    return float(2 * np.minimum(one, other).sum() / everyone) if everyone else np.nan


def correlation(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Pearson's correlation over the cells; not a number where a side does not vary."""
    if not len(one) or not np.ptp(one) or not np.ptp(other):
        return np.nan
    x, y = one - one.mean(), other - other.mean()
    return float(np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1, 1))


def residents(flows: Flows, regions: Partition) -> NDArray[np.int64]:
    """How many people come from each region."""
    home = regions.codes[flows.origins[flows.inside]]
    counted = np.bincount(home, weights=flows.counts[flows.inside], minlength=len(regions.labels))
    return counted.astype(np.int64)


def relative_error(original: NDArray[np.int64], synthetic: NDArray[np.int64]) -> float:
    """Mean of |synthetic − original| / original over regions where somebody lives."""
    lived_in = original > 0
    if not lived_in.any():
        return np.nan
    return float((np.abs(synthetic - original)[lived_in] / original[lived_in]).mean())


def top_recall(original: Cells, synthetic: Cells, destinations: NDArray[np.integer]) -> float:
    """The share of the `TOP` largest origins of a destination that are among its largest synthetic ones.

    The mean over the given destinations that have origins inside; one with fewer than `TOP` origins has them all
    looked for. Ties are broken by a fixed shuffle of the cells, the same on both sides, so that neither near nor
    early-numbered places are favoured and equal tables have equal leaders.
    """
    true, found = (find_leaders(table, destinations) for table in (original, synthetic))
    if not len(true.keys):
        return np.nan
    _, which = np.unique(true.destinations, return_inverse=True)
    hits = np.bincount(which, weights=np.isin(true.keys, found.keys))
    return float((hits / np.bincount(which)).mean())


def shuffle(keys: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A fixed one-to-one scattering of numbers (the finalizer of SplitMix64)."""
    mixed = keys.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def find_leaders(table: Cells, destinations: NDArray[np.integer]) -> Cells:
    """The `TOP` largest origins inside of each of the destinations."""
    table = table.only(np.isin(table.destinations, destinations) & (table.origins < table.width - 1))
    destination = table.destinations
    order = np.lexsort((shuffle(table.keys), -table.people, destination))
    begins = np.flatnonzero(np.diff(destination[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.append(begins, len(order))))
    return table.only(np.sort(order[rank < TOP]))
