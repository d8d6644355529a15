"""Spark reads, refuses, counts and joins as the engine in memory does, whatever rows and people are like."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from engines import GAPS, on_spark, same_tables, session
from sfumato.data import read
from sfumato.data.flows import Flows
from sfumato.data.places import Places
from sfumato.data.spark import bring, cells, open_rows, people
from sfumato.errors import DataError, SfumatoError
from sfumato.schema import Schema

pytestmark = pytest.mark.spark

ILL = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"], "off_schema": "no"}
AGE = {"role": "quasi", "kind": "numeric", "min": 0, "max": 9}
TEXTS = ["1", " 1 ", "01", "1.0", "1.", ".5", "-1", "+1", "1e0", "10", "9.5", "4.0000001", "1_0", "1d", "0x1", "inf"]
TEXTS += [
    "nan",
    "abc",
    "",
    " ",
    "-9",
    "-9.0",
    "?",
    "é",
    "e\u0301",
    "\u00a01",
    "\u0663",
    "a b",
    "2",
    "2.0",
    "true",
    "12e400",
    "2020-01-02",
    "2020-01-02 03:04:05",
]
NUMBERS = [0.0, -0.0, 1.0, 1.49, 2.5, 3.0000001, -1.0, 9.4, 9.6, 1e300, -9.0, float("inf"), float("-inf"), float("nan")]


def schema_of(missing: tuple[str, ...] = ("", "-9", "?"), **columns: dict[str, Any]) -> Schema:
    return Schema.parse({"missing": list(missing), "columns": {**columns, "ill": ILL}})


def check(frame: pl.DataFrame, schema: Schema) -> None:
    """The same cells, and the same rows beside the same classes."""
    ours, theirs = read(frame, schema), read(on_spark(frame), schema)
    same_tables(ours, theirs)
    for one, other in ((ours, theirs), (ours.people, theirs.people)):
        kept = [table.kept_rows(np.arange(len(table.points)) % 3) for table in (one, other)]
        if schema.keep:
            assert kept[0].whole.equals(kept[1].whole)  # type: ignore[union-attr]


AXES: dict[str, dict[str, Any]] = {
    "clipped": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9, "off_schema": "clip"},
    "nullable": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9, "off_schema": "clip", "nullable": True},
    "absent": {
        "role": "quasi",
        "kind": "numeric",
        "min": -1,
        "max": 9,
        "step": 0.5,
        "off_schema": "missing",
        "nullable": True,
    },
    "bins": {"role": "quasi", "kind": "numeric", "edges": [0, 1, 2.5, 9.5], "off_schema": "clip"},
    "named": {"role": "quasi", "kind": "categorical", "values": ["1", "2", "é", "a b", "other"], "off_schema": "other"},
    "open": {"role": "quasi", "kind": "numeric", "bottom": 1, "top": 4, "off_schema": "clip"},
    "tails": {"role": "quasi", "kind": "numeric", "edges": [1, 2.5], "bottom": 1, "top": 9, "off_schema": "clip"},
    "day": {"role": "quasi", "kind": "date", "min": "2019", "max": "2021", "off_schema": "clip"},
    "code": {"role": "quasi", "kind": "code", "digits": 1, "off_schema": "9"},
    "truth": {"role": "quasi", "kind": "boolean", "off_schema": "false"},
}


def test_every_spelling_becomes_the_same_code() -> None:
    """A column of text and one of numbers on every kind of axis, off the axis and beyond; a column with odd signs."""
    texts = pl.Series([*TEXTS, None])
    numbers = pl.Series([*NUMBERS, None] * 2).head(len(texts)).extend_constant(1.0, len(texts) - 2 * len(NUMBERS) - 2)
    for values in (texts, numbers, numbers.cast(pl.Float32)):
        columns = {f"{name}.`x {name}": spec for name, spec in AXES.items()}
        frame = pl.DataFrame(dict.fromkeys(columns, values)).with_columns(ill=pl.lit("yes"))
        check(frame, schema_of(**columns))


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pl.Int64, [0, 3, 9, -9, 2**62, None]),
        (pl.Int8, [0, 3, 9, -9, 127, None]),
        (pl.Decimal(10, 2), [Decimal("1.00"), Decimal("2.50"), Decimal("-9"), None]),
        (pl.Boolean, [True, False, None]),
        (pl.Date, [date(2020, 1, 2), date(1, 1, 1), None]),
        (pl.Datetime("us"), [datetime(2020, 1, 2, 3, 4, 5, 600), None]),
        (pl.Datetime("us", "UTC"), [datetime(2020, 1, 2, 3, 4, 5), None]),
        (pl.Binary, [b"1", b"\xff", None]),
    ],
    ids=str,
)
def test_columns_of_any_type_become_the_same_codes(kind: Any, values: list[Any]) -> None:
    named = {"role": "quasi", "kind": "categorical", "off_schema": "other"}
    named["values"] = ["true", "2020-01-02", "2020-01-02 03:04:05.000600", "3", "2.5", "1", "other"]
    columns = {"named": named, **{name: AXES[name] for name in ("day", "code", "truth")}}
    columns |= {"clipped": AXES["clipped"]} if kind != pl.Binary else {}
    column = pl.Series(values, dtype=kind)
    check(pl.DataFrame(dict.fromkeys(columns, column)).with_columns(ill=pl.lit("yes")), schema_of(**columns))


def test_a_twin_that_rounds_down_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"age": [1.0, 2.9999999, 3.0], "ill": ["no", "yes", "no"]})
    check(frame, schema_of(age=AGE))
    monkeypatch.setattr(cells.sql, "rint", cells.sql.floor)
    with pytest.raises((AssertionError, DataError)):
        check(frame, schema_of(age=AGE))


NAMES = ["a", " a", "b ", "7", "7.0", "+7", "07", "é", "e\u0301", "", " ", "?", "-9.0", None, "c d", "7e0"]
VISITS = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 9), st.sampled_from(["no", "yes"])), max_size=30)


@settings(max_examples=2, phases=[Phase.generate])
@given(VISITS.filter(lambda visits: len(visits) > 5), st.integers(1, 3))
def test_the_same_rows_of_people_with_several_are_used(visits: list[tuple[Any, int, str]], limit: int) -> None:
    frame = pl.DataFrame(visits, schema={"who": pl.String, "age": pl.Int64, "ill": pl.String}, orient="row")
    columns: dict[str, dict[str, Any]] = {
        "who": {"role": "identifier"},
        "age": AGE,
        "ill": ILL,
        "note": {"role": "keep"},
    }
    frame = frame.with_columns(note=pl.int_range(pl.len()))
    check(frame, Schema.parse({"missing": ["", "?", "-9"], "rows_per_person": limit, "columns": columns}))


@pytest.mark.parametrize("kind", [pl.Int64, pl.Float64, pl.Decimal(12, 3), pl.String], ids=str)
def test_many_people_of_any_name_and_many_parts(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "ROWS_AT_ONCE", 100)
    generator = np.random.default_rng(4)
    frame = pl.DataFrame({"who": generator.integers(0, 300, 600), "age": generator.integers(0, 10, 600)})
    frame = frame.with_columns(pl.col("who").cast(kind), ill=pl.Series(generator.choice(["no", "yes"], 600)))
    columns: dict[str, dict[str, Any]] = {"who": {"role": "identifier"}, "age": AGE, "ill": ILL}
    check(frame, Schema.parse({"rows_per_person": 2, "columns": columns}))


def gap(kind: Any) -> Any:
    marks = pytest.mark.xfail(strict=True, raises=AssertionError, reason=GAPS["spark"]["kept types"])
    return pytest.param(kind, marks=marks)


@pytest.mark.parametrize(
    "kind", [pl.UInt8, pl.Float32, pl.Date, pl.Decimal(9, 2), gap(pl.Categorical), gap(pl.Datetime("ms"))], ids=str
)
def test_the_same_rows_beside_a_kept_column_of_any_type(kind: Any, tmp_path: Path) -> None:
    session()
    generator = random.Random(2)
    rows = [(number % 20, generator.randrange(10), generator.randrange(200), "no") for number in range(200)]
    kinds = {"who": pl.Int64, "age": pl.Int64, "note": pl.Int32, "ill": pl.String}
    path = tmp_path / "people.parquet"
    frame = pl.DataFrame(rows, schema=kinds, orient="row")
    note = pl.col("note").cast(pl.String) if kind == pl.Categorical else pl.col("note")
    frame.with_columns(note.cast(kind)).write_parquet(path)
    columns: dict[str, dict[str, Any]] = {"who": {"role": "identifier"}, "age": AGE, "note": {"role": "keep"}}
    schema = schema_of(**columns)
    ours, theirs = read(path, schema), read(open_rows(str(path)), schema)
    assert ours.n == theirs.n
    assert ours.repeated == theirs.repeated
    same_tables(ours, theirs)


CSV = 'name,age,ill\n"Fox, A",1,no\n"Fox ""B""",2,yes\nC,3,no\nD, 4 ,\n"E",?,"no"\n'


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (CSV, "people.csv"),
        ("\ufeff" + CSV, "people.csv"),
        (CSV.replace("\n", "\r\n"), "people.csv"),
        (CSV.replace("\n", "\n\n"), "people.csv"),
        (CSV.replace(",", ";"), "people.csv"),
        (CSV.replace(",", "\t"), "people.tsv"),
        (CSV.replace("Fox, A", "Fox\nA"), "people.csv"),
        (CSV.replace("D,", "back\\slash,"), "people.csv"),
        (CSV.replace("C,", "#C,"), "people.csv"),
        (CSV.replace("C,3,no", "C,3,"), "people.csv"),
        (CSV.rstrip("\n"), "people.csv"),
        (CSV, "people.csv.gz"),
    ],
)
def test_text_is_read_as_every_engine_reads_it(text: str, name: str, tmp_path: Path) -> None:
    session()
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    schema = schema_of(age=AGE | {"nullable": True}, name={"role": "keep"})
    ours, theirs = read(path, schema), read(open_rows(str(path)), schema)
    same_tables(ours, theirs)
    assert ours.files == theirs.files
    if "\nA" in text:
        kept = [table.kept_rows(np.arange(len(table.points))) for table in (ours, theirs)]
        assert kept[0].whole.equals(kept[1].whole)  # type: ignore[union-attr]


