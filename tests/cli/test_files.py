"""Every command that takes a table takes it from every kind of place."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

import polars as pl
import pyreadstat
import pytest
import xlsxwriter

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run

SOURCES = {
    "people.xlsx#Survey": [],
    "people.sav": [],
    "people.jsonl": [],
    "sqlite:///people.db#people": [],
    "utf-16.txt": [],
    "latin.csv": ["--encoding", "latin-1", "--delimiter", "^"],
}


@pytest.fixture
def everywhere(people: Path) -> Path:
    """The same people in files of many formats."""
    frame = pl.read_csv(people / "people.csv")
    with xlsxwriter.Workbook(people / "people.xlsx") as book:
        book.add_worksheet("Notes").write(0, 0, "made up")
        sheet = book.add_worksheet("Survey")
        for number, row in enumerate([frame.columns, *frame.rows()]):
            sheet.write_row(number, 0, row)
    coded = frame.with_columns(pl.col("sex").replace({"Female": 1, "Male": 2}).cast(pl.Float64)).to_pandas()
    pyreadstat.write_sav(coded, people / "people.sav", variable_value_labels={"sex": {1: "Female", 2: "Male"}})
    frame.write_ndjson(people / "people.jsonl")
    (people / "utf-16.txt").write_text((people / "people.csv").read_text(), encoding="utf-16")
    (people / "latin.csv").write_text((people / "people.csv").read_text().replace(",", "^"), encoding="latin-1")
    with sqlite3.connect(people / "people.db") as base:
        base.execute(f"create table people ({', '.join(frame.columns)})")
        base.executemany("insert into people values (?, ?, ?, ?, ?)", frame.rows())
    base.close()
    return people


@pytest.mark.parametrize("source", SOURCES)
def test_a_table_is_published_from_anywhere(run: Run, everywhere: Path, source: str) -> None:
    method = ("--schema", "people.toml", "--method", "mondrian", "--k", "5", "-o")
    assert run("publish", "people.csv", *method, "expected").code == 0
    told = run("publish", source, *SOURCES[source], *method, "found")
    assert (told.code, told.err) == (0, "")
    assert (everywhere / "found" / "data.csv").read_bytes() == (everywhere / "expected" / "data.csv").read_bytes()
    assert run("verify", "found").code == 0


@pytest.mark.parametrize("source", ["people.xlsx#Survey", "sqlite:///people.db#people", "latin.csv"])
def test_other_commands_take_it_too(run: Run, everywhere: Path, source: str) -> None:
    more, schema = SOURCES[source], ("--schema", "people.toml")
    proposed = ("--sensitive", "disease", "--quasi", "age,sex,town", "-o", "proposed.toml")
    assert run("init", source, *more, *proposed).code == 0
    assert 'values = ["Fish Quay"' in (everywhere / "proposed.toml").read_text()
    assert json.loads(run("plan", source, *more, *schema, "--json").out)["rows"] == 240
    assert run("publish", source, *more, *schema, "--method", "mondrian", "--k", "5", "-o", "found").code == 0
    measured = run("measure", source, "found", *more, *schema, "--only", "u_loss", "--json")
    assert "u_loss" in json.loads(measured.out)


def test_init_names_the_schema_after_the_table(run: Run, everywhere: Path) -> None:
    (everywhere / "people.toml").unlink()
    for source, name in (("people.xlsx#Survey", "people"), ("sqlite:///people.db#people", "people")):
        assert run("init", source, "--sensitive", "disease", "--quasi", "age,sex").code == 0
        assert f'name = "{name}"' in (everywhere / "people.toml").read_text()
        (everywhere / "people.toml").unlink()


def test_a_frontier_prints_the_command_for_the_same_file(run: Run, everywhere: Path) -> None:
    options = (
        "--schema",
        "people.toml",
        "--method",
        "mondrian",
        "--allow-exact",
        "--max-query-error",
        "10",
        "-o",
        "out",
    )
    told = run("frontier", "latin.csv", *SOURCES["latin.csv"], "--max-p-loss", "1e9", "--max-breach", "1", *options)
    assert told.code == 0, told.err
    assert "sfumato publish latin.csv --encoding latin-1 --delimiter '^' --schema people.toml" in told.out


def test_no_password_is_printed(run: Run, everywhere: Path) -> None:
    address = "postgresql://ana:s3cret@localhost:1/clinic#visits"
    for command in (
        ("publish", address, "--schema", "people.toml", "--method", "original", "-o", "r"),
        ("frontier", address, "--schema", "people.toml", "-o", "out"),
        ("init", address, "--sensitive", "disease"),
        ("plan", address, "--schema", "people.toml"),
        ("measure", address, "r", "--schema", "people.toml"),
        ("commute", "synthesize", address, "--places", "people.csv", "--name", "x", "--epsilon", "1", "-o", "r"),
    ):
        told = run(*command)
        assert told.code == 2
        assert "s3cret" not in told.out + told.err
        assert told.err.count("\n") == 1


def test_all_misfits_are_listed_below_one_sentence(run: Run, people: Path) -> None:
    lines = (people / "people.csv").read_text().splitlines()
    lines[1], lines[2] = "x,300,Female,Mill,none", "y,30,Other,Mill,none"
    (people / "people.csv").write_text("\n".join(lines))
    told = run("publish", "people.csv", "--schema", "people.toml", "--method", "original", "-o", "r")
    assert told.code == 2
    first, *rest = told.err.splitlines()
    assert first == "sfumato: people.csv: 2 values do not fit the schema"
    assert rest[0] == "  row 1, column 'age': '300' is not a whole number from 0 to 99"
    assert rest[1] == "  row 2, column 'sex': 'Other' is not one of 'Female', 'Male'"
    assert rest[2].startswith("  correct the file, or say in the schema")
    assert not (people / "r").exists()
