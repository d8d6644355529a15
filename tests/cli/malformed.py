"""Malformed input for the command line: sound files and options with a few faults put into them, and how to run them.

Broken bytes, wrong encodings, random headers, ragged rows, broken schemas and hierarchies, odd parameters and tampered
releases, in any combination.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sqlite3
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import xlsxwriter
from hypothesis import strategies as st

from sfumato.cli import main

HEADER = ["age", "sex", "town", "disease"]
SPECIAL_TEXTS = (
    "",
    " ",
    "*",
    "(missing)",
    "(present)",
    "NA",
    "?",
    "nan",
    "inf",
    "-0",
    "1e400",
    "20-29",
    "[20, 25]",
    "{F, M}",
    "<5",
    "\x7f",
    "\u2028",
    "\ufeff",
    "😀",
    "漢",
    '"',
    "'",
    "\\",
    "a\nb",
    "a,b",
    "a;b",
    "box",
    "value",
    "bucket",
    "count",
    "^a$",
    "F",
    "north",
    "flu",
    "25",
    "25.0",
)
SPECIAL_NUMBERS = (
    0,
    1,
    -1,
    2,
    20,
    29,
    25.5,
    0.1,
    -0.0,
    5e-324,
    1e-9,
    1e16,
    1e308,
    -1e308,
    float("nan"),
    float("inf"),
    2**31 - 1,
    2**31,
    2**53,
    2**63,
    2**64,
    10**400,
)
ODD_TEXT = st.one_of(
    st.sampled_from(SPECIAL_TEXTS),
    st.text(st.characters(exclude_categories=["Cs"], include_characters="\x00,;|\t\n\r\"'"), max_size=6),
)
NUMBERS = st.one_of(st.sampled_from(SPECIAL_NUMBERS), st.integers(-3, 40), st.integers(), st.floats())
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, ODD_TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(ODD_TEXT, inner, max_size=3)),
    max_leaves=4,
)


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


def run(*arguments: str) -> Outcome:
    """Run a command in this process; anything it raises fails the test."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(arguments))
    return Outcome(code, out.getvalue(), err.getvalue())


def check(outcome: Outcome) -> bool:
    """Whether the command succeeded; if it did not, it must have refused in one line, or in a list below it."""
    assert outcome.code in (0, 2), outcome
    if outcome.code == 0:
        assert outcome.err == "", outcome
        return True
    assert outcome.out == "", outcome
    assert outcome.err.startswith("sfumato: "), outcome
    assert outcome.err.endswith("\n"), outcome
    assert all(line.startswith("  ") for line in outcome.err.splitlines()[1:]), outcome
    assert len(outcome.err) > len("sfumato: \n"), outcome
    return False


FAULTS = (
    "header",
    "name",
    "file name",
    "value",
    "longer",
    "shorter",
    "empty",
    "separator",
    "line ends",
    "encoding",
    "table bytes",
    "schema value",
    "schema part",
    "schema bytes",
    "hierarchy",
    "hierarchy bytes",
    "parameters",
    "query",
    "sensitive",
)
SOUND_PARAMETERS = (
    "--method mondrian --k 2",
    "--method mondrian --k 3 --cut median --parquet",
    "--method mondrian --k 2 --l 1.5",
    "--method mondrian --l 1.5 --l-form entropy --recoding bucketize",
    "--method mondrian --l 2 --l-form recursive --c 3",
    "--method mondrian --k 2 --t 0.5 --distance hierarchical",
    "--method mondrian --k 2 --delta 2 --beta 3 --enhanced",
    "--method mondrian --k 2 --alpha 0.8",
    "--method anatomy --l 2",
    "--method original",
    "--method suppression",
)
COLUMN_KEYS = (
    "role",
    "kind",
    "min",
    "max",
    "step",
    "width",
    "edges",
    "values",
    "taxonomy",
    "hierarchy",
    "nullable",
    "from_data",
    "other",
)
COLUMN_WORDS = ("quasi", "sensitive", "keep", "ignore", "identifier", "numeric", "categorical", "town.csv", ".", "*")
OPTIONS = (
    "--k",
    "--l",
    "--l-form",
    "--c",
    "--t",
    "--distance",
    "--delta",
    "--alpha",
    "--beta",
    "--enhanced",
    "--cut",
    "--recoding",
    "--method",
    "--json",
)
OPTION_WORDS = ("entropy", "recursive", "distinct", "ordered", "jensen-shannon", "median", "bucketize", "anatomy")
QUERY_WORDS = (
    "age",
    "sex",
    "town",
    "disease",
    "=",
    "<",
    ">=",
    "!=",
    "in",
    "(",
    ")",
    ",",
    "and",
    "not",
    "is",
    "missing",
    "between",
    "'",
    "`age`",
    "25",
    "22.5",
    "ill",
    "F",
    "*",
)
TABLE_FAULTS = {"header", "name", "separator", "line ends", "encoding", "table bytes"}
SCHEMA_FAULTS = {"schema value", "schema part", "schema bytes", "hierarchy", "hierarchy bytes"}
SOUND_QUERIES = (
    "age >= 25",
    "sex = 'F' and town in (north, ends)",
    "disease = ill",
    "age between 21 and 25",
    "town is missing",
)