def test_folders_and_patterns_are_read(tmp_path: Path) -> None:
    session()
    schema = schema_of(age=AGE)
    frame = pl.DataFrame({"age": [n % 10 for n in range(40)], "ill": ["no", "yes"] * 20})
    for number in range(4):
        frame[number::4].write_parquet(tmp_path / f"part-{number}.parquet")
    (tmp_path / "_SUCCESS").touch()
    for place in (tmp_path, tmp_path / "part-*.parquet", tmp_path / "part-0.parquet"):
        same_tables(read(place, schema), read(open_rows(str(place)), schema))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("age,ill\n1,no\nabc,yes\n", "column 'age': 'abc' is not a whole number from 0 to 9"),
        ("age,ill\n1,no\n4.5,yes\n", "column 'age': '4.5' is not a whole number from 0 to 9"),
        ("age,ill\n1,no\n12,yes\n12,no\n", "column 'age': '12' is not a whole number from 0 to 9"),
        ("age,ill\n1,no\n?,yes\n", "column 'age': the value is missing; if that may happen, declare nullable = true"),
        ("age,sick\n1,no\n", "the column 'ill' is missing; the file has 'age', 'sick'"),
        ("age,age,ill\n1,1,no\n", "the column 'age' appears more than once"),
        ("age,,ill\n1,1,no\n", "column 2 has no name"),
        ("", "the first line is empty; expected the names of the columns"),
        ("age,ill\n1,no\n1,no,yes\n", "cannot be read as a table (Malformed CSV record: 1,no,yes)"),
        ("age,ill\n1,no\n1\n", "cannot be read as a table"),
    ],
)
def test_what_does_not_fit_is_refused_with_file_column_and_value(content: str, message: str, tmp_path: Path) -> None:
    session()
    path = tmp_path / "some people.csv"
    path.write_text(content)
    with pytest.raises(DataError) as refused:
        read(open_rows(str(path)), schema_of(age=AGE))
    assert str(refused.value).startswith(str(path))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
    with pytest.raises(DataError):
        read(path, schema_of(age=AGE))


