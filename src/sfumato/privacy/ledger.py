"""The ledger: what has been spent on which data set, across processes and restarts, in one SQLite file.

A spend is reserved before any noise is drawn and settled once its release is in place; what a crash left reserved
still counts. SQLite keeps a rollback journal here, with `synchronous=EXTRA`: entry and journal deletion are on the
disk before `reserve` returns, so that neither a kill nor a power failure takes a spend back. Write-ahead logging is
left alone: it would be faster, but needs shared memory, and its usual setting forgets the last commits.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Literal

from sfumato.errors import BudgetError, LedgerError, ParameterError
from sfumato.privacy.loss import Approximate, exact

FORMAT = 1
APPLICATION = int.from_bytes(b"Sfum", "big")
MAX_WAIT = 60.0
"""Seconds to wait for other processes."""
TABLES = (
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, release TEXT NOT NULL UNIQUE, data_set TEXT NOT NULL, "
    "epsilon TEXT NOT NULL, delta TEXT NOT NULL, method TEXT NOT NULL, folder TEXT NOT NULL, "
    "state TEXT NOT NULL CHECK (state IN ('reserved', 'settled')), reserved_at TEXT NOT NULL, settled_at TEXT)",
    "CREATE TABLE caps (data_set TEXT PRIMARY KEY NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)
COLUMNS = "release, data_set, epsilon, delta, method, folder, state, reserved_at, settled_at"
# Closing any handle of a file gives up all locks that this process has on it, so no thread may use a ledger while
# another has the handle open with which the file is made.
_making = threading.Lock()

Number = int | float | Fraction
NOTHING = Approximate(Fraction(0), Fraction(0))


def format_loss(loss: Approximate) -> str:
    """A loss in words, each number in as few digits as tell it from its neighbours."""
    return f"ε = {format_number(loss.epsilon)}" + (f", δ = {format_number(loss.delta)}" if loss.delta else "")


def format_number(number: Fraction) -> str:
    """A number as people write it."""
    return repr(float(number)).removesuffix(".0")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One release and what it cost; `reserved` until the release is known to be in place. Times are in UTC."""

    release: str
    data_set: str
    cost: Approximate
    method: str
    folder: str
    state: Literal["reserved", "settled"]
    reserved_at: str
    settled_at: str | None


@dataclass(frozen=True, kw_only=True)
class Account:
    """Everything about one data set."""

    data_set: str
    entries: tuple[Entry, ...] = ()
    cap: Approximate | None = None

    @property
    def spent(self) -> Approximate:
        """What its entries cost together, reserved or settled."""
        return sum((entry.cost for entry in self.entries), NOTHING)

    @property
    def reserved(self) -> int:
        """How many entries are not settled."""
        return sum(entry.state == "reserved" for entry in self.entries)

    @property
    def left(self) -> Approximate | None:
        """What can still be spent under the cap; `None` without a cap."""
        if self.cap is None:
            return None
        epsilon, delta = self.cap.epsilon - self.spent.epsilon, self.cap.delta - self.spent.delta
        return Approximate(max(epsilon, Fraction(0)), max(delta, Fraction(0)))


