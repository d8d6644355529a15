"""Data that does not fit is refused with one sentence that names file, row, column and value."""

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from sfumato.data import read
from sfumato.data.formats import endings
from sfumato.data.places import Places
from sfumato.errors import DataError
from sfumato.release import read_published
from sfumato.schema import Schema

SPEC: dict[str, Any] = {
    "missing": ["", "?"],
    "columns": {
        "age": {"role": "quasi", "kind": "numeric", "min": 17, "max": 90},
        "wage": {"role": "quasi", "kind": "numeric", "edges": [0, 10, 20]},
        "town": {"role": "quasi", "kind": "categorical", "values": ["a", "b"]},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
    },
}
SCHEMA = Schema.parse(SPEC)
GOOD = [("30", "5", "a", "no"), ("40", "15", "b", "yes"), ("50", "5", "a", "yes")]
NAMES = ["age", "wage", "town", "ill"]


def csv_text(rows: list[tuple[str, ...]], header: str = "age,wage,town,ill") -> str:
    return "\n".join([header, *map(",".join, rows)]) + "\n"


def with_value(row: int, column: int, value: str) -> list[tuple[str, ...]]:
    rows = [list(entry) for entry in GOOD]
    rows[row][column] = value
    return [tuple(entry) for entry in rows]


def refusal(source: Any, schema: Schema = SCHEMA) -> str:
    with pytest.raises(DataError) as caught:
        read(source, schema)
    message = str(caught.value)
    assert message.splitlines() == [caught.value.sentence, *(f"  {line}" for line in caught.value.details)]
    return message


def file_refusal(folder: Path, content: str | bytes, name: str = "people.csv", schema: Schema = SCHEMA) -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    message = refusal(path, schema)
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


