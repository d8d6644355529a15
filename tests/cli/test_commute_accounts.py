"""Attacks around a synthesis: a copy of the file for a new account, and a setting chosen by looking at the flows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from sfumato.commute import Flows, Places, Promise, Synthesizer, evaluate, publish_flows
from sfumato.privacy.claims import Conditional, ProbabilisticDP
from sfumato.privacy.ledger import Ledger
from sfumato.publish.publication import BEFOREHAND
from sfumato.release import FlowRelease
from sfumato.report.map.page import draw_map

if TYPE_CHECKING:
    from .conftest import Outcome, Run

NOT_COVERED = (
    "choosing its setting is not covered: {} showed measures of data under its name, or of the same rows, before it "
    "was chosen"
)
SAME_ROWS = "The same rows were published as {!r} before; people have one account, so use one name for them.\n"
ODD = 'a "b", c'
"""A place whose name must be quoted."""
TABLES: dict[str, list[tuple[str, str, int]]] = {
    "usual": [("p1", "p2", 30), ("p3", "p2", 4), ("p2", "p5", 9)],
    "one person": [("p4", "p0", 1)],
    "all the same": [("p1", "p1", 500)],
    "everywhere": [(f"p{i}", f"p{j}", 1 + (i * j) % 3) for i in range(6) for j in range(6)],
    "odd names": [(ODD, "é\u202e", 3), ("é\u202e", ODD, 2), ("p1", ODD, 7)],
}
"""From, to, how many."""


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where commands run, with a ledger of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SFUMATO_LEDGER", str(tmp_path / "ledger.sqlite"))
    ids = [*(f"p{number}" for number in range(6)), ODD, "é\u202e"]
    places = {"id": ids, "latitude": [41 + 0.01 * i for i in range(8)], "longitude": [-71.0] * 8}
    pl.DataFrame(places).write_csv("places.csv")


@pytest.fixture(params=TABLES)
def flows(request: pytest.FixtureRequest, places: None) -> pl.DataFrame:
    """Five files of flows, two of them nasty."""
    frame = pl.DataFrame(TABLES[request.param], schema=["origin", "destination", "count"], orient="row")
    frame.write_csv("flows.csv")
    return frame


def synthesized(run: Run, file: str, name: str, release: str, *more: str, places: str = "places.csv") -> Outcome:
    words = ("commute", "synthesize", file, "--places", places, "--name", name, "-o", release)
    return run(*words, "--epsilon", "4", "--delta", "1e-3", *more)


def test_a_copy_opens_no_account_of_its_own(run: Run, flows: pl.DataFrame) -> None:
    """As it was found: the account was named after the file, so every copy had the whole budget again."""
    run("budget", "cap", "town", "--epsilon", "2", "--delta", "1e-3")
    assert synthesized(run, "flows.csv", "town", "first").code == 0
    flows.write_csv("copy.csv")
    words = ("commute", "synthesize", "copy.csv", "--places", "places.csv", "--epsilon", "4", "-o", "second")
    told = run(*words)
    assert (told.code, told.out, told.err.count("\n")) == (2, "", 1)
    assert told.err.startswith("sfumato: missing option '--name'")
    told = synthesized(run, "copy.csv", "town", "second")
    assert (told.code, told.err.count("\n")) == (2, 1)
    assert "cap" in told.err
    assert synthesized(run, "copy.csv", "Town ", "second").code == 2
    assert not Path("second").exists()
    assert [entry.data_set for entry in Ledger().entries()] == ["town"]


def disguised(flows: pl.DataFrame, how: str) -> tuple[str, tuple[str, ...], str]:
    """The same flows, so that they look like others: file, options, places."""
    if how == "other order":
        flows.sample(fraction=1, shuffle=True, seed=1).write_csv("copy.csv")
    elif how == "a row per person":
        everyone = pl.col("count").repeat_by("count")
        flows.with_columns(everyone).explode("count").drop("count").write_csv("copy.csv")
    elif how == "other columns":
        flows.select(b="destination", a="origin", c="count").write_csv("copy.csv")
        return "copy.csv", ("--origin", "a", "--destination", "b", "--count", "c"), "places.csv"
    elif how == "other places":
        flows.write_csv("copy.csv")
        known = pl.read_csv("places.csv").reverse()
        more = pl.DataFrame({"id": ["new"], "latitude": [40.0], "longitude": [-70.0]})
        pl.concat([more, known]).write_csv("more.csv")
        return "copy.csv", (), "more.csv"
    else:
        flows.write_parquet("copy.parquet")
        return "copy.parquet", (), "places.csv"
    return "copy.csv", (), "places.csv"


@pytest.mark.parametrize("how", ["other order", "a row per person", "other columns", "other places", "other format"])
def test_the_same_flows_under_another_name_are_recognized(run: Run, flows: pl.DataFrame, how: str) -> None:
    assert synthesized(run, "flows.csv", "town", "first").err == ""
    file, options, places = disguised(flows, how)
    told = synthesized(run, file, "somewhere else", "second", *options, places=places)
    assert (told.code, told.err) == (0, SAME_ROWS.format("town"))


def test_other_flows_are_not_taken_for_the_same(run: Run, flows: pl.DataFrame) -> None:
    """The twin: one person more, and nothing is said."""
    synthesized(run, "flows.csv", "town", "first")
    one = pl.int_range(pl.len()) == 0
    flows.with_columns(pl.when(one).then(pl.col("count") + 1).otherwise("count").alias("count")).write_csv("other.csv")
    told = synthesized(run, "other.csv", "elsewhere", "second")
    assert (told.code, told.err) == (0, "")


LOOKS = {
    "an evaluation": ("evaluate", "flows.csv", "--try", "--epsilon 2 --delta 1e-3", "-o", "seen"),
    "an evaluation ": ("evaluate", "flows.csv", "--release", "flows.csv", "-o", "seen"),
    "a map of the original": ("map", "flows.csv", "--original", "flows.csv", "-o", "seen.html"),
}


@pytest.mark.parametrize("what", LOOKS)
def test_a_setting_chosen_after_a_look_is_not_covered(run: Run, flows: pl.DataFrame, what: str) -> None:
    """The release says so first, wherever it is read; a setting fixed earlier is on the publisher's word."""
    assert synthesized(run, "flows.csv", "town", "before").code == 0
    assert isinstance(FlowRelease.load("before").claim, ProbabilisticDP)
    told = run("commute", LOOKS[what][0], *LOOKS[what][1:], "--places", "places.csv", "--name", "town")
    assert told.code == 0, told.err
    told = synthesized(run, "flows.csv", "town", "after")
    warning = NOT_COVERED.format(what.strip())
    assert f"Claim: {warning}; had it been fixed beforehand: where any one person" in told.out
    claim = FlowRelease.load("after").claim
    assert isinstance(claim, Conditional)
    assert claim.cost == FlowRelease.load("before").claim.cost
    assert json.loads(Path("after/release.json").read_text())["promise"].startswith(warning)
    assert f"Claim: {warning}" in run("verify", "after").out
    assert synthesized(run, "flows.csv", "town", "json", "--json").json["claim"]["claim"] == "conditional"
    told = synthesized(run, "flows.csv", "town", "fixed", "--beforehand")
    assert "not covered" not in told.out
    assert f"Assumes: {BEFOREHAND}." in told.out
    assert BEFOREHAND in FlowRelease.load("fixed").claim.assumptions
    assert len(Ledger().entries()) == 4, "looking costs nothing, publishing does"