class Ledger:
    """The ledger in a file, made when something is first written to it.

    Nothing stays open between two calls, so that a ledger can be used from any thread and after a fork.

    >>> ledger = sf.Ledger("ledger.sqlite")
    >>> ledger.cap("town", 2)
    >>> ledger.data_sets()
    ['town']
    """

    def __init__(self, path: Path | str | None = None) -> None:
        self._named = path

    @cached_property
    def path(self) -> Path:
        """The file."""
        return default_path() if self._named is None else Path(self._named)

    def reserve(
        self, *, data_set: str, release: str, epsilon: Number, delta: Number = 0, method: str = "", folder: str = ""
    ) -> None:
        """Take a spend out of what is left, durably; raises, and writes nothing, if that is not enough."""
        asked = _loss(exact(epsilon), delta)
        _check_name(data_set)
        with self._transaction(write=True) as connection:
            if connection.execute("SELECT 1 FROM entries WHERE release = ?", (release,)).fetchone():
                raise LedgerError(f"{self.path}: the release {release} is charged already")
            _refuse_beyond_cap(_account(connection, data_set), asked)
            connection.execute(
                f"INSERT INTO entries ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, 'reserved', ?, NULL)",
                (release, data_set, str(asked.epsilon), str(asked.delta), method, _as_text(folder), _now()),
            )

    def check(self, data_set: str, epsilon: Number, delta: Number = 0) -> None:
        """Raise now if this spend would be refused, and take nothing."""
        _refuse_beyond_cap(self.account(data_set), _loss(exact(epsilon), delta))

    def settle(self, release: str) -> None:
        """Note that the release is in place; settling twice changes nothing."""
        with self._transaction(write=True) as connection:
            done = connection.execute(
                "UPDATE entries SET state = 'settled', settled_at = coalesce(settled_at, ?) WHERE release = ?",
                (_now(), release),
            )
            if not done.rowcount:
                raise LedgerError(f"{self.path}: there is no entry for the release {release}")

    def cap(self, data_set: str, epsilon: Number, delta: Number = 0) -> None:
        """Allow no more than this in all; below what is spent already, nothing more can be spent."""
        most = _loss(epsilon, delta)
        _check_name(data_set)
        with self._transaction(write=True) as connection:
            connection.execute(
                "INSERT OR REPLACE INTO caps (data_set, epsilon, delta) VALUES (?, ?, ?)",
                (data_set, str(most.epsilon), str(most.delta)),
            )

    def uncap(self, data_set: str) -> None:
        """Remove the cap of a data set, if it has one."""
        _check_name(data_set)
        with self._transaction(write=True) as connection:
            connection.execute("DELETE FROM caps WHERE data_set = ?", (data_set,))

    def accounts(self) -> list[Account]:
        """Every data set with an entry or a cap, by name."""
        if not self._has_been_written():
            return []
        with self._transaction(write=False) as connection:
            if _is_empty(connection):
                return []
            rows = connection.execute("SELECT data_set FROM entries UNION SELECT data_set FROM caps ORDER BY 1")
            return [_account(connection, str(name)) for (name,) in rows.fetchall()]

    def account(self, data_set: str) -> Account:
        """What the ledger knows about a data set; an empty account if it knows nothing."""
        return next((found for found in self.accounts() if found.data_set == data_set), Account(data_set=data_set))

    def entries(self, data_set: str | None = None) -> list[Entry]:
        """The entries of a data set, or of one after the other, in the order of their reservation."""
        return [
            entry for account in self.accounts() if data_set in (None, account.data_set) for entry in account.entries
        ]

    def entry(self, release: str) -> Entry:
        """The entry of a release."""
        for entry in self.entries():
            if entry.release == release:
                return entry
        raise LedgerError(f"{self.path}: there is no entry for the release {release}")

    def spent(self, data_set: str) -> Approximate:
        """What has been spent on a data set, reserved or settled."""
        return self.account(data_set).spent

    def data_sets(self) -> list[str]:
        """The names of the data sets with an entry or a cap."""
        return [account.data_set for account in self.accounts()]

    def _has_been_written(self) -> bool:
        try:
            return self.path.stat().st_size > 0
        except FileNotFoundError:
            return False
        except (OSError, ValueError) as error:
            raise LedgerError(self._sentence(error)) from error

    @contextmanager
    def _transaction(self, *, write: bool) -> Iterator[sqlite3.Connection]:
        """A connection of its own in a transaction; one that writes has the ledger to itself from the start."""
        try:
            if write:
                self._make()
            with closing(_connect(self.path)) as connection:
                connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                self._check_format(connection, write=write)
                yield connection
                connection.execute("COMMIT")
        except (sqlite3.Error, OSError, ValueError, ZeroDivisionError) as error:
            raise LedgerError(self._sentence(error)) from error

    def _check_format(self, connection: sqlite3.Connection, *, write: bool) -> None:
        if _is_empty(connection):
            for statement in TABLES if write else ():
                connection.execute(statement)
            return
        if _number(connection, "application_id") != APPLICATION:
            raise LedgerError(f"{self.path}: this is a database of another program; expected a ledger")
        found = _number(connection, "user_version")
        if found != FORMAT:
            raise LedgerError(f"{self.path}: this ledger has format {found}; this version reads format {FORMAT}")

    def _make(self) -> None:
        """An empty file that only its owner may read, and its place in the folder on the disk."""
        with _making:
            if self.path.exists():
                return
            new = [folder for folder in self.path.absolute().parents if not folder.exists()]
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            except FileExistsError:
                return
            for folder in {self.path.parent, *(folder.parent for folder in new)}:
                _flush(folder)

    def _sentence(self, error: Exception) -> str:
        name = getattr(error, "sqlite_errorname", "")
        if name == "SQLITE_NOTADB":
            return f"{self.path}: this is not a ledger; expected an SQLite file"
        if name.startswith("SQLITE_BUSY"):
            return f"{self.path}: other processes kept the ledger busy for {MAX_WAIT:g} seconds; try again"
        if os.path.isdir(self.path):
            return f"{self.path}: this is a folder; expected the file of a ledger"
        return f"{self.path}: the ledger cannot be used ({getattr(error, 'strerror', None) or error})"


