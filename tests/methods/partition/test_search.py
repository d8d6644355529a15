"""Looking ahead: what it finds that greedy cuts do not, that it keeps every promise, and its parts by brute force."""

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from sfumato.data import Table, read
from sfumato.methods.growing.box import penalties
from sfumato.methods.growing.cuts import MOST_OF_AXIS, Cuts
from sfumato.methods.growing.points import Points, Runs
from sfumato.methods.partition import grow as module
from sfumato.methods.partition import search as search_module
from sfumato.methods.partition.decide import Cut, partition
from sfumato.methods.partition.search import Limits, best_of_each, cut_runs
from sfumato.privacy.requirements import KAnonymity, LDiversity, Population, Requirement, TCloseness
from sfumato.schema import Schema
from strategies import TableCase, tables

REQUIRED: list[tuple[Requirement, ...]] = [
    (KAnonymity(k=2),),
    (KAnonymity(k=3),),
    (KAnonymity(k=2), LDiversity(l=1.25)),
    (TCloseness(t=0.4),),
]


def people_of(case: TableCase, class_of: list[int]) -> list[reference.Group]:
    at = dict(zip(map(tuple, case.table.points.tolist()), class_of, strict=True))
    return [[person for person in case.people if at[person[0]] == number] for number in range(max(class_of) + 1)]


def penalty_of(case: TableCase, class_of: list[int]) -> Fraction:
    """The normalized certainty penalty of a partition, in exact arithmetic from its people."""
    return sum(
        (
            len(group) * reference.penalty([point for point, _ in group], case.positions)
            for group in people_of(case, class_of)
        ),
        Fraction(0),
    )


def line(positions: list[int]) -> Table:
    schema = {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
    }
    ill = ["no", "yes"] * len(positions)
    return read(pl.DataFrame({"age": positions, "ill": ill[: len(positions)]}), Schema.parse({"columns": schema}))


@pytest.mark.parametrize("ahead", [1, 2, 3])
@pytest.mark.parametrize("required", [(KAnonymity(k=2),), (KAnonymity(k=2), LDiversity(l=1))])
def test_a_cut_is_judged_by_what_follows(ahead: int, required: tuple[Requirement, ...]) -> None:
    """Two threes are the best first cut of six and can be cut no further; a two and a four become three twos."""
    table = line([0, 1, 2, 3, 4, 5])
    assert partition(table, required, "ncp").tolist() == [0, 0, 0, 1, 1, 1]
    assert partition(table, required, "ncp", look_ahead=ahead).tolist() == [0, 0, 1, 1, 2, 2]


def test_median_cuts_do_not_look_ahead() -> None:
    table = line([0, 1, 2, 3, 4, 5])
    assert partition(table, [KAnonymity(k=2)], "median", look_ahead=2).tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("required", REQUIRED, ids=lambda required: " ".join(map(str, required)))
@settings(max_examples=60)
@given(case=tables(most_rows=24, most_quasi=3, most=6), ahead=st.integers(1, 3))
def test_looking_ahead_never_costs_certainty(required: tuple[Requirement, ...], case: TableCase, ahead: int) -> None:
    if len(case.rows) < 3 or not all(
        item.holds(case.table.overall[None, :], Population(case.table.overall, case.table.schema.sensitive))[0]
        for item in required
    ):
        return
    greedy = partition(case.table, required, "ncp").tolist()
    ahead_of = partition(case.table, required, "ncp", look_ahead=ahead).tolist()
    assert penalty_of(case, ahead_of) <= penalty_of(case, greedy)


@settings(max_examples=60)
@given(case=tables(most_rows=24, most_quasi=3, most=6), only_size=st.booleans(), ahead=st.integers(1, 2))
def test_batches_of_regions_change_nothing(case: TableCase, only_size: bool, ahead: int) -> None:
    required: list[Requirement] = [KAnonymity(k=1)] if only_size else [KAnonymity(k=1), TCloseness(t=0.6)]
    whole = partition(case.table, required, "ncp", look_ahead=ahead).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "POINTS_AT_ONCE", 3)
        assert partition(case.table, required, "ncp", look_ahead=ahead).tolist() == whole


@pytest.mark.parametrize("required", REQUIRED[2:], ids=lambda required: " ".join(map(str, required)))
@settings(max_examples=40)
@given(case=tables(most_rows=24, most_quasi=3, most=6), ahead=st.integers(0, 2), median=st.booleans())
def test_looking_at_the_cheapest_cuts_first_changes_nothing(
    required: tuple[Requirement, ...], case: TableCase, ahead: int, median: bool
) -> None:
    population = Population(case.table.overall, case.table.schema.sensitive)
    if not all(item.holds(case.table.overall[None, :], population)[0] for item in required):
        return
    cut: Cut = "median" if median else "ncp"
    whole = partition(case.table, required, cut, look_ahead=ahead).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module, "CELLS_AT_ONCE", 0)
        patch.setattr(search_module, "LOOK", 2)
        assert partition(case.table, required, cut, look_ahead=ahead).tolist() == whole