@dataclass(frozen=True)
class Tampering:
    """What somebody did to a file of a release: other bytes at some place, or another value in its description."""

    which: int
    place: float
    content: bytes
    value: Any


@dataclass(frozen=True)
class Case:
    """What a user gives, and which faults were put into it."""

    faults: frozenset[str]
    file_name: str
    table: bytes
    schema: bytes
    hierarchy: bytes
    parameters: list[str]
    query: str
    sensitive: str
    tampering: Tampering


@st.composite
def broken(draw: st.DrawFn, content: bytes) -> bytes:
    """The bytes cut short, with some replaced, or others altogether."""
    how = draw(st.sampled_from(["cut", "replaced", "replaced", "inserted", "noise"]))
    at = draw(st.integers(0, len(content)))
    if how == "cut":
        return content[:at]
    if how == "noise":
        return draw(st.binary(max_size=60))
    return content[:at] + draw(st.binary(min_size=1, max_size=4)) + content[at + (how == "replaced") :]


@st.composite
def table_files(draw: st.DrawFn, faults: frozenset[str]) -> bytes:
    """A CSV file."""
    row = st.tuples(
        st.integers(20, 29).map(str),
        st.sampled_from(["F", "M"]),
        st.sampled_from(["north", "south", "east"]),
        st.sampled_from(["flu", "cold", "none"]),
    )
    rows = [HEADER, *map(list, draw(st.lists(row, min_size=4, max_size=12)))]
    if "header" in faults:
        rows[0] = draw(st.one_of(st.permutations(HEADER), st.lists(ODD_TEXT, max_size=5)))
    if "name" in faults:
        rows[0] = draw(_changed(rows[0], "value"))
    for fault in ("value", "longer", "shorter", "empty"):
        if fault in faults:
            number = draw(st.integers(1, len(rows) - 1))
            rows[number] = draw(_changed(rows[number], fault))
    text = io.StringIO()
    csv.writer(
        text,
        delimiter=draw(st.sampled_from(";\t|:")) if "separator" in faults else ",",
        lineterminator=draw(st.sampled_from(["\r\n", "\r", "\n\n"])) if "line ends" in faults else "\n",
    ).writerows(rows)
    encodings = ["utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252"]
    encoding = draw(st.sampled_from(encodings)) if "encoding" in faults else "utf-8"
    content = text.getvalue().encode(encoding, errors="replace")
    return draw(broken(content)) if "table bytes" in faults else content


CELLS = st.one_of(ODD_TEXT, NUMBERS.map(str), st.sampled_from(["20", "25", "F", "M", "north", "flu", "none"]))
Rows = list[list[str]]


def workbook(rows: Rows) -> bytes:
    """A workbook with the rows in its only sheet."""
    packed = io.BytesIO()
    with xlsxwriter.Workbook(packed, {"in_memory": True, "strings_to_urls": False}) as book:
        # Otherwise it says when it was made, and is packed into more bytes or fewer.
        book.set_properties({"created": datetime(2024, 1, 31)})
        sheet = book.add_worksheet()
        for number, row in enumerate(rows):
            for column, cell in enumerate(row):
                sheet.write_string(number, column, cell)
    return packed.getvalue()


