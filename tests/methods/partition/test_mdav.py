"""Microaggregation: groups of the sizes that are promised, near each other, published as ranges or as means."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data import Table, read
from sfumato.errors import UnsatisfiableError
from sfumato.measures.measure import assess
from sfumato.measures.workloads.information_loss import InformationLoss
from sfumato.methods.partition import microaggregate as grouping
from sfumato.methods.partition.mdav import MDAV
from sfumato.methods.partition.microaggregate import microaggregate
from sfumato.release import Release
from sfumato.schema import Schema
from strategies import TableCase, tables

FEW = ("p_loss", "guessed_right", "singled_out", "suppressed")
ILL = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}


def ages(values: list[int | None], **more: Any) -> Table:
    columns = {"age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99, **more}, "ill": ILL}
    frame = pl.DataFrame({"age": values, "ill": (["no", "yes"] * len(values))[: len(values)]})
    return read(frame, Schema.parse({"columns": columns}))


def by_definition(places: np.ndarray, k: int) -> set[frozenset[int]]:
    """MDAV as it is published, for places that all differ."""
    left, found = list(range(len(places))), []

    def away(one: int, other: np.ndarray) -> float:
        return float(((places[one] - other) ** 2).sum())

    def take(seed: int) -> None:
        group = sorted(left, key=lambda one: (away(one, places[seed]), one))[:k]
        found.append(frozenset(group))
        left[:] = [one for one in left if one not in group]

    def farthest(centre: np.ndarray) -> int:
        return max(left, key=lambda one: (away(one, centre), -one))

    while len(left) >= 3 * k:
        first = farthest(places[left].mean(axis=0))
        take(first)
        take(farthest(places[first]))
    if len(left) >= 2 * k:
        take(farthest(places[left].mean(axis=0)))
    return {*found, frozenset(left)}


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), count=st.integers(4, 40), k=st.integers(2, 6), axes=st.integers(1, 3))
def test_groups_are_those_of_the_definition(seed: int, count: int, k: int, axes: int) -> None:
    if count < k:
        return
    places = np.random.default_rng(seed).random((count, axes))
    group_of = microaggregate(places, np.ones(count, dtype=np.int64), k)
    ours = {frozenset(np.flatnonzero(group_of == group).tolist()) for group in set(group_of.tolist())}
    assert ours == by_definition(places, k)
    assert all(k <= len(group) < 2 * k for group in ours)


@settings(max_examples=60)
@given(
    case=tables(most_rows=40, most_quasi=3, most=8), k=st.integers(1, 8), recoding=st.sampled_from(["range", "mean"])
)
def test_every_class_has_k_people_whatever_is_published(case: TableCase, k: int, recoding: Any) -> None:
    table, method = case.table, MDAV(k=k, recoding=recoding)
    if table.n < k:
        with pytest.raises(UnsatisfiableError, match=f"the table has {table.n} rows, too few for a class of {k}"):
            method.publish(table)
        return
    release = method.publish(table)
    assert release.look_alikes.min() >= k
    assert len(release.look_alikes) == len(release.boxes), "two classes look the same"
    assert release.rows == table.n
    assert np.array_equal(release.overall, table.overall)
    assert release.violations() == []
    if recoding == "mean":
        assert release.boxes.are_points.all()
    backwards = read(case.frame.reverse(), case.case.schema)
    assert np.array_equal(method.publish(backwards).histograms, release.histograms)


@pytest.mark.parametrize("most", [10, 40])
def test_blocks_keep_the_promise(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    generator = np.random.default_rng(3)
    places, rows = generator.random((300, 2)), generator.integers(1, 9, 300)
    monkeypatch.setattr(grouping, "MAX_POINTS", most)
    group_of = microaggregate(places, rows, 5)
    sizes = np.bincount(group_of, rows)
    assert sizes.min() >= 5
    assert np.median(sizes) <= 9
    assert group_of.max() + 1 == len(set(group_of.tolist()))


def test_people_who_look_alike_stay_together() -> None:
    """Ten at one place are a class; the two that are left over join the nearest, and one far off is not alone."""
    release = MDAV(k=3).publish(ages([5] * 10 + [50, 51, 52] + [90, 91]))
    spans = [release.boxes.span(box, 0)[:2] for box in range(len(release.boxes))]
    assert sorted(zip(spans, release.weights.tolist(), strict=True)) == [((5, 5), 10.0), ((50, 91), 5.0)]


def test_means_are_rounded_and_categories_the_commonest() -> None:
    columns = {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9, "nullable": True},
        "town": {"role": "quasi", "kind": "categorical", "values": ["a", "b", "c"]},
        "ill": ILL,
    }
    frame = pl.DataFrame({"age": [1, 2, 2, None], "town": ["c", "b", "c", "a"], "ill": ["no", "yes"] * 2})
    release = MDAV(k=4, recoding="mean").publish(read(frame, Schema.parse({"columns": columns})))
    assert [release.boxes.span(0, axis) for axis in (0, 1)] == [(2, 2, False), (2, 2, False)]
    mostly = frame.with_columns(age=pl.Series([None, None, 1, 3]))
    release = MDAV(k=4, recoding="mean").publish(read(mostly, Schema.parse({"columns": columns})))
    assert release.boxes.span(0, 0) == (0, -1, True)


def test_means_are_nobodys_and_said_to_be(tmp_path: Path) -> None:
    """People are looked up at the nearest mean, and no box is taken for one that its people stand in."""
    table = ages([0, 10, 20, 80, 90, 99])
    release = MDAV(k=3, recoding="mean").publish(table)
    assert [release.boxes.span(box, 0)[0] for box in range(2)] == [10, 90]
    assert release.moved
    assert any("need not be anybody's" in line for line in release.claim.assumptions)
    assert "ncp" not in InformationLoss().run(table, release)
    found = release.posteriors(table.points)
    assert np.allclose(found[:3], [2 / 3, 1 / 3])
    assert np.allclose(found[3:], [1 / 3, 2 / 3])
    answer = release.answer("age >= 50")
    assert not answer.certain
    assert MDAV(k=3).publish(table).answer("age >= 50").certain
    again = Release.load(release.save(tmp_path / "release"))
    assert again.moved
    assert assess(table, again, only=FEW).spec() == assess(table, release, only=FEW).spec()


def test_ranges_are_tight_and_measured_as_such() -> None:
    table = ages([0, 10, 20, 80, 90, 99])
    release = MDAV(k=3).publish(table)
    assert [release.boxes.span(box, 0)[:2] for box in range(2)] == [(0, 20), (80, 99)]
    assert InformationLoss().run(table, release)["ncp"] == pytest.approx((3 * 20 + 3 * 19) / (6 * 99))
    assert not release.moved


def test_adult_is_grouped_well(adult_training: Table) -> None:
    """Nearly as narrow as Mondrian, in classes whose median is hardly above k."""
    release = MDAV(k=10).publish(adult_training)
    sizes = release.histograms.sum(axis=1)
    assert sizes.min() >= 10
    assert np.median(sizes) <= 12
    assert InformationLoss().run(adult_training, release)["ncp"] < 0.03
