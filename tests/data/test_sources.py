"""Every kind of source gives the same table, and none of them is changed by reading it."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings

from sfumato.data import Table, read
from sfumato.schema import Schema
from strategies import TableCase, tables

SPEC: dict[str, Any] = {
    "missing": ["", "?"],
    "columns": {
        "id": {"role": "identifier"},
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99, "nullable": True},
        "wage": {"role": "quasi", "kind": "numeric", "edges": [0, 10, 20.5, 100]},
        "level": {"role": "quasi", "kind": "categorical", "values": [1, 2, 3], "nullable": True},
        "town": {"role": "quasi", "kind": "categorical", "taxonomy": {"n": ["a, b", "ü"], "s": ["c"]}},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
        "note": {"role": "ignore"},
    },
}
SCHEMA = Schema.parse(SPEC)
ROWS = {
    "id": [11, 12, 13, 14, 15],
    "age": [30, None, 99, 0, 30],
    "wage": [0.0, 20.5, 99.9, 10.0, 3.25],
    "level": [1, 3, None, 2, 1],
    "town": ["a, b", "ü", "c", "c", "a, b"],
    "ill": ["no", "yes", "yes", "no", "no"],
    "note": ["x", None, "z", "", "x"],
}


def same(first: Table, second: Table) -> bool:
    names = ("points", "cell_point", "cell_value", "cell_weight")
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in names)


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return pl.DataFrame(ROWS)


@pytest.fixture(scope="module")
def expected(frame: pl.DataFrame) -> Table:
    table = read(frame, SCHEMA)
    assert table.points.tolist() == [[-1, 2, 2, 1], [0, 1, 1, 2], [30, 0, 0, 0], [99, 2, -1, 2]]
    assert table.histograms.tolist() == [[0, 1], [1, 0], [2, 0], [0, 1]]
    return table


def as_csv(frame: pl.DataFrame, path: Path, **how: Any) -> Path:
    frame.write_csv(path, **how)
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_csv(frame: pl.DataFrame, expected: Table, tmp_path: Path, separator: str) -> None:
    assert same(read(as_csv(frame, tmp_path / "t.csv", separator=separator), SCHEMA), expected)


@pytest.mark.parametrize(
    "how", [{"null_value": "?"}, {"quote_style": "always"}, {"line_terminator": "\r\n"}, {"include_bom": True}], ids=str
)
def test_csv_dialects(frame: pl.DataFrame, expected: Table, tmp_path: Path, how: dict[str, Any]) -> None:
    assert same(read(as_csv(frame, tmp_path / "t.csv", **how), SCHEMA), expected)


def test_a_path_may_be_text_and_the_schema_a_path(frame: pl.DataFrame, expected: Table, tmp_path: Path) -> None:
    from sfumato.data.propose import to_toml

    (tmp_path / "schema.toml").write_text(to_toml(SCHEMA), encoding="utf-8")
    path = str(as_csv(frame, tmp_path / "t.csv"))
    assert same(read(path, str(tmp_path / "schema.toml")), expected)
    assert same(read(path, tmp_path / "schema.toml"), expected)


def test_compressed_csv(frame: pl.DataFrame, expected: Table, tmp_path: Path) -> None:
    plain = as_csv(frame, tmp_path / "t.csv")
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert same(read(packed, SCHEMA), expected)


def test_parquet(frame: pl.DataFrame, expected: Table, tmp_path: Path) -> None:
    for name in ("t.parquet", "t.pq", "T.PARQUET"):
        frame.write_parquet(tmp_path / name)
        assert same(read(tmp_path / name, SCHEMA), expected)


@pytest.mark.parametrize(
    "convert",
    [
        pl.DataFrame.lazy,
        pl.DataFrame.to_arrow,
        pl.DataFrame.to_pandas,
        lambda frame: frame.to_pandas().convert_dtypes(),
        lambda frame: frame.to_pandas().astype({"town": "category", "ill": "category"}),
        lambda frame: frame.to_pandas().astype(object).where(frame.to_pandas().notna(), None),
        lambda frame: frame.to_pandas().set_index("id", drop=False),
        lambda frame: pa.Table.from_pandas(frame.to_pandas()),
        lambda frame: frame.to_dict(as_series=False),
        lambda frame: frame.to_dicts(),
        lambda frame: frame.cast({"town": pl.Categorical, "ill": pl.Enum(["yes", "no"])}),
        lambda frame: frame.cast({"age": pl.Float64, "level": pl.Float32, "wage": pl.Decimal(10, 3)}),
        lambda frame: frame.cast({"age": pl.Int8, "level": pl.UInt8}),
        lambda frame: frame.cast(pl.String),
        lambda frame: frame.select(reversed(frame.columns)),
    ],
    ids=[
        "lazy",
        "arrow",
        "pandas",
        "pandas nullable",
        "pandas category",
        "pandas object",
        "pandas index",
        "arrow from pandas",
        "dict",
        "list of dicts",
        "polars enum",
        "polars float",
        "polars small",
        "text",
        "reordered",
    ],
)
def test_frames(frame: pl.DataFrame, expected: Table, convert: Any) -> None:
    assert same(read(convert(frame), SCHEMA), expected)


def test_a_different_row_gives_a_different_table(frame: pl.DataFrame, expected: Table) -> None:
    changed = frame.with_columns(age=pl.when(pl.col("age") == 99).then(98).otherwise(pl.col("age")))
    assert not same(read(changed, SCHEMA), expected)


def test_the_callers_frame_is_not_modified(frame: pl.DataFrame) -> None:
    polars, pandas, arrow = frame.clone(), frame.to_pandas(), frame.to_arrow()
    copies = polars.clone(), pandas.copy(deep=True), pa.Table.from_batches(arrow.to_batches())
    for source in (polars, pandas, arrow):
        read(source, SCHEMA)
    assert polars.equals(copies[0])
    assert polars.schema == copies[0].schema
    pd.testing.assert_frame_equal(pandas, copies[1])
    assert arrow.equals(copies[2])


@settings(max_examples=30)
@given(tables(most_quasi=3))
def test_random_tables_survive_every_file(tmp_path_factory: pytest.TempPathFactory, case: TableCase) -> None:
    folder = tmp_path_factory.getbasetemp()
    case.frame.write_csv(folder / "random.csv", quote_style="non_numeric")
    case.frame.write_parquet(folder / "random.parquet")
    for source in (folder / "random.csv", folder / "random.parquet", case.frame.to_pandas()):
        assert same(read(source, case.case.schema), case.table)


def test_two_arrow_columns_may_hold_the_same_values() -> None:
    schema = Schema.parse(
        {
            "columns": {
                "p": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9},
                "q": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9},
                "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
            }
        }
    )
    frame = pl.DataFrame({"p": [1, 2], "q": [1, 2], "ill": ["no", "yes"]})
    assert same(read(frame.to_arrow(), schema), read(frame, schema))


@pytest.mark.parametrize("missing", [["-9"], ["-9", "?"]])
def test_a_number_that_means_missing_means_it_in_every_source(tmp_path: Path, missing: list[str]) -> None:
    age = {"role": "quasi", "kind": "numeric", "min": -20, "max": 99, "nullable": True}
    ill = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}
    schema = Schema.parse({"missing": missing, "columns": {"age": age, "ill": ill}})
    frame = pl.DataFrame({"age": [30, -9], "ill": ["no", "yes"]})
    from_file = read(as_csv(frame, tmp_path / "t.csv"), schema)
    assert from_file.points.tolist() == [[-1], [50]]
    assert same(read(frame, schema), from_file)


def test_not_a_number_is_missing_on_every_axis() -> None:
    level = {"role": "quasi", "kind": "categorical", "values": [1, 2], "nullable": True}
    ill = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}
    schema = Schema.parse({"columns": {"level": level, "ill": ill}})
    frame = pl.DataFrame({"level": [1.0, float("nan")], "ill": ["no", "yes"]})
    assert read(frame, schema).points.tolist() == [[-1], [0]]


@pytest.mark.parametrize(
    "text",
    [
        'age,ill,"two\nlines"\n30,no,1\n40,yes,2\n',
        '"two\nlines",age,ill\n1,30,no\n2,40,yes\n',
        "age,ill,note\n30,no," + "z" * 200_000 + "\n40,yes,\n",
    ],
    ids=["last name of two lines", "first name of two lines", "a long field and an empty one"],
)
def test_a_file_that_is_odd_but_well_formed(tmp_path: Path, text: str) -> None:
    age = {"role": "quasi", "kind": "numeric", "min": 0, "max": 99}
    ill = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}
    (tmp_path / "t.csv").write_text(text)
    table = read(tmp_path / "t.csv", Schema.parse({"columns": {"age": age, "ill": ill}}))
    assert table.points.tolist() == [[30], [40]]


def test_a_column_may_be_called_column_names(frame: pl.DataFrame, expected: Table) -> None:
    assert same(read(frame.with_columns(column_names=pl.lit("same")).to_pandas(), SCHEMA), expected)