def test_few_cuts_are_counted_where_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of hundreds of cuts, those near the middle are cheapest and allowed; the others are not looked at."""
    counted = []
    count_sides = search_module.count_sides

    def counting(points: Any, runs: Runs, region: Any, *others: Any) -> Any:
        counted.append(len(region))
        return count_sides(points, runs, region, *others)

    generator = np.random.default_rng(1)
    columns = {name: generator.integers(0, 200, 400) for name in ("a", "b")}
    spec: Any = {name: {"role": "quasi", "kind": "numeric", "min": 0, "max": 199} for name in columns}
    spec["ill"] = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}
    table = read(pl.DataFrame(columns | {"ill": ["no", "yes"] * 200}), Schema.parse({"columns": spec}))
    monkeypatch.setattr(search_module, "count_sides", counting)
    every = partition(table, [KAnonymity(k=2), LDiversity(l=1.2)], "ncp").tolist()
    most, counted = sum(counted), []
    monkeypatch.setattr(search_module, "CELLS_AT_ONCE", 400)
    assert partition(table, [KAnonymity(k=2), LDiversity(l=1.2)], "ncp").tolist() == every
    assert 0 < sum(counted) < most / 4
    assert max(counted) <= 200, "400 counts of two values are made together"


@given(case=tables(most_rows=20, most_quasi=3, most=6))
def test_penalties_of_classes(case: TableCase) -> None:
    """The sum over classes is that of exact arithmetic, missing values included."""
    class_of = partition(case.table, [KAnonymity(k=1)], "median")
    order = np.argsort(class_of, kind="stable")
    starts = np.searchsorted(class_of[order], np.arange(class_of.max() + 2))
    points = Points.of(case.table, missing_first=True).arrays
    found = penalties(points, Runs(order, starts[:-1], starts[1:]))
    assert found.sum() == pytest.approx(float(penalty_of(case, class_of.tolist())))
    whole = penalties(points, Runs(order, np.zeros(1, dtype=np.int64), np.array([len(order)])))
    assert whole[0] == pytest.approx(float(penalty_of(case, [0] * len(order))))


def proposed(generator: np.random.Generator, regions: int) -> Cuts:
    """Cuts of some regions, with costs of which many are equal."""
    region = np.sort(generator.integers(0, regions, size=40))
    axis, cost = generator.integers(0, 3, size=40), generator.integers(0, 5, size=40) / 4
    nothing = np.zeros(40, dtype=np.int64)
    return Cuts(region, axis, nothing, np.arange(40), cost)


def chosen_by_sorting(cuts: Cuts, region: int, most: int) -> list[int]:
    found: list[int] = []
    for cut in sorted(np.flatnonzero(cuts.region == region).tolist(), key=lambda cut: (cuts.cost[cut], cut)):
        if sum(cuts.axis[cut] == cuts.axis[other] for other in found) < MOST_OF_AXIS:
            found.append(cut)
    return found[:most]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("most", [1, 3, 10])
def test_the_best_cuts_of_each_region(seed: int, most: int) -> None:
    cuts = proposed(np.random.default_rng(seed), 4)
    expected = [cut for region in range(4) for cut in chosen_by_sorting(cuts, region, most)]
    assert best_of_each(cuts, Limits(np.full(4, 6), 2, most)).tolist() == expected
    cheapest = [cut for region in range(4) for cut in chosen_by_sorting(cuts, region, 1)]
    assert best_of_each(cuts, Limits(np.full(4, 5), 2, most)).tolist() == cheapest, (
        "no part of five rows can be cut again"
    )


@pytest.mark.parametrize("seed", range(3))
def test_points_of_both_sides(seed: int) -> None:
    generator = np.random.default_rng(seed)
    positions: Any = generator.integers(0, 5, size=(12, 2), dtype=np.int32)
    runs = Runs(generator.permutation(12), np.array([0, 5]), np.array([5, 12]))
    before = runs.order.copy()
    region, axis, position = np.array([0, 1, 1]), np.array([1, 0, 1]), np.array([2, 3, 1])
    cuts = Cuts(region, axis, region, position, np.zeros(3))
    parts = cut_runs(positions, runs, cuts)
    found = [parts.order[start:end].tolist() for start, end in zip(parts.starts, parts.ends, strict=True)]
    expected = []
    for one, along, at in zip(region, axis, position, strict=True):
        members = runs.order[runs.starts[one] : runs.ends[one]]
        expected += [
            [p for p in members if positions[p, along] < at],
            [p for p in members if positions[p, along] >= at],
        ]
    assert found == expected
    assert runs.order.tolist() == before.tolist(), "a cut on trial moved points"
