"""Certainty penalties and discernibility, from the positions of every box and the rows that stand in it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given

import sfumato.measures.workloads.information_loss as information_loss
from brute_force import (
    ReleaseCase,
    as_box,
    discernibility,
    made_of,
    mean_penalty,
    present_widths,
    published_widths,
    releases,
    suppressed,
)
from reference import holds
from sfumato.measures.measure import MEASURES
from sfumato.measures.workloads import InformationLoss
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import FullSuppression, KDTree, Original
from sfumato.release import Boxes, Release
from strategies import AxisCase, SchemaCase, TableCase, tables

OF_RECODED_ROWS = {"ncp", "gcp", "discernibility", "average_class"}


def recodes(case: ReleaseCase) -> bool:
    """Whether every box holds at least as many people as it stands for."""
    people = [point for point, _ in case.case.people]
    rows = zip(case.boxes, case.weights, strict=True)
    return all(sum(holds(box, point) for point in people) >= weight for box, weight in rows)


def check(case: ReleaseCase) -> None:
    found = InformationLoss().run(case.case.table, case.release)
    assert found["classes"] == len(case.histograms)
    assert found["suppressed"] == pytest.approx(float(suppressed(case) / (case.rows + suppressed(case))), abs=1e-12)
    if not recodes(case):
        assert not OF_RECODED_ROWS & set(found)
        return
    assert found["ncp"] == pytest.approx(float(mean_penalty(case, published_widths(case))), abs=1e-9)
    assert found["gcp"] == pytest.approx(float(mean_penalty(case, present_widths(case))), abs=1e-9)
    assert found["discernibility"] == pytest.approx(float(discernibility(case)))
    assert found["average_class"] == pytest.approx(float(case.rows / len(case.histograms)))


@given(releases())
def test_losses_are_those_of_the_definition(case: ReleaseCase) -> None:
    check(case)


@given(tables(most_rows=12, most_quasi=3, most=5))
def test_the_end_points(case: TableCase) -> None:
    original = InformationLoss().run(case.table, Original().publish(case.table))
    assert original["ncp"] == original["gcp"] == original["suppressed"] == 0
    everything = InformationLoss().run(case.table, FullSuppression().publish(case.table))
    wide = sum(axis.positions > 1 for axis in case.case.quasi) / len(case.case.quasi)
    assert everything["ncp"] == pytest.approx(wide)
    assert everything["discernibility"] == len(case.rows) ** 2
    assert everything["average_class"] == len(case.rows)


@pytest.fixture
def people() -> TableCase:
    """A number 0..10 and a nullable colour of three."""
    number = AxisCase("number", {"kind": "numeric", "min": 0, "max": 10}, tuple((str(i),) for i in range(11)))
    spec = {"kind": "categorical", "values": ["red", "green", "blue"], "nullable": True}
    colour = AxisCase("colour", spec, (("red",), ("green",), ("blue",)))
    secret = AxisCase("secret", {"kind": "categorical", "values": ["a", "b"]}, (("a",), ("b",)))
    rows = ((0, 0, 0), (0, 0, 1), (4, 2, 1), (5, -1, 0), (7, -1, 1))
    texts = tuple((str(x), spec["values"][c] if c >= 0 else None, "ab"[value]) for x, c, value in rows)
    return TableCase(SchemaCase((number, colour), secret), rows, texts)


@pytest.fixture
def two_classes(people: TableCase) -> ReleaseCase:
    """Three rows in 0..4 × red..blue, two in 5..9 × (blue or missing)."""
    left, right = ((0, 4, False), (0, 2, False)), ((5, 9, False), (2, 2, True))
    return made_of(people, [(left if x < 5 else right, int(x > 4), value) for (x, _), value in people.people])


def test_a_case_worked_out_on_paper(two_classes: ReleaseCase) -> None:
    """Published widths 5/11 and 3/4, then 5/11 and 2/4; present: 0..4 and red, blue; 5..7 and missing alone."""
    found = InformationLoss().run(two_classes.case.table, two_classes.release)
    assert found["ncp"] == pytest.approx((3 * (4 / 10 + 2 / 3) / 2 + 2 * (4 / 10 + 1 / 3) / 2) / 5)
    assert found["gcp"] == pytest.approx((3 * (4 / 10 + 1 / 3) / 2 + 2 * (2 / 10 + 0) / 2) / 5)
    assert found["discernibility"] == 9 + 4
    assert found["classes"] == 2
    assert found["average_class"] == 2.5
    check(two_classes)


def test_rows_left_out_are_charged_in_full(people: TableCase) -> None:
    """Two of five rows published exactly: three cost 1 each, and five each for discernibility."""
    some = made_of(people, [(as_box((0, 0)), 0, 0), (as_box((0, 0)), 0, 1)])
    found = InformationLoss().run(people.table, some.release)
    assert found["ncp"] == found["gcp"] == pytest.approx(3 / 5)
    assert found["discernibility"] == 2 * 2 + 3 * 5
    assert found["suppressed"] == pytest.approx(3 / 5)
    check(some)


def test_a_point_in_two_buckets_is_one_set_of_look_alikes(people: TableCase) -> None:
    """The rows at (0, red) stand in different buckets and still look alike."""
    buckets = [0, 1, 0, 1, 2]
    rows = zip(people.people, buckets, strict=True)
    release = made_of(people, [(as_box(point), bucket, value) for (point, value), bucket in rows])
    assert len(release.boxes) == 5
    assert InformationLoss().run(people.table, release.release)["discernibility"] == 2 * 2 + 1 + 1 + 1
    check(release)


def test_broken_twins_are_noticed(monkeypatch: pytest.MonkeyPatch, two_classes: ReleaseCase, people: TableCase) -> None:
    check(two_classes)
    some = made_of(people, [(as_box((0, 0)), 0, 0), (as_box((0, 0)), 1, 1)])
    check(some)
    with monkeypatch.context() as twin:
        twin.setattr(Boxes, "widths", property(lambda boxes: boxes.hi - boxes.lo + 2 + boxes.missing))
        twin.delitem(two_classes.release.boxes.__dict__, "widths", raising=False)
        with pytest.raises(AssertionError):
            check(two_classes)
    with monkeypatch.context() as twin:
        twin.setattr(information_loss, "suppressed_rows", lambda table, release: 0.0)
        with pytest.raises(AssertionError):
            check(some)
    with monkeypatch.context() as twin:
        twin.setattr(Release, "look_alikes", property(lambda release: release.weights))
        with pytest.raises(AssertionError):
            check(some)
    with monkeypatch.context() as twin:
        twin.setattr(information_loss, "_present_widths", lambda table, release: release.boxes.widths - 1.0)
        with pytest.raises(AssertionError):
            check(two_classes)


def test_a_release_with_more_rows_than_the_table_suppresses_nothing_and_recodes_nobody(people: TableCase) -> None:
    whole = ((0, 10, False), (0, 2, True))
    more = ReleaseCase(people, (whole,), (Fraction(8),), (0,), ((Fraction(4), Fraction(4)),))
    assert InformationLoss().run(people.table, more.release) == {"classes": 1, "suppressed": 0}
    check(more)


def test_exact_rows_that_are_nobodys_are_not_called_exact(people: TableCase) -> None:
    made_up = made_of(people, [(as_box((number, 2)), number, 0) for number in range(4, 9)])
    found = InformationLoss().run(people.table, made_up.release)
    assert not OF_RECODED_ROWS & set(found)
    check(made_up)
    assert MEASURES["ncp"].optional


def test_the_width_of_noisy_leaves_says_nothing(people: TableCase) -> None:
    noisy = KDTree(epsilon=1.0).publish(people.table, SimulatedSource(1))
    assert set(InformationLoss().run(people.table, noisy)) == {"classes", "suppressed"}
