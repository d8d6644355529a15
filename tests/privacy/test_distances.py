"""Distances between distributions, against linear programs over all transport plans and against SciPy."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

import reference
from sfumato.data import Table
from sfumato.privacy.distances import (
    distance,
    hierarchical_earth_movers,
    jensen_shannon,
    ordered_earth_movers,
    shares,
    total_variation,
)
from strategies import AxisCase, grids, taxonomies

Counts = list[int]
Pair = tuple[Counts, Counts]


def pairs(size: int) -> st.SearchStrategy[Pair]:
    """Two histograms over the same values, zeros included, neither empty."""
    counts = st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any)
    return st.tuples(counts, counts)


any_pairs = st.integers(2, 7).flatmap(pairs)


def distributions(pair: Pair) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    return shares(np.array([pair[0]])), shares(np.array(pair[1]))


def categorical(tree: Any, size: int, nullable: bool = False) -> Any:
    spec = {"kind": "categorical", "taxonomy": tree, "nullable": nullable}
    return AxisCase("x", spec, ((),) * size).axis()


@given(any_pairs)
def test_jensen_shannon_is_scipys_squared(pair: Pair) -> None:
    p, q = distributions(pair)
    assert jensen_shannon(p, q)[0] == pytest.approx(jensenshannon(p[0], q, base=math.e) ** 2, abs=1e-12)
    assert jensen_shannon(p, q)[0] == pytest.approx(jensen_shannon(q[None], p[0])[0], abs=1e-15)
    assert 0 <= jensen_shannon(p, q)[0] <= math.log(2) + 1e-15


@given(any_pairs)
def test_equal_ground_distance(pair: Pair) -> None:
    p, q = distributions(pair)
    best = reference.transport(p[0], q, reference.equal_ground(len(q)))
    assert total_variation(p, q)[0] == pytest.approx(best, abs=1e-9)


@given(any_pairs)
def test_ordered_ground_distance(pair: Pair) -> None:
    p, q = distributions(pair)
    best = reference.transport(p[0], q, reference.ordered_ground(len(q)))
    assert ordered_earth_movers(p, q)[0] == pytest.approx(best, abs=1e-9)


@st.composite
def trees_with_pairs(draw: st.DrawFn) -> tuple[Any, bool, Pair]:
    tree, leaves = draw(taxonomies(2, 7))
    nullable = draw(st.booleans())
    return tree, nullable, draw(pairs(len(leaves) + nullable))


@settings(max_examples=150)
@given(trees_with_pairs())
def test_hierarchical_ground_distance(case: tuple[Any, bool, Pair]) -> None:
    tree, nullable, pair = case
    p, q = distributions(pair)
    best = reference.transport(p[0], q, reference.hierarchical_ground(tree, nullable))
    axis = categorical(tree, len(q) - nullable, nullable)
    assert hierarchical_earth_movers(p, q, axis)[0] == pytest.approx(best, abs=1e-9)


def halving(lo: int, hi: int) -> Any:
    """The taxonomy that a numeric axis without one gets, as nested tables."""
    if hi - lo < 2:
        return [str(code) for code in range(lo, hi + 1)]
    middle = (lo + hi) // 2
    parts = [(lo, middle), (middle + 1, hi)]
    return {f"{a}-{b}" if a < b else str(a): halving(a, b) if a < b else [] for a, b in parts}


@given(grids(8).filter(lambda case: case.size > 1 and "taxonomy" not in case.spec), st.booleans(), st.data())
def test_hierarchical_ground_distance_of_numbers(case: AxisCase, nullable: bool, data: st.DataObject) -> None:
    case = AxisCase(case.name, {**case.spec, "nullable": nullable}, case.raw)
    p, q = distributions(data.draw(pairs(case.positions)))
    ground = reference.hierarchical_ground(halving(0, case.size - 1), nullable)
    found = hierarchical_earth_movers(p, q, case.axis())[0]
    assert found == pytest.approx(reference.transport(p[0], q, ground), abs=1e-9)


def test_hierarchical_ground_distance_between_one_number_and_missing() -> None:
    axis = AxisCase("x", {"kind": "numeric", "min": 3, "max": 3, "nullable": True}, (("3",),)).axis()
    assert hierarchical_earth_movers(np.array([[1.0, 0.0]]), np.array([0.0, 1.0]), axis).tolist() == [1.0]


def test_distances_by_hand() -> None:
    """Moving one of three wages up by one and by two steps; a disease to its sibling and to another branch."""
    p, q = np.array([[1.0, 0, 0]]), np.array([0, 1.0, 0])
    assert ordered_earth_movers(p, q)[0] == 0.5
    assert ordered_earth_movers(p, np.array([0, 0, 1.0]))[0] == 1.0
    assert total_variation(p, q)[0] == total_variation(p, np.array([0, 0, 1.0]))[0] == 1.0
    axis = categorical({"lung": ["flu", "asthma"], "bone": ["gout"]}, 3)
    assert hierarchical_earth_movers(p, q, axis)[0] == 0.5
    assert hierarchical_earth_movers(p, np.array([0, 0, 1.0]), axis)[0] == 1.0


def test_the_ground_distance_is_the_one_asked_for() -> None:
    p, q = np.array([[0.5, 0.5, 0, 0]]), np.array([0, 0.25, 0.25, 0.5])
    axis = categorical({"a": ["w", "x"], "b": ["y", "z"]}, 4)
    found = {
        kind: round(float(distance(p, q, axis, kind)[0]), 6)
        for kind in ("equal", "ordered", "hierarchical", "jensen-shannon")
    }
    assert found["equal"] == 0.75
    assert found["ordered"] == round((0.5 + 0.75 + 0.5) / 3, 6)
    assert found["hierarchical"] == 0.75
    assert found["jensen-shannon"] == round(jensenshannon(p[0], q) ** 2, 6)


def test_largest_difference_is_not_an_earth_movers_distance() -> None:
    """Max |p − q| passed off as one would be a third here."""
    p, q = np.array([[1 / 3] * 3 + [0.0] * 3]), np.array([0.0] * 3 + [1 / 3] * 3)
    assert total_variation(p, q)[0] == pytest.approx(1.0)
    assert ordered_earth_movers(p, q)[0] == pytest.approx(3 / 5)


@given(st.lists(any_pairs, min_size=1, max_size=1).map(lambda one: one[0]))
def test_many_distributions_at_once(pair: Pair) -> None:
    p, q = distributions(pair)
    axis = categorical([f"v{i}" for i in range(len(q))], len(q))
    many = np.concatenate([p, q[None], p])
    for kind in ("equal", "ordered", "hierarchical", "jensen-shannon"):
        alone = distance(p, q, axis, kind)[0]
        assert distance(many, q, axis, kind) == pytest.approx([alone, 0, alone], abs=1e-12)
        assert distance(many, np.stack([q, q, p[0]]), axis, kind) == pytest.approx([alone, 0, 0], abs=1e-12)


def test_shares_of_no_rows_are_zero() -> None:
    assert shares(np.array([[0, 0], [1, 3]])).tolist() == [[0, 0], [0.25, 0.75]]


@pytest.mark.parametrize(("label", "expected"), [("Armed-Forces", 0.692), ("Craft-repair", 0.488)])
def test_what_revealing_an_occupation_costs_on_adult(adult: Table, label: str, expected: float) -> None:
    axis = adult.schema.sensitive
    certain = np.zeros((1, axis.size))
    certain[0, axis.parse(label).lo] = 1
    assert round(float(jensen_shannon(certain, shares(adult.overall))[0]), 3) == expected