def json_lines(rows: Rows) -> bytes:
    """A line for each row, with values of several types."""
    cells = ([int(cell) if cell.isdecimal() and cell.isascii() else cell for cell in row] for row in rows[1:])
    return "\n".join(json.dumps(dict(zip(rows[0], row, strict=True))) for row in cells).encode()


def statistics_file(rows: Rows, ending: str) -> bytes:
    """A file of SPSS or Stata."""
    columns = {name: [row[place].replace("\0", "") for row in rows[1:]] for place, name in enumerate(rows[0])}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"people{ending}"
        write = pyreadstat.write_sav if ending == ".sav" else pyreadstat.write_dta
        write(pd.DataFrame(columns), path)
        return path.read_bytes()


def database(rows: Rows) -> bytes:
    """A file of SQLite."""
    with contextlib.closing(sqlite3.connect(":memory:")) as base:
        base.execute(f"create table people ({', '.join(rows[0])})")
        base.executemany("insert into people values (?, ?, ?, ?)", rows[1:])
        base.commit()
        content: bytes = base.serialize()
        return content


MAKERS: dict[str, Callable[[Rows], bytes]] = {
    "people.xlsx": workbook,
    "people.jsonl": json_lines,
    "people.sav": partial(statistics_file, ending=".sav"),
    "people.dta": partial(statistics_file, ending=".dta"),
    "people.db": database,
}


@st.composite
def other_files(draw: st.DrawFn) -> tuple[str, bytes, bool]:
    """A file of another format than CSV, with odd cells: its name, its bytes, and whether these are sound."""
    name, sound = draw(st.sampled_from(sorted(MAKERS))), draw(st.booleans())
    usual = st.tuples(st.sampled_from(["20", "25"]), st.just("F"), st.just("north"), st.sampled_from(["flu", "none"]))
    row = st.one_of(usual.map(list), st.lists(CELLS, min_size=4, max_size=4))
    content = MAKERS[name]([HEADER, *draw(st.lists(row, min_size=1, max_size=6))])
    return name, content if sound else draw(broken(content)), sound


@st.composite
def _changed(draw: st.DrawFn, row: list[str], fault: str) -> list[str]:
    if fault == "value" and row:
        column = draw(st.integers(0, len(row) - 1))
        return [*row[:column], draw(st.one_of(ODD_TEXT, NUMBERS.map(str))), *row[column + 1 :]]
    if fault == "longer":
        return [*row, draw(ODD_TEXT)]
    return row[:-1] if fault == "shorter" else []


@st.composite
def schema_files(draw: st.DrawFn, faults: frozenset[str]) -> bytes:
    """A schema of the table; sound ones differ in what they declare."""
    towns = draw(
        st.sampled_from(
            [
                {"hierarchy": "town.csv"},
                {"values": ["east", "north", "south"]},
                {"taxonomy": {"ends": ["north", "south"], "east": []}},
            ]
        )
    )
    ages = draw(
        st.sampled_from(
            [
                {"min": 20, "max": 29},
                {"min": 20, "max": 29, "step": 0.5},
                {"edges": [0, 22, 25.5, 30]},
                {"min": 20, "max": 30, "width": 4},
            ]
        )
    )
    columns: dict[str, dict[str, Any]] = {
        "age": {"role": "quasi", "kind": "numeric", **ages},
        "sex": {"role": draw(st.sampled_from(["quasi", "keep"])), "kind": "categorical", "values": ["F", "M"]},
        "town": {"role": "quasi", "kind": "categorical", "nullable": draw(st.booleans()), **towns},
        "disease": {"role": "sensitive", "kind": "categorical", "taxonomy": {"ill": ["flu", "cold"], "none": []}},
    }
    spec: dict[str, Any] = {"name": "people", "columns": columns}
    if "schema value" in faults:
        draw(_spoil(columns))
    if "schema part" in faults:
        spec[draw(st.sampled_from(["name", "missing", "columns", "more"]))] = draw(VALUES)
    text = "\n".join(f"{json.dumps(key)} = {toml(value)}" for key, value in spec.items())
    content = text.encode("utf-8", errors="replace")
    return draw(broken(content)) if "schema bytes" in faults else content