def test_a_look_is_known_by_the_flows_as_well(run: Run, flows: pl.DataFrame) -> None:
    """Evaluated under one name, published under another; the twin is one person more."""
    assert run("commute", *LOOKS["an evaluation"], "--places", "places.csv", "--name", "town").code == 0
    file, options, places = disguised(flows, "other places")
    assert synthesized(run, file, "elsewhere", "same", *options, places=places).code == 0
    assert isinstance(FlowRelease.load("same").claim, Conditional)
    pl.concat([flows, flows.head(1).with_columns(count=pl.lit(1, pl.Int64))]).write_csv("other.csv")
    assert synthesized(run, "other.csv", "other people", "other").code == 0
    assert isinstance(FlowRelease.load("other").claim, ProbabilisticDP)


@pytest.mark.parametrize("command", [("evaluate", "-o", "out"), ("evaluate", "--release", "flows.csv", "-o", "out")])
def test_nothing_is_shown_without_a_name_for_the_account(
    run: Run, flows: pl.DataFrame, command: tuple[str, ...]
) -> None:
    told = run("commute", command[0], "flows.csv", "--places", "places.csv", *command[1:])
    assert (told.code, told.out, told.err.count("\n")) == (2, "", 1)
    assert told.err.startswith("sfumato: missing option '--name'")
    assert not Path("out").exists()
    refused = run("commute", command[0], "flows.csv", "--places", "places.csv", "--name", "", *command[1:])
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert refused.err.startswith("sfumato: '' is not the name of a data set")
    assert not Path("out").exists()


