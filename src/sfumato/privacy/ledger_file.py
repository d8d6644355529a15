"""The file of a ledger: SQLite, durable before a call returns, and missed when it is gone.

SQLite keeps a rollback journal here, with `synchronous=EXTRA`: entry and journal deletion are on the disk before a
transaction ends, so that neither a kill nor a power failure takes a spend back. Write-ahead logging is left alone: it
would be faster, but needs shared memory, and its usual setting forgets the last commits.

Beside the ledger lies its mark, a file with the number of its entries. A ledger that is gone, or has fewer entries
than its mark says, is an error: what was spent would be forgotten. The mark is written after the entries, so a crash
leaves it behind them, never ahead.
"""

import os
import secrets
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from sfumato.errors import LedgerError

FORMAT = 2
APPLICATION = int.from_bytes(b"Sfum", "big")
MAX_WAIT = 60.0
"""Seconds to wait for other processes."""
APART = " (sensitive values)"
"""How the first format named a second account, for losses of sensitive values alone."""
TABLES = (
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, release TEXT NOT NULL UNIQUE, data_set TEXT NOT NULL, "
    "epsilon TEXT NOT NULL, delta TEXT NOT NULL, method TEXT NOT NULL, folder TEXT NOT NULL, "
    "state TEXT NOT NULL CHECK (state IN ('reserved', 'settled')), reserved_at TEXT NOT NULL, settled_at TEXT)",
    "CREATE TABLE caps (data_set TEXT PRIMARY KEY NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL)",
    f"PRAGMA application_id = {APPLICATION}",
)
UPGRADE = (
    "ALTER TABLE entries ADD COLUMN neighbours TEXT NOT NULL DEFAULT 'add-remove'",
    "ALTER TABLE entries ADD COLUMN rows TEXT NOT NULL DEFAULT ''",
    "CREATE TABLE looks (data_set TEXT NOT NULL, rows TEXT NOT NULL, what TEXT NOT NULL, at TEXT NOT NULL, "
    "PRIMARY KEY (data_set, rows))",
    "CREATE TABLE secret (key BLOB NOT NULL)",
    f"UPDATE entries SET data_set = substr(data_set, 1, length(data_set) - {len(APART)}), "
    f"neighbours = 'replace-sensitive' WHERE data_set LIKE '_%{APART}'",
    f"PRAGMA user_version = {FORMAT}",
)
"""From the first format."""
# Closing any handle of a file gives up all locks that this process has on it, so no thread may use a ledger while
# another has the handle open with which the file is made.
_making = threading.Lock()


