"""Whatever one person's row holds, all others' are read as they are without it, from every kind of source."""

from __future__ import annotations

import datetime as dt
import enum
import itertools
from collections import Counter, deque, namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.data import read, source, text
from sfumato.data.delimited import Reading
from sfumato.data.formats import read_table
from sfumato.errors import DataError

DAYS = ["2024-01-31", "2024-02-01", "2024-01-31 12:30:00", "2024-02-01 12:30:00.250", "7", "1.5", "Müller", "other"]
COLUMNS: dict[str, dict[str, Any]] = {
    "id": {"role": "identifier"},
    "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99, "nullable": True, "off_schema": "clip"},
    "day": {"role": "quasi", "kind": "categorical", "values": DAYS, "off_schema": "other", "nullable": True},
    "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes", "true", "0"], "off_schema": "no"},
}
SCHEMA = {"missing": ["NA"], "columns": COLUMNS}
NOON = dt.datetime(2024, 1, 31, 12, 30)
LATER = dt.datetime(2024, 2, 1, 12, 30, 0, 250_000)
PARIS = ZoneInfo("Europe/Paris")


class Shade(enum.Enum):
    RED = "yes"


class Rude:
    """Cannot be printed."""

    def __str__(self) -> str:
        raise RuntimeError


USUAL: dict[str, list[Any]] = {
    "numbers": [7, 7, 30, 99, 0],
    "floats": [1.5, 7.0, 30.25, 0.0, float("nan")],
    "decimals": [Decimal("1.5"), Decimal("7"), Decimal("1.50"), Decimal("12345.678")],
    "dates": [dt.date(2024, 1, 31), dt.date(2024, 2, 1)],
    "moments": [NOON, LATER],
    "moments in Paris": [NOON.replace(tzinfo=PARIS), LATER.replace(tzinfo=PARIS)],
    "moments at an offset": [NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=2)))],
    "times": [dt.time(12, 30), dt.time(1, 2, 3, 500_000)],
    "durations": [dt.timedelta(days=1), dt.timedelta(microseconds=5)],
    "words": ["Müller", "yes", "7", " 7 ", "2024-01-31"],
    "bytes": [b"yes", b"M\xfcller", b"M\xf6ller"],
    "truths": [True, False],
    "dicts": [{"a": 1}, {"a": 2, "b": 1}],
    "pandas": [pd.Timestamp(NOON), pd.Timestamp(LATER) + pd.Timedelta(1, "ns")],
}
ODD: list[Any] = [
    *(
        Decimal(number)
        for number in ("NaN", "sNaN", "-Infinity", "1E-36", "1E-38", "1E+50", "1E-400", "1E+999999", "-0")
    ),
    *(cell for cells in USUAL.values() for cell in cells),
    *(pd.NA, pd.NaT, None, Shade.RED, Rude(), object(), 1j, (1, 2), [[]], {"b": None}, {1}, "a\ud800", "\udcff", ""),
    *(2**62, 2**63, 2**64, -(2**127), 10**5000, 1e308, -0.0, float("inf"), b"\xff", bytearray(b"\xfe")),
    *(np.float32(0.1), np.longdouble(2), np.int8(7), np.bool_(True), np.str_("x"), np.datetime64("2024-01-31")),
    *(dt.datetime.min, dt.datetime.max.replace(tzinfo=dt.UTC), dt.date.max, dt.timedelta.max, pd.Timestamp.max),
]
Rows = dict[str, list[Any]]


@st.composite
def crowds(draw: st.DrawFn) -> Rows:
    """A few people, each of whose columns holds values of one type, and perhaps missing ones."""
    size = draw(st.integers(1, 6))
    rows: Rows = {"id": [f"person {number}" for number in range(size)]}
    for name in ("age", "day", "ill"):
        kind = draw(st.sampled_from(sorted(USUAL)))
        cells = st.sampled_from([*USUAL[kind], None] if draw(st.booleans()) else USUAL[kind])
        rows[name] = draw(st.lists(cells, min_size=size, max_size=size))
    return rows


@st.composite
def odd_rows(draw: st.DrawFn) -> dict[Any, Any]:
    keys = st.sampled_from([5, None, ("a",), b"k", "\ud800", "*", "", "^a$"])
    extra: dict[Any, Any] = draw(st.dictionaries(keys, st.just(1), max_size=1))
    return {**extra, **{name: draw(st.sampled_from(ODD)) for name in COLUMNS}}


def listed(rows: Rows) -> list[dict[str, Any]]:
    return [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]


def as_objects(rows: Rows) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in rows.items()})