def test_lines_of_any_length_are_read_where_nothing_may_be_refused(tmp_path: Path) -> None:
    session()
    path = tmp_path / "people.csv"
    path.write_text("age,ill\n1,no\n1,no,yes\n2\n,\n")
    schema = schema_of(age=AGE | {"off_schema": "clip"})
    same_tables(read(path, schema), read(open_rows(str(path)), schema))


@pytest.mark.xfail(strict=True, raises=AssertionError, reason=GAPS["spark"]["not UTF-8"])
def test_names_that_are_no_text_stay_apart(tmp_path: Path) -> None:
    session()
    path = tmp_path / "people.csv"
    path.write_bytes(b"who,age,ill\na\xff,1,no\na\xfe,2,no\n")
    columns: dict[str, dict[str, Any]] = {"who": {"role": "identifier"}, "age": AGE, "ill": ILL}
    schema = Schema.parse({"columns": columns})
    same_tables(read(path, schema), read(open_rows(str(path)), schema))


def test_places_without_usable_files_are_refused(tmp_path: Path) -> None:
    session()
    with pytest.raises(DataError, match=r"nothing\.csv: the file does not exist"):
        open_rows(str(tmp_path / "nothing.csv"))
    with pytest.raises(DataError, match="this is a folder without data"):
        open_rows(str(tmp_path))
    for name in ("a.csv", "b.parquet"):
        (tmp_path / name).touch()
    with pytest.raises(DataError, match="these are files of several formats"):
        open_rows(str(tmp_path))


