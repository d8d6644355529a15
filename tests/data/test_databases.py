"""Databases: tables and queries, read as text, nothing written, and no password in any message."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import duckdb
import pytest

import sfumato as sf
from sfumato.data import databases
from sfumato.data.opening import hide_secrets, secrets_of
from sfumato.data.source import Source, read_frame
from sfumato.errors import DataError, ParameterError

ROWS = [(30, 7.0, "Köln"), (None, 2.5, "b"), (41, 1.0, None)]
SPELLED = [("30", "7", "Köln"), (None, "2.5", "b"), ("41", "1", None)]
COLUMNS = {
    "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99, "nullable": True},
    "town": {"role": "sensitive", "kind": "categorical", "values": ["Köln", "b"], "nullable": True},
}


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of SQLite and one of DuckDB, in the folder where the test runs."""
    monkeypatch.chdir(tmp_path)
    with sqlite3.connect("people.db") as lite:
        lite.execute("create table visits (age integer, share real, town text)")
        lite.executemany("insert into visits values (?, ?, ?)", ROWS)
    lite.close()
    with duckdb.connect("people.duckdb") as duck:
        duck.execute("create table visits (age integer, share double, town text)")
        duck.executemany("insert into visits values (?, ?, ?)", ROWS)
        duck.execute("create table days as select date '2024-01-31' as day, timestamp 'infinity' as at, [1, 2] as both")
    return tmp_path


def refusal(address: str) -> str:
    with pytest.raises((DataError, ParameterError)) as caught:
        read_frame(address)
    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None or "s3cret" not in str(caught.value.__cause__)
    return str(caught.value)


def test_tables_and_queries(base: Path) -> None:
    assert read_frame("sqlite:///people.db#visits")[0].rows() == SPELLED
    assert read_frame(f"sqlite:///{base}/people.db#visits")[0].rows() == SPELLED
    found = [
        (age, str(float(share)).removesuffix(".0"), town)
        for age, share, town in read_frame("duckdb:///people.duckdb#visits")[0].rows()
    ]
    assert found == SPELLED
    query = "duckdb:///people.duckdb#select age + 1 as age from main.visits where age > 30"
    assert read_frame(query)[0].rows() == [("42",)]
    assert read_frame("duckdb:///people.duckdb#main.visits", ["town"])[0].rows() == [("Köln",), ("b",), (None,)]
    assert read_frame("duckdb:///people.duckdb#days")[0].rows() == [("2024-01-31", "infinity", "[1, 2]")]


def test_a_table_of_a_database_is_like_any_other(base: Path) -> None:
    schema = {"columns": COLUMNS}
    expected = sf.read({"age": [30, None, 41], "town": ["Köln", "b", None]}, schema)
    for address in ("sqlite:///people.db#visits", "duckdb:///people.duckdb#visits"):
        assert sf.read(address, schema).digest == expected.digest
    assert sf.propose("sqlite:///people.db#visits", sensitive="town", quasi=("age",)).name == "people"


def test_a_table_is_read_piece_by_piece(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "ROWS", 2)
    for address in ("sqlite:///people.db#visits", "duckdb:///people.duckdb#visits"):
        found = list(databases.read_database(address, ["age"]))
        assert [(piece.frame["age"].to_list(), piece.before) for piece in found] == [(["30", None], 0), (["41"], 2)]
        assert [piece.done for piece in found] == [pytest.approx(2 / 3), 1]


def test_nothing_is_written(base: Path) -> None:
    before = {name: (base / name).read_bytes() for name in ("people.db", "people.duckdb")}
    for address in ("sqlite:///people.db#delete from visits returning *", "duckdb:///people.duckdb#drop table visits"):
        assert "the database cannot be read" in refusal(address)
    assert {name: (base / name).read_bytes() for name in before} == before


def test_a_cell_that_is_no_text_is_spelled_out(base: Path) -> None:
    with sqlite3.connect("people.db") as lite:
        lite.execute("insert into visits values ('x', 2, cast(x'ff41' as text))")
    lite.close()
    assert read_frame("sqlite:///people.db#visits")[0].rows() == [*SPELLED, ("x", "2", "\\xffA")]


def test_what_cannot_be_read_is_refused_in_a_sentence(base: Path) -> None:
    (base / "none.db").write_bytes(b"no database at all, " * 100)
    assert refusal("sqlite:///people.db").endswith(
        "names no table; write it behind #, such as sqlite:///people.db#visits"
    )
    assert refusal("duckdb:///people.duckdb").endswith("#days or visits")
    assert refusal("sqlite:///people.db#nobody").endswith("the database cannot be read (no such table: nobody)")
    assert refusal("sqlite:///nothing.db#visits") == "sqlite:///nothing.db: the file nothing.db does not exist"
    assert "the database cannot be read" in refusal("sqlite:///none.db#visits")
    assert "the database cannot be read" in refusal("duckdb:///none.db#visits")
    assert "the column 'wage' is missing" in read_refusal("sqlite:///people.db#visits", "wage")
    empty = "sqlite:///people.db#select * from visits where age > 99"
    assert refusal(empty).endswith("the table has no rows")


def read_refusal(address: str, column: str) -> str:
    with pytest.raises(DataError) as caught:
        read_frame(address, [column])
    return str(caught.value)


SERVER = "postgresql://ana:s3cret@localhost:1/clinic"


def test_no_password_is_shown(base: Path) -> None:
    told = refusal(f"{SERVER}#visits")
    assert told.startswith("postgresql://ana:***@localhost:1/clinic#visits: the database cannot be read (")
    assert refusal(SERVER).endswith("such as postgresql://ana:***@localhost:1/clinic#people")
    source = Source.of(f"{SERVER}?password=s3cret&sslmode=require#visits")
    assert source.where == "postgresql://ana:***@localhost:1/clinic?password=***&sslmode=require#visits"
    assert "s3cret" not in repr(source)
    assert secrets_of("x://a:p%40q@h/d?token=t#part") == {"p%40q", "p@q", "t"}


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://ana@host:5432/d#select '@'", "postgresql://ana@host:5432/d#select '@'"),
        ("postgresql://host:5432/d#select '@'", "postgresql://host:5432/d#select '@'"),
        ("postgresql://[::1]:5432/d#t", "postgresql://[::1]:5432/d#t"),
        ("sqlite:///people.db#select '@:'", "sqlite:///people.db#select '@:'"),
        ("postgresql://ana:s3c#ret@host/d#t", "postgresql://ana:***@host/d#t"),
        ("postgresql://ana:s3c/ret@host/d#t", "postgresql://ana:***@host/d#t"),
        ("postgresql://ana:s3c@ret@host/d#t", "postgresql://ana:***@host/d#t"),
        ("postgresql://:s3cret@host/d", "postgresql://:***@host/d"),
        ("postgresql:///d?host=h&PASSWORD=s3cret#t", "postgresql:///d?host=h&PASSWORD=***#t"),
    ],
)
def test_whatever_a_password_looks_like_it_is_hidden(address: str, shown: str) -> None:
    assert hide_secrets(address) == shown
    assert not any(secret in hide_secrets(address) for secret in secrets_of(address))


def test_a_kind_of_database_that_nobody_knows(base: Path) -> None:
    assert "s3" in refusal("s3://bucket/file#part")


def test_without_the_package_it_is_said_how_to_get_it(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert refusal("duckdb:///people.duckdb#visits").endswith(
        "reading this needs duckdb, which is not installed; run: pip install 'sfumato[databases]'"
    )
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    assert "pip install 'sfumato[databases]'" in refusal(f"{SERVER}#visits")
