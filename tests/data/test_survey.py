"""Weights and households beside the cells of a table, against a plain count of the rows."""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data import Table, read
from sfumato.data.keys import KeyCounts
from sfumato.data.spark import SparkEngine, SparkRows
from sfumato.data.survey import NO_HOME
from sfumato.errors import DataError
from sfumato.measures.workloads.holdout import hold_out
from sfumato.schema import Schema
from sfumato.trials.regroup import regroup, with_sensitive

COLUMNS: dict[str, dict[str, Any]] = {
    "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 5, "nullable": True},
    "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
    "w": {"role": "weight"},
    "home": {"role": "household"},
}
PATIENT = {"patient": {"role": "identifier"}}
Row = tuple[int | None, str, float, str | None, str]
ROWS: st.SearchStrategy[list[Row]] = st.lists(
    st.tuples(
        st.sampled_from([None, 0, 1, 2]),
        st.sampled_from(["no", "yes"]),
        st.sampled_from([0.5, 1.0, 2.25, 1000.0, 0.1]),
        st.sampled_from(["a", "b", "c", None]),
        st.sampled_from(["p", "q", "r", "s"]),
    ),
    min_size=1,
    max_size=14,
)


def schema_of(*more: dict[str, Any], **top: Any) -> Schema:
    return Schema.parse({"columns": {name: spec for part in (COLUMNS, *more) for name, spec in part.items()}, **top})


def table_of(rows: list[Row], *more: dict[str, Any], **top: Any) -> Table:
    names = {"age": pl.Int64, "ill": pl.String, "w": pl.Float64, "home": pl.String, "patient": pl.String}
    return read(pl.DataFrame(rows, schema=names, orient="row"), schema_of(*more, **top))


def cells(table: Table) -> dict[tuple[int, int], tuple[int, float, dict[int, int]]]:
    """Rows, people and rows of each household, by cell."""
    survey = table.survey
    assert survey is not None
    assert survey.people is not None
    assert survey.homes is not None
    homes: dict[int, dict[int, int]] = defaultdict(dict)
    for cell, home, rows in zip(survey.homes.cell, survey.homes.household, survey.homes.rows, strict=True):
        assert home not in homes[int(cell)]
        homes[int(cell)][int(home)] = int(rows)
    keys = zip(table.points[table.cell_point, 0].tolist(), table.cell_value.tolist(), strict=True)
    values = zip(table.cell_weight.tolist(), survey.people.tolist(), strict=True)
    return {key: (*value, homes[cell]) for cell, (key, value) in enumerate(zip(keys, values, strict=True))}


def counted(rows: list[Row]) -> dict[tuple[int, int], tuple[int, float, list[int]]]:
    """The same row by row; households are told apart by how many rows of them there are."""
    found: dict[tuple[int, int], list[Row]] = defaultdict(list)
    for row in rows:
        found[-1 if row[0] is None else row[0], int(row[1] == "yes")].append(row)
    return {
        cell: (
            len(own),
            float(sum(Fraction(str(row[2])) for row in own)),
            sorted(sum(row[3] == home for row in own) for home in {row[3] for row in own}),
        )
        for cell, own in found.items()
    }


def sizes(table: Table) -> dict[tuple[int, int], tuple[int, float, list[int]]]:
    """The same without the numbers of households, which depend on what others there are."""
    return {cell: (rows, people, sorted(homes.values())) for cell, (rows, people, homes) in cells(table).items()}


