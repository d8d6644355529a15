"""The index against looking at every place: rings, runs and their order, anywhere on the globe."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flow_cases import haversine
from sfumato.data.places import Places
from sfumato.methods.flows.index import FAN, LEAF, PlaceIndex, chords

FAR_SIDE = 20_000.0
"""Kilometres from which chords are too flat to tell distances apart by less than a metre."""

anywhere = st.tuples(st.floats(-90, 90), st.floats(-180, 180))
special = st.sampled_from([(90, 0), (90, 77), (-90, 0), (0, 180), (0, -180), (0, 179.999), (0, -179.999), (41.5, -71)])
crowded = st.tuples(st.floats(41.4, 41.6), st.floats(-71.6, -71.4))
dateline = st.tuples(st.floats(-17, -16), st.floats(179, 180) | st.floats(-180, -179))
coordinates = st.lists(anywhere | special | crowded | dateline, min_size=1, max_size=60)
distances = st.lists(st.floats(0.001, 20_100) | st.floats(0.1, 30), max_size=12, unique=True).map(sorted)


def places_at(points: list[tuple[float, float]]) -> Places:
    return Places(
        pl.Series([str(number) for number in range(len(points))]),
        np.array([point[0] for point in points], dtype=float),
        np.array([point[1] for point in points], dtype=float),
    )


def scattered(size: int, seed: int = 3) -> Places:
    """Half of the places in towns, the others all over the globe, some in the very same spot."""
    generator = np.random.default_rng(seed)
    towns = generator.uniform((-80, -180), (80, 180), (12, 2))
    inside = towns[generator.integers(0, 12, size // 2)] + generator.normal(0, 0.1, (size // 2, 2))
    rest = size - size // 2
    latitude = np.degrees(np.arcsin(generator.uniform(-1, 1, rest)))
    points = np.concatenate((inside, np.column_stack((latitude, generator.uniform(-180, 180, rest)))))
    points[::9] = points[0]
    points[:, 1] = (points[:, 1] + 180) % 360 - 180
    return places_at([tuple(point) for point in points.tolist()])


def rings_of_places(index: PlaceIndex, centre: np.ndarray, edges: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """The ring and kind of every place by its number, read off the runs."""
    starts, rings, kinds = index.rings(centre, chords(edges))
    assert starts[0] == 0
    assert (np.diff(starts) > 0).all(), "runs overlap or are empty"
    lengths = np.diff(np.append(starts, len(index.order)))
    assert lengths.min() > 0
    found = np.empty((2, len(index.order)), dtype=np.int64)
    found[:, index.order] = np.repeat(rings, lengths), np.repeat(kinds, lengths)
    return found[0], found[1]


def wrong_rings(places: Places, centre: int, edges: list[float], found: np.ndarray) -> int:
    """How many places are in a ring in which they do not lie; on an edge, both sides are right."""
    wrong = 0
    for place, ring in enumerate(found.tolist()):
        far = haversine(places, centre, place)
        slack = 1e-6 if far < FAR_SIDE else 1.0
        wrong += not sum(far - slack > edge for edge in edges) <= ring <= sum(far + slack > edge for edge in edges)
    return wrong


@given(coordinates, distances, st.data())
@example([(90, 0), (90, 120), (-90, 5), (89.999, -60)], [0.05, 1.0, 10_000.0, 20_014.0], None)
@example([(0, 180), (0, -180), (0, 179.99), (0, -179.99), (0, 0)], [0.5, 1.2, 3.0], None)
@example([(41.5, -71.5)] * 40, [1.0], None)
def test_every_place_is_in_the_ring_in_which_it_lies(
    points: list[tuple[float, float]], edges: list[float], data: st.DataObject | None
) -> None:
    places, size = places_at(points), len(points)
    draw = data.draw if data else lambda _: [number % 3 for number in range(size)]
    kinds = np.array(draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)))
    groups = np.array(draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
    index = PlaceIndex.build(places, kinds, groups)
    for centre in range(0, size, max(1, size // 5)):
        rings, found = rings_of_places(index, places.points[centre], edges)
        assert wrong_rings(places, centre, edges, rings) == 0
        assert (found == kinds).all()
    assert sorted(index.order.tolist()) == list(range(size))
    assert (index.order[index.position] == np.arange(size)).all()
    keys = list(zip(groups[index.order], kinds[index.order], strict=True))
    assert keys == sorted(keys)


@pytest.mark.parametrize("size", [1, LEAF - 1, LEAF, LEAF + 1, LEAF * FAN, LEAF * FAN + 1, LEAF * FAN**2 + 5, 3000])
def test_trees_of_every_height(size: int) -> None:
    places = scattered(size)
    index = PlaceIndex.build(places, np.zeros(size, dtype=int), np.zeros(size, dtype=int))
    edges = [0.5, 3.0, 12.0, 80.0, 900.0, 5000.0, 15_000.0]
    for centre in (0, size // 3, size - 1):
        rings, _ = rings_of_places(index, places.points[centre], edges)
        assert wrong_rings(places, centre, edges, rings) == 0


def test_many_edges() -> None:
    places = scattered(1500)
    edges = np.geomspace(0.01, 20_000, 60).tolist()
    index = PlaceIndex.build(places, np.arange(1500) % 5, np.arange(1500) % 7)
    for centre in (1, 700):
        rings, kinds = rings_of_places(index, places.points[centre], edges)
        assert wrong_rings(places, centre, edges, rings) == 0
        assert (kinds == np.arange(1500) % 5).all()
        assert len(set(rings.tolist())) > 20


def test_balls_that_are_too_small_are_noticed() -> None:
    """The check above can fail: it does when balls are believed to hold nothing but their centre."""
    places = scattered(1500)
    index = PlaceIndex.build(places, np.zeros(1500, dtype=int), np.zeros(1500, dtype=int))
    shrunk = replace(index, balls=np.column_stack((index.balls[:, :3], np.zeros(len(index.balls)))))
    edges = [3.0, 80.0, 5000.0]
    assert wrong_rings(places, 0, edges, rings_of_places(shrunk, places.points[0], edges)[0]) > 10


def test_most_places_are_not_looked_at() -> None:
    """A radius around a town cuts few leaves: runs are few beside places."""
    places = scattered(20_000)
    index = PlaceIndex.build(places, np.zeros(20_000, dtype=int), np.zeros(20_000, dtype=int))
    starts, rings, _ = index.rings(places.points[4], chords([100.0]))
    assert 0 < (rings == 0).sum() < 200
    assert len(starts) < 400


@pytest.mark.parametrize("near", [True, False])
def test_without_edges_all_places_are_one_ring(near: bool) -> None:
    places = scattered(200)
    kinds, groups = np.arange(200) % 3, np.arange(200) % 4
    index = PlaceIndex.build(places, kinds, groups, near=near)
    rings, found = rings_of_places(index, places.points[0], [])
    assert (rings == 0).all()
    assert (found == kinds).all()
    keys = list(zip(groups[index.order], kinds[index.order], strict=True))
    assert keys == sorted(keys)
    assert np.array_equal(index.points, places.points[index.order])
    plain = PlaceIndex.build(places, np.zeros(200, dtype=int), np.zeros(200, dtype=int), near=False)
    assert plain.order.tolist() == list(range(200))


def test_a_place_on_an_edge_lies_within_it() -> None:
    """A place is in the domain of itself, and edges belong to the ring that they end."""
    places = places_at([(0, 0), (0, 1), (0, 2)])
    index = PlaceIndex.build(places, np.zeros(3, dtype=int), np.zeros(3, dtype=int))
    chord = np.linalg.norm(places.points[1] - places.points[0])
    starts, rings, _ = index.rings(places.points[0], np.array([chord]))
    assert (starts.tolist(), rings.tolist()) == ([0, 2], [0, 1])
    starts, rings, _ = index.rings(places.points[0], np.array([np.nextafter(chord, 0)]))
    assert (starts.tolist(), rings.tolist()) == ([0, 1], [0, 1])