def test_columns_of_several_values_and_columns_of_one_name_are_refused() -> None:
    nested = session().createDataFrame([([1], "no")], "age array<int>, ill string")
    with pytest.raises(DataError, match=r"the data frame, column 'age': array<int> is not a type of plain values"):
        read(nested, schema_of(age=AGE))
    twice = session().createDataFrame([(1, 2, "no")], "age int, other int, ill string").toDF("age", "age", "ill")
    with pytest.raises(DataError, match="the column 'age' appears more than once"):
        read(twice, schema_of(age=AGE))


def test_more_lines_than_the_driver_takes_are_refused_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"age": list(range(10)) * 4, "ill": ["no", "yes"] * 20})
    monkeypatch.setattr(bring, "MAX_LINES", 10)
    assert len(read(on_spark(frame), schema_of(age=AGE)).points) == 10
    monkeypatch.setattr(bring, "MAX_LINES", 9)
    table = read(on_spark(frame), schema_of(age=AGE))
    with pytest.raises(DataError) as refused:
        _ = table.points
    assert str(refused.value) == (
        "the data frame: 10 distinct rows are more than the 9 that fit the driver; declare a larger step, edges or "
        "coarsen for the columns with most values, or leave one out: age (about 10 values), ill (about 2 values)"
    )


def test_rows_come_part_by_part_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bring.pieces, "ROWS_AT_ONCE", 50)
    frame = pl.DataFrame({"age": [n % 10 for n in range(400)], "ill": ["no"] * 400, "note": range(400, 0, -1)})
    schema = schema_of(age=AGE, note={"role": "keep"})
    kept = read(on_spark(frame, 3), schema).kept_rows(np.zeros(10, dtype=np.int64))
    assert kept is not None
    parts = list(kept.join(np.arange(1)))
    assert len(parts) > 1
    assert pl.concat(parts).equals(pl.concat(parts).sort(pl.all()))
    assert sum(part.height for part in parts) == 400


def test_flows_are_counted_on_spark() -> None:
    places = Places.read({"id": ["a", "b"], "lat": [52.0, 52.1], "lon": [0.0, 0.0]})
    pairs = pl.DataFrame({"origin": ["a", "b", "a", "a"], "destination": ["b", "b", "b", "a"], "count": [1, 2, 1, 3]})
    for frame in (pairs, pairs.drop("count")):
        ours, theirs = Flows.read(frame, places), Flows.read(on_spark(frame), places)
        assert (ours.total, ours.digest, ours.origin) == (theirs.total, theirs.digest, theirs.origin)
    with pytest.raises(DataError, match="the data frame: origin is 'c', which is not in the list of places"):
        Flows.read(on_spark(pairs.with_columns(origin=pl.lit("c"))), places)


def test_spark_without_java_is_refused_in_a_sentence(tmp_path: Path) -> None:
    code = "from sfumato.data.spark import start\nstart('local[1]')"
    environment = {**os.environ, "PATH": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("JAVA_HOME", None)
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert "ParameterError: Spark does not start; it needs Java 17 or newer" in told.stderr
    assert issubclass(DataError, SfumatoError)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\u2028", "\u0085"])
def test_a_name_with_an_end_of_line_is_the_same_person(end: str) -> None:
    """In Java a dollar sign stands before the last end of a line, too."""
    frame = pl.DataFrame({"id": ["ann", f"ann{end}", "7", f"7{end}", "bob"], "age": [1, 2, 3, 4, 5], "ill": ["no"] * 5})
    people = Schema.parse({"columns": {"id": {"role": "identifier"}, "age": AGE, "ill": ILL}})
    one, other = read(frame, people), read(on_spark(frame), people)
    same_tables(one, other)
    assert one.repeated == 2


def test_a_file_that_lacks_a_column_is_refused(tmp_path: Path) -> None:
    session()
    pl.DataFrame({"age": [1, 2], "ill": ["no", "yes"]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"ill": ["no", "yes"]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet: the column 'age' is missing"):
        read(open_rows(str(tmp_path)), schema_of(age=AGE))


def test_text_that_is_not_utf_8_is_one_sentence(tmp_path: Path) -> None:
    session()
    column = pa.StringArray.from_buffers(2, pa.py_buffer(np.array([0, 1, 2], dtype=np.int32)), pa.py_buffer(b"a\xff"))
    pq.write_table(pa.table({"c": column, "ill": ["no", "yes"]}), tmp_path / "bad.parquet")
    town = {"role": "quasi", "kind": "categorical", "values": ["a", "b"], "off_schema": "missing", "nullable": True}
    with pytest.raises(DataError, match="holds what its types cannot"):
        read(open_rows(str(tmp_path / "bad.parquet")), schema_of(c=town))
