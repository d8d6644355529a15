"""The ledger: what has been spent on which people, across processes and restarts, in one file.

A spend is reserved before any noise is drawn and settled once its release is in place; what a crash left reserved
still counts.

An account is a population, and its cap bounds all that its people can suffer. A release that hides whether somebody
is in the table at ε costs ε. One that hides a sensitive value alone (or an origin), by replacing it, at ε costs ε/2:
replacing a row is to remove one and to add another, so ε of adding and removing is 2ε of replacing. So within a cap
of (ε, δ), all releases together are (ε, δ)-differentially private for whoever's presence is hidden at all, and
(2ε, (1 + e^ε) δ) for anybody's sensitive value.

A cap of ε and δ is kept if either the ε and δ of all releases add up to no more, or their Rényi divergences do, which
count many small releases and Gaussian noise for less (privacy/composition.py). The first holds even if costs are chosen
after seeing earlier releases, and so does a cap of ρ, within which all releases together are ρ-zCDP.

Losses add up where they are of the same people and hide the same thing. So releases of one account count people alike,
by rows or by the same column, and those that hide one column alone all hide the same one: another would publish as it
is what the first one hid.
"""

import hashlib
import hmac
import os
import sqlite3
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from sfumato.errors import LedgerError, ParameterError
from sfumato.privacy.account import Account, Entry, refuse_beyond_cap, refuse_other_people, weigh
from sfumato.privacy.composition import NOTHING
from sfumato.privacy.ledger_file import LedgerFile
from sfumato.privacy.loss import Approximate, Concentrated, exact
from sfumato.privacy.population import population_name, refuse_look_alike

COLUMNS = (
    "release, data_set, epsilon, delta, rho, neighbours, rows, hides, person, pilot, method, folder, state, "
    "reserved_at, settled_at"
)
Number = int | float | Fraction


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

    @property
    def _file(self) -> LedgerFile:
        return LedgerFile(self.path)

    def reserve(
        self,
        *,
        data_set: str,
        release: str,
        epsilon: Number,
        delta: Number = 0,
        rho: Number | None = None,
        neighbours: str = "add-remove",
        rows: str = "",
        hides: str = "",
        person: str = "",
        pilot: bool = False,
        method: str = "",
        folder: str = "",
    ) -> None:
        """Take a spend out of what is left, durably; raises, and writes nothing, if that is not enough.

        With `rho`, the ε and δ are those that follow from it, and it adds up as ρ where that is less.
        `rows` is a digest of what is published; it is stored under a secret key, and `other_names` finds it again.
        """
        asked, name = _loss(exact(epsilon), delta), population_name(data_set)
        concentrated = None if rho is None else Concentrated(exact(rho, "rho"))
        with self._file.writing() as connection:
            if connection.execute("SELECT 1 FROM entries WHERE release = ?", (release,)).fetchone():
                raise LedgerError(f"{self.path}: the release {release} is charged already")
            refuse_look_alike(name, _names(connection))
            account = _account(connection, name)
            refuse_other_people(account, hides, person)
            refuse_beyond_cap(account, weigh(asked, concentrated, neighbours))
            amounts = (str(asked.epsilon), str(asked.delta), str(concentrated.rho) if concentrated else "")
            told = (method, _as_text(folder), "reserved", _now(), None)
            connection.execute(
                f"INSERT INTO entries ({COLUMNS}) VALUES ({', '.join('?' * len(COLUMNS.split(', ')))})",
                (release, name, *amounts, neighbours, _keyed(connection, rows), hides, person, int(pilot), *told),
            )

    def check(
        self,
        data_set: str,
        epsilon: Number,
        delta: Number = 0,
        neighbours: str = "add-remove",
        *,
        rho: Number | None = None,
        hides: str = "",
        person: str = "",
    ) -> None:
        """Raise now if this spend would be refused, and take nothing."""
        asked, name = _loss(exact(epsilon), delta), population_name(data_set)
        refuse_look_alike(name, self.data_sets())
        account = self.account(name)
        refuse_other_people(account, hides, person)
        concentrated = None if rho is None else Concentrated(exact(rho, "rho"))
        refuse_beyond_cap(account, weigh(asked, concentrated, neighbours))

    def settle(self, release: str) -> None:
        """Note that the release is in place; settling twice changes nothing."""
        with self._file.writing() as connection:
            done = connection.execute(
                "UPDATE entries SET state = 'settled', settled_at = coalesce(settled_at, ?) WHERE release = ?",
                (_now(), release),
            )
            if not done.rowcount:
                raise LedgerError(f"{self.path}: there is no entry for the release {release}")

    def cap(self, data_set: str, epsilon: Number = 0, delta: Number = 0, *, rho: Number | None = None) -> None:
        """Allow no more than this in all, as ε and δ or as ρ; below what is spent, nothing more can be spent."""
        most, name = _loss(epsilon, delta), population_name(data_set)
        concentrated = "" if rho is None else str(exact(rho, "rho"))
        if concentrated and most != NOTHING:
            raise ParameterError("a cap is one of epsilon and delta, or of rho; give one of both")
        with self._file.writing() as connection:
            refuse_look_alike(name, _names(connection))
            connection.execute(
                "INSERT OR REPLACE INTO caps (data_set, epsilon, delta, rho) VALUES (?, ?, ?, ?)",
                (name, str(most.epsilon), str(most.delta), concentrated),
            )

    def uncap(self, data_set: str) -> None:
        """Remove the cap of a data set, if it has one."""
        name = population_name(data_set)
        with self._file.writing() as connection:
            connection.execute("DELETE FROM caps WHERE data_set = ?", (name,))

    def note_look(self, data_set: str, what: str, *rows: str) -> None:
        """Note that somebody saw measures of these people's rows: what is set from now on may depend on them.

        `rows` are digests of the rows and of the file they came in, stored under a secret key.
        """
        name, digests = population_name(data_set), rows or ("",)
        with self._file.reading() as connection:
            if connection is not None and all(_seen(connection, name, one) for one in digests):
                return
        with self._file.writing() as connection:
            refuse_look_alike(name, _names(connection))
            connection.executemany(
                "INSERT OR IGNORE INTO looks (data_set, rows, what, at) VALUES (?, ?, ?, ?)",
                [(name, _keyed(connection, one), what, _now()) for one in digests],
            )

    def looked(self, data_set: str | None, *rows: str) -> str | None:
        """What first showed measures of data under this name, if there is one, or of the same rows or file."""
        with self._file.reading() as connection:
            if connection is None:
                return None
            digests = [_keyed(connection, one) for one in rows if one]
            known = ", ".join("?" * len(digests))
            found = connection.execute(
                f"SELECT what FROM looks WHERE data_set = ? OR rows IN ({known}) ORDER BY rowid",
                (population_name(data_set) if data_set else "", *digests),
            ).fetchone()
            return found and str(found[0])

    def charged(self, release: str, data_set: str, rows: str) -> Entry | None:
        """The entry of a release of these rows in the account of a data set, if there is one."""
        with self._file.reading() as connection:
            if connection is None:
                return None
            entries, keyed = _account(connection, population_name(data_set)).entries, _keyed(connection, rows)
            return next((entry for entry in entries if (entry.release, entry.rows) == (release, keyed)), None)

    def other_names(self, data_set: str, rows: str) -> list[str]:
        """The other names under which the same rows were published."""
        with self._file.reading() as connection:
            if connection is None:
                return []
            found = connection.execute(
                "SELECT DISTINCT data_set FROM entries WHERE rows = ? AND data_set != ? ORDER BY 1",
                (_keyed(connection, rows), population_name(data_set)),
            )
            return [str(name) for (name,) in found] if rows else []

    def accounts(self) -> list[Account]:
        """Every data set with an entry, a cap or a look at its rows, by name."""
        with self._file.reading() as connection:
            return [] if connection is None else [_account(connection, name) for name in _names(connection)]

    def account(self, data_set: str) -> Account:
        """What the ledger knows about a data set; an empty account if it knows nothing."""
        name = population_name(data_set)
        with self._file.reading() as connection:
            return Account(data_set=name) if connection is None else _account(connection, name)

    def entries(self, data_set: str | None = None) -> list[Entry]:
        """The entries of a data set, or of one after the other, in the order of their reservation."""
        accounts = self.accounts() if data_set is None else [self.account(data_set)]
        return [entry for account in accounts for entry in account.entries]

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
        """The names of all that have an account."""
        return [account.data_set for account in self.accounts()]


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


