"""Tables of a server: read as text, in parts, and values that Python has no place for stop nobody."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

import sfumato as sf
from collect.collector.postgres import Server, unavailable
from sfumato.data import databases
from sfumato.data.source import read_frame
from sfumato.errors import DataError

COLUMNS = {
    "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99, "off_schema": "clip"},
    "town": {"role": "sensitive", "kind": "categorical", "values": ["Köln", "b"], "off_schema": "b"},
}


@pytest.fixture(scope="module")
def postgresql() -> Iterator[str]:
    """The address of a database with a table of visits."""
    if reason := unavailable():
        pytest.skip(reason)
    with Server() as server:
        address = server.new_database()
        with psycopg.connect(address.replace("postgresql+psycopg", "postgresql")) as base:
            base.execute("create schema clinic")
            base.execute('create table clinic.visits (age numeric, town text, at timestamp, "a ""b" boolean)')
            for row in (
                (30, "Köln", "infinity", True),
                (None, "b", "4713-01-01 BC", False),
                ("7.50", None, None, None),
            ):
                base.execute("insert into clinic.visits values (%s, %s, %s, %s)", row)
        yield address


def test_values_are_what_the_database_makes_of_them(postgresql: str) -> None:
    frame, where = read_frame(f"{postgresql}#clinic.visits")
    assert frame.columns == ["age", "town", "at", 'a "b']
    assert frame.rows() == [
        ("30", "Köln", "infinity", "true"),
        (None, "b", "4713-01-01 00:00:00 BC", "false"),
        ("7.50", None, None, None),
    ]
    assert where.endswith("#clinic.visits")


def test_a_query_is_read_in_parts(postgresql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "ROWS", 1)
    source = f"{postgresql}#select age, town from clinic.visits where town is not null order by age nulls first"
    assert read_frame(source)[0].rows() == [(None, "b"), ("30", "Köln")]
    table = sf.read(source, {"columns": COLUMNS})
    assert (table.n, table.placed) == (2, {"age": 1})


def test_nothing_is_written_and_nothing_is_shown(postgresql: str) -> None:
    for part in ("nobody", "select 1 / (age - 30) as age from clinic.visits", "drop table clinic.visits"):
        with pytest.raises(DataError, match="the database cannot be read") as caught:
            read_frame(f"{postgresql}#{part}")
        assert "\n" not in str(caught.value)
    assert read_frame(f"{postgresql}#clinic.visits")[0].height == 3
