"""A value is spelled by itself: what stands in other cells of its column, and so the column's type, changes nothing."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data import Table, read, source
from sfumato.data.text import as_text, column_of
from sfumato.errors import DataError

COLUMNS: dict[str, dict[str, Any]] = {
    "id": {"role": "identifier"},
    "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99, "off_schema": "clip"},
    "ill": {"role": "sensitive", "kind": "categorical", "values": ["false", "true", "0", "1"], "off_schema": "false"},
}
SCHEMA = {"missing": ["", "9.0"], "columns": COLUMNS}
ODD: list[Any] = ["x", 2**70, 1.5, None, float("nan"), True, b"x", [1], {"a": 1}, "1", pd.NA, pd.NaT, object()]


def cells(table: Table) -> dict[tuple[int, ...], int]:
    points = table.points[table.cell_point].tolist()
    counted = zip(points, table.cell_value.tolist(), table.cell_weight.tolist(), strict=True)
    return {(*point, value): weight for point, value, weight in counted}


def distance(one: Any, other: Any) -> int:
    """How many rows the tables of two sources differ by."""
    return between(cells(read(one, SCHEMA)), cells(read(other, SCHEMA)))


def between(first: dict[tuple[int, ...], int], second: dict[tuple[int, ...], int]) -> int:
    return sum(abs(first.get(cell, 0) - second.get(cell, 0)) for cell in first.keys() | second.keys())


def people(kind: type) -> dict[str, list[Any]]:
    """Two rows each of forty people."""
    draw = np.random.default_rng(1).integers
    values = {bool: [bool(n) for n in draw(0, 2, 80)], int: draw(0, 2, 80).tolist()}
    return {"id": [n // 2 for n in range(80)], "age": draw(0, 12, 80).tolist(), "ill": values[kind]}


def records(rows: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]


@cache
def cells_of_people(kind: type, source: Callable[[dict[str, list[Any]]], Any]) -> dict[tuple[int, ...], int]:
    return cells(read(source(people(kind)), SCHEMA))


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__ if type(odd) is object else repr(odd))
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("kind", [bool, int])
def test_one_persons_cell_changes_no_row_of_anybody_else(column: str, kind: type, odd: Any) -> None:
    rows = people(kind)
    own = {"id": 1_000, "age": 5, "ill": rows["ill"][0], column: odd}
    more = {name: [*values, own[name]] for name, values in rows.items()}
    rows_and_own = pd.concat([pd.DataFrame(rows), pd.DataFrame([own])], ignore_index=True)
    for source_of, other in (
        (dict, more),
        (records, [*records(rows), own]),
        (records, [own, *records(rows)]),
        (pd.DataFrame, pd.DataFrame(more)),
        (pd.DataFrame, rows_and_own),
        (pl.DataFrame, more),
    ):
        assert between(cells_of_people(kind, source_of), cells(read(other, SCHEMA))) <= 1


@pytest.mark.parametrize("column", COLUMNS)
def test_half_a_character_is_no_obstacle(column: str) -> None:
    rows = people(int)
    own = {"id": 1_000, "age": 5, "ill": 0, column: "\ud800"}
    assert distance(rows, {name: [*values, own[name]] for name, values in rows.items()}) == 1


def test_a_twin_that_lets_the_type_of_a_column_decide_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = people(bool)
    more = pd.DataFrame({"id": [*rows["id"], 1_000], "age": [*rows["age"], 5], "ill": [*rows["ill"], "x"]})
    monkeypatch.setattr(source, "column_of", lambda cells: pl.Series(list(map(str, cells))))
    assert distance(pd.DataFrame(rows), more) > 1


@pytest.mark.parametrize(
    "ids",
    [
        pd.Series([1, 2, 3]),
        pd.Series([1, 2, 3], dtype="Int64"),
        pd.Series([1, 2, 3]).astype("category"),
        pd.Series([1.0, 2.0, 3.0], dtype="float32"),
        pd.Series(["1", "2", "3"]),
        pd.Series([1, 2, 3], dtype=object),
        pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02 03:04:05.5", "1999-12-31"], format="ISO8601")),
        pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"])).dt.tz_localize("UTC"),
        pd.Series([datetime.date(2020, 1, day) for day in (1, 2, 3)]),
        pd.Series([Decimal("1.5"), Decimal("2"), Decimal("3.25")]),
    ],
    ids=lambda ids: str(ids.dtype),
)
def test_identifiers_of_every_type_are_the_same_beside_another(ids: pd.Series) -> None:
    rows = pd.DataFrame({"id": ids.repeat(9).to_numpy(), "age": range(27), "ill": [False] * 27})
    rows["id"] = rows["id"].astype(ids.dtype)
    for odd in (None, "x", 1.5):
        own = pd.DataFrame({"id": [odd], "age": [5], "ill": [False]}).astype({"id": object})
        assert distance(rows, pd.concat([rows.astype({"id": object}), own], ignore_index=True)) <= 1


CELLS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.binary(max_size=3))


@given(st.lists(CELLS, max_size=6), st.lists(CELLS, max_size=3))
def test_a_cell_has_one_text_whatever_stands_beside_it(some: list[Any], others: list[Any]) -> None:
    alone = [as_text(column_of([cell]), "here")[0] for cell in some]
    assert as_text(column_of([*others, *some]), "here").to_list()[len(others) :] == alone


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (
            pl.Series([1.0, -0.0, 2.5, None, float("nan"), 2.0**53, 1e300]),
            ["1", "0", "2.5", None, None, str(2**53), "1e+300"],
        ),
        (pl.Series([1.0, 0.5], dtype=pl.Float32), ["1", "0.5"]),
        (pl.Series([True, False, None]), ["true", "false", None]),
        (pl.Series([Decimal("1.50"), Decimal("20.00")]), ["1.5", "20"]),
        (pl.Series([Decimal("120")]), ["120"]),
        (pl.Series([datetime.datetime(2020, 1, 2)]), ["2020-01-02 00:00:00"]),
        (pl.Series([" a ", ""]), ["a", ""]),
        (pl.Series([b"\xff", b"a"]), ["\\xff", "a"]),
    ],
    ids=lambda case: str(getattr(case, "dtype", "")),
)
def test_how_values_are_spelled(column: pl.Series, expected: list[str | None]) -> None:
    assert as_text(column, "here").to_list() == expected


def test_a_type_that_holds_no_plain_values_is_refused() -> None:
    with pytest.raises(DataError, match="here: List"):
        as_text(pl.Series([[1]]), "here")


@pytest.mark.parametrize("cell", [9, 9.0, "9", "9.0", "9.00"])
def test_what_means_missing_does_so_in_every_spelling(cell: Any) -> None:
    columns = {**COLUMNS, "age": {**COLUMNS["age"], "nullable": True}, "ill": {**COLUMNS["ill"], "nullable": True}}
    schema = {**SCHEMA, "columns": columns}
    for beside in (5, "x", 5.5, None):
        table = read({"id": [1, 2], "age": [cell, beside], "ill": [cell, "true"]}, schema)
        assert (table.points[:, 0].tolist().count(-1) >= 1, table.overall[-1]) == (True, 1)
