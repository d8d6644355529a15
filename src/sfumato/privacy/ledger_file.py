"""The file of a ledger: SQLite, durable before a call returns, and missed when it is gone.

SQLite keeps a rollback journal here, with `synchronous=EXTRA`: entry and journal deletion are on the disk before a
transaction ends, so that neither a kill nor a power failure takes a spend back. Write-ahead logging is left alone: it
would be faster, but needs shared memory, and its usual setting forgets the last commits.

The ledger counts how often it was written, and beside it lies its mark, a file with that number. A ledger that is gone,
or was written less often than its mark says, is an error: what was spent, a cap or a look at the rows would be
forgotten. The mark is written after the ledger and read before it, so it may lag behind, but is never ahead.
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
from itertools import chain
from pathlib import Path
from typing import Self

from sfumato.errors import LedgerError

FORMAT = 6
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
SECOND_FORMAT = (
    "ALTER TABLE entries ADD COLUMN neighbours TEXT NOT NULL DEFAULT 'add-remove'",
    "ALTER TABLE entries ADD COLUMN rows TEXT NOT NULL DEFAULT ''",
    "CREATE TABLE looks (data_set TEXT NOT NULL, rows TEXT NOT NULL, what TEXT NOT NULL, at TEXT NOT NULL, "
    "PRIMARY KEY (data_set, rows))",
    "CREATE TABLE secret (key BLOB NOT NULL)",
    f"UPDATE entries SET data_set = substr(data_set, 1, length(data_set) - {len(APART)}), "
    f"neighbours = 'replace-sensitive' WHERE data_set LIKE '_%{APART}'",
)
THIRD_FORMAT = ("CREATE TABLE writes (number INTEGER NOT NULL)", "INSERT INTO writes VALUES (0)")
FOURTH_FORMAT = (
    "ALTER TABLE entries ADD COLUMN hides TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE entries ADD COLUMN person TEXT NOT NULL DEFAULT ''",
)
FIFTH_FORMAT = ("ALTER TABLE entries ADD COLUMN pilot INTEGER NOT NULL DEFAULT 0",)
SIXTH_FORMAT = (
    "ALTER TABLE entries ADD COLUMN rho TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE caps ADD COLUMN rho TEXT NOT NULL DEFAULT ''",
    f"PRAGMA user_version = {FORMAT}",
)
# Closing any handle of a file gives up all locks that this process has on it, so no thread may use a ledger while
# another has the handle open with which the file is made.
_making = threading.Lock()


@dataclass(frozen=True)
class Mark:
    """How many entries a ledger has, and how often it was written, as far as it counted that."""

    entries: int = 0
    writes: int = 0

    @classmethod
    def of(cls, connection: sqlite3.Connection) -> Self:
        """The mark of a ledger as it is."""
        counted = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'writes'").fetchone()
        writes = connection.execute("SELECT number FROM writes").fetchone()[0] if counted else 0
        return cls(int(connection.execute("SELECT count(*) FROM entries").fetchone()[0]), int(writes))

    def behind(self, other: Self) -> bool:
        """Whether the other has what this one lacks."""
        return self.entries < other.entries or self.writes < other.writes


@dataclass(frozen=True)
class LedgerFile:
    """The file, made when something is first written to it; nothing stays open between two calls."""

    path: Path

    @property
    def mark(self) -> Path:
        """The file that says how often the ledger was written; it lies beside the file itself, not beside a link."""
        real = Path(os.path.realpath(self.path))
        return real.with_name(f"{real.name}.mark")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection that sees the entries at one moment; `None` where nothing has been written yet."""
        with self._errors():
            mark = self._read_mark()
            if not self._has_been_written():
                self._refuse_older(mark, None)
                yield None
                return
            with closing(_connect(self.path)) as connection, closing(sqlite3.connect(":memory:")) as copy:
                connection.execute("BEGIN")
                found = self._format(connection)
                self._refuse_older(mark, connection if found else None)
                if found in (0, FORMAT):
                    yield connection if found else None
                else:
                    connection.backup(copy)
                    _upgrade(copy, found)
                    yield copy

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection that has the ledger to itself; what it did is on the disk when this ends, or none of it is."""
        with self._errors():
            mark = self._read_mark()
            self._make(mark)
            with closing(_connect(self.path)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                found = self._format(connection)
                self._refuse_older(mark, connection if found else None)
                if not found:
                    for statement in TABLES:
                        connection.execute(statement)
                _upgrade(connection, found or 1)
                yield connection
                connection.execute("UPDATE writes SET number = number + 1")
                now = Mark.of(connection)
                connection.execute("COMMIT")
            self._write_mark(now)

    def _read_mark(self) -> Mark:
        try:
            numbers = self.mark.read_bytes().split()
        except (FileNotFoundError, NotADirectoryError):
            return Mark()
        if not 1 <= len(numbers) <= 2 or not all(number.isdigit() for number in numbers):
            raise LedgerError(f"{self.mark}: this is not the mark of a ledger; restore it from a backup")
        return Mark(*map(int, numbers))

    def _write_mark(self, now: Mark) -> None:
        """Note what there is, under a name of its own until it is whole; another process may have noted more."""
        if now.behind(self._read_mark()):
            return
        with tempfile.NamedTemporaryFile("w", dir=self.mark.parent, prefix=f".{self.mark.name}.", delete=False) as new:
            new.write(f"{now.entries} {now.writes}\n")
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

    def _refuse_older(self, mark: Mark, connection: sqlite3.Connection | None) -> None:
        now = Mark() if connection is None else Mark.of(connection)
        if now.behind(mark):
            what, has, had = ("writes", now.writes, mark.writes)
            if not mark.writes:
                what, has, had = ("entries", now.entries, mark.entries)
            found = f"has {has} of" if self.path.exists() else "is gone, with"
            raise LedgerError(
                f"{self.path}: this ledger {found} the {had} {what} that its mark counts; restore it from a backup, "
                f"or, if what was spent may be forgotten, remove {self.mark.name}"
            )

    def _has_been_written(self) -> bool:
        try:
            return self.path.stat().st_size > 0
        except FileNotFoundError:
            return False

    def _make(self, mark: Mark) -> None:
        """An empty file that only its owner may read, and its place in the folder on the disk."""
        with _making:
            if self.path.exists():
                return
            self._refuse_older(mark, None)
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


def _upgrade(connection: sqlite3.Connection, found: int) -> None:
    """Make an earlier format the present one."""
    if found < 2:
        _make_one_account(connection)
    later = {3: THIRD_FORMAT, 4: FOURTH_FORMAT, 5: FIFTH_FORMAT, 6: SIXTH_FORMAT}
    for statement in chain.from_iterable(later[number] for number in later if found < number):
        connection.execute(statement)


def _make_one_account(connection: sqlite3.Connection) -> None:
    """Make the first format the second; a cap of what was counted apart bounds its people's account at half of it."""
    for statement in SECOND_FORMAT:
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