def _names(connection: sqlite3.Connection) -> list[str]:
    tables = ("entries", "caps", "looks")
    rows = connection.execute(" UNION ".join(f"SELECT data_set FROM {table}" for table in tables) + " ORDER BY 1")
    return [str(name) for (name,) in rows.fetchall()]


def _account(connection: sqlite3.Connection, data_set: str) -> Account:
    rows = connection.execute(f"SELECT {COLUMNS} FROM entries WHERE data_set = ? ORDER BY number", (data_set,))
    found = [dict(zip(COLUMNS.split(", "), row, strict=True)) for row in rows]
    costs = [_stored(row.pop("epsilon"), row.pop("delta")) for row in found]
    rhos = [_stored_rho(row.pop("rho")) for row in found]
    entries = tuple(
        Entry(cost=cost, concentrated=rho, **row) for cost, rho, row in zip(costs, rhos, found, strict=True)
    )
    cap = connection.execute("SELECT epsilon, delta, rho FROM caps WHERE data_set = ?", (data_set,)).fetchone()
    most = (_stored_rho(cap[2]) or _stored(cap[0], cap[1])) if cap else None
    look = connection.execute("SELECT what FROM looks WHERE data_set = ? ORDER BY rowid", (data_set,)).fetchone()
    return Account(data_set=data_set, entries=entries, cap=most, looked=look and str(look[0]))


def _stored(epsilon: str, delta: str) -> Approximate:
    return Approximate(Fraction(epsilon), Fraction(delta))


def _stored_rho(rho: str) -> Concentrated | None:
    return Concentrated(Fraction(rho)) if rho else None


def _seen(connection: sqlite3.Connection, data_set: str, rows: str) -> bool:
    """Whether a look at just these rows was noted."""
    look = (data_set, _keyed(connection, rows))
    return connection.execute("SELECT 1 FROM looks WHERE data_set = ? AND rows = ?", look).fetchone() is not None


def _keyed(connection: sqlite3.Connection, rows: str) -> str:
    """The digest of rows under the ledger's own key: an entry alone does not let anybody test a guess of the rows."""
    (key,) = connection.execute("SELECT key FROM secret").fetchone()
    return hmac.new(key, rows.encode(), hashlib.sha256).hexdigest() if rows else ""


def _loss(epsilon: Number, delta: Number) -> Approximate:
    """Both numbers exactly; either may be 0."""
    found = Approximate(
        Fraction(0) if epsilon == 0 else exact(epsilon), Fraction(0) if delta == 0 else exact(delta, "delta")
    )
    if found.delta > 1:
        raise ParameterError(f"delta is {delta}; expected a number from 0 to 1")
    return found


def _as_text(name: str) -> str:
    """The name with what is not text, and so cannot be stored, spelled out."""
    return name.encode(errors="backslashreplace").decode()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
