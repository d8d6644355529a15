"""Tables of databases, and what queries answer: read piece by piece, every value as the text that its database makes.

An address is `duckdb:///people.duckdb#visits`, `sqlite:///people.db#visits` or that of a server, such as
`postgresql://ana@host/clinic#visits`; a query may stand where the table does. Nothing is written: files are opened for
reading alone, and the password in an address never reaches a message.
"""

import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

from sfumato.data.opening import PART, hide_secrets, needing, secrets_of, split_part
from sfumato.data.pieces import Piece, refuse_absent, refuse_duplicates
from sfumato.data.text import NOT_TEXT, column_of, spell
from sfumato.errors import DataError, ParameterError, shorten

ROWS = 2**18
"""Rows that are held as Python's values at a time."""
SERVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
MAX_LISTED = 12
MAX_SHARE = 0.99
LISTS = {
    "sqlite": "select name from sqlite_master where type in ('table', 'view') order by name",
    "duckdb": "select table_name from information_schema.tables order by table_name",
}


def read_database(address: str, columns: Sequence[str] | None) -> Iterator[Piece]:
    """The wanted columns of a table or a query."""
    where = hide_secrets(address)
    before, part = split_part(address)
    with _plainly(address, where):
        if not part:
            raise ParameterError(
                f"{where}: names no table; write it behind {PART}, such as {where}{PART}{_tables(before) or 'people'}"
            )
        with closing(_rows(before, part, columns, where)) as found:
            names: list[str] = next(found)
            done = total = 0
            while True:
                rows = next(found)
                frame = pl.DataFrame({name: _spelled([row[place] for row in rows]) for place, name in enumerate(names)})
                last = len(rows) < ROWS
                done += len(rows)
                total = total or (done if last else _count(before, part, where))
                yield Piece(frame, done - len(rows), 1.0 if last else min(done / max(total, 1), MAX_SHARE))
                if last:
                    return


def _spelled(cells: list[Any]) -> pl.Series:
    return spell(column_of(cells)).cast(pl.String)


def _count(address: str, part: str, where: str) -> int:
    """How many rows there are, which is asked where they are more than one piece."""
    with closing(_rows(address, f"select count(*) as n from ({_query(part)}) as people", ["n"], where)) as found:
        next(found)
        return int(next(found)[0][0])


def _query(part: str) -> str:
    return part if any(sign.isspace() for sign in part) else f"select * from {_quoted(part)}"


def _rows(address: str, part: str, columns: Sequence[str] | None, where: str) -> Generator[Any]:
    """The names of the wanted columns, and then their rows, so many at a time, the last time fewer."""
    scheme, _, _ = address.partition("://")
    query = _query(part)
    if scheme not in LISTS:
        yield from _from_server(address, query, columns, where)
        return
    with closing(_open(address)) as base:
        known = [each[0] for each in base.execute(f"select * from ({query}) as people limit 0").description]
        wanted = _wanted(known, columns, where)
        listed = ", ".join(_text_of(name, scheme) for name in wanted) or "1"
        cursor = base.execute(f"select {listed} from ({query}) as people")
        yield wanted
        while True:
            yield cursor.fetchmany(ROWS)


def _from_server(address: str, query: str, columns: Sequence[str] | None, where: str) -> Generator[Any]:
    with needing("databases", where):
        import sqlalchemy as sql
    scheme, _, rest = address.partition("://")
    engine = sql.create_engine(f"{SERVERS.get(scheme, scheme)}://{rest}")
    try:
        with engine.connect().execution_options(stream_results=True) as base:
            inner = sql.text(f"({query}) as people")
            with closing(base.execute(sql.select(sql.text("*")).select_from(inner).limit(0))) as none:
                known = list(none.keys())
            wanted = _wanted(known, columns, where)
            listed: list[Any] = [sql.cast(sql.column(name), sql.Text) for name in wanted] or [sql.literal(1)]
            with closing(base.execute(sql.select(*listed).select_from(inner))) as result:
                yield wanted
                while True:
                    yield result.fetchmany(ROWS)
    finally:
        engine.dispose()


def _wanted(known: list[str], columns: Sequence[str] | None, where: str) -> list[str]:
    refuse_duplicates(known, where)
    refuse_absent(columns or [], known, where)
    return known if columns is None else list(columns)


def _open(address: str) -> Any:
    """A file of a database, for reading alone."""
    scheme, _, rest = address.partition("://")
    path = Path(unquote(rest.partition("?")[0].removeprefix("/")))
    if not path.is_file():
        raise DataError(f"{hide_secrets(address)}: the file {path} does not exist")
    if scheme == "duckdb":
        with needing("databases", str(path)):
            import duckdb
        return duckdb.connect(str(path), read_only=True)
    base = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    base.text_factory = lambda content: content.decode(errors=NOT_TEXT)
    return base


def _text_of(name: str, scheme: str) -> str:
    """A column as the database spells it; what SQLite holds has a type cell by cell, and is spelled here."""
    return _quoted(name, dots=False) if scheme == "sqlite" else f"cast({_quoted(name, dots=False)} as varchar)"


def _quoted(name: str, *, dots: bool = True) -> str:
    """A name in SQL's quotation marks; a schema may stand before a table."""
    parts = name.split(".") if dots and '"' not in name else [name]
    return ".".join('"{}"'.format(part.replace('"', '""')) for part in parts)


def _tables(address: str) -> str:
    """The names of the tables in a file, for somebody who named none."""
    scheme = address.partition("://")[0]
    if scheme not in LISTS:
        return ""
    with closing(_open(address)) as base:
        found = [str(each[0]) for each in base.execute(LISTS[scheme]).fetchall()]
    return " or ".join([*found[:MAX_LISTED], *(["…"] if len(found) > MAX_LISTED else [])])


@contextmanager
def _plainly(address: str, where: str) -> Iterator[None]:
    """What a database complains of, as one sentence without the password."""
    try:
        yield
    except (DataError, ParameterError, GeneratorExit):
        raise
    except Exception as error:
        reason = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
        for secret in secrets_of(address):
            reason = reason.replace(secret, "***")
        raise DataError(f"{where}: the database cannot be read ({shorten(reason.splitlines()[0], 200)})") from None