def default_path() -> Path:
    """Where the ledger is unless told otherwise: `SFUMATO_LEDGER`, else in the user's data folder."""
    named, data = os.environ.get("SFUMATO_LEDGER"), os.environ.get("XDG_DATA_HOME", "")
    if named:
        return Path(named)
    try:
        folder = Path(data) if os.path.isabs(data) else Path.home() / ".local" / "share"
    except RuntimeError as error:
        raise LedgerError("there is no home folder for the ledger; name its file with SFUMATO_LEDGER") from error
    return folder / "sfumato" / "ledger.sqlite"


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=MAX_WAIT, isolation_level=None
    )
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA fullfsync = ON")
    return connection


def _is_empty(connection: sqlite3.Connection) -> bool:
    return not _number(connection, "user_version") and not connection.execute("SELECT 1 FROM sqlite_master").fetchone()


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _account(connection: sqlite3.Connection, data_set: str) -> Account:
    rows = connection.execute(f"SELECT {COLUMNS} FROM entries WHERE data_set = ? ORDER BY number", (data_set,))
    found = [dict(zip(COLUMNS.split(", "), row, strict=True)) for row in rows]
    costs = [Approximate(Fraction(row.pop("epsilon")), Fraction(row.pop("delta"))) for row in found]
    entries = tuple(Entry(cost=cost, **row) for cost, row in zip(costs, found, strict=True))
    cap = connection.execute("SELECT epsilon, delta FROM caps WHERE data_set = ?", (data_set,)).fetchone()
    most = Approximate(Fraction(cap[0]), Fraction(cap[1])) if cap else None
    return Account(data_set=data_set, entries=entries, cap=most)


def _refuse_beyond_cap(account: Account, asked: Approximate) -> None:
    cap = account.cap
    if cap is None or cap.covers(account.spent + asked):
        return
    letter, wanted, spent, most = (
        ("ε", asked.epsilon, account.spent.epsilon, cap.epsilon)
        if account.spent.epsilon + asked.epsilon > cap.epsilon
        else ("δ", asked.delta, account.spent.delta, cap.delta)
    )
    left = max(most - spent, Fraction(0))
    raise BudgetError(
        f"{account.data_set}: {letter} = {format_number(wanted)} is asked for, but {format_number(left)} is left of "
        f"the cap of {format_number(most)}, with {format_number(spent)} spent"
    )


def _loss(epsilon: Number, delta: Number) -> Approximate:
    """Both numbers exactly; either may be 0."""
    found = Approximate(
        Fraction(0) if epsilon == 0 else exact(epsilon), Fraction(0) if delta == 0 else exact(delta, "delta")
    )
    if found.delta > 1:
        raise ParameterError(f"delta is {delta}; expected a number from 0 to 1")
    return found


def _check_name(data_set: str) -> None:
    if not data_set or data_set != _as_text(data_set):
        raise ParameterError(f"{data_set!r} is not the name of a data set; expected a name of text")


def _as_text(name: str) -> str:
    """The name with what is not text, and so cannot be stored, spelled out."""
    return name.encode(errors="backslashreplace").decode()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _flush(folder: Path) -> None:
    """Put the names in a folder on the disk, where the system has a way to do so."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
