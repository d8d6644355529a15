"""Classes that stand for enough people of the population, or hold enough households, against every row and cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data import Table, read
from sfumato.errors import ParameterError, UnsatisfiableError
from sfumato.methods import Mondrian
from sfumato.methods.partition import units
from sfumato.privacy.requirements import KAnonymity, KHouseholds, KMap, LDiversity, Requirement
from sfumato.release import Release
from sfumato.schema import Schema

COLUMNS: dict[str, dict[str, Any]] = {
    "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 4, "nullable": True},
    "town": {"role": "quasi", "kind": "categorical", "values": ["a", "b", "c"]},
    "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
    "w": {"role": "weight"},
    "home": {"role": "household"},
}
Row = tuple[int | None, str, str, float, str | None]
ROWS: st.SearchStrategy[list[Row]] = st.lists(
    st.tuples(
        st.sampled_from([None, 0, 1, 2, 4]),
        st.sampled_from("abc"),
        st.sampled_from(["no", "no", "yes"]),
        st.sampled_from([0.5, 1.0, 3.0, 20.0]),
        st.sampled_from(["f", "g", "h", "i", "j", None]),
    ),
    min_size=1,
    max_size=24,
)
REQUIREMENTS: st.SearchStrategy[list[Requirement]] = st.lists(
    st.one_of(
        st.builds(KMap, k_map=st.integers(1, 30)),
        st.builds(KHouseholds, k_households=st.integers(1, 4)),
        st.builds(KAnonymity, k=st.integers(1, 4)),
        st.builds(LDiversity, l=st.sampled_from([1.2, 1.5])),
    ),
    min_size=1,
    max_size=3,
    unique_by=type,
).filter(lambda kinds: any(kind.unit != "rows" for kind in kinds))


def schema_of(**more: dict[str, Any]) -> Schema:
    return Schema.parse({"columns": {**COLUMNS, **more}})


def table_of(rows: Sequence[Row], **more: dict[str, Any]) -> Table:
    kinds = {"age": pl.Int64, "town": pl.String, "ill": pl.String, "w": pl.Float64, "home": pl.String}
    return read(pl.DataFrame(list(rows), schema=kinds, orient="row"), schema_of(**more))


def code_of(row: Row) -> tuple[int, int]:
    return -1 if row[0] is None else row[0], "abc".index(row[1])


def satisfies(rows: Sequence[Row], requirements: Sequence[Requirement]) -> bool:
    """By the words of each requirement."""
    for kind in requirements:
        if isinstance(kind, KMap) and sum(row[3] for row in rows) < kind.k_map:
            return False
        if isinstance(kind, KHouseholds) and len({row[4] for row in rows}) < kind.k_households:
            return False
        if isinstance(kind, KAnonymity) and len(rows) < kind.k:
            return False
        if isinstance(kind, LDiversity):
            most = max(sum(row[2] == value for row in rows) for value in ("no", "yes"))
            if most * kind.l > len(rows) * (1 + 1e-9):
                return False
    return True


def classes_of(rows: Sequence[Row], release: Release) -> list[list[Row]]:
    """The rows inside each box; boxes of a strict partition do not overlap."""
    found: list[list[Row]] = [[] for _ in release.weights]
    for row in rows:
        here = [
            number
            for number in range(len(release.weights))
            if all(
                missing if place < 0 else lo <= place <= hi
                for place, lo, hi, missing in zip(
                    code_of(row),
                    release.boxes.lo[number],
                    release.boxes.hi[number],
                    release.boxes.missing[number],
                    strict=True,
                )
            )
        ]
        assert len(here) == 1
        found[here[0]].append(row)
    return found


def can_be_cut(rows: Sequence[Row], requirements: Sequence[Requirement]) -> bool:
    """Whether some cut of these rows leaves what is allowed on both sides."""
    for axis in (0, 1):
        places = [code_of(row)[axis] for row in rows]
        for cut in set(places):
            left = [row for row, place in zip(rows, places, strict=True) if place < cut]
            right = [row for row, place in zip(rows, places, strict=True) if place >= cut]
            if left and right and satisfies(left, requirements) and satisfies(right, requirements):
                return True
    return False


@settings(max_examples=60)
@given(ROWS, REQUIREMENTS)
def test_every_class_satisfies_what_is_asked_and_none_can_be_cut(
    rows: list[Row], requirements: list[Requirement]
) -> None:
    method, table = Mondrian(requirements=tuple(requirements)), table_of(rows)
    if not satisfies(rows, requirements):
        with pytest.raises(UnsatisfiableError):
            method.publish(table)
        return
    release = method.publish(table)
    for number, own in enumerate(classes_of(rows, release)):
        assert satisfies(own, requirements)
        assert not can_be_cut(own, requirements)
        assert release.units["weights"][number] == pytest.approx(sum(row[3] for row in own))
        assert release.units["households"][number] == len({row[4] for row in own})


@given(ROWS)
@settings(max_examples=25)
def test_classes_are_enough_where_some_are_left_out(rows: list[Row]) -> None:
    requirements = (KMap(k_map=5), KHouseholds(k_households=2))
    if satisfies(rows, requirements):
        release = Mondrian(requirements=requirements, suppress=0.3).publish(table_of(rows))
        assert release.units["weights"].min() >= 5 - 1e-9
        assert release.units["households"].min() >= 2
        assert release.units["weights"].sum() <= sum(row[3] for row in rows) + 1e-9


FAMILY: list[Row] = [
    (number % 5, "abc"[number % 3], "no", 1.0, "one" if number < 28 else "two") for number in range(30)
]


def test_counting_rows_for_households_is_found_out() -> None:
    """The twin adds up rows, so that a class of one household passes while it is grown, and fails when published."""
    method = Mondrian(requirements=(KHouseholds(k_households=2),))
    assert min(len({row[4] for row in own}) for own in classes_of(FAMILY, method.publish(table_of(FAMILY)))) == 2

    def count_rows(arrays: units.UnitArrays, *more: Any) -> Any:
        return units.weigh_sides(arrays._replace(people=np.diff(arrays.home_start) * 2.0), *more)

    with patch.object(units, "count_homes", count_rows), pytest.raises(Exception, match="fail k-households"):
        method.publish(table_of(FAMILY))


def test_weights_of_rows_in_place_of_people_are_found_out() -> None:
    rows: list[Row] = [(number % 5, "a", "no", 0.5, None) for number in range(40)]
    method = Mondrian(requirements=(KMap(k_map=6),))
    assert method.publish(table_of(rows)).units["weights"].min() >= 6
    weigh = units.weigh_sides
    with (
        patch.object(
            units, "weigh_sides", lambda arrays, *more: weigh(arrays._replace(people=arrays.people * 2), *more)
        ),
        pytest.raises(Exception, match="fail k-map"),
    ):
        method.publish(table_of(rows))


@pytest.mark.parametrize(
    ("requirement", "lacking"),
    [(KMap(k_map=3), {"w": {"role": "ignore"}}), (KHouseholds(k_households=3), {"home": {"role": "ignore"}})],
)
def test_what_the_schema_does_not_tell_cannot_be_asked_for(
    requirement: Requirement, lacking: dict[str, dict[str, Any]]
) -> None:
    with pytest.raises(ParameterError, match="no column of the schema has role"):
        Mondrian(requirements=(requirement,)).publish(table_of(FAMILY, **lacking))


def test_the_population_is_named_where_it_is_too_small() -> None:
    with pytest.raises(UnsatisfiableError, match=r"k-map \(k_map=31\)") as refused:
        Mondrian(requirements=(KMap(k_map=31),)).publish(table_of(FAMILY))
    assert "commonest" not in str(refused.value)
