"""What a destination sees: its units split all places exactly, by public rules, and drawn regions become places."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow_cases import fits, haversine, line
from sfumato.data.places import Places
from sfumato.errors import ParameterError
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods.flows.domain import EVERYWHERE, OUTSIDE, Domain, Resolution, View
from sfumato.methods.flows.prior import DistanceHistogram, Prior

if TYPE_CHECKING:
    from sfumato.data.flows import Flows

Unit = tuple[str, object]
RADII = (EVERYWHERE, 0.0, 0.013, 1.7, 11.3, 140.0, 7001.0)
HISTOGRAM = DistanceHistogram(edges=(1.1, 11.7, 160.0), shares=(0.3, 0.2, 0.4, 0.1))


@dataclass(frozen=True)
class Case:
    """Places in regions, looked at in one way."""

    places: Places
    prior: Prior
    radius: float
    beyond: str

    @property
    def resolution(self) -> Resolution:
        return Resolution.build(self.places, self.prior, self.radius, self.beyond)

    @property
    def regions(self) -> list[str]:
        return self.places.regions["town"].to_list()

    def unit(self, destination: int, origin: int) -> Unit:
        """What a destination takes an origin for."""
        if origin == len(self.places):
            return (OUTSIDE, None)
        if self.radius and haversine(self.places, destination, origin) <= self.radius:
            return ("place", origin)
        return (OUTSIDE, None) if self.beyond == OUTSIDE else ("region", self.regions[origin])

    def level(self, destination: int, unit: Unit) -> int:
        """Ring × class of a place; after those of places, the ring of the region's middle, or the last ring."""
        classes, rings = self.prior.classes, self.prior.rings
        kind, name = unit
        if kind == "place":
            far = haversine(self.places, destination, int(str(name)))
            return self.ring(far) * classes + int(self.prior.class_of(self.places)[name])
        if kind == OUTSIDE:
            return rings * classes + rings - 1
        middle = self.places.points[[region == name for region in self.regions]].sum(axis=0)
        middle /= np.linalg.norm(middle)
        point = self.places.points[destination]
        angle = np.arctan2(np.linalg.norm(np.cross(middle, point)), middle @ point)
        return rings * classes + self.ring(6371.0088 * angle)

    def ring(self, far: float) -> int:
        return sum(far > edge for edge in self.prior.edges)

    def name(self, resolution: Resolution, unit: int) -> Unit:
        """A unit of the resolution in words."""
        k = len(self.places)
        if unit < k:
            return ("place", int(resolution.index.order[unit]))
        return (OUTSIDE, None) if resolution.outside else ("region", resolution.partition.labels[unit - k])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    size = draw(st.integers(1, 30))
    spread = draw(st.sampled_from([0.01, 0.2, 3.0, 60.0]))
    towns = [f"t{draw(st.integers(0, 4))}" for _ in range(size)]
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    latitude, longitude = generator.uniform(-spread, spread, size), 179.99 + generator.uniform(-spread, spread, size)
    places = Places(
        pl.Series([str(number) for number in range(size)]),
        latitude,
        (longitude + 180) % 360 - 180,
        pl.DataFrame({"town": towns}),
    )
    prior = Prior(
        distances=draw(st.sampled_from([None, HISTOGRAM])),
        by_distance=draw(st.booleans()),
        keep=draw(st.sampled_from([1.0, 0.2])),
        weights=draw(st.none() | st.just(generator.exponential(1, size) * (generator.random(size) < 0.8) + 1e-9)),
    )
    return Case(places, prior, draw(st.sampled_from(RADII)), draw(st.sampled_from([OUTSIDE, "town"])))


def units_and_levels(case: Case, resolution: Resolution, view: View) -> dict[Unit, int]:
    """Every unit of a view in words, with its level; none occurs twice."""
    segments = zip(view.segments.base, view.segments.size, view.segments.level, strict=True)
    units = [(base + i, level) for base, count, level in segments for i in range(count)]
    assert [unit for unit, _ in units] == sorted({unit for unit, _ in units})
    return {case.name(resolution, int(unit)): int(level) for unit, level in units}


