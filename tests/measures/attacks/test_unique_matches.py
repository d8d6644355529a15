"""Unique people found again, counted row by row."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given

import sfumato.measures.attacks.unique_matches as unique_matches
from brute_force import ReleaseCase, as_box, certain_rows, look_alikes, made_of, releases
from sfumato.measures.attacks import UniqueMatches
from sfumato.methods import FullSuppression, Original
from strategies import AxisCase, SchemaCase, TableCase, tables

if TYPE_CHECKING:
    from reference import Point
    from sfumato.release import Release


def check(case: ReleaseCase) -> None:
    found = UniqueMatches().run(case.case.table, case.release)
    alone = [person for person, times in Counter(case.case.people).items() if times == 1]
    matched = sum(person in certain_rows(case) for person in alone)
    assert found["unique_matches"] == matched
    assert found["unique_match_share"] == pytest.approx(matched / len(alone) if alone else 0.0)
    assert found["singled_out"] == pytest.approx(len(people_alone(case)) / len(case.case.people))


def people_alone(case: ReleaseCase) -> set[Point]:
    """The points of people who are the only ones in a set of points under which one row is published."""
    points = [point for point, _ in case.case.people]
    inside = [[point for point in points if point in held] for held, rows in look_alikes(case).items() if rows == 1]
    return {people[0] for people in inside if len(people) == 1}


@given(releases())
def test_unique_people_are_found_as_by_hand(case: ReleaseCase) -> None:
    check(case)


@given(tables(most_rows=14))
def test_the_end_points(case: TableCase) -> None:
    """The original shows every unique row; full suppression shows none where there is anything to suppress."""
    found = UniqueMatches().run(case.table, Original().publish(case.table))
    alone = sum(times == 1 for times in Counter(case.people).values())
    assert found["unique_matches"] == alone
    assert found["unique_match_share"] == (1.0 if alone else 0.0)
    single = sum(times == 1 for times in Counter(point for point, _ in case.people).values())
    assert found["singled_out"] == pytest.approx(single / len(case.people))
    if any(axis.positions > 1 for axis in case.case.quasi):
        suppressed = UniqueMatches().run(case.table, FullSuppression().publish(case.table))
        assert suppressed == {"unique_matches": 0, "unique_match_share": 0, "singled_out": 0}


@pytest.fixture
def buckets() -> ReleaseCase:
    """0 and 1 share a bucket of two values, 2 and 3 one of a single value, 4 has its own with two rows."""
    number = AxisCase("number", {"kind": "numeric", "min": 0, "max": 4}, tuple((str(i),) for i in range(5)))
    secret = AxisCase("secret", {"kind": "categorical", "values": ["a", "b"]}, (("a",), ("b",)))
    rows = ((0, 0), (1, 1), (2, 0), (3, 0), (4, 0), (4, 1))
    case = TableCase(SchemaCase((number,), secret), rows, tuple((str(x), "ab"[value]) for x, value in rows))
    numbered = zip(rows, (0, 0, 1, 1, 2, 2), strict=True)
    return made_of(case, [(as_box((x,)), bucket, value) for (x, value), bucket in numbered])


def test_a_value_is_stated_only_where_its_bucket_leaves_no_doubt(buckets: ReleaseCase) -> None:
    """Of six unique rows, two stand in a bucket of one value and two at a point that has its own bucket."""
    found = UniqueMatches().run(buckets.case.table, buckets.release)
    assert found == pytest.approx({"unique_matches": 4, "unique_match_share": 4 / 6, "singled_out": 4 / 6})


def test_values_taken_from_shared_buckets_are_noticed(monkeypatch: pytest.MonkeyPatch, buckets: ReleaseCase) -> None:
    def every_value(release: Release) -> tuple[object, object]:
        box, value = np.nonzero(release.histograms[release.group_of] > 0)
        return np.where(release.boxes.missing, -1, release.boxes.lo)[box].astype(np.int32), value

    check(buckets)
    monkeypatch.setattr(unique_matches, "_exact_rows", every_value)
    with pytest.raises(AssertionError):
        check(buckets)


def test_a_row_that_is_nobodys_or_several_peoples_singles_nobody_out(buckets: ReleaseCase) -> None:
    """People at 0, 1, 2, 3 and twice at 4: of the rows at 0, at 4 and anywhere from 2 to 3, the first describes one."""
    described = [(as_box((0,)), 0, 0), (as_box((4,)), 1, 0), (((2, 3, False),), 2, 1)]
    release = made_of(buckets.case, described)
    assert UniqueMatches().run(buckets.case.table, release.release)["singled_out"] == pytest.approx(1 / 6)
    check(release)


def test_every_lonely_row_taken_for_a_person_is_noticed(monkeypatch: pytest.MonkeyPatch, buckets: ReleaseCase) -> None:
    release = made_of(buckets.case, [(as_box((4,)), 1, 0)])
    check(release)
    monkeypatch.setattr(unique_matches, "_people_alone", lambda table, release: (release.look_alikes == 1).sum())
    with pytest.raises(AssertionError):
        check(release)


def test_a_wide_box_is_no_match_even_if_it_starts_at_the_point(buckets: ReleaseCase) -> None:
    wide = made_of(buckets.case, [(((0, 1, False),), 0, 0), (((0, 1, False),), 0, 1)])
    assert UniqueMatches().run(buckets.case.table, wide.release)["unique_matches"] == 0
    check(wide)