def as_deques(rows: Rows) -> dict[str, Any]:
    return {name: deque(cells) for name, cells in rows.items()}


def as_named_tuples(rows: Rows) -> Iterator[Any]:
    return itertools.starmap(namedtuple("Person", rows), zip(*rows.values(), strict=True))  # type: ignore[misc]


def codes(table: Any) -> Counter[tuple[int, ...]]:
    read_in = read(table, SCHEMA)
    keys = np.column_stack([read_in.points[read_in.cell_point], read_in.cell_value]).tolist()
    return Counter(dict(zip(map(tuple, keys), read_in.cell_weight.tolist(), strict=True)))


def assert_one_row_more(before: Counter[tuple[int, ...]], beside: Any) -> None:
    """At most, where nothing says whose it is."""
    after = codes(beside)
    assert before <= after
    assert after.total() - before.total() <= 1


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@settings(max_examples=30)
@given(crowds(), odd_rows(), st.booleans())
def test_a_row_of_python_values(rows: Rows, own: dict[Any, Any], first: bool) -> None:
    beside = {name: [own[name], *cells] if first else [*cells, own[name]] for name, cells in rows.items()}
    before = codes(rows)
    assert codes(pd.DataFrame(rows)) == before
    records = [own, *listed(rows)] if first else [*listed(rows), own]
    for shape in (beside, records, as_objects(beside), as_deques(beside), as_named_tuples(beside)):
        assert_one_row_more(before, shape)


@pytest.mark.parametrize("broken", ["shared columns", "twins in name"])
def test_twins_that_look_at_all_cells_or_replace_bytes_are_found(monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    if broken == "shared columns":
        monkeypatch.setattr(source, "column_of", lambda cells: pl.Series(list(cells), strict=False))
        others, own = [Decimal(12345), Decimal("7")], Decimal("1E-36")
    else:
        monkeypatch.setattr(text, "NOT_TEXT", "replace")
        others, own = [b"M\xfcller", b"x"], b"M\xf6ller"
    rows = {"id": others, "age": [1, 2], "day": ["7", "7"], "ill": ["no", "yes"]}
    beside = [*listed(rows), {"id": own, "age": 3, "day": "other", "ill": "yes"}]
    before, after = codes(listed(rows)), codes(beside)
    assert not before <= after or after.total() < 3


TYPED: dict[str, Callable[[list[int | None]], pl.Series]] = {
    "dates": lambda numbers: pl.Series(numbers, dtype=pl.Int32, strict=False).cast(pl.Date),
    "ms": lambda numbers: pl.Series(numbers, dtype=pl.Int64).cast(pl.Datetime("ms")),
    "us": lambda numbers: pl.Series(numbers, dtype=pl.Int64).cast(pl.Datetime("us")),
    "ns": lambda numbers: pl.Series(numbers, dtype=pl.Int64).cast(pl.Datetime("ns")),
    "us in Paris": lambda numbers: pl.Series(numbers, dtype=pl.Int64).cast(pl.Datetime("us", "Europe/Paris")),
    "ms at UTC": lambda numbers: pl.Series(numbers, dtype=pl.Int64).cast(pl.Datetime("ms", "UTC")),
    "durations": lambda numbers: pl.Series(numbers, dtype=pl.Int64).cast(pl.Duration("ms")),
    "numbers": lambda numbers: pl.Series(numbers, dtype=pl.Int64),
    "bytes": lambda numbers: pl.Series([None if n is None else n.to_bytes(9, "big", signed=True) for n in numbers]),
    "decimals": lambda numbers: pl.Series(numbers, dtype=pl.Int64).cast(pl.Decimal(38, 2)),
}
ENDS = [None, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 86_400 * 10**6, 2_932_897, -719_163, 253_402_300_800_000]


@pytest.mark.parametrize("kind", TYPED)
def test_a_cell_of_a_typed_column(tmp_path: Path, kind: str) -> None:
    usual = {"id": ["a", "b", "c"], "age": [1, 2, 3], "day": ["7", "other", None], "ill": ["no", "yes", "no"]}
    alone = pl.DataFrame({"id": ["z"], "age": [9], "day": ["7"], "ill": ["yes"]})
    for odd, column in zip(ENDS, itertools.cycle(COLUMNS), strict=False):
        frame = pl.DataFrame(usual).with_columns(TYPED[kind]([0, 5, 19_753]).alias(column))
        beside = pl.concat([frame, alone.with_columns(TYPED[kind]([odd]).alias(column))])
        frame.write_parquet(tmp_path / "without.parquet")
        beside.write_parquet(tmp_path / "beside.parquet")
        assert_one_row_more(codes(frame), beside)
        assert_one_row_more(codes(tmp_path / "without.parquet"), tmp_path / "beside.parquet")


LINES = st.binary(max_size=12).map(lambda line: line.replace(b"\n", b",").replace(b"p", b'"'))
CELLS = st.sampled_from(
    [b"7", b"1.5", b"NA", b"", b"\r", b"yes\r", b"M\xc3\xbcller", b"M\xfcller", b"2024-01-31", b" "]
)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=4),
    st.one_of(LINES, st.lists(st.one_of(CELLS, LINES), max_size=5).map(b",".join)),
    st.booleans(),
)
def test_a_line_of_text(tmp_path: Path, rows: list[list[bytes]], own: bytes, first: bool) -> None:
    header, others = b"id,age,day,ill\n", [b"p%d,%b\n" % (n, b",".join(row)) for n, row in enumerate(rows)]
    (tmp_path / "without.csv").write_bytes(header + b"".join(others))
    (tmp_path / "beside.csv").write_bytes(
        header + b"".join([own + b"\n", *others] if first else [*others, own + b"\n"])
    )
    assert_one_row_more(codes(tmp_path / "without.csv"), tmp_path / "beside.csv")


