"""Under differential privacy, whether a table is published never depends on what is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from sfumato.data import Table, read
from sfumato.errors import DataError
from sfumato.methods import METHODS
from sfumato.methods.base import PrivateMethod
from sfumato.parameters import declarations
from sfumato.schema import Schema

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run

pytestmark = pytest.mark.usefixtures("few_queries")
SCHEMA = """
name = "people"

[columns.age]
role = "quasi"
kind = "numeric"
min = 0
max = 99999
nullable = true
off_schema = "clip"

[columns.town]
role = "quasi"
kind = "categorical"
taxonomy = { North = ["A", "B"], South = ["C", "Other"] }
off_schema = "Other"

[columns.test]
role = "sensitive"
kind = "categorical"
values = ["negative", "positive"]
off_schema = "negative"
"""
TABLES: dict[str, list[str]] = {
    "nobody": [],
    "one person": ["3,A,positive"],
    "one sensitive value": [f"{age},B,negative" for age in range(30)],
    "one point": [*["7,C,negative"] * 9, *["7,C,positive"] * 9],
    "nothing but missing ages": [",A,positive", ",A,negative"] * 4,
    "nothing that fits": ["old,Nowhere,perhaps", "-1e9,,", "1e400,?,2"],
}
PRIVATE = sorted(name for name, kind in METHODS.items() if issubclass(kind, PrivateMethod))
EXACT = sorted(set(METHODS) - set(PRIVATE))


def options(name: str) -> list[str]:
    needed = {item.name: item.example for item in declarations(METHODS[name]) if item.required or item.unless}
    needed |= {"h": 2} if "h" in needed else {}
    needed |= {"k": 2} if METHODS[name].takes_requirements else {}
    return [word for option, value in needed.items() for word in (f"--{option}", str(value))]


def write(folder: Path, rows: list[str]) -> None:
    (folder / "people.csv").write_text("\n".join(["age,town,test", *rows, ""]))
    (folder / "people.toml").write_text(SCHEMA)


def words(name: str) -> list[str]:
    return ["publish", "people.csv", "--schema", "people.toml", "--method", name, *options(name), "-o", "release"]


@pytest.mark.parametrize("content", TABLES)
@pytest.mark.parametrize("name", PRIVATE)
def test_every_private_method_publishes_whatever_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, name: str, content: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, TABLES[content])
    published = run(*words(name), "--ledger", "ledger.sqlite")
    assert (published.code, published.err) == (0, "")
    assert "fits the schema" not in published.out
    asked = run("query", "release", "age is missing and town = B")
    assert (asked.code, asked.err) == (0, "")
    assert run("verify", "release").code == 3, "noise can neither be confirmed nor refuted"


@pytest.mark.parametrize("content", TABLES)
@pytest.mark.parametrize("name", EXACT)
def test_every_other_method_publishes_or_says_in_a_sentence_why_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, name: str, content: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, TABLES[content])
    published = run(*words(name))
    assert published.code == (2 if published.err else 0)
    assert published.err.count("\n") <= 1
    if not TABLES[content]:
        assert published.err == f"sfumato: the table has no rows; {name} has nothing to publish\n"


NASTY = [
    '4"2,A,positive',
    '"oops,A,positive',
    '3,A,positive"',
    '3,"A"x,positive',
    '3,""A,positive',
    "3\r4,A,",
    "3",
    "3,A,?,?",
]


@pytest.mark.parametrize("cell", NASTY)
def test_no_cell_can_stop_a_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, cell: str) -> None:
    monkeypatch.chdir(tmp_path)
    others = [f"{age},B,negative" for age in range(30)]
    for place, rows in enumerate(([*others, cell], [cell, *others], [cell, *others, '4,"B",positive'])):
        write(tmp_path, rows)
        made = run(*words("quad-tree")[:-1], f"release-{place}", "--ledger", "ledger.sqlite")
        assert (made.code, made.err) == (0, "")
        assert "a cell that begins with a quotation mark ends with one" in made.out
        exact = run(*words("original")[:-1], f"original-{place}")
        assert exact.code == 0, exact.err
        lines = (tmp_path / f"original-{place}" / "data.csv").read_text().splitlines()
        assert len(lines) == 1 + len(rows), "one line is one row, and takes no other with it"
        assert sum(",B,negative" in line for line in lines) == 30


def test_a_twin_that_refuses_one_sensitive_value_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, TABLES["one sensitive value"])
    counted = Table.from_rows

    def refuse_one_value(rows: object, schema: object) -> Table:
        table = counted(rows, schema)  # type: ignore[arg-type]
        if (table.overall > 0).sum() < 2:
            raise DataError("the sensitive column holds one value only")
        return table

    monkeypatch.setattr(Table, "from_rows", refuse_one_value)
    assert run(*words("quad-tree")).code == 2


@pytest.mark.parametrize("content", TABLES)
def test_measuring_such_a_table_works_or_says_why_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, content: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, TABLES[content])
    assert run(*words("quad-tree"), "--ledger", "ledger.sqlite").code == 0
    measured = run("measure", "people.csv", "release", "--schema", "people.toml")
    if TABLES[content]:
        assert (measured.code, measured.err) == (0, "")
    else:
        sentence = "sfumato: the table has no rows; there is nothing to measure a release against\n"
        assert (measured.code, measured.err) == (2, sentence)


@pytest.mark.parametrize("content", TABLES)
def test_a_frontier_of_such_a_table_works_or_says_why_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, content: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, TABLES[content])
    tried = [word for name in ("mondrian", "anatomy", "quad-tree", "local") for word in ("--method", name)]
    found = run("frontier", "people.csv", "--schema", "people.toml", "-o", "out", *tried)
    assert found.code in (0, 2)
    assert found.code == 0 or found.err.count("\n") == 1, found.err
    assert TABLES[content] or "the table has no rows" in found.err


NAMED = SCHEMA.replace("\n[columns.age]", '\n[columns.name]\nrole = "identifier"\n\n[columns.age]', 1)
PUBLISH = ("publish", "people.parquet", "--schema", "people.toml", "-o")


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@pytest.mark.parametrize("line", ["", 'x,4"2,A,positive\n'], ids=["quick", "patient"])
def test_names_in_another_encoding_stay_those_of_different_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, encoding: str, line: str
) -> None:
    """Both were called M?ller, so that one took the other's row away."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.toml").write_text(NAMED)
    text = f"name,age,town,test\nMüller,30,A,negative\nMöller,80,B,positive\n{line}"
    (tmp_path / "people.csv").write_bytes(text.encode(encoding))
    assert run(*words("original")).code == 0
    published = (tmp_path / "release" / "data.csv").read_text().splitlines()
    assert {"30,A,negative", "80,B,positive"} <= set(published)