@dataclass(frozen=True)
class LedgerFile:
    """The file, made when something is first written to it; nothing stays open between two calls."""

    path: Path

    @property
    def mark(self) -> Path:
        """The file that says how many entries there must be."""
        return self.path.with_name(f"{self.path.name}.mark")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection that sees the entries at one moment; `None` where nothing has been written yet."""
        with self._errors():
            if not self._has_been_written():
                self._refuse_missing(0)
                yield None
                return
            with closing(_connect(self.path)) as connection, closing(sqlite3.connect(":memory:")) as copy:
                connection.execute("BEGIN")
                found = self._format(connection)
                if found in (0, FORMAT):
                    self._refuse_missing(_entries(connection) if found else 0)
                    yield connection if found else None
                else:
                    connection.backup(copy)
                    _upgrade(copy)
                    yield copy

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection that has the ledger to itself; what it did is on the disk when this ends, or none of it is."""
        with self._errors():
            self._make()
            with closing(_connect(self.path)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                found = self._format(connection)
                self._refuse_missing(_entries(connection) if found else 0)
                if not found:
                    for statement in TABLES:
                        connection.execute(statement)
                if found != FORMAT:
                    _upgrade(connection)
                yield connection
                entries = _entries(connection)
                connection.execute("COMMIT")
            if entries:
                self._write_mark(entries)

    def _write_mark(self, entries: int) -> None:
        """Note how many entries there are, under a name of its own until it is whole: other processes do so too."""
        with tempfile.NamedTemporaryFile("w", dir=self.path.parent, prefix=f".{self.mark.name}.", delete=False) as new:
            new.write(f"{entries}\n")
        os.replace(new.name, self.mark)

    def _format(self, connection: sqlite3.Connection) -> int:
        """The format of the file; 0 if there is nothing in it yet."""
        found = _number(connection, "user_version")
        if not found and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            return 0
        if _number(connection, "application_id") != APPLICATION:
            raise LedgerError(f"{self.path}: this is a database of another program; expected a ledger")
        if found not in range(1, FORMAT + 1):
            raise LedgerError(f"{self.path}: this ledger has format {found}; this version reads format {FORMAT}")
        return found

    def _refuse_missing(self, entries: int) -> None:
        try:
            marked = self.mark.read_bytes().strip()
        except (FileNotFoundError, NotADirectoryError):
            return
        if not marked.isdigit():
            raise LedgerError(f"{self.mark}: this is not the mark of a ledger; restore it from a backup")
        expected = int(marked)
        if entries < expected:
            now = f"has {entries}" if self.path.exists() else "is gone"
            raise LedgerError(
                f"{self.path}: this ledger had {expected} entries and {now}; restore it from a backup, or, if what was "
                f"spent may be forgotten, remove {self.mark.name}"
            )

    def _has_been_written(self) -> bool:
        try:
            return self.path.stat().st_size > 0
        except FileNotFoundError:
            return False

    def _make(self) -> None:
        """An empty file that only its owner may read, and its place in the folder on the disk."""
        with _making:
            if self.path.exists():
                return
            self._refuse_missing(0)
            new = [folder for folder in self.path.absolute().parents if not folder.exists()]
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            except FileExistsError:
                return
            for folder in {self.path.parent, *(folder.parent for folder in new)}:
                _flush(folder)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Whatever goes wrong with the file, in one sentence."""
        try:
            yield
        except (sqlite3.Error, OSError, ValueError, ZeroDivisionError) as error:
            raise LedgerError(self._sentence(error)) from error

    def _sentence(self, error: Exception) -> str:
        name = getattr(error, "sqlite_errorname", "")
        if name == "SQLITE_NOTADB":
            return f"{self.path}: this is not a ledger; expected an SQLite file"
        if name.startswith("SQLITE_BUSY"):
            return f"{self.path}: other processes kept the ledger busy for {MAX_WAIT:g} seconds; try again"
        if os.path.isdir(self.path):
            return f"{self.path}: this is a folder; expected the file of a ledger"
        return f"{self.path}: the ledger cannot be used ({getattr(error, 'strerror', None) or error})"


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=MAX_WAIT, isolation_level=None
    )
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA fullfsync = ON")
    return connection


def _upgrade(connection: sqlite3.Connection) -> None:
    """Make the first format the second; a cap of what was counted apart bounds its people's account at half of it."""
    for statement in UPGRADE:
        connection.execute(statement)
    connection.execute("INSERT INTO secret VALUES (?)", (secrets.token_bytes(32),))
    caps = dict(connection.execute("SELECT data_set, epsilon FROM caps").fetchall())
    for name in [name for name in caps if name.endswith(APART)]:
        people, half = name.removesuffix(APART), Fraction(caps[name]) / 2
        if people not in caps:
            connection.execute(
                "UPDATE caps SET data_set = ?, epsilon = ? WHERE data_set = ?", (people, str(half), name)
            )
        else:
            least = min(half, Fraction(caps[people]))
            connection.execute("DELETE FROM caps WHERE data_set = ?", (name,))
            connection.execute("UPDATE caps SET epsilon = ? WHERE data_set = ?", (str(least), people))


def _entries(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM entries").fetchone()[0])


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _flush(folder: Path) -> None:
    """Put the names in a folder on the disk, where the system has a way to do so."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
