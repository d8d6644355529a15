"""The domain of a destination: which origins are told apart there, decided by public rules alone.

Places within a radius stand for themselves. What lies beyond is one unit "outside", or one unit per region. Small
destinations may use regions throughout: how many people go to a destination is public. A unit is a number: a place
by its position in the index, or the number of places plus a region.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.data.places import OUTSIDE, Partition, Places
from sfumato.errors import ParameterError
from sfumato.mechanisms.dirichlet import Segments
from sfumato.mechanisms.noise import Source
from sfumato.methods.flows.index import PlaceIndex, chords
from sfumato.methods.flows.prior import Prior

EVERYWHERE = float("inf")
ROUNDS = 30
"""Draws of a place inside a region before those beyond the radius are listed: usually the first is one."""


@dataclass(frozen=True, kw_only=True)
class Domain:
    """How far around a destination places are told apart (kilometres), and by what beyond.

    `coarse` lists (people, regions): a destination of at most that many people is told apart by those regions.

    >>> domain = sf.commute.Domain(radius=20.0, beyond="town")
    """

    radius: float = EVERYWHERE
    beyond: str = OUTSIDE
    coarse: tuple[tuple[int, str], ...] = ()

    def __post_init__(self) -> None:
        if not self.radius > 0:
            raise ParameterError(f"the radius is {self.radius:g}; expected a distance above 0")
        if any(not isinstance(people, int) or people < 1 for people, _ in self.coarse):
            raise ParameterError("destinations are coarsened up to a whole number of people of at least 1")
        if any(column == OUTSIDE for _, column in self.coarse):
            raise ParameterError("small destinations are told apart by regions, not by what is outside")
        if len({people for people, _ in self.coarse}) < len(self.coarse):
            raise ParameterError("destinations of one size cannot be coarsened in two ways")

    @property
    def reach(self) -> float:
        """Up to which distance it is told where people come from: the radius, where all beyond is outside."""
        return self.radius if self.beyond == OUTSIDE else EVERYWHERE

    def resolutions(self, places: Places, prior: Prior, density: NDArray[np.float64] | None = None) -> list[Resolution]:
        """The ways in which destinations of this domain see the places; `resolution_of` says which sees what."""
        ways = [(self.radius, self.beyond), *((0.0, column) for _, column in sorted(self.coarse))]
        return [Resolution.build(places, prior, radius, beyond, density) for radius, beyond in ways]

    def spec(self) -> dict[str, Any]:
        """The domain as a release tells it."""
        radius = {} if self.radius == EVERYWHERE else {"radius_km": self.radius, "beyond": self.beyond}
        coarse = [{"people": people, "regions": regions} for people, regions in self.coarse]
        return {**radius, **({"coarse": coarse} if coarse else {})}

    def resolution_of(self, people: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which resolution destinations of these numbers of people use."""
        chosen = np.zeros(len(people), dtype=np.int64)
        for number, (max_people, _) in reversed(list(enumerate(sorted(self.coarse), start=1))):
            chosen[people <= max_people] = number
        return chosen


