"""The end of growing: the best of all ways to cut where all can be tried, and its parts by plain Python."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import reference
from sfumato.data import Table, read
from sfumato.methods.growing.cuts import Cuts
from sfumato.methods.growing.points import Points, Runs
from sfumato.methods.partition.decide import partition, sweep_rule
from sfumato.methods.partition.grow import Settled, adopt_best, cut_in_place
from sfumato.methods.partition.search import Search
from sfumato.privacy.requirements import KAnonymity, Population, TCloseness

ILL = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}
LAST = (1, 3, 7)
"""The largest value of three columns of which people have the smallest or the largest."""


def cube(counts: list[int]) -> tuple[Table, reference.Group]:
    """People at the corners of a box, so many at each."""
    corners = [tuple(last * (number >> axis & 1) for axis, last in enumerate(LAST)) for number in range(8)]
    people = [corner for corner, count in zip(corners, counts, strict=True) for _ in range(count)]
    columns: dict[str, Any] = {
        f"q{axis}": {"role": "quasi", "kind": "numeric", "min": 0, "max": last} for axis, last in enumerate(LAST)
    }
    frame = pl.DataFrame({f"q{axis}": [point[axis] for point in people] for axis in range(3)})
    frame = frame.with_columns(ill=pl.Series((["no", "yes"] * len(people))[: len(people)]))
    return read(frame, {"columns": columns | {"ill": ILL}}), [(point, 0) for point in people]


def least_penalty(people: reference.Group, k: int) -> Fraction:
    """The least that any cuts lead to, each way tried to the end."""
    ways = [
        least_penalty(left, k) + least_penalty(right, k)
        for axis in range(3)
        for code in reference.cuts(people, axis)
        for left, right in [reference.sides(people, axis, code)]
        if min(len(left), len(right)) >= k
    ]
    whole = len(people) * reference.penalty([point for point, _ in people], [last + 1 for last in LAST])
    return min([whole, *ways])


def penalty_of(table: Table, people: reference.Group, class_of: list[int]) -> Fraction:
    at = dict(zip(map(tuple, table.points.tolist()), class_of, strict=True))
    groups = [[point for point, _ in people if at[point] == number] for number in range(max(class_of) + 1)]
    return sum((len(group) * reference.penalty(group, [last + 1 for last in LAST]) for group in groups), Fraction(0))


@settings(max_examples=150)
@given(st.lists(st.integers(0, 4), min_size=8, max_size=8).filter(lambda counts: sum(counts) >= 3), st.integers(2, 3))
@example([1, 2, 0, 1, 2, 1, 1, 2], 2)
def test_the_best_of_all_ways_is_found_where_all_are_tried(counts: list[int], k: int) -> None:
    """A box of eight corners has a cut on each axis, and the three best are tried."""
    table, people = cube(counts)
    found = partition(table, [KAnonymity(k=k)], "ncp", look_ahead=1).tolist()
    assert penalty_of(table, people, found) == least_penalty(people, k)


def test_the_best_cut_at_each_step_misses_the_best_way() -> None:
    """The comparison above can fail, and does without a look ahead."""
    missed = 0
    for seed in range(40):
        table, people = cube(np.random.default_rng(seed).integers(0, 5, size=8).tolist())
        found = partition(table, [KAnonymity(k=3)], "ncp").tolist()
        missed += penalty_of(table, people, found) > least_penalty(people, 3)
    assert missed >= 3


def random_runs(generator: np.random.Generator, regions: int) -> Runs:
    sizes = generator.integers(1, 5, size=regions)
    ends = np.cumsum(sizes)
    return Runs(generator.permutation(int(ends[-1])), ends - sizes, ends)


@pytest.mark.parametrize("seed", range(5))
def test_points_are_cut_in_their_place(seed: int) -> None:
    generator = np.random.default_rng(seed)
    runs = random_runs(generator, 6)
    positions: Any = generator.integers(0, 4, size=(len(runs.order), 2), dtype=np.int32)
    before = [runs.order[start:end].tolist() for start, end in zip(runs.starts, runs.ends, strict=True)]
    region, axis, position = np.array([1, 2, 5]), np.array([0, 1, 1]), np.array([2, 1, 3])
    cuts = Cuts(region, axis, region, position, np.zeros(3))
    parts = cut_in_place(positions, runs, cuts)
    found = [parts.order[start:end].tolist() for start, end in zip(parts.starts, parts.ends, strict=True)]
    expected = []
    for one, along, at in zip(region, axis, position, strict=True):
        expected.append([point for point in before[one] if positions[point, along] < at])
        expected.append([point for point in before[one] if positions[point, along] >= at])
    assert found == expected
    for number in (0, 3, 4):
        assert runs.order[runs.starts[number] : runs.ends[number]].tolist() == before[number]


@pytest.mark.parametrize("seed", range(5))
def test_the_way_with_the_least_penalty_is_adopted(seed: int) -> None:
    """Every region has up to three cuts with made-up penalties; those without are one class as they were."""
    generator = np.random.default_rng(seed)
    runs, penalty = random_runs(generator, 8), generator.random(8)
    region = np.sort(generator.integers(0, 8, size=12))
    sizes = (runs.ends - runs.starts)[region]
    ends = np.cumsum(sizes)
    halves = np.stack([ends - sizes, ends - sizes // 2, ends], axis=1)
    parts = Runs(np.arange(100, 100 + ends[-1]), halves[:, :2].ravel(), halves[:, 1:].ravel())
    begins, below = generator.random(int(ends[-1])) < 0.5, generator.integers(0, 4, size=24) / 4
    found = adopt_best(runs, penalty.copy(), region, Settled(parts, begins, below))
    for number in range(8):
        ways = [cut for cut in range(12) if region[cut] == number]
        points = found.runs.order[found.runs.starts[number] : found.runs.ends[number]].tolist()
        marks = found.begins[found.runs.starts[number] : found.runs.ends[number]].tolist()
        if not ways:
            assert points == runs.order[runs.starts[number] : runs.ends[number]].tolist()
            assert marks == [True] + [False] * (len(points) - 1)
            assert found.penalty[number] == penalty[number]
            continue
        best = min(ways, key=lambda cut: (below[2 * cut] + below[2 * cut + 1], cut))
        assert points == list(range(100 + halves[best, 0], 100 + halves[best, 2]))
        assert marks == begins[halves[best, 0] : halves[best, 2]].tolist()
        assert found.penalty[number] == below[2 * best] + below[2 * best + 1]


def two_axes(secret: Callable[[int, int], bool]) -> Table:
    """Ages are a little further apart than wages."""
    columns: dict[str, Any] = {
        name: {"role": "quasi", "kind": "numeric", "min": 0, "max": last} for name, last in (("age", 9), ("wage", 10))
    }
    rows = [(age, wage, "yes" if secret(age, wage) else "no") for age in range(10) for wage in range(10)]
    return read(pl.DataFrame(rows, schema=["age", "wage", "ill"], orient="row"), {"columns": columns | {"ill": ILL}})


@pytest.mark.parametrize(("caution", "axis"), [(0.0, 0), (0.5, 1)])
def test_a_cautious_cut_keeps_room_for_others(caution: float, axis: int) -> None:
    """By age, half of the people would be at the limit of t and could not be cut again; by wage nothing is used up."""
    table = two_axes(lambda age, wage: age < 5 and wage % 5 < 2)
    needed = (KAnonymity(k=5), TCloseness(t=0.21))
    population = Population(table.overall, table.schema.sensitive)
    plain = Search(Points.of(table, missing_first=True).arrays, needed, population, sweep_rule(needed, "ncp"))
    search = replace(plain, caution=caution)
    whole = Runs(np.arange(100), np.zeros(1, dtype=np.int64), np.array([100]))
    assert search.best(whole).axis.tolist() == [axis]


@pytest.mark.parametrize("look_ahead", [0, 1])
def test_caution_forbids_nothing(look_ahead: int) -> None:
    """Where every cut comes to the limit, cuts are made all the same."""
    table = two_axes(lambda age, wage: age < 5)
    class_of = partition(table, (KAnonymity(k=5), TCloseness(t=0.5)), "ncp", look_ahead=look_ahead)
    assert class_of.max() > 5