@settings(max_examples=25)
@given(ROWS, st.randoms(use_true_random=False), st.sampled_from([1, 3, 100]))
def test_cells_add_up_what_rows_say(rows: list[Row], shuffle: random.Random, at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.data.pieces.ROWS_AT_ONCE", at_once)
        patch.setattr(KeyCounts, "MOST_WAITING", 2)
        found = cells(table_of(rows))
        again = list(rows)
        shuffle.shuffle(again)
        assert cells(table_of(again)) == found
    assert sizes(table_of(rows)) == {
        cell: (n, pytest.approx(people), homes) for cell, (n, people, homes) in counted(rows).items()
    }


@settings(max_examples=25)
@given(ROWS, st.integers(2, 3))
def test_one_row_of_each_person_has_its_own_weight_and_home(rows: list[Row], most: int) -> None:
    alone = table_of(rows, PATIENT)
    several = table_of(rows, PATIENT, rows_per_person=most)
    assert sizes(several.people) == sizes(alone)
    assert alone.people is alone
    by_person = defaultdict(list)
    for row in rows:
        by_person[row[4]].append(row)
    assert several.n == sum(min(len(own), most) for own in by_person.values())


@settings(max_examples=25)
@given(ROWS, st.data())
def test_some_rows_of_a_cell_have_their_part_of_its_weight(rows: list[Row], data: st.DataObject) -> None:
    table = table_of(rows)
    left = np.array([data.draw(st.integers(0, int(weight))) for weight in table.cell_weight])
    before, after = cells(table), cells(table.reweight(left))
    names = list(before)
    for number, cell in enumerate(names):
        n, people, homes = before[cell]
        assert (cell in after) == (left[number] > 0)
        if cell in after:
            assert after[cell][:2] == (left[number], pytest.approx(people * left[number] / n))
            assert sum(after[cell][2].values()) == left[number]
            assert all(rows <= homes[home] for home, rows in after[cell][2].items())


@settings(max_examples=25)
@given(ROWS)
def test_cells_that_become_one_add_up(rows: list[Row]) -> None:
    table = table_of(rows)
    codes = table.cell_codes.copy()
    codes[:, 0] = np.minimum(codes[:, 0], 0)
    merged = regroup(table.schema, codes, table.cell_weight, table)
    coarse = [(row[0] and 0, *row[1:]) for row in rows]
    assert cells(merged) == cells(table_of(coarse))
    there = with_sensitive(with_sensitive(table, "age"), "ill")
    assert cells(there) == cells(table)


def test_people_without_a_household_count_as_one_of_all_classes() -> None:
    table = table_of([(0, "no", 1.0, None, "p"), (0, "yes", 1.0, None, "q"), (1, "no", 1.0, "a", "r")])
    assert table.survey is not None
    assert table.survey.homes is not None
    assert table.survey.homes.household.tolist() == [NO_HOME, NO_HOME, 0]
    assert table.survey.homes.distinct(np.array([0, 0, 0]), 1).tolist() == [2]
    assert table.survey.homes.distinct(np.array([0, 0, -1]), 2).tolist() == [1, 0]
    assert table.survey.homes.distinct(np.array([-1, -1, -1]), 1).tolist() == [0]


def test_a_table_of_nobody_has_no_weight() -> None:
    empty = pl.DataFrame(schema={"age": pl.Int64, "ill": pl.String, "w": pl.Float64, "home": pl.String})
    assert cells(read(empty, schema_of())) == {}


def test_both_halves_hold_all_the_weight() -> None:
    table = table_of([(number % 3, "no", 0.5 + number, "abc"[number % 3], "p") for number in range(30)])
    parts = hold_out(table)
    assert table.survey is not None
    people = [part.survey.people.sum() for part in parts if part.survey and part.survey.people is not None]
    assert sum(people) == pytest.approx(table.survey.people.sum())  # type: ignore[union-attr]
    assert table.fingerprint != table_of([(number % 3, "no", 0.5, None, "p") for number in range(30)]).fingerprint


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (0, "0"),
        (-3, "-3"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (1e10, "expected a number from 0.000001 to 1,000,000,000"),
        (1e-9, "is not a weight"),
        (99, "99"),
        (None, "the weight is missing"),
        ("heavy", "'heavy' is not a weight"),
        ("", "'' is not a weight"),
        ("1,5", "'1,5' is not a weight"),
    ],
)
def test_what_is_no_weight_is_refused_or_replaced(cell: Any, said: str) -> None:
    """99 is how a missing value is spelled."""
    weights = [1.5, cell] if not isinstance(cell, str) else ["1.5", cell]
    rows = {"age": [0, 0], "ill": ["no", "no"], "w": weights, "home": ["a", "b"]}
    with pytest.raises(DataError, match="row 2, column 'w'") as refused:
        read(rows, schema_of(missing=["", "99"]))
    assert said in str(refused.value)
    lenient = schema_of({"w": {"role": "weight", "off_schema": 4}}, missing=["", "99"])
    ((_, people, _),) = cells(read(rows, lenient)).values()
    assert people == 5.5


def test_spellings_of_a_weight_are_one_number() -> None:
    rows = {"age": [0, 1, 2], "ill": ["no"] * 3, "w": ["79", " 7.9e1 ", "+79.0"], "home": ["a", "b", "c"]}
    assert {people for _, people, _ in cells(read(rows, schema_of())).values()} == {79.0}


def test_more_people_than_can_be_counted_are_refused() -> None:
    rows = {"age": [0] * 5000, "ill": ["no"] * 5000, "w": [1e9] * 5000, "home": ["a"] * 5000}
    with pytest.raises(DataError, match="add up to more than 4,000,000,000,000 people"):
        read(rows, schema_of())


def test_rows_of_a_person_do_not_depend_on_their_order_where_only_weights_differ() -> None:
    rows: list[Row] = [(0, "no", float(number), "abcd"[number % 4], "p") for number in range(1, 9)]
    found = [cells(table_of(order, PATIENT)) for order in (rows, rows[::-1])]
    assert found[0] == found[1]


@pytest.mark.parametrize("missing", ["w", "home"])
def test_spark_reads_no_survey(missing: str) -> None:
    """A declared gap: it is said before anything is read."""
    rows = SparkRows(where="there", reading=lambda _: pytest.fail("it was read"))
    with pytest.raises(DataError, match="rows on Spark are not read with a column of role"):
        SparkEngine.read(rows, schema_of({missing: {"role": "ignore"}}))