def frame_with(cell: pl.Series, column: str) -> pl.DataFrame:
    """Three people, the second of whom has the odd cell."""
    rows = {"name": ["a", "b", "c"], "age": [30, 40, 50], "town": ["A", "B", "C"], "test": ["negative"] * 3}
    return pl.DataFrame(rows).with_columns(cell.alias(column))


@pytest.mark.parametrize("column", ["name", "age", "town", "test"])
@pytest.mark.parametrize("kind", [pl.Date, pl.Datetime("us"), pl.Datetime("ms", "UTC")], ids=str)
def test_no_date_in_a_typed_file_can_stop_a_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, column: str, kind: pl.DataType
) -> None:
    """A date beyond the calendar ended the program with a traceback."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.toml").write_text(NAMED)
    bits, whole = (31, pl.Int32) if kind == pl.Date else (63, pl.Int64)
    for odd in (2**bits - 1, -(2**bits)):
        frame_with(pl.Series([0, odd, 5], dtype=whole).cast(kind), column).write_parquet("people.parquet")
        made = run(*PUBLISH, f"release{odd}", "--method", "quad-tree", "--epsilon", "1", "--ledger", "ledger.sqlite")
        assert (made.code, made.err) == (0, "")
        assert "columns of text hold UTF-8" in made.out


@pytest.mark.parametrize("column", ["name", "town", "test"])
def test_text_in_a_typed_file_that_is_none_is_refused_in_a_sentence_and_the_claim_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, column: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.toml").write_text(NAMED)
    table = frame_with(pl.Series(["x", "y", "z"]), column).to_arrow()
    broken = pa.array([b"x", b"\xff\xfe", b"z"]).view(pa.string())
    table = table.set_column(table.column_names.index(column), column, broken)
    parquet.write_table(table, "people.parquet")
    told = run(*PUBLISH, "release", "--method", "quad-tree", "--epsilon", "1", "--ledger", "ledger.sqlite")
    assert (told.code, told.err.count("\n")) == (2, 1)
    assert "invalid UTF-8" in told.err
    with pytest.raises(DataError, match="the data frame holds what its types cannot"):
        read(table, Schema.load("people.toml"))


def test_a_long_cell_does_not_fill_the_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, ["3,A," + "x" * 3_000_000])
    (tmp_path / "people.toml").write_text(SCHEMA.replace('off_schema = "negative"\n', ""))
    told = run(*words("quad-tree"))
    assert (told.code, len(told.err) < 400) == (2, True)
    assert f"'{'x' * 79}… is not one of 'negative', 'positive'" in told.err
    (tmp_path / "people.csv").write_text("x" * 100_000 + ",town,test\n3,A,negative\n")
    assert len(run(*words("quad-tree")).err) < 400


LONG = "9" * 400
SCHEMAS = {
    "a long step": (SCHEMA.replace("max = 99999", "max = 9\nstep = 99999999999999999999"), 0, ""),
    "a longer step": (SCHEMA.replace("max = 99999", f"max = 9\nstep = {LONG}"), 2, "step is 'a very large number'"),
    "a number beyond all": (SCHEMA.replace("max = 99999", f"max = {LONG * 13}"), 2, "not valid TOML"),
    "a path of nothing": (SCHEMA.replace("max = 99999", 'max = 9\nhierarchy = "\\u0000"'), 2, "cannot have this name"),
    "many rows": (f"rows_per_person = {LONG}\n{NAMED}", 2, "…; expected at most 1,000,000,000"),
}


@pytest.mark.parametrize("odd", SCHEMAS)
@pytest.mark.parametrize("name", ["quad-tree", "mondrian"])
def test_an_odd_schema_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, odd: str, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    schema, code, sentence = SCHEMAS[odd]
    (tmp_path / "people.csv").write_text("name,age,town,test\n" + "x,3,A,negative\n" * 9)
    (tmp_path / "people.toml").write_text(schema)
    told = run(*words(name))
    assert (told.code, told.err.count("\n")) == (code, code // 2)
    assert sentence in told.err
    assert len(told.err) < 400