def test_a_look_within_one_program_is_known_to_any_ledger(flows: pl.DataFrame) -> None:
    places = Places.read("places.csv")
    synthesizer = Synthesizer(promise=Promise(epsilon=4, delta=1e-3))
    for number, look in enumerate((lambda one: evaluate(one, one), lambda one: draw_map(one, original=one))):
        mine = Flows.read("flows.csv", places)
        ledger = Ledger(f"{number}.sqlite")
        made, _ = publish_flows(synthesizer, mine, f"before-{number}", data_set="town", ledger=ledger)
        assert isinstance(made.claim, ProbabilisticDP)
        look(mine)
        made, _ = publish_flows(synthesizer, mine, f"after-{number}", data_set="town", ledger=ledger)
        assert isinstance(made.claim, Conditional)
        assert FlowRelease.load(f"after-{number}").claim == made.claim
        options = {"data_set": "town", "ledger": ledger, "beforehand": True}
        made, _ = publish_flows(synthesizer, mine, f"fixed-{number}", **options)
        assert isinstance(made.claim, ProbabilisticDP)
        assert made.claim.assumptions[-1] == BEFOREHAND


ANOTHER_COLUMN = "which this one would publish as it is to hide {!r}; hide the same column"
PEOPLE = (("p1", "p2"), ("p3", "p2"), ("p2", "p5"), ("p2", "p5"))


def hidden_by_noise(run: Run, column: str) -> Outcome:
    """A row per person, published with noise on one column and the other one as it is."""
    pl.DataFrame(PEOPLE, schema=["home", "work"], orient="row").write_csv("people.csv")
    sections = [
        f'[columns.{name}]\nrole = "{"sensitive" if name == column else "quasi"}"\nkind = "categorical"\n'
        'off_schema = "p0"\nvalues = ["p0", "p1", "p2", "p3", "p4", "p5"]\n'
        for name in ("home", "work")
    ]
    Path("people.toml").write_text("\n".join(['name = "town"', *sections]))
    words = ("people.csv", "--schema", "people.toml", "--method", "local", "--epsilon", "1", "-o", f"hiding-{column}")
    return run("publish", *words)


def hidden_origins(run: Run, release: str = "origins") -> Outcome:
    """The same people's flows, with the totals of their destinations as they are."""
    return synthesized(run, "people.csv", "town", release, "--origin", "home", "--destination", "work")


def test_flows_hide_the_same_column_as_tables(run: Run, places: None) -> None:
    """As it was found: a table hid where people work, flows published it, and a bound on guesses was still told."""
    assert hidden_by_noise(run, "work").code == 0
    told = hidden_origins(run)
    assert (told.code, told.err.count("\n")) == (2, 1)
    assert f"town: a release before hides 'work', {ANOTHER_COLUMN.format('home')}" in told.err
    assert not Path("origins").exists()
    assert len(Ledger().entries()) == 1
    assert "All together: had a coin decided which of two values is somebody's, no guess" in run("budget").out


def test_tables_hide_the_same_column_as_flows(run: Run, places: None) -> None:
    """The other way round; the same column again, or all of a row, is no trouble."""
    assert hidden_by_noise(run, "home").code == 0
    assert hidden_origins(run).code == 0
    told = hidden_by_noise(run, "work")
    assert (told.code, ANOTHER_COLUMN.format("work") in told.err) == (2, True)
    words = ("people.csv", "--schema", "people.toml", "--method", "kd-tree", "--epsilon", "1", "-o", "tree")
    assert run("publish", *words).code == 0
    assert hidden_origins(run, "again").code == 0
    assert [entry.hides for entry in Ledger().entries()] == ["home", "home", "", "home"]


def test_flows_count_people_as_tables_do(run: Run, places: None) -> None:
    hidden_by_noise(run, "home")
    path = Path("people.toml")
    path.write_text(path.read_text().replace('"town"', '"visits"') + '\n[columns.who]\nrole = "identifier"\n')
    pl.read_csv("people.csv").with_columns(who=pl.Series(["a", "b", "c", "c"])).write_csv("people.csv")
    words = ("people.csv", "--schema", "people.toml", "--method", "kd-tree", "--epsilon", "1", "-o", "visits")
    assert run("publish", *words).code == 0
    told = synthesized(run, "people.csv", "visits", "trips", "--origin", "home", "--destination", "work")
    assert (told.code, "a person is whoever shares 'who' in releases before, and a row" in told.err) == (2, True)


def test_flows_of_an_older_version_are_read(run: Run, places: None) -> None:
    """It did not note what they hide: they count, hold up nothing, and no bound on guesses is told beside others."""
    Ledger().reserve(data_set="town", release="old", epsilon=2, delta=1e-3, neighbours="replace-origin")
    assert "All together: had a coin decided which of two values is somebody's, no guess" in run("budget").out
    assert hidden_by_noise(run, "work").code == 0
    told = run("budget")
    assert (told.code, "guess" in told.out) == (0, False)
    assert "All together: nothing is known" in told.out
