"""The database: every report counted once, batches whole or not at all, and no trace of who sent what when."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import inspect, text

import sfumato.collect.collector
from sfumato.collect.collector.database import UnavailableError, parse_database
from sfumato.collect.collector.storage import ConflictError, Receipt, Report, Storage
from sfumato.collect.survey import Survey
from sfumato.errors import ParameterError

from .client import new_id, recounted

if TYPE_CHECKING:
    from pathlib import Path

SURVEY = Survey(name="age", question="How old are you?", min=0, max=99, epsilon=0.5)
THREADS = 6
ROUNDS = 6


def batch(*values: int) -> list[Report]:
    return [Report(new_id(), value) for value in values]


def tables(storage: Storage) -> dict[str, list[tuple[str, str]]]:
    inspector = inspect(storage._engine)
    return {
        name: [(column["name"], str(column["type"])) for column in inspector.get_columns(name)]
        for name in sorted(inspector.get_table_names())
    }


def test_a_survey_is_stored_once(storage: Storage) -> None:
    assert storage.survey("age") is None
    assert storage.add_survey(SURVEY)
    assert not storage.add_survey(SURVEY)
    found = storage.survey("age")
    assert found is not None
    assert found.spec() == SURVEY.spec()
    other = Survey(name="age", question="How old is he?", min=0, max=99, epsilon=0.5)
    with pytest.raises(ConflictError, match="another survey has the name 'age'"):
        storage.add_survey(other)
    assert [(survey.question, reports) for survey, reports in storage.surveys()] == [("How old are you?", 0)]


def test_reports_are_counted_by_value(storage: Storage) -> None:
    storage.add_survey(SURVEY)
    assert storage.add_reports("age", batch(3, 3, 99)) == Receipt(accepted=3, repeated=0)
    assert storage.add_reports("age", batch(3, -4)) == Receipt(accepted=2, repeated=0)
    assert storage.add_reports("other", batch(3)) == Receipt(accepted=1, repeated=0)
    assert storage.add_reports("age", []) == Receipt(accepted=0, repeated=0)
    assert storage.counts("age") == recounted(storage, "age") == {-4: 1, 3: 3, 99: 1}
    assert storage.counts("nothing") == recounted(storage, "nothing") == {}
    assert [reports for _, reports in storage.surveys()] == [5]


def test_a_report_sent_again_is_counted_once(storage: Storage) -> None:
    first = batch(*range(5))
    storage.add_reports("age", first)
    assert storage.add_reports("age", first) == Receipt(accepted=0, repeated=5)
    assert storage.add_reports("age", [*first[:2], *batch(7)]) == Receipt(accepted=1, repeated=2)
    twice = batch(8)
    assert storage.add_reports("age", twice * 3) == Receipt(accepted=1, repeated=2)
    assert recounted(storage, "age") == storage.counts("age") == dict.fromkeys([0, 1, 2, 3, 4, 7, 8], 1)


def test_the_largest_numbers_and_batches_fit(storage: Storage) -> None:
    far = 2**53 + 2**40
    reports = batch(far, -far, *(number % 100 for number in range(9_998)))
    assert storage.add_reports("age", reports) == Receipt(accepted=10_000, repeated=0)
    assert storage.add_reports("age", reports) == Receipt(accepted=0, repeated=10_000)
    assert recounted(storage, "age") == storage.counts("age") == dict(sorted(Counter(r.value for r in reports).items()))


def test_an_id_with_another_value_refuses_the_whole_batch(storage: Storage) -> None:
    first = batch(1, 2)
    storage.add_reports("age", first)
    with pytest.raises(ConflictError, match=f"{first[1].id!r} came before with another value"):
        storage.add_reports("age", [*batch(*range(50)), Report(first[1].id, 3)])
    with pytest.raises(ConflictError, match="is sent with two values"):
        storage.add_reports("age", [Report("x" * 20, 1), Report("x" * 20, 2)])
    assert storage.counts("age") == recounted(storage, "age") == {1: 1, 2: 1}
    # The same id in another survey is another report.
    assert storage.add_reports("other", [Report(first[1].id, 3)]).accepted == 1


def test_senders_at_once_count_every_report_once(storage: Storage, database: str) -> None:
    """Each thread sends the same ids in an order and in batches of its own, to one of two servers."""
    reports = batch(*(number % 7 for number in range(300)))
    servers = (storage, Storage(database))
    accepted: list[int] = []
    failed: list[BaseException] = []
    together = threading.Barrier(THREADS)

    def send(number: int) -> None:
        own = reports[::-1] if number % 2 else reports[number::2] + reports[: 10 * number]
        size = 20 + 5 * number
        try:
            together.wait()
            batches = [own[start : start + size] for start in range(0, len(own), size)]
            accepted.extend(servers[number // 2 % 2].add_reports("age", each).accepted for each in batches)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    servers[1].close()
    assert failed == []
    assert sum(accepted) == len(reports)
    assert storage.counts("age") == recounted(storage, "age") == dict(sorted(Counter(r.value for r in reports).items()))


@pytest.mark.parametrize("shared", ["ids", "values"])
def test_batches_in_opposite_orders_do_not_block_each_other(storage: Storage, shared: str) -> None:
    """Each of two batches would wait for what the other has written, if they wrote in the order they were sent in."""
    failed: list[BaseException] = []

    def send(reports: list[Report]) -> None:
        try:
            together.wait()
            storage.add_reports("age", reports)
        except BaseException as error:
            failed.append(error)

    for _ in range(ROUNDS):
        together = threading.Barrier(2)
        first = batch(*range(500))
        second = first if shared == "ids" else batch(*range(500))
        threads = [threading.Thread(target=send, args=(reports,)) for reports in (first, second[::-1])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failed == []
    assert storage.counts("age") == recounted(storage, "age")
    assert set(storage.counts("age").values()) == {ROUNDS if shared == "ids" else 2 * ROUNDS}


def test_two_servers_share_a_database(database: str) -> None:
    """Opened at once, so that both look for tables that are not there."""
    opened: list[Storage] = []
    threads = [threading.Thread(target=lambda: opened.append(Storage(database))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, second, third = opened
    reports = batch(1, 2, 3)
    assert first.add_reports("age", reports).accepted == 3
    assert second.add_reports("age", reports).repeated == 3
    first.close()
    second.close()
    with closing(Storage(database)) as again:
        assert again.counts("age") == third.counts("age") == {1: 1, 2: 1, 3: 1}
    third.close()


def test_a_failure_in_the_middle_keeps_nothing(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("the disk is gone")

    storage.add_reports("age", batch(1))
    with monkeypatch.context() as patch:
        patch.setattr(storage, "_count", fail)
        with pytest.raises(RuntimeError):
            storage.add_reports("age", lost := batch(1, 2))
    assert storage.counts("age") == recounted(storage, "age") == {1: 1}
    assert storage.add_reports("age", lost).accepted == 2


def test_only_ids_values_and_counts_are_stored(storage: Storage) -> None:
    columns = {name: [column for column, _ in found] for name, found in tables(storage).items()}
    assert columns == {
        "counts": ["survey", "value", "count"],
        "reports": ["survey", "id", "value"],
        "surveys": ["name", "spec"],
    }
    kinds = {kind for found in tables(storage).values() for _, kind in found}
    assert kinds == {"TEXT", "BIGINT"}


def test_rows_lie_in_the_order_of_their_ids_not_of_arrival(tmp_path: Path) -> None:
    path = tmp_path / "collected.sqlite"
    with closing(Storage(path)) as storage:
        for key in ("z" * 20, "a" * 20, "m" * 20):
            storage.add_reports("age", [Report(key, 1)])
    with closing(sqlite3.connect(path)) as connection:
        assert [key for (key,) in connection.execute("SELECT id FROM reports")] == ["a" * 20, "m" * 20, "z" * 20]
        with pytest.raises(sqlite3.OperationalError, match="no such column: rowid"):
            connection.execute("SELECT rowid FROM reports")


def test_commits_wait_for_the_disk(tmp_path: Path) -> None:
    with closing(Storage(tmp_path / "collected.sqlite")) as storage, storage._engine.begin() as connection:
        settings = [connection.scalar(text(f"PRAGMA {name}")) for name in ("journal_mode", "synchronous")]
    assert settings == ["wal", 2]


@pytest.mark.parametrize(
    ("database", "sentence"),
    [
        ("", "the database has no name; expected the path of a file"),
        ("mysql://somewhere/age", "'mysql' is not a known kind of database; expected the path of a file"),
        ("postgresql+asyncpg://somewhere/age", "'postgresql+asyncpg' is not a known kind of database"),
        ("sqlite://", "reports need a persistent database"),
        ("sqlite:///:memory:", "reports need a persistent database"),
        ("postgresql://me:secret@somewhere:port/age", "the address of the database cannot be read"),
    ],
)
def test_an_address_that_is_no_database_is_refused(database: str, sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Storage(database)
    assert str(caught.value).startswith(sentence)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_postgresql_is_spelled_in_several_ways(scheme: str) -> None:
    assert parse_database(f"{scheme}://me@somewhere/age").drivername == "postgresql+psycopg"


def test_a_database_that_cannot_be_used_is_named_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError) as caught:
        Storage("postgresql://me:secret@127.0.0.1:1/age")
    assert str(caught.value).startswith("the database postgresql://me:***@127.0.0.1:1/age cannot be used (conn")
    (tmp_path / "notes.txt").write_text("no database " * 100)
    for path, reason in ((tmp_path / "no" / "x", "unable to open"), (tmp_path / "notes.txt", "file is not a database")):
        with pytest.raises(UnavailableError) as caught:
            Storage(path)
        assert str(caught.value).startswith(f"the database {path} cannot be used ({reason}")
        assert "\n" not in str(caught.value)


def test_missing_libraries_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sfumato.collect.collector, "find_spec", lambda library: None)
    with pytest.raises(ParameterError, match=r'needs the library uvicorn: pip install "sfumato\[collector\]"'):
        sfumato.collect.collector.refuse_missing("uvicorn")
    with pytest.raises(ParameterError, match="needs the library psycopg"):
        Storage("postgresql://somewhere/age")
