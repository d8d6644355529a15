"""What becomes of values that are off the schema is the schema's to say; where it says so, any cell is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data import read
from sfumato.data.encode import encode_column
from sfumato.errors import DataError, SchemaError
from sfumato.methods import METHODS, QuadTree
from sfumato.methods.base import PrivateMethod
from sfumato.schema import MISSING, Schema

COLUMNS: dict[str, dict[str, Any]] = {
    "age": {"role": "quasi", "kind": "numeric", "min": 17, "max": 90},
    "wage": {"role": "quasi", "kind": "numeric", "edges": [0, 10, 20]},
    "town": {"role": "quasi", "kind": "categorical", "values": ["a", "b", "Other"]},
    "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
}
DECLARED = {"age": "clip", "wage": "clip", "town": "Other", "ill": "no"}


def schema_with(nullable: bool = False, **off_schema: Any) -> Schema:
    columns = {
        name: {**spec, "nullable": nullable, **({"off_schema": off_schema[name]} if name in off_schema else {})}
        for name, spec in COLUMNS.items()
    }
    return Schema.parse({"missing": ["", "?", "999"], "columns": columns})


TOTAL = schema_with(**DECLARED)


def codes(column: str, values: list[Any], schema: Schema = TOTAL) -> list[int]:
    """The codes of some cells in one column, with the others as they should be."""
    good = {"age": 30, "wage": 5, "town": "a", "ill": "no"}
    frame = pl.DataFrame(
        {**{name: [value] * len(values) for name, value in good.items()}, column: values}, strict=False
    )
    axis = next(axis for axis in schema.axes if axis.name == column)
    return encode_column(frame[column], axis, schema.missing, "the file").to_list()


@pytest.mark.parametrize(
    ("column", "cell", "code"),
    [
        ("age", "16", 0),
        ("age", "-inf", 0),
        ("age", "91", 73),
        ("age", "1e400", 73),
        ("age", "30.4", 13),
        ("age", "30.6", 14),
        ("age", "forty", 0),
        ("age", "nan", 0),
        ("age", "", 0),
        ("age", "999", 0),
        ("age", None, 0),
        ("age", float("inf"), 73),
        ("age", float("nan"), 0),
        ("age", 2**62, 73),
        ("age", True, 0),
        ("wage", "20", 1),
        ("wage", "-0.1", 0),
        ("wage", "1e308", 1),
        ("wage", "much", 0),
        ("town", "c", 2),
        ("town", "A", 2),
        ("town", "?", 2),
        ("town", None, 2),
        ("ill", "YES", 0),
        ("ill", "", 0),
    ],
)
def test_a_value_off_the_schema_goes_where_the_schema_says(column: str, cell: Any, code: int) -> None:
    assert codes(column, [cell]) == [code]
    with pytest.raises(DataError, match=f"column '{column}'"):
        codes(column, [cell], schema_with())


def test_what_is_no_number_is_missing_where_values_may_be_missing() -> None:
    schema = schema_with(nullable=True, **DECLARED)
    assert codes("age", ["forty", "", None, "200", "16"], schema) == [MISSING, MISSING, MISSING, 73, 0]
    assert codes("town", ["c", "", None, "a"], schema) == [2, MISSING, MISSING, 0]


def test_every_value_off_the_schema_can_be_missing() -> None:
    schema = schema_with(nullable=True, age="missing", town="missing")
    assert codes("age", ["200", "30.5", "x", "17"], schema) == [MISSING, MISSING, MISSING, 0]
    assert codes("town", ["c", "a"], schema) == [MISSING, 0]


def test_a_value_of_the_column_wins_over_a_word() -> None:
    values = {**COLUMNS["town"], "values": ["a", "missing", "refuse"]}
    for bucket, code in (("missing", 1), ("refuse", 2)):
        schema = Schema.parse({"columns": {**COLUMNS, "town": {**values, "off_schema": bucket}}})
        assert codes("town", ["c"], schema) == [code]
        assert Schema.parse(schema.spec()) == schema
    undeclared = Schema.parse({"columns": {**COLUMNS, "town": values}})
    assert undeclared.refusing == ("age", "wage", "town", "ill")


@pytest.mark.parametrize(
    ("column", "off_schema", "expected"),
    [
        ("age", "missing", "off_schema is 'missing'; expected refuse, clip, round or missing (with nullable = true)"),
        ("age", "17", "off_schema is '17'; expected refuse, clip, round or missing"),
        ("town", "missing", "off_schema is 'missing'; expected refuse, missing (with nullable = true) or one of"),
        ("town", "clip", "off_schema is 'clip'; expected refuse, missing"),
        ("town", ["a"], "off_schema is ['a']; expected a word or a value"),
        ("town", "", "off_schema is ''; expected a word or a value"),
    ],
)
def test_a_word_without_meaning_is_refused(column: str, off_schema: Any, expected: str) -> None:
    with pytest.raises(SchemaError) as caught:
        schema_with(**{column: off_schema})
    assert str(caught.value).startswith(f"column {column!r}: {expected}")


def test_a_column_without_values_of_its_own_cannot_have_it() -> None:
    with pytest.raises(SchemaError, match="'off_schema' has no meaning here"):
        Schema.parse({"columns": {**COLUMNS, "id": {"role": "identifier", "off_schema": "clip"}}})


def test_the_declaration_survives_being_written() -> None:
    assert Schema.parse(TOTAL.spec()) == TOTAL
    assert {name: spec["off_schema"] for name, spec in TOTAL.spec()["columns"].items()} == DECLARED
    assert "off_schema" not in schema_with(age="refuse").spec()["columns"]["age"]


CELLS = st.one_of(
    st.text(max_size=6),
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.sampled_from(["a", "yes"]),
)


@given(st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), max_size=5))
def test_nothing_in_a_cell_can_make_reading_refuse(rows: list[tuple[Any, ...]]) -> None:
    columns = {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}
    for source in (columns, pd.DataFrame(columns), [dict(zip(COLUMNS, row, strict=True)) for row in rows] or columns):
        assert read(source, TOTAL).n == len(rows)


@given(st.lists(st.binary(max_size=6).filter(lambda cell: not set(cell) & set(b'",;\t|\r\n')), min_size=1, max_size=5))
def test_no_bytes_in_a_file_can_make_reading_refuse(cells: list[bytes]) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        path.write_bytes(
            b"\n".join([b"age,wage,town,ill", *(b",".join([b"1", cell, cell, cell]) for cell in cells), b""])
        )
        assert read(path, TOTAL).n == len(cells)


@pytest.mark.parametrize("values", [[b"\xff"], [b"30"], [None]], ids=["bytes", "text", "nothing"])
def test_bytes_in_a_typed_column_are_text_or_no_value(values: list[Any]) -> None:
    schema = schema_with(nullable=True, **DECLARED)
    frame = pl.DataFrame({"wage": [5], "town": ["a"], "ill": ["no"]}).with_columns(
        age=pl.Series(values, dtype=pl.Binary)
    )
    assert read(frame, schema).n == 1


def test_tables_without_rows_are_read(tmp_path: Path) -> None:
    frame = pl.DataFrame({name: pl.Series([], dtype=pl.String) for name in COLUMNS})
    frame.write_parquet(tmp_path / "people.parquet")
    (tmp_path / "people.csv").write_text("age,wage,town,ill\n")
    (tmp_path / "cut.csv").write_text("age,wage,town,ill")
    (tmp_path / "marked.csv").write_bytes(b"\xef\xbb\xbfage,wage,town,ill\r\n")
    files = [tmp_path / name for name in ("people.parquet", "people.csv", "cut.csv", "marked.csv")]
    for source in (*files, frame, frame.lazy(), frame.to_pandas(), frame.to_arrow(), {name: [] for name in COLUMNS}):
        table = read(source, schema_with())
        assert (table.n, table.points.shape, table.overall.tolist()) == (0, (0, 3), [0, 0])
        assert table.points.dtype == np.int32


@pytest.mark.parametrize("name", sorted(name for name, kind in METHODS.items() if issubclass(kind, PrivateMethod)))
def test_a_claim_that_rests_on_noise_says_where_a_file_may_be_refused(name: str) -> None:
    rows = {"age": [30, 40], "wage": [5, 15], "town": ["a", "b"], "ill": ["no", "yes"]}
    for schema, refusing in ((TOTAL, ()), (schema_with(town="Other"), ("age", "wage", "ill"))):
        method = next(iter(METHODS[name].grid(read(rows, schema), (1.0,))))
        said = [line for line in method.publish(read(rows, schema)).claim.assumptions if "fits the schema" in line]
        assert len(said) == bool(refusing)
        assert not refusing or said[0].startswith("every value of age, wage, ill in the file fits the schema")


def test_a_claim_without_noise_says_nothing_of_it() -> None:
    rows = {"age": [30, 40], "wage": [5, 15], "town": ["a", "b"], "ill": ["no", "yes"]}
    release = METHODS["suppression"]().publish(read(rows, schema_with()))
    assert not any("fits the schema" in line for line in release.claim.assumptions)
    assert QuadTree(epsilon=1).claim.assumptions == QuadTree(epsilon=2).claim.assumptions