def test_the_rows_without_a_fault_are_read(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(csv_text(GOOD))
    assert read(tmp_path / "people.csv", SCHEMA).n == 3


WRONG_VALUES = [
    (1, 0, "forty", "'forty' is not a whole number from 17 to 90"),
    (2, 0, "16", "'16' is not a whole number from 17 to 90"),
    (2, 0, "91", "'91' is not a whole number from 17 to 90"),
    (0, 0, "30.5", "'30.5' is not a whole number from 17 to 90"),
    (0, 0, "1e400", "'1e400' is not a whole number"),
    (0, 0, "nan", "'nan' is not a whole number"),
    (0, 0, "?", "the value is missing; if that may happen, declare nullable = true in the schema"),
    (0, 0, "", "the value is missing"),
    (1, 1, "20", "'20' is not a number from 0 to below 20"),
    (1, 1, "-0.1", "'-0.1' is not a number from 0 to below 20"),
    (1, 2, "c", "'c' is not one of 'a', 'b'"),
    (1, 2, "A", "'A' is not one of 'a', 'b'"),
    (2, 2, "?", "the value is missing"),
    (2, 3, "maybe", "'maybe' is not one of 'no', 'yes'"),
    (2, 3, "", "the value is missing"),
]


@pytest.mark.parametrize(("row", "column", "value", "expected"), WRONG_VALUES)
def test_a_wrong_value_in_a_file(tmp_path: Path, row: int, column: int, value: str, expected: str) -> None:
    message = file_refusal(tmp_path, csv_text(with_value(row, column, value)))
    assert message.startswith(f", row {row + 1}, column '{NAMES[column]}': {expected}")


@pytest.mark.parametrize(("row", "column", "value", "expected"), WRONG_VALUES)
def test_a_wrong_value_in_a_frame(row: int, column: int, value: str, expected: str) -> None:
    frame = pl.DataFrame(with_value(row, column, value), schema=NAMES, orient="row")
    for source in (frame, frame.to_pandas(), frame.to_arrow()):
        message = refusal(source)
        assert message.startswith(f"the data frame, row {row + 1}, column '{NAMES[column]}': {expected}")


@pytest.mark.parametrize("value", [16, 91, 30.5, float("inf"), -1, 2**62])
def test_a_wrong_number_in_a_typed_frame(value: float) -> None:
    frame = pl.DataFrame(GOOD, schema=NAMES, orient="row").with_columns(age=pl.Series([30, 40, value], strict=False))
    assert refusal(frame).startswith("the data frame, row 3, column 'age': ")


def test_the_first_wrong_row_is_named(tmp_path: Path) -> None:
    rows = GOOD * 500
    rows[700] = rows[900] = ("7", "5", "a", "no")
    assert file_refusal(tmp_path, csv_text(rows)).startswith(", row 701, column 'age': '7'")


@pytest.mark.parametrize(
    "ages",
    [[[1], [2], [3]], [{"a": 1}] * 3, [b"\xff"] * 3, pl.Series([object()] * 3, dtype=pl.Object), [True, False, True]],
    ids=["list", "struct", "binary", "object", "boolean"],
)
def test_a_column_of_another_type(ages: Any) -> None:
    frame = pl.DataFrame(GOOD, schema=NAMES, orient="row").with_columns(age=pl.Series("age", ages))
    assert "column 'age'" in refusal(frame)


def test_a_date_is_not_a_number() -> None:
    frame = pl.DataFrame(GOOD, schema=NAMES, orient="row").with_columns(age=pl.date(2020, 1, 1))
    assert "row 1, column 'age'" in refusal(frame)


def test_columns_that_are_missing_or_there_twice(tmp_path: Path) -> None:
    twice = csv_text([(*row, "1") for row in GOOD], "age,wage,town,ill,age")
    assert file_refusal(tmp_path, twice) == ": the column 'age' appears more than once"
    other = csv_text(GOOD, "age,wage,city,ill")
    expected = ": the column 'town' is missing; the file has 'age', 'wage', 'city', 'ill'"
    assert file_refusal(tmp_path, other) == expected
    frame = pl.DataFrame(GOOD, schema=NAMES, orient="row")
    assert "the column 'town' is missing" in refusal(frame.drop("town"))
    doubled = pd.concat([frame.to_pandas(), frame.to_pandas()[["age"]]], axis=1)
    assert refusal(doubled) == "the data frame: the column 'age' appears more than once"


@pytest.mark.parametrize(("content", "expected"), [("", ": the file is empty"), ("\n", ": the file is empty")])
def test_files_without_a_header(tmp_path: Path, content: str | bytes, expected: str) -> None:
    assert file_refusal(tmp_path, content) == expected


def test_an_arrow_table_with_a_column_twice_is_refused_without_showing_data() -> None:
    table = pl.DataFrame(GOOD, schema=NAMES, orient="row").to_arrow()
    doubled = table.append_column("age", table.column("wage"))
    assert refusal(doubled) == "the data frame: the column 'age' appears more than once"


@pytest.mark.parametrize(
    ("at", "expected"), [(10, ": the column 'town' is missing"), (58, ", row 4, "), (200_000, ", line ")]
)
def test_text_that_is_not_utf_8(tmp_path: Path, at: int, expected: str) -> None:
    content = bytearray(csv_text(GOOD * 20_000).encode())
    content[at] = 0xFF
    assert file_refusal(tmp_path, bytes(content)).startswith(expected)


def test_text_that_is_not_utf_8_is_not_published_as_it_is(tmp_path: Path) -> None:
    keeping = Schema.parse({**SPEC, "columns": {**SPEC["columns"], "note": {"role": "keep"}}})
    content = csv_text([(*row, "x") for row in GOOD], "age,wage,town,ill,note").encode().replace(b"x", b"\xff")
    advice = ": the text is not UTF-8; it looks like latin-1: say --encoding latin-1"
    assert file_refusal(tmp_path, content, schema=keeping) == advice


def test_what_is_not_a_file(tmp_path: Path) -> None:
    assert refusal(tmp_path) == (f"{tmp_path}: this is a folder without data; expected files such as {endings()} in it")
    assert refusal(tmp_path / "nowhere.csv") == f"{tmp_path / 'nowhere.csv'}: the file does not exist"
    for source in (3, 2.5, object(), None):
        assert "data frame" in refusal(source) or "cannot read a table" in refusal(source)


def test_a_row_with_too_many_fields(tmp_path: Path) -> None:
    message = file_refusal(tmp_path, csv_text([GOOD[0], (*GOOD[1], "more"), GOOD[2]]))
    assert message == ", line 3 (row 2): 5 fields where the header has 4"


def test_a_quotation_mark_that_is_not_closed(tmp_path: Path) -> None:
    message = file_refusal(tmp_path, csv_text(with_value(-1, -1, '"no')))
    assert message == ": a quotation mark opens a cell and is not closed, or stands inside one"


def test_a_row_with_too_few_fields(tmp_path: Path) -> None:
    message = file_refusal(tmp_path, csv_text([GOOD[0], GOOD[1][:3], GOOD[2]]))
    assert message == ", line 3 (row 2): 3 fields where the header has 4"


NULLABLE = Schema.parse({**SPEC, "columns": {k: {**v, "nullable": True} for k, v in SPEC["columns"].items()}})


def test_a_row_with_too_few_fields_where_values_may_be_missing(tmp_path: Path) -> None:
    file_refusal(tmp_path, csv_text([GOOD[0], GOOD[1][:3], GOOD[2]]), schema=NULLABLE)


@pytest.mark.parametrize(
    "content", [csv_text(GOOD) + "\n\n", csv_text([*GOOD[:2], (), GOOD[2]])], ids=["at the end", "in between"]
)
def test_an_empty_line_is_nobody(tmp_path: Path, content: str) -> None:
    (tmp_path / "people.csv").write_text(content)
    assert read(tmp_path / "people.csv", NULLABLE).n == 3


@pytest.mark.parametrize("name", ["people.csv.gz", "people.parquet"])
def test_a_file_that_is_not_what_its_name_says(tmp_path: Path, name: str) -> None:
    assert file_refusal(tmp_path, csv_text(GOOD), name).startswith(": cannot be read as a table")


def test_a_compressed_file_that_ends_early(tmp_path: Path) -> None:
    packed = gzip.compress(csv_text(GOOD * 1_000).encode())
    assert file_refusal(tmp_path, packed[:-12], "people.csv.gz").startswith(": cannot be read as a table")


@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_a_damaged_compressed_file(tmp_path: Path, damage: str) -> None:
    packed = bytearray(gzip.compress(csv_text(GOOD * 1_000).encode()))
    packed[12] ^= 0xFF
    packed[13] ^= 0xFF
    content = bytes(packed) if damage == "changed" else gzip.compress(csv_text(GOOD).encode())[:14]
    assert file_refusal(tmp_path, content, "people.csv.gz").startswith(": cannot be read as a table")


def test_an_empty_line_before_the_header_is_not_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("\n" + csv_text(GOOD))
    message = ""
    try:
        read(tmp_path / "people.csv", SCHEMA)
    except DataError as error:
        message = str(error)
    assert "the file is empty" not in message


BEYOND = [
    pl.Series([0, 2**31 - 1], dtype=pl.Int32).cast(pl.Date),
    pl.Series([0, -(2**63)]).cast(pl.Datetime("us")),
    pl.Series([0, 2**63 - 1]).cast(pl.Datetime("ms", "Europe/Paris")),
]


@pytest.mark.parametrize("dates", BEYOND, ids=lambda dates: str(dates.dtype))
def test_dates_that_no_calendar_has_are_refused_in_a_sentence(tmp_path: Path, dates: pl.Series) -> None:
    """They ended the program with a traceback."""
    number = str(dates.to_physical()[1])
    columns = {**SPEC["columns"], "town": {**SPEC["columns"]["town"], "off_schema": "a"}}
    spec = {"columns": {name: columns[name] for name in ("town", "ill")}}
    kept = pl.DataFrame({"town": ["a", "b"], "ill": ["no", "yes"]})
    strict = Schema.parse({"columns": {**spec["columns"], "town": SPEC["columns"]["town"]}})
    kept.with_columns(town=dates).reverse().write_parquet(tmp_path / "people.parquet")
    path = tmp_path / "people.parquet"
    assert f"row 1, column 'town': '{number}' is not one of 'a', 'b'" in refusal(path, strict)
    assert read(path, spec).n == 2
    with pytest.raises(DataError, match=f"row 1, column 'town': '{number}' is neither"):
        read_published(path, strict)
    for column in ("latitude", "longitude"):
        places = pl.DataFrame({"id": ["a", "b"], "latitude": [1.0, 2.0], "longitude": [1.0, 2.0]})
        with pytest.raises(DataError, match=f"{column} is '{number}'; expected degrees"):
            Places.read(places.with_columns(dates.reverse().alias(column)))
