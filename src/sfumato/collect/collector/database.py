"""The database of a collector: its tables, how SQLite and PostgreSQL are opened, and their errors as sentences.

Kept are surveys, reports with the ids their senders drew at random, and how often each value was reported. There is no
column for who sent a report, from where or when, and SQLite keeps the rows in the order of their ids, not of arrival.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import URL, BigInteger, Column, Connection, Engine, Text
from sqlalchemy.exc import SQLAlchemyError

from sfumato.collect.collector import refuse_missing
from sfumato.errors import DataError, ParameterError

TIMEOUT = 30
"""Seconds to wait for other writers, or for a connection."""
MAKING_TABLES = int.from_bytes(b"Sfum", "big")
"""The lock that servers of one PostgreSQL database take before they look for tables."""
WRITING = "sfumato_writing"
EXPECTED = "expected the path of a file, sqlite:///FILE or postgresql://USER@HOST/DATABASE"

METADATA = sa.MetaData()
Key = partial(Column, primary_key=True, autoincrement=False)
SURVEYS, REPORTS, COUNTS = (
    sa.Table(name, METADATA, *columns, sqlite_with_rowid=False)
    for name, *columns in (
        ("surveys", Key("name", Text), Column("spec", Text, nullable=False)),
        ("reports", Key("survey", Text), Key("id", Text), Column("value", BigInteger, nullable=False)),
        ("counts", Key("survey", Text), Key("value", BigInteger), Column("count", BigInteger, nullable=False)),
    )
)


class UnavailableError(DataError):
    """The database does not answer, or not as it should; the same request may succeed later."""


def parse_database(database: Path | str) -> URL:
    """The address of a database: the path of an SQLite file, or a URL."""
    if isinstance(database, Path) or "://" not in database:
        if not str(database):
            raise ParameterError(f"the database has no name; {EXPECTED}")
        return URL.create("sqlite", database=str(database))
    scheme, _, rest = database.partition("://")
    if scheme in ("postgres", "postgresql"):
        scheme = "postgresql+psycopg"
    if scheme not in ("sqlite", "postgresql+psycopg"):
        raise ParameterError(f"{scheme!r} is not a known kind of database; {EXPECTED}")
    try:
        url = sa.make_url(f"{scheme}://{rest}")
    except (SQLAlchemyError, ValueError) as error:
        # The address is not repeated: it may hold a password.
        raise ParameterError(f"the address of the database cannot be read; {EXPECTED}") from error
    if scheme == "sqlite" and (not url.database or url.database.startswith((":memory:", "file:")) or url.host):
        raise ParameterError(f"reports need a persistent database; {EXPECTED}")
    if scheme != "sqlite":
        refuse_missing("psycopg")
    return url


def open_engine(url: URL) -> Engine:
    """A pool of connections to a database whose tables are there."""
    engine = _open_sqlite(url) if url.get_backend_name() == "sqlite" else _open_postgresql(url)
    try:
        with begin(engine, write=True) as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MAKING_TABLES)))
            METADATA.create_all(connection)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _open_sqlite(url: URL) -> Engine:
    with suppress(OSError):
        # For its owner alone; whatever is in the way is told by SQLite.
        Path(str(url.database)).touch(mode=0o600)
    engine = sa.create_engine(url, hide_parameters=True, connect_args={"timeout": TIMEOUT})

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        # Python's own transactions begin too late to lock before the first read.
        connection.isolation_level = None
        for setting in ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={TIMEOUT * 1000}"):
            connection.execute(f"PRAGMA {setting}").close()

    @sa.event.listens_for(engine, "begin")
    def lock(connection: Connection) -> None:
        immediate = connection.get_execution_options().get(WRITING)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine


def _open_postgresql(url: URL) -> Engine:
    waiting = {} if "connect_timeout" in url.query else {"connect_timeout": TIMEOUT}
    return sa.create_engine(
        url, hide_parameters=True, pool_pre_ping=True, isolation_level="READ COMMITTED", connect_args=waiting
    )


@contextmanager
def begin(engine: Engine, *, write: bool = False) -> Iterator[Connection]:
    """A transaction, committed at its end and undone if anything is raised; its errors are told without a password."""
    try:
        with engine.execution_options(**{WRITING: write}).begin() as connection:
            yield connection
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).strip().partition("\n")[0] or type(error).__name__
        raise UnavailableError(f"the database {format_url(engine.url)} cannot be used ({reason})") from error


def format_url(url: URL) -> str:
    """A database as people write it."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    # A query may hold a password as well.
    return url.set(drivername="postgresql", query={}).render_as_string(hide_password=True)
