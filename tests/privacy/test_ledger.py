"""The ledger: exact sums, caps that hold, and what other processes, crashes and wrong files do to it."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
import textwrap
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import sfumato
from sfumato.errors import BudgetError, LedgerError, ParameterError
from sfumato.privacy import ledger_file
from sfumato.privacy.account import BY_ROW, Account, format_loss
from sfumato.privacy.composition import Spend, least_epsilon
from sfumato.privacy.ledger import Ledger, default_path
from sfumato.privacy.ledger_file import APPLICATION, FORMAT, TABLES
from sfumato.privacy.loss import Approximate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PUBLISHERS = 50
TRIES = 3
SIZE = Fraction(1, 10)
FITTING = 73
NOBODY = 65534


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite")


def reserve(ledger: Ledger, release: str, epsilon: Any = 1, delta: Any = 0, data_set: str = "people") -> None:
    ledger.reserve(data_set=data_set, release=release, epsilon=epsilon, delta=delta, method="fake", folder="r")


def spend(epsilon: Any, delta: Any = 0) -> Approximate:
    return Approximate(Fraction(str(epsilon)), Fraction(str(delta)))


@pytest.mark.parametrize(
    ("cost", "words"),
    [((0.3, 0), "ε = 0.3"), ((3, 0), "ε = 3"), ((0.5, 1e-9), "ε = 0.5, δ = 1e-09"), ((0, 0), "ε = 0")],
)
def test_costs_are_shown_short(cost: tuple[float, float], words: str) -> None:
    assert format_loss(spend(*cost)) == words


def test_sums_are_exact(ledger: Ledger) -> None:
    """Ten tenths are one; added in floating point they are not, and would leave room for nothing or for too much."""
    ledger.cap("people", 1)
    for number in range(10):
        reserve(ledger, str(number), 0.1)
    assert ledger.spent("people") == spend(1)
    assert sum([0.1] * 10) != 1
    with pytest.raises(BudgetError):
        reserve(ledger, "more", 1e-300)


def test_an_entry_tells_everything_about_a_release(ledger: Ledger) -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)
    ledger.reserve(data_set="people", release="a", epsilon=0.5, delta=1e-6, method="tree height=4", folder="out/r")
    (entry,) = ledger.entries()
    assert (entry.release, entry.data_set, entry.cost) == ("a", "people", spend(0.5, 1e-6))
    assert (entry.method, entry.folder, entry.state, entry.settled_at) == ("tree height=4", "out/r", "reserved", None)
    assert before <= datetime.fromisoformat(entry.reserved_at) <= datetime.now(UTC)
    ledger.settle("a")
    settled = ledger.entry("a")
    assert settled.state == "settled"
    assert datetime.fromisoformat(settled.settled_at or "") >= datetime.fromisoformat(entry.reserved_at)
    ledger.settle("a")
    assert ledger.entry("a") == settled
    assert ledger.spent("people") == spend(0.5, 1e-6)


def test_a_release_is_charged_once(ledger: Ledger) -> None:
    reserve(ledger, "a")
    for data_set in ("people", "others"):
        with pytest.raises(LedgerError, match="the release a is charged already"):
            reserve(ledger, "a", data_set=data_set)
    ledger.settle("a")
    with pytest.raises(LedgerError, match="charged already"):
        reserve(ledger, "a")
    assert len(ledger.entries()) == 1


def test_an_unknown_release_cannot_be_settled(ledger: Ledger) -> None:
    for act in (ledger.settle, ledger.entry):
        with pytest.raises(LedgerError, match="there is no entry for the release ghost"):
            act("ghost")


def test_a_refusal_says_what_was_asked_what_is_left_and_the_cap(ledger: Ledger) -> None:
    ledger.cap("people", 3, 1e-5)
    reserve(ledger, "a", 2.5)
    with pytest.raises(BudgetError) as refusal:
        reserve(ledger, "b", 0.6)
    assert str(refusal.value) == "people: ε = 0.6 is asked for, but 0.5 is left of the cap of 3, with 2.5 spent"
    with pytest.raises(BudgetError) as refusal:
        reserve(ledger, "b", 0.5, 2e-5)
    assert str(refusal.value) == "people: δ = 2e-05 is asked for, but 1e-05 is left of the cap of 1e-05, with 0 spent"
    reserve(ledger, "b", 0.5, 1e-5)
    assert ledger.account("people").left == spend(0)
    assert [entry.release for entry in ledger.entries()] == ["a", "b"]


def test_a_cap_below_what_is_spent_lets_nothing_more_through(ledger: Ledger) -> None:
    reserve(ledger, "a", 2)
    ledger.cap("people", 1)
    assert ledger.account("people").left == spend(0)
    with pytest.raises(BudgetError, match=r"ε = 0.1 is asked for, but 0 is left of the cap of 1, with 2 spent"):
        reserve(ledger, "b", 0.1)
    ledger.uncap("people")
    assert ledger.account("people").left is None
    reserve(ledger, "b", 0.1)
    ledger.uncap("people")


def test_a_cap_without_delta_allows_pure_epsilon_alone(ledger: Ledger) -> None:
    ledger.cap("people", 3)
    with pytest.raises(BudgetError, match="δ = 1e-06 is asked for, but 0 is left of the cap of 0"):
        reserve(ledger, "a", 1, 1e-6)
    reserve(ledger, "a", 1)


def test_data_sets_do_not_mix(ledger: Ledger) -> None:
    ledger.cap("a", 1)
    reserve(ledger, "1", 1, data_set="a")
    reserve(ledger, "2", 9, data_set="b")
    assert ledger.data_sets() == ["a", "b"]
    assert [entry.release for entry in ledger.entries("b")] == ["2"]
    assert (ledger.spent("a"), ledger.spent("b"), ledger.spent("c")) == (spend(1), spend(9), spend(0))
    assert ledger.account("c") == Account(data_set="c")


@pytest.mark.parametrize(
    ("epsilon", "delta", "sentence"),
    [
        (0, 0, "epsilon is 0; expected a number above 0"),
        (-1, 0, "epsilon is -1"),
        (1, -1e-9, "delta is -1e-09"),
        (1, 1.5, r"delta is 1\.5; expected a number from 0 to 1"),
        (float("nan"), 0, "epsilon is nan"),
        (float("inf"), 0, "epsilon is inf"),
        (2e6, 0, "at most 1,000,000"),
    ],
)
def test_amounts_out_of_range_are_refused(ledger: Ledger, epsilon: float, delta: float, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        reserve(ledger, "a", epsilon, delta)
    assert not ledger.path.exists()


INVISIBLE = [f"town{letter}" for letter in "\u3164\uffa0\u115f\u1160\u2800\ufe0f\u034f"]
PHONETIC = ["ᴛᴏᴡɴ", "tᴏwn", "ꓔꓳꓪꓠ", "tɔwn", "ᎢᎾᎳᏁ"]
"""Letters of phoneticians, and of scripts that look Latin."""


@pytest.mark.parametrize("name", ["", " ", "\ud800", "a\x00b", "to\u200bwn", "t\u043ewn", *INVISIBLE, *PHONETIC])
def test_odd_names_are_refused(ledger: Ledger, name: str) -> None:
    for act in (lambda: reserve(ledger, "a", data_set=name), lambda: ledger.cap(name, 1), lambda: ledger.uncap(name)):
        with pytest.raises(ParameterError, match=r"is not the name of a data set|mixes Cyrillic and Latin|passes for"):
            act()


def test_any_text_names_a_data_set_and_a_folder(ledger: Ledger) -> None:
    for number, name in enumerate(
        ["a'b", "a", "é", "; DROP TABLE entries", "город", "人々", "東京 census", "Łódź", "straße"]
    ):
        ledger.reserve(data_set=name, release=str(number), epsilon=1, method="m", folder="\udcff")
        assert ledger.spent(name) == spend(1)
    assert {entry.folder for entry in ledger.entries()} == {r"\udcff"}


@pytest.mark.parametrize("same", ["town", " town ", "town\n", "ｔｏｗｎ"])
def test_one_name_has_one_spelling(ledger: Ledger, same: str) -> None:
    ledger.cap("town", 1)
    reserve(ledger, "a", data_set=same)
    assert ledger.data_sets() == ["town"]
    with pytest.raises(BudgetError):
        reserve(ledger, "b", data_set=same)


@pytest.mark.parametrize(
    ("known", "name"),
    [
        ("town", "Town"),
        ("town", "tówn"),
        ("town", "t0wn"),
        ("town", "t०wn"),
        ("town", "tøwn"),
        ("a b", "a_b"),
        ("a b", "A-B"),
        ("all", "a1l"),
        ("coco", "сосо"),
        ("POT", "РОТ"),
        ("KAT", "ΚΑΤ"),
    ],
)
def test_a_name_that_looks_like_another_opens_no_account(ledger: Ledger, known: str, name: str) -> None:
    reserve(ledger, "a", data_set=known)
    for act in (
        lambda: reserve(ledger, "b", data_set=name),
        lambda: ledger.check(name, 1),
        lambda: ledger.cap(name, 1),
        lambda: ledger.note_look(name, "a frontier"),
    ):
        with pytest.raises(ParameterError, match=f"looks like '{known}', which the ledger knows"):
            act()
    assert ledger.data_sets() == [known]


def test_a_cap_bounds_rows_and_sensitive_values_together(ledger: Ledger) -> None:
    """Replacing a value at ε counts half: to replace a row is to remove one and to add another."""
    ledger.cap("town", 1)
    ledger.reserve(data_set="town", release="a", epsilon=1, neighbours="replace-sensitive")
    assert ledger.spent("town") == spend(0.5)
    reserve(ledger, "b", 0.5, data_set="town")
    for neighbours in ("add-remove", "replace-sensitive", "replace-origin"):
        with pytest.raises(BudgetError, match="0 is left of the cap of 1"):
            ledger.reserve(data_set="town", release="c", epsilon=50, neighbours=neighbours)
    assert [entry.neighbours for entry in ledger.entries("town")] == ["replace-sensitive", "add-remove"]


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        ({"hides": "ill"}, {"hides": "sex"}, "a release before hides 'ill', which this one would publish as it is"),
        ({"person": "id"}, {"person": BY_ROW}, "a person is whoever shares 'id' in releases before, and a row in this"),
        ({"person": BY_ROW}, {"person": "id"}, "a person is a row in releases before, and whoever shares 'id'"),
        ({"person": "id"}, {"person": "name"}, "a person is whoever shares 'id' in releases before"),
    ],
)
def test_what_does_not_add_up_is_not_added(
    ledger: Ledger, first: dict[str, str], second: dict[str, str], sentence: str
) -> None:
    ledger.reserve(data_set="town", release="a", epsilon=1, **first)
    ledger.check("town", 1, **first)
    ledger.check("town", 1)
    for act in (
        lambda: ledger.check("town", 1, **second),
        lambda: ledger.reserve(data_set="town", release="b", epsilon=1, **second),
    ):
        with pytest.raises(BudgetError, match=sentence):
            act()
    assert ledger.spent("town") == spend(1)


def test_the_mark_lies_beside_the_file_and_not_beside_a_link(ledger: Ledger) -> None:
    """A cap was passed by publishing through a link and restoring an older copy of what it leads to."""
    ledger.cap("town", 1)
    before = ledger.path.read_bytes()
    (ledger.path.parent / "elsewhere").mkdir()
    link = ledger.path.parent / "elsewhere" / "link.sqlite"
    link.symlink_to(ledger.path)
    reserve(Ledger(link), "a", 1, data_set="town")
    assert not link.with_name("link.sqlite.mark").exists()
    ledger.path.write_bytes(before)
    for one in (ledger, Ledger(link)):
        with pytest.raises(LedgerError, match="this ledger has 1 of the 2 writes"):
            reserve(one, "b", 1, data_set="town")


def put(ledger: Ledger, content: bytes | None) -> None:
    """Replace the file as somebody would who copies another one over it."""
    ledger.path.unlink(missing_ok=True)
    if content is not None:
        ledger.path.write_bytes(content)


def test_a_ledger_that_is_gone_is_missed(ledger: Ledger) -> None:
    reserve(ledger, "a")
    saved = ledger.path.read_bytes()
    reserve(ledger, "b")
    for content, now in ((None, "is gone, with"), (b"", "has 0 of"), (saved, "has 1 of")):
        put(ledger, content)
        for act in (lambda: reserve(ledger, "c"), ledger.entries, lambda: ledger.cap("people", 1)):
            with pytest.raises(LedgerError, match=f"this ledger {now} the 2 writes that its mark counts; restore it"):
                act()
    ledger.path.with_name("ledger.sqlite.mark").unlink()
    assert len(ledger.entries()) == 1


@pytest.mark.parametrize(
    "write",
    [
        lambda ledger: ledger.cap("people", 1.5),
        lambda ledger: ledger.note_look("people", "a frontier", "rows"),
        lambda ledger: ledger.settle("a"),
        lambda ledger: ledger.uncap("town"),
    ],
    ids=["cap", "look", "settle", "uncap"],
)
def test_an_older_copy_with_as_many_entries_is_missed(write: Callable[[Ledger], None], ledger: Ledger) -> None:
    """It used to take back a cap, or what had been seen of the rows, because the number of entries was the same."""
    reserve(ledger, "a")
    ledger.cap("town", 1)
    older = ledger.path.read_bytes()
    write(ledger)
    newer = ledger.path.read_bytes()
    put(ledger, older)
    for act in (lambda: reserve(ledger, "b"), lambda: ledger.looked("people", "rows")):
        with pytest.raises(LedgerError, match="this ledger has 2 of the 3 writes that its mark counts"):
            act()
    put(ledger, newer)
    reserve(ledger, "b", 0.25)


def test_a_ledger_with_a_cap_or_a_look_alone_is_missed(ledger: Ledger) -> None:
    ledger.cap("people", 1)
    ledger.path.unlink()
    with pytest.raises(LedgerError, match="this ledger is gone, with the 1 writes"):
        reserve(ledger, "a", 5)


def test_a_mark_that_lags_behind_is_no_fault_and_does_not_go_back(ledger: Ledger) -> None:
    """A kill between the two, or a slower process that writes the mark last."""
    reserve(ledger, "a")
    behind = ledger._file.mark.read_bytes()
    reserve(ledger, "b")
    now = ledger._file.mark.read_bytes()
    ledger._file._write_mark(ledger_file.Mark(1, 1))
    assert ledger._file.mark.read_bytes() == now
    ledger._file.mark.write_bytes(behind)
    assert len(ledger.entries()) == 2
    ledger.settle("a")
    assert ledger._file.mark.read_text().split() == ["2", "3"]


def test_the_mark_of_the_second_format_counts_entries(ledger: Ledger) -> None:
    """Such a ledger did not count how often it was written; what its mark says still holds."""
    reserve(ledger, "a")
    with sqlite3.connect(ledger.path) as connection:
        connection.execute("DROP TABLE writes")
        for column in ("hides", "person", "pilot", "rho"):
            connection.execute(f"ALTER TABLE entries DROP COLUMN {column}")
        connection.execute("ALTER TABLE caps DROP COLUMN rho")
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    ledger._file.mark.write_text("2\n")
    for act in (ledger.entries, lambda: reserve(ledger, "b")):
        with pytest.raises(LedgerError, match="this ledger has 1 of the 2 entries that its mark counts"):
            act()
    ledger._file.mark.write_text("1\n")
    second = ledger.path.read_bytes()
    assert len(ledger.entries()) == 1
    assert ledger.path.read_bytes() == second
    ledger.cap("people", 3)
    assert ledger._file.mark.read_text().split() == ["1", "1"]
    put(ledger, second)
    with pytest.raises(LedgerError, match="this ledger has 0 of the 1 writes"):
        ledger.entries()


@pytest.mark.parametrize("content", [b"", b"x", b"1 x", b"1 2 3", b"-1"])
def test_a_mark_that_is_none_is_one_sentence(content: bytes, ledger: Ledger) -> None:
    reserve(ledger, "a")
    ledger._file.mark.write_bytes(content)
    with pytest.raises(LedgerError, match="this is not the mark of a ledger"):
        ledger.entries()


def test_what_is_known_is_not_written_again(ledger: Ledger) -> None:
    """Measuring a table a thousand times is one look."""
    ledger.note_look("town", "a measurement", "rows")
    before = ledger.path.read_bytes()
    ledger.note_look("town", "a frontier", "rows")
    assert ledger.path.read_bytes() == before


def test_an_entry_is_found_by_its_rows_and_its_people(ledger: Ledger) -> None:
    ledger.reserve(data_set="town", release="a", epsilon=0.1, neighbours="replace-sensitive", rows="x")
    entry = ledger.charged("a", " town", "x")
    assert entry is not None
    assert (entry.cost, entry.neighbours) == (spend(0.1), "replace-sensitive")
    assert (
        ledger.charged("a", "town", "y") is ledger.charged("b", "town", "x") is ledger.charged("a", "city", "x") is None
    )


def test_rows_are_found_again_under_another_name(ledger: Ledger) -> None:
    for number, (name, rows) in enumerate([("town", "x"), ("people", "x"), ("others", "y"), ("nothing", "")]):
        ledger.reserve(data_set=name, release=str(number), epsilon=1, rows=rows)
    assert ledger.other_names("town", "x") == ["people"]
    assert ledger.other_names("new", "x") == ["people", "town"]
    assert ledger.other_names("new", "z") == ledger.other_names("new", "") == []
    assert not {"x", "y"} & {entry.rows for entry in ledger.entries()}


def test_a_look_is_remembered(ledger: Ledger) -> None:
    assert ledger.account("town").looked is None
    ledger.note_look("town", "a frontier")
    ledger.note_look("town", "a second one")
    assert Ledger(ledger.path).account("town").looked == "a frontier"


def test_a_look_at_the_same_rows_under_another_name_is_known(ledger: Ledger) -> None:
    assert ledger.looked("town", "rows") is None
    ledger.note_look("town", "a frontier", "rows")
    ledger.note_look("city", "a measurement")
    assert ledger.looked("village", "rows") == "a frontier"
    assert ledger.looked("town", "") == ledger.looked("town", "others") == "a frontier"
    assert ledger.looked("city", "others") == "a measurement"
    assert ledger.looked("village", "others") is ledger.looked("village", "") is None
    assert ledger.account("village").looked is None


def test_the_first_format_is_read_and_brought_up_to_date(ledger: Ledger) -> None:
    """Losses of sensitive values alone had an account of their own then, with a cap of its own."""
    connection = sqlite3.connect(ledger.path)
    for statement in (*TABLES, "PRAGMA user_version = 1"):
        connection.execute(statement)
    for number, (name, cap) in enumerate(
        [("town", "3"), ("town (sensitive values)", "4"), ("b (sensitive values)", "1")]
    ):
        values = (str(number), name, "1", "0", "m", "f", "settled", "then", "then")
        connection.execute("INSERT INTO entries VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
        connection.execute("INSERT INTO caps VALUES (?, ?, '0')", (name, cap))
    connection.commit()
    connection.close()
    before = ledger.path.read_bytes()
    told = ledger.accounts()
    assert ledger.path.read_bytes() == before
    assert [(account.data_set, account.spent, account.cap) for account in told] == [
        ("b", spend(0.5), spend(0.5)),
        ("town", spend(1.5), spend(2)),
    ]
    reserve(ledger, "more", 0.5, data_set="town")
    assert ledger.account("b") == told[0]
    with pytest.raises(BudgetError):
        reserve(ledger, "too much", 0.5, data_set="town")


def test_looking_makes_no_file(ledger: Ledger) -> None:
    assert (ledger.entries(), ledger.data_sets(), ledger.spent("people")) == ([], [], spend(0))
    assert not ledger.path.exists()


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "new" / "folder" / "ledger.sqlite")
    ledger.cap("people", 1)
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(ledger.path.parent.stat().st_mode) == 0o700


def test_commits_wait_for_the_disk(ledger: Ledger) -> None:
    ledger.cap("people", 1)
    connection = ledger_file._connect(ledger.path)
    assert connection.execute("PRAGMA synchronous").fetchone() == (3,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    connection.close()


def test_where_the_ledger_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SFUMATO_LEDGER", "mine.sqlite")
    assert default_path() == Path("mine.sqlite") == Ledger().path
    monkeypatch.setenv("SFUMATO_LEDGER", "")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_path() == tmp_path / "sfumato" / "ledger.sqlite"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for ignored in ("relative", ""):
        monkeypatch.setenv("XDG_DATA_HOME", ignored)
        assert default_path() == tmp_path / "home" / ".local" / "share" / "sfumato" / "ledger.sqlite"


def test_wrong_files_are_one_sentence(tmp_path: Path) -> None:
    text, other, newer = (tmp_path / name for name in ("text", "other", "newer"))
    text.write_text("not a database at all, but long enough to be looked at" * 20)
    for path, statement in ((other, "CREATE TABLE t (a)"), (newer, f"PRAGMA user_version = {FORMAT + 1}")):
        connection = sqlite3.connect(path)
        connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION if path == newer else 7}")
        connection.commit()
        connection.close()
    for path, sentence in [
        (text, "this is not a ledger; expected an SQLite file"),
        (other, "this is a database of another program; expected a ledger"),
        (newer, "this ledger has format 7; this version reads format 6"),
        (tmp_path, "this is a folder; expected the file of a ledger"),
        (tmp_path / "a\x00b", "the ledger cannot be used (embedded null byte)"),
    ]:
        before = path.read_bytes() if path.is_file() else None
        for act in (lambda at=path: reserve(Ledger(at), "a"), lambda at=path: Ledger(at).entries()):
            with pytest.raises(LedgerError) as refusal:
                act()
            assert str(refusal.value) == f"{path}: {sentence}"
        assert before is None or path.read_bytes() == before
    for act in (lambda: reserve(Ledger(text / "ledger"), "a"), Ledger(text / "ledger").entries):
        with pytest.raises(LedgerError, match=r"text/ledger: the ledger cannot be used \((Not a dir|File exists)"):
            act()


@pytest.fixture
def powerless() -> Iterator[None]:
    """Nobody special, so that permissions hold."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_ledger_that_may_only_be_read_is_shown_but_not_written(powerless: None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite")
        reserve(ledger, "a")
        ledger.path.chmod(0o400)
        assert ledger.spent("people") == spend(1)
        with pytest.raises(LedgerError, match=r"the ledger cannot be used \(attempt to write a readonly database\)"):
            reserve(ledger, "b")
        Path(folder).chmod(0o500)
        with pytest.raises(LedgerError, match=r"new\.sqlite: the ledger cannot be used \(Permission denied\)"):
            reserve(Ledger(Path(folder) / "new.sqlite"), "a")
        Path(folder).chmod(0o700)
        ledger.path.chmod(0o000)
        with pytest.raises(LedgerError, match=r"the ledger cannot be used \(unable to open database file\)"):
            ledger.spent("people")