@dataclass(frozen=True, eq=False)
class View:
    """What one destination sees: its units as segments, and how many units each level has."""

    segments: Segments
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Resolution:
    """One way of telling origins apart: places up to a radius (as chords), units of a partition beyond."""

    places: Places
    prior: Prior
    radius: float
    partition: Partition
    outside: bool
    index: PlaceIndex
    centres: NDArray[np.float64]
    region_start: NDArray[np.int64]
    density: NDArray[np.float64] | None = None

    @classmethod
    def build(
        cls, places: Places, prior: Prior, radius: float, beyond: str, density: NDArray[np.float64] | None = None
    ) -> Self:
        outside = beyond == OUTSIDE
        everywhere = Partition(np.zeros(len(places), dtype=np.int32), (OUTSIDE,))
        partition = everywhere if outside else places.partition(beyond)
        near = radius > 0 and (radius < EVERYWHERE or bool(prior.edges))
        index = PlaceIndex.build(places, prior.class_of(places), partition.codes, near=near)
        start = np.searchsorted(partition.codes[index.order], np.arange(len(partition.labels) + 1))
        centres = np.add.reduceat(index.points, start[:-1]) / np.diff(start)[:, None]
        centres /= np.linalg.norm(centres, axis=1)[:, None]
        return cls(places, prior, radius, partition, outside, index, centres, start, density)

    @property
    def levels(self) -> int:
        return self.prior.rings * (self.prior.classes + 1)

    def view(self, destination: int) -> View:
        """What a destination, a place by its number, sees."""
        is_common = not self.prior.edges and self.radius in (0.0, EVERYWHERE)
        return self._common_view if is_common else self._view(destination)

    @cached_property
    def _common_view(self) -> View:
        """What every destination sees where distance plays no part."""
        return self._view(0)

    def _view(self, destination: int) -> View:
        point = self.places.points[destination]
        k, rings, classes = len(self.places), self.prior.rings, self.prior.classes
        inner = [edge for edge in self.prior.edges if edge < self.radius]
        limits = [*inner, self.radius] if self.radius < EVERYWHERE else inner
        start, ring, kind = self.index.rings(point, chords(limits))
        far, end = ring > len(inner), np.append(start[1:], k)
        base, count, level = start[~far], (end - start)[~far], (ring * classes + kind)[~far]
        units = self._far_units(start[far], end[far])
        apart = np.linalg.norm(self.centres[units] - point, axis=1)
        unit_ring = np.full(len(units), rings - 1) if self.outside else np.searchsorted(chords(self.prior.edges), apart)
        base = np.append(base, k + units)
        count = np.append(count, np.ones(len(units), dtype=np.int64))
        level = np.append(level, rings * classes + unit_ring)
        counts = np.bincount(level, weights=count, minlength=self.levels).astype(np.int64)
        return View(Segments(base, count, level), counts)

    def _far_units(self, start: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
        """The regions that have a place in these runs; "outside" is there whether or not a place is."""
        if self.outside:
            return np.zeros(int(self.radius < EVERYWHERE), dtype=np.int64)
        change = np.zeros(len(self.partition.labels) + 1, dtype=np.int64)
        np.add.at(change, np.searchsorted(self.region_start, start, side="right") - 1, 1)
        np.add.at(change, np.searchsorted(self.region_start, end - 1, side="right"), -1)
        return np.flatnonzero(np.cumsum(change[:-1]) > 0)

    def units_of(self, origins: NDArray[np.integer], view: View) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The unit and level of each origin (a place by its number, or the number of places for outside), rising."""
        segments = view.segments
        return _units(origins, self.index.position, self.partition.codes, segments.base, segments.size, segments.level)

    def place(self, units: NDArray[np.int64], destinations: NDArray[np.integer], source: Source) -> NDArray[np.int64]:
        """The origin of each drawn unit: a region becomes a place in it, by a public density, beyond the radius."""
        k = len(self.places)
        near = units < k
        origins = np.full(len(units), k, dtype=np.int64)
        origins[near] = self.index.order[units[near]]
        if self.outside or near.all():
            return origins
        waiting = np.flatnonzero(~near)
        weights, upto = self._weights
        limit = chords([self.radius])[0] if self.radius else -1.0
        for _ in range(ROUNDS):
            if not len(waiting):
                break
            region = units[waiting] - k
            first, last = self.region_start[region], self.region_start[region + 1] - 1
            drawn = upto[first] + source.uniforms(len(waiting)) * (upto[last + 1] - upto[first])
            at = np.clip(np.searchsorted(upto, drawn, side="right") - 1, first, last)
            fits = (self._apart(at, destinations[waiting]) > limit) & (weights[at] > 0)
            origins[waiting[fits]] = self.index.order[at[fits]]
            waiting = waiting[~fits]
        for person in waiting:
            region = units[person] - k
            within = np.arange(self.region_start[region], self.region_start[region + 1])
            far = within[self._apart(within, destinations[[person]]) > limit]
            running = np.cumsum(weights[far] if weights[far].any() else np.ones(len(far)))
            at = np.searchsorted(running, source.uniforms(1)[0] * running[-1], side="right")
            origins[person] = self.index.order[far[min(at, np.searchsorted(running, running[-1]))]]
        return origins

    @cached_property
    def _weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The density by position and its running sum; in regions without any, all places are alike."""
        weights = np.ones(len(self.places))
        if self.density is not None:
            dense = self.density[self.index.order]
            totals = np.add.reduceat(dense, self.region_start[:-1])
            weights = np.where(np.repeat(totals, np.diff(self.region_start)) > 0, dense, 1.0)
        return weights, np.concatenate(([0.0], np.cumsum(weights)))

    def _apart(self, positions: NDArray[np.int64], destinations: NDArray[np.integer]) -> NDArray[np.float64]:
        return np.asarray(np.linalg.norm(self.index.points[positions] - self.places.points[destinations], axis=1))


@compiled
def _units(
    origins: np.ndarray, position: np.ndarray, codes: np.ndarray, base: np.ndarray, count: np.ndarray, level: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Origins as units, rising, and their levels: a place that no segment of places holds counts for its region."""
    places = len(position)
    units, levels = np.empty(len(origins), dtype=np.int64), np.empty(len(origins), dtype=np.int64)
    for i in range(len(origins)):
        units[i] = position[origins[i]] if origins[i] < places else places
        segment = np.searchsorted(base, units[i], side="right") - 1
        if segment < 0 or units[i] >= base[segment] + count[segment]:
            units[i] = places + (codes[origins[i]] if origins[i] < places else 0)
    units.sort()
    for i in range(len(units)):
        levels[i] = level[np.searchsorted(base, units[i], side="right") - 1]
    return units, levels