@pytest.mark.parametrize("reading", ["lossy", "lenient"])
@given(st.sets(st.binary(max_size=4).filter(lambda name: not set(name) & set(b'\n\r",\\')), max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_names_that_differ_stay_different(tmp_path: Path, reading: Reading, names: set[bytes]) -> None:
    (tmp_path / "names.csv").write_bytes(b"id,age\n" + b"".join(b"x%b,7\n" % name for name in names))
    frame = read_table(tmp_path / "names.csv", empty=True, reading=reading)
    assert frame["id"].n_unique() == len(names)
    spelled = text.as_text(pl.Series([b"x%b" % name for name in names], dtype=pl.Binary), "here")
    assert Counter(spelled) == Counter(frame["id"].str.strip_chars())


@pytest.mark.parametrize("ids", [["a\ud800", "a\udc80"], ["a\ud800", "a?"], [b"\xfc", b"\xf6"], [b"\xfc", "\ufffd"]])
def test_names_that_are_no_text_are_two_people(ids: list[Any]) -> None:
    rows = {"id": ids, "age": [30, 80], "day": ["7", "other"], "ill": ["no", "yes"]}
    assert codes(rows).total() == codes(listed(rows)).total() == codes(as_objects(rows)).total() == 2


@pytest.mark.parametrize(
    "column",
    [
        np.array([1j, 2, 3]),
        np.array([1, 2, 3], dtype="longdouble"),
        np.array([(1,), (2,), (3,)], dtype=[("a", "i4")]),
        pd.Categorical([Decimal("1.5"), dt.date(2024, 1, 31), None]),
        pd.period_range("2024", periods=3, freq="M"),
        pd.to_timedelta([1, 2, 3], unit="D"),
        pd.Series([Decimal("1.5"), None, Decimal("2")], dtype=pd.ArrowDtype(pa.decimal128(38, 30))),
    ],
    ids=lambda column: str(column.dtype),
)
@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_other_types_are_read_cell_by_cell(column: Any, name: str) -> None:
    frame = pd.DataFrame({"id": ["a", "b", "c"], "age": [1, 2, 3], "day": ["7"] * 3, "ill": ["no"] * 3})
    frame[name] = column
    alone = pd.DataFrame({"id": ["z"], "age": [9], "day": ["7"], "ill": ["yes"]}).astype(object)
    assert_one_row_more(codes(frame), pd.concat([frame.astype(object), alone], ignore_index=True))


@dataclass
class Person:
    id: Any
    age: Any
    day: Any
    ill: Any


def test_rows_of_every_shape_are_read_alike() -> None:
    rows: Rows = {"id": [1, 2], "age": [Decimal(30), Decimal("80.0")], "day": ["7", NOON], "ill": ["no", "yes"]}
    expected = codes(rows)
    made = [Person(**row) for row in listed(rows)]
    arrow = {"id": pa.array(rows["id"]), "age": pa.chunked_array([[30, 80]]), "day": rows["day"], "ill": rows["ill"]}
    for shape in (listed(rows), tuple(listed(rows)), iter(listed(rows)), made, as_named_tuples(rows), arrow):
        assert codes(shape) == expected
    for nameless in ([[1, 2]], [(1, 2)], [None], [*listed(rows), 3]):
        with pytest.raises(DataError, match="cannot read a table from list"):
            read(nameless, SCHEMA)