@given(cases())
def test_units_split_all_places(case: Case) -> None:
    """Each place is in exactly one unit, each unit has a place; outside is there whenever there is a radius."""
    resolution, k = case.resolution, len(case.places)
    for destination in range(0, k, max(1, k // 4)):
        view = resolution.view(destination)
        found = units_and_levels(case, resolution, view)
        expected = {case.unit(destination, origin) for origin in range(k)}
        if case.beyond == OUTSIDE and case.radius < EVERYWHERE:
            expected.add((OUTSIDE, None))
        assert set(found) == expected
        assert found == {unit: case.level(destination, unit) for unit in expected}
        by_level = Counter(found.values())
        assert view.counts.tolist() == [by_level[level] for level in range(resolution.levels)]
        assert len(view.counts) == len(case.prior.shape().weights)


@given(cases(), st.data())
def test_every_origin_is_its_unit(case: Case, data: st.DataObject) -> None:
    resolution, k = case.resolution, len(case.places)
    destination = data.draw(st.integers(0, k - 1))
    view = resolution.view(destination)
    known = units_and_levels(case, resolution, view)
    last = k if (OUTSIDE, None) in known else k - 1
    origins = np.array(sorted(data.draw(st.lists(st.integers(0, last), min_size=1, max_size=12))))
    units, levels = resolution.units_of(origins, view)
    assert (np.diff(units) >= 0).all()
    named = [case.name(resolution, int(unit)) for unit in units]
    assert Counter(named) == Counter(case.unit(destination, int(origin)) for origin in origins)
    assert levels.tolist() == [known[unit] for unit in named]


def test_the_number_of_people_picks_the_resolution(grid: Places) -> None:
    domain = Domain(coarse=((50, "town"), (5, "tract"), (20, "town")))
    people = np.array([1, 5, 6, 20, 21, 50, 51, 10**6])
    assert domain.resolution_of(people).tolist() == [1, 1, 2, 2, 3, 3, 0, 0]
    fine, *coarser = domain.resolutions(grid, Prior())
    assert [resolution.view(0).counts.tolist() for resolution in coarser] == [[0, 16], [0, 4], [0, 4]]
    assert fine.view(0).counts.tolist() == [64, 0]
    assert Domain().resolution_of(people).tolist() == [0] * 8


def test_places_that_see_the_same_share_one_view(flows: Flows) -> None:
    plain = Resolution.build(flows.places, Prior(), EVERYWHERE, OUTSIDE)
    assert plain.view(0) is plain.view(9)
    near = Resolution.build(flows.places, Prior(), 2.0, OUTSIDE)
    assert near.view(0).counts.tolist() == [4, 1]
    assert near.view(27).counts.tolist() == [9, 1]


ROAD = line([0, 1, 2, 10, 11, 12], town=["a", "a", "b", "b", "b", "c"])


def placed(units: list[int], density: list[float] | None = None, radius: float = 3.0, to: int = 0) -> list[int]:
    weights = None if density is None else np.array(density, dtype=float)
    resolution = Resolution.build(ROAD, Prior(), radius, "town", weights)
    return resolution.place(np.array(units), np.full(len(units), to), SimulatedSource(3)).tolist()


@pytest.mark.usefixtures("in_time")
def test_a_region_becomes_its_places_beyond_the_radius_by_density() -> None:
    """Region b has the places 2 (near), 3 and 4."""
    draws = Counter(placed([7] * 6000, [1, 1, 90, 3, 1, 9]))
    assert fits(draws, {3: 0.75, 4: 0.25})
    assert not fits(draws, {3: 0.7, 4: 0.3})
    assert not fits(Counter(placed([7] * 6000, [1, 1, 90, 3, 1, 9], radius=0.0)), {3: 0.75, 4: 0.25})
    assert fits(Counter(placed([7] * 6000, [1, 1, 6, 3, 1, 9], radius=0.0)), {2: 0.6, 3: 0.3, 4: 0.1})
    assert fits(Counter(placed([7] * 6000)), {3: 0.5, 4: 0.5})
    # The far part of the region is so light that the places in it have to be looked for.
    assert fits(Counter(placed([7] * 600, [1, 1, 1e9, 3, 1, 9])), {3: 0.75, 4: 0.25})


@pytest.mark.usefixtures("in_time")
def test_a_place_without_density_is_never_drawn_where_there_are_others() -> None:
    assert set(placed([7] * 3000, [0, 0, 5, 0, 1, 0])) == {4}
    assert set(placed([7] * 3000, [0, 0, 5, 1, 0, 0])) == {3}


@pytest.mark.usefixtures("in_time")
@pytest.mark.parametrize("density", [[1, 1, 5, 0, 0, 1], [1, 1, 0, 0, 0, 1]])
def test_a_region_without_density_beyond_the_radius_has_all_places_alike(density: list[float]) -> None:
    """Unpopulated places are usual; whoever comes from one of them is drawn as well."""
    assert fits(Counter(placed([7] * 3000, density)), {3: 0.5, 4: 0.5})


def test_near_places_stay_and_outside_stays_outside() -> None:
    for beyond in (OUTSIDE, "town"):
        resolution = Resolution.build(ROAD, Prior(), 3.0, beyond)
        near = resolution.place(resolution.index.position[[0, 1, 2]], np.zeros(3, dtype=int), SimulatedSource(1))
        assert near.tolist() == [0, 1, 2]
    resolution = Resolution.build(ROAD, Prior(), 3.0, OUTSIDE)
    assert resolution.place(np.array([6, 0, 6]), np.zeros(3, dtype=int), SimulatedSource(1)).tolist() == [6, 0, 6]


@given(cases(), st.integers(0, 2**32))
def test_drawn_units_become_places_that_are_these_units(case: Case, seed: int) -> None:
    """Placing undoes `units_of` up to the choice inside a region: whatever is placed has the unit it came from."""
    resolution, k = case.resolution, len(case.places)
    for destination in range(0, k, max(1, k // 3)):
        view = resolution.view(destination)
        segments = zip(view.segments.base, view.segments.size, strict=True)
        units = np.array([base + i for base, count in segments for i in range(count)])
        origins = resolution.place(units, np.full(len(units), destination), SimulatedSource(seed))
        named = [case.unit(destination, int(origin)) for origin in origins]
        assert named == [case.name(resolution, int(unit)) for unit in units]


@pytest.mark.parametrize("radius", [0.0, -1.0, float("nan")])
def test_a_radius_is_above_0(radius: float) -> None:
    with pytest.raises(ParameterError, match=rf"^the radius is {radius:g}; expected a distance above 0$"):
        Domain(radius=radius)


def test_rules_of_a_domain_are_checked(grid: Places) -> None:
    for coarse, sentence in (
        (((0, "town"),), "destinations are coarsened up to a whole number of people of at least 1"),
        (((2.5, "town"),), "destinations are coarsened up to a whole number of people of at least 1"),
        (((5, OUTSIDE),), "small destinations are told apart by regions, not by what is outside"),
        (((5, "town"), (5, "tract")), "destinations of one size cannot be coarsened in two ways"),
    ):
        with pytest.raises(ParameterError, match=f"^{sentence}$"):
            Domain(coarse=coarse)  # type: ignore[arg-type]
    for domain in (Domain(radius=1, beyond="twon"), Domain(coarse=((5, "twon"),))):
        with pytest.raises(ParameterError, match=r"there are no regions 'twon'; those in the file: tract, town$"):
            domain.resolutions(grid, Prior())