def test_a_damaged_number_is_one_sentence(ledger: Ledger) -> None:
    reserve(ledger, "a")
    with sqlite3.connect(ledger.path) as connection:
        connection.execute("UPDATE entries SET epsilon = 'much'")
    connection.close()
    with pytest.raises(LedgerError, match="the ledger cannot be used"):
        ledger.spent("people")


def test_an_empty_file_is_an_empty_ledger(ledger: Ledger) -> None:
    """A crash can leave the file made and nothing in it."""
    ledger.path.touch()
    assert ledger.entries() == []
    reserve(ledger, "a")
    assert ledger.spent("people") == spend(1)


def test_a_busy_ledger_is_waited_for_and_then_given_up(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.cap("people", 1)
    monkeypatch.setattr(ledger_file, "MAX_WAIT", 0.05)
    holder = sqlite3.connect(ledger.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match=r"other processes kept the ledger busy for 0\.05 seconds"):
        reserve(ledger, "a")
    holder.close()
    reserve(ledger, "a")


class AgainstModel(RuleBasedStateMachine):
    """Any sequence of calls does to the ledger what it does to a dictionary."""

    names = st.sampled_from(["people", "town"])
    releases = st.integers(0, 8).map(str)
    amounts = st.sampled_from([0, 0.1, 0.2, 0.3, 0.7, 1, 2.5])
    deltas = st.sampled_from([0, 0, 0, 1e-6, 0.1])

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.ledger = Ledger(Path(self.folder.name) / "ledger.sqlite")
        self.charged: dict[str, tuple[str, Fraction, Fraction]] = {}
        self.settled: set[str] = set()
        self.caps: dict[str, tuple[Fraction, Fraction]] = {}

    def totals(self, name: str) -> tuple[Fraction, Fraction]:
        mine = [amounts for data_set, *amounts in self.charged.values() if data_set == name]
        return sum((amount[0] for amount in mine), Fraction(0)), sum((amount[1] for amount in mine), Fraction(0))

    @rule(name=names, release=releases, epsilon=amounts, delta=deltas)
    def reserve(self, name: str, release: str, epsilon: float, delta: float) -> None:
        asked = Fraction(str(epsilon)), Fraction(str(delta))
        spent, cap = self.totals(name), self.caps.get(name)
        spends = [Spend(Approximate(*amounts)) for at, *amounts in self.charged.values() if at == name]
        fits = cap is None or all(had + more <= most for had, more, most in zip(spent, asked, cap, strict=True))
        if not fits and asked[0] and cap:
            least = least_epsilon([*spends, Spend(Approximate(*asked))], cap[1])
            fits = least is not None and least <= cap[0]
        expected = (
            ParameterError
            if not asked[0]
            else LedgerError
            if release in self.charged
            else None
            if fits
            else BudgetError
        )
        if expected is None:
            reserve(self.ledger, release, epsilon, delta, name)
            self.charged[release] = (name, *asked)
        else:
            with pytest.raises(expected):
                reserve(self.ledger, release, epsilon, delta, name)

    @rule(release=releases)
    def settle(self, release: str) -> None:
        if release in self.charged:
            self.ledger.settle(release)
            self.settled.add(release)
        else:
            with pytest.raises(LedgerError):
                self.ledger.settle(release)

    @rule(name=names, epsilon=amounts, delta=deltas)
    def cap(self, name: str, epsilon: float, delta: float) -> None:
        self.ledger.cap(name, epsilon, delta)
        self.caps[name] = Fraction(str(epsilon)), Fraction(str(delta))

    @rule(name=names)
    def uncap(self, name: str) -> None:
        self.ledger.uncap(name)
        self.caps.pop(name, None)

    @rule()
    def start_anew(self) -> None:
        self.ledger = Ledger(str(self.ledger.path))

    @invariant()
    def both_tell_the_same(self) -> None:
        entries = {entry.release: entry for entry in self.ledger.entries()}
        told = {key: (entry.data_set, entry.cost.epsilon, entry.cost.delta) for key, entry in entries.items()}
        assert told == self.charged
        assert {key for key, entry in entries.items() if entry.state == "settled"} == self.settled
        assert self.ledger.data_sets() == sorted({name for name, *_ in self.charged.values()} | set(self.caps))
        for name in ("people", "town"):
            account, spent, cap = self.ledger.account(name), self.totals(name), self.caps.get(name)
            assert (account.spent.epsilon, account.spent.delta) == spent
            used = (account.together.epsilon, spent[1])
            assert used[0] <= spent[0]
            left = cap and tuple(max(most - had, Fraction(0)) for most, had in zip(cap, used, strict=True))
            if left and used[0] < spent[0]:
                left = left[0], Fraction(0)  # The δ of the cap is part of what Rényi divergences come to.
            assert (account.left and (account.left.epsilon, account.left.delta)) == left

    def teardown(self) -> None:
        self.folder.cleanup()


TestAgainstModel = AgainstModel.TestCase
TestAgainstModel.settings = settings(max_examples=settings.default.max_examples // 2, stateful_step_count=20)

PUBLISHER = """
import sys, time
from sfumato.errors import BudgetError
from sfumato.privacy.ledger import Ledger

class Careless(Ledger):
    '''Looks first and writes later.'''
    def reserve(self, *, data_set, release, epsilon, **more):
        account = self.account(data_set)
        if account.spent.epsilon >= account.cap.epsilon:
            raise BudgetError("nothing left")
        time.sleep(0.05)
        with self._file.writing() as connection:
            told = ("m", "r", "reserved", "now", None, "add-remove", "", "", "", 0, "")
            values = (release, data_set, str(epsilon), "0", *told)
            connection.execute(f"INSERT INTO entries VALUES (NULL{', ?' * len(values)})", values)

kind, path, name, tries, epsilon = sys.argv[1:]
ledger = {"careful": Ledger, "careless": Careless}[kind](path)
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(tries)):
    release = f"{name}-{number}"
    try:
        ledger.reserve(data_set="people", release=release, epsilon=float(epsilon), method="m", folder=release)
        ledger.settle(release)
    except BudgetError:
        pass
"""


def run_publishers(ledger: Ledger, kind: str, count: int) -> None:
    """That many processes, started first and let loose together."""
    environment = {**os.environ, "PYTHONPATH": str(Path(sfumato.__file__).resolve().parents[1])}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(PUBLISHER), kind, ledger.path, str(number), str(TRIES), "0.1"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for number in range(count)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [process.communicate(timeout=120)[1] for process in started]
    assert [process.returncode for process in started] == [0] * count, told


def test_fifty_publishers_use_up_one_cap_and_never_overspend(ledger: Ledger) -> None:
    ledger.cap("people", FITTING * SIZE)
    run_publishers(ledger, "careful", PUBLISHERS)
    account = ledger.account("people")
    assert PUBLISHERS * TRIES > FITTING
    assert len(account.entries) == len({entry.release for entry in account.entries}) == FITTING
    assert account.spent == account.cap == spend(FITTING * SIZE)
    assert account.reserved == 0


def test_looking_first_and_writing_later_overspends(ledger: Ledger) -> None:
    """The broken twin: the check above would see it."""
    ledger.cap("people", SIZE)
    run_publishers(ledger, "careless", 6)
    assert ledger.spent("people").epsilon > SIZE


def test_fifty_threads_use_up_one_cap_and_never_overspend(tmp_path: Path) -> None:
    """They make the file themselves, too."""
    shared, wanted = tmp_path / "new" / "ledger.sqlite", 20

    def publish(number: int) -> bool:
        ledger = Ledger(shared)
        try:
            reserve(ledger, str(number), 0.1)
        except BudgetError:
            return False
        ledger.settle(str(number))
        return True

    with ThreadPoolExecutor(PUBLISHERS) as pool:
        list(pool.map(lambda _: Ledger(shared).cap("people", wanted * SIZE), range(PUBLISHERS)))
        taken = list(pool.map(publish, range(PUBLISHERS)))
    assert sum(taken) == wanted
    account = Ledger(shared).account("people")
    assert (account.spent, len(account.entries), account.reserved) == (spend(wanted * SIZE), wanted, 0)


@pytest.mark.parametrize("moment", ["before", "inside", "after"])
def test_a_killed_process_leaves_a_whole_entry_or_none(ledger: Ledger, moment: str) -> None:
    reserve(ledger, "first")
    script = f"""
    import os, signal
    from sfumato.privacy.ledger import Ledger
    ledger = Ledger({str(ledger.path)!r})
    die = lambda: os.kill(os.getpid(), signal.SIGKILL)
    if {moment!r} == "inside":
        with ledger._file.writing() as connection:
            connection.execute("PRAGMA cache_size = 0")
            connection.execute("PRAGMA cache_spill = 1")
            for number in range(2000):
                connection.execute(
                    "INSERT INTO entries SELECT NULL, ?, data_set, epsilon, delta, method, folder, state, reserved_at, "
                    "settled_at, neighbours, rows, hides, person, pilot, rho FROM entries WHERE release = 'first'",
                    (str(number),),
                )
            die()
    if {moment!r} == "after":
        ledger.reserve(data_set="people", release="second", epsilon=1, method="m", folder="r")
    die()
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(sfumato.__file__).resolve().parents[1])}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], env=environment, capture_output=True)
    assert (done.returncode, done.stderr) == (-9, b"")
    left_behind = ledger.path.with_name(f"{ledger.path.name}-journal").exists()
    assert left_behind == (moment == "inside"), "the kill did not fall where it should"
    expected = ["first", "second"] if moment == "after" else ["first"]
    assert [entry.release for entry in ledger.entries()] == expected
    reserve(ledger, "third")
    with sqlite3.connect(ledger.path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