@st.composite
def _spoil(draw: st.DrawFn, columns: dict[str, dict[str, Any]]) -> None:
    """Put something else where a column says what it is."""
    column = columns[draw(st.sampled_from(HEADER))]
    key = draw(st.sampled_from([draw(st.sampled_from(COLUMN_KEYS)), *column]))
    if draw(st.integers(0, 4)) == 0:
        column.pop(key, None)
    else:
        lists = st.one_of(st.lists(NUMBERS, max_size=4), st.lists(ODD_TEXT, max_size=4))
        column[key] = draw(st.one_of(VALUES, st.sampled_from(COLUMN_WORDS), lists))


def toml(value: Any) -> str:
    """A value as TOML; what TOML cannot spell makes a broken file, which is just as good."""
    if isinstance(value, dict):
        items = (f"{json.dumps(key, ensure_ascii=False)} = {toml(item)}" for key, item in value.items())
        return "{" + ", ".join(items) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


@st.composite
def hierarchy_files(draw: st.DrawFn, faults: frozenset[str]) -> bytes:
    """A hierarchy of the towns in ARX's format."""
    rows = [["north", "ends", "*"], ["south", "ends", "*"], ["east", "sides", "*"]]
    if "hierarchy" in faults:
        row, change = draw(st.integers(0, 2)), draw(st.sampled_from(["value", "longer", "shorter", "twice", "all"]))
        if change == "value":
            rows[row][draw(st.integers(0, 2))] = draw(ODD_TEXT)
        elif change == "all":
            rows = draw(st.lists(st.lists(ODD_TEXT, max_size=3), max_size=3))
        else:
            rows[row] = {"longer": [*rows[row], "*"], "shorter": rows[row][:-1], "twice": rows[row - 1]}[change]
    content = "\n".join(";".join(row) for row in rows).encode("utf-8", errors="replace")
    return draw(broken(content)) if "hierarchy bytes" in faults else content


@st.composite
def options(draw: st.DrawFn, faults: frozenset[str]) -> list[str]:
    """Options of `publish`."""
    given = draw(st.sampled_from(SOUND_PARAMETERS)).split()
    if "parameters" in faults:
        option = draw(st.sampled_from(OPTIONS))
        value = draw(st.one_of(NUMBERS.map(str), st.sampled_from(OPTION_WORDS), ODD_TEXT))
        given = [*given, option] if option in ("--enhanced", "--json") else [*given, option, argument(value)]
    return given


@st.composite
def queries(draw: st.DrawFn, faults: frozenset[str]) -> str:
    """Conditions on the columns."""
    if "query" not in faults:
        return draw(st.sampled_from(SOUND_QUERIES))
    parts = draw(st.lists(st.one_of(st.sampled_from(QUERY_WORDS), ODD_TEXT, NUMBERS.map(str)), max_size=8))
    return argument(" ".join(parts))


def argument(text: str) -> str:
    """The text as a shell could hand it over."""
    return text.replace("\x00", "")


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A sound case, or one with up to three faults."""
    faults = frozenset(draw(st.lists(st.sampled_from(FAULTS), max_size=3)))
    return Case(
        faults=faults,
        file_name=argument(draw(ODD_TEXT)).replace("/", "") + ".csv" if "file name" in faults else "people.csv",
        table=draw(table_files(faults)),
        schema=draw(schema_files(faults)),
        hierarchy=draw(hierarchy_files(faults)),
        parameters=draw(options(faults)),
        query=draw(queries(faults)),
        sensitive=argument(draw(ODD_TEXT)) if "sensitive" in faults else "disease",
        tampering=draw(
            st.builds(
                Tampering,
                which=st.integers(0, 3),
                place=st.floats(0, 1, exclude_max=True),
                content=st.binary(min_size=1, max_size=5),
                value=VALUES,
            )
        ),
    )
