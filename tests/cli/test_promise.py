"""Attacks on the promise that ε holds from the file to the folder: what stands as a pilot, who looked, what is kept.

Each was found to work, and is tried here the same way, through commands and public functions.
"""

from __future__ import annotations

import json
import math
import pickle
import shlex
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import LedgerError, ParameterError
from sfumato.privacy.claims import Choice, Conditional, PureDP
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.loss import exact
from sfumato.release import Release
from sfumato.trials.pilot import Pilot, split_off

if TYPE_CHECKING:
    from .conftest import Outcome, Run

pytestmark = pytest.mark.usefixtures("few_queries")
LENIENT = ("--max-p-loss", "inf", "--max-query-error", "inf")
TRIED = ("--method", "quad-tree", "--workers", "1")
FRONTIER = ("frontier", "people.csv", "--schema", "people.toml", *TRIED, *LENIENT, "-o")
MEASURE = ("measure", "people.csv", "seen", "--schema", "people.toml")
QUAD_TREE = ("--method", "quad-tree", "--epsilon", "1")


@pytest.fixture(autouse=True)
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report without the drawing."""
    monkeypatch.setattr("sfumato.report.frontier.page.write", lambda document, folder: [])


def described(folder: str) -> dict[str, Any]:
    spec: dict[str, Any] = json.loads((Path(folder) / "release.json").read_text(encoding="utf-8"))
    return spec


def look(run: Run, publish: Run) -> None:
    publish("seen", "--method", "mondrian", "--k", "5")
    assert run(*MEASURE).code == 0


@pytest.fixture
def table(people: Path) -> sf.Table:
    return sf.read("people.csv", schema="people.toml")


# What stands as a pilot


@pytest.mark.parametrize(
    "other",
    [
        ("--method", "local", "--epsilon", "0.1"),
        ("--method", "dirichlet", "--epsilon", "0.5"),
        ("--method", "mondrian", "--k", "5"),
    ],
    ids=lambda options: options[1],
)
def test_what_does_not_hide_who_is_in_the_table_is_no_pilot(
    other: tuple[str, ...], run: Run, publish: Run, people: Path
) -> None:
    """The ε of replacing one sensitive value was added to one of adding and removing, and a δ was dropped."""
    declare_one_row(people)
    assert publish("other", *other).code == 0
    spent = Ledger().spent("people")
    told = publish("r", "--method", "marginals", "--epsilon", "0.85", "--pilot", "other")
    assert (told.code, "hides who is in the table under pure differential privacy" in told.err) == (2, True)
    assert (Ledger().spent("people"), Path("r").exists()) == (spent, False)


def declare_one_row(people: Path) -> None:
    """Without names, so that methods for one row of each person take the table."""
    text = (people / "people.toml").read_text()
    (people / "people.toml").write_text(text.replace('[columns.name]\nrole = "identifier"\n', ""))


def test_a_release_that_was_chosen_on_a_pilot_is_none(publish: Run) -> None:
    """Its claim is of more than its entry in the ledger."""
    assert publish("pilot", *QUAD_TREE).code == 0
    assert publish("r", *QUAD_TREE, "--pilot", "pilot").code == 0
    assert publish("again", *QUAD_TREE, "--pilot", "r").code == 2


@pytest.mark.parametrize("method", ["local", "dirichlet"])
def test_a_pilot_pays_for_no_release_that_shows_who_is_in_the_table(method: str, publish: Run, people: Path) -> None:
    """One that is replaced is two that are added or removed, so the pilot's ε would count twice."""
    declare_one_row(people)
    assert publish("pilot", *QUAD_TREE).code == 0
    told = publish("r", "--method", method, "--epsilon", "1", "--pilot", "pilot")
    assert (told.code, "does not hide who is in the table" in told.err) == (2, True)
    assert Ledger().spent("people").epsilon == 1


@pytest.mark.parametrize("epsilon", [1e-9, 0.1000000001, 5.0])
def test_the_ledger_knows_what_a_pilot_cost(epsilon: float, table: sf.Table, people: Path) -> None:
    pilot, _ = sf.publish_to(sf.QuadTree(epsilon=0.1), table, "pilot")
    name = pilot.provenance.id
    assert name
    forged = Choice(epsilon=epsilon, pilot=name)
    with pytest.raises(ParameterError, match=r"was charged ε = 0\.1 for add-remove neighbours for the pilot"):
        sf.publish_to(sf.QuadTree(epsilon=0.5), table, "r", choice=forged)
    assert Ledger().spent("people").epsilon == exact(0.1)
    honest, _ = sf.publish_to(sf.QuadTree(epsilon=0.5), table, "r", choice=replace(forged, epsilon=0.1))
    assert honest.claim.cost == Ledger().spent("people")


def test_a_pilot_of_other_neighbours_in_the_ledger_is_refused(table: sf.Table, people: Path) -> None:
    Ledger().reserve(
        data_set="people", release="a", epsilon=0.1, neighbours="replace-sensitive", rows=table.digest, method="Local"
    )
    with pytest.raises(ParameterError, match="for replace-sensitive neighbours"):
        sf.publish_to(sf.QuadTree(epsilon=0.5), table, "r", choice=Choice(epsilon=0.1, pilot="a"))


def test_a_pilot_of_rows_pays_for_no_release_of_people(run: Run, publish: Run, people: Path) -> None:
    """Who has several rows would be promised the pilot's ε once, and have spent it several times."""
    text = (people / "people.toml").read_text()
    declare_one_row(people)
    assert publish("pilot", *QUAD_TREE).code == 0
    (people / "people.toml").write_text(text)
    told = publish("r", *QUAD_TREE, "--pilot", "pilot")
    assert (told.code, "this pilot counts people by another column" in told.err) == (2, True)


# Who looked


def test_a_pilot_that_was_bought_after_a_look_says_so(run: Run, publish: Run) -> None:
    """It used to say of itself that its setting was chosen before anybody saw measures of these rows."""
    look(run, publish)
    told = run(*FRONTIER, "out", "--epsilon", "2", "--pilot-share", "0.5")
    assert told.code == 0, told
    pilot = Release.load("out/pilot").claim
    assert isinstance(pilot, Conditional)
    assert not any("before anybody saw" in line for line in pilot.assumptions)
    assert "Claim: choosing its setting is not covered: a measurement showed measures of data" in told.out
    assert "but a measurement had shown measures of the rows before; the claim says so." in told.out
    release = published(told, run)
    assert isinstance(release.claim, Conditional)
    assert release.claim.sentence() in told.out
    assert release.claim.cost == Ledger().spent("people")
    assert run("verify", "out/release").code == 3


def published(told: Outcome, run: Run) -> Release:
    """What the command that a frontier names publishes."""
    words = shlex.split(told.out.splitlines()[-1])
    done = run(*words[1:])
    assert done.code == 0, done
    return Release.load(words[-1])


def test_who_says_beforehand_says_it_of_the_pilot_and_of_what_is_chosen_on_it(run: Run, publish: Run) -> None:
    look(run, publish)
    told = run(*FRONTIER, "out", "--epsilon", "2", "--beforehand")
    assert told.code == 0, told
    assert " --beforehand " in told.out.splitlines()[-1]
    release = published(told, run)
    for claim in (Release.load("out/pilot").claim, release.claim):
        assert isinstance(claim, PureDP)
        assert claim.assumptions[-1] == "its setting was chosen before anybody saw measures of these rows"


def test_a_pilot_that_says_it_was_not_beforehand_is_not_spoken_for(run: Run, publish: Run) -> None:
    look(run, publish)
    assert run(*FRONTIER, "out", "--epsilon", "2").code == 0
    again = run(*FRONTIER, "out", "--epsilon", "2", "--beforehand")
    by_hand = publish("r", "--method", "quad-tree", "--epsilon", "1.7", "--pilot", "out/pilot", "--beforehand")
    for told in (again, by_hand):
        assert (told.code, "nobody said that its epsilon was chosen beforehand" in told.err) == (2, True)
    assert run(*FRONTIER, "out", "--epsilon", "2", "--beforehand", "--new-pilot").code == 0


def test_a_look_after_the_pilot_was_bought_shows_in_what_is_chosen_then(run: Run, publish: Run) -> None:
    before = run(*FRONTIER, "out", "--epsilon", "2")
    assert "and on nothing else; that is part of the claim." in before.out
    look(run, publish)
    after = run(*FRONTIER, "out", "--epsilon", "2")
    assert "Claim: choosing its setting is not covered" in after.out
    assert isinstance(Release.load("out/pilot").claim, PureDP)
    assert isinstance(published(before, run).claim, Conditional)


def test_what_a_pilot_says_of_a_look_holds_where_the_ledger_knows_of_none(
    run: Run, publish: Run, table: sf.Table
) -> None:
    sf.measure(table, sf.Mondrian(k=5).publish(table), ledger=Ledger("other.sqlite"))
    sf.frontier(table, [sf.QuadTree], epsilon=2, folder="out")
    assert Ledger().account("people").looked is None
    assert publish("r", "--method", "quad-tree", "--epsilon", "1.7", "--pilot", "out/pilot").code == 0
    assert isinstance(Release.load("r").claim, Conditional)
    assert "Claim: choosing its setting is not covered" in run(*FRONTIER, "out", "--epsilon", "2").out


def test_without_a_pilot_nothing_is_chosen_beforehand(run: Run, people: Path) -> None:
    told = run(*FRONTIER, "out", "--beforehand")
    assert (told.code, "give epsilon" in told.err) == (2, True)


def test_a_syntactic_choice_after_a_look_does_not_say_that_nobody_looked(run: Run, publish: Run) -> None:
    """It used to say that its setting was never chosen on the rows themselves."""
    look(run, publish)
    assert run(*FRONTIER, "out", "--epsilon", "1").code == 0
    told = publish("r", "--method", "mondrian", "--k", "7", "--pilot", "out/pilot")
    assert told.code == 0
    claim = Release.load("r").claim
    assert "chosen on a synthetic table under 0.15-differential privacy" in claim.sentence()
    assert claim.assumptions[-1].startswith("its setting was chosen after measures of data under its name")
    assert "never" not in " ".join(claim.notes)


@pytest.mark.parametrize("looked", [False, True])
def test_an_honest_syntactic_release_that_was_chosen_on_a_pilot_verifies(looked: bool, run: Run, publish: Run) -> None:
    """It was said to cost the pilot's ε, and to claim less."""
    assert run(*FRONTIER, "out", "--epsilon", "1").code == 0
    if looked:
        look(run, publish)
    publish("r", "--method", "mondrian", "--k", "7", "--pilot", "out/pilot")
    told = run("verify", "r")
    assert (told.code, "Contradicts" in told.out) == (0, False)


def test_looks_in_python_are_noted_for_everybody(table: sf.Table) -> None:
    mine = Ledger("mine.sqlite")
    sf.measure(table, sf.Mondrian(k=5).publish(table), ledger=mine)
    assert table.looked == "a measurement"
    assert (mine.account("people").looked, Ledger().account("people").looked) == ("a measurement", None)
    sf.frontier(table, [sf.Mondrian(k=5)])
    assert Ledger().account("people").looked == "a frontier"
    for number, ledger in enumerate((mine, Ledger())):
        again = sf.read("people.csv", schema="people.toml")
        assert again.looked is None
        release, _ = sf.publish_to(sf.QuadTree(epsilon=1), again, f"r{number}", ledger=ledger)
        assert isinstance(release.claim, Conditional)


def test_what_is_made_of_a_table_remembers_who_looked(table: sf.Table) -> None:
    copies = [replace(table), table.without_rows(), table.people]
    sf.measure(table, sf.Mondrian(k=5).publish(table))
    copies += [replace(table), table.without_rows(), pickle.loads(pickle.dumps(table.without_rows()))]
    fresh = Ledger("fresh.sqlite")
    for number, copy in enumerate(copies):
        assert copy.looked == "a measurement"
        release, _ = sf.publish_to(sf.QuadTree(epsilon=1), copy, f"r{number}", ledger=fresh)
        assert isinstance(release.claim, Conditional)


def test_measuring_goes_on_where_no_ledger_can_be_written(
    table: sf.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a ledger that was named has to be there."""
    (tmp_path / "file").write_text("")
    nowhere = tmp_path / "file" / "ledger.sqlite"
    monkeypatch.setenv("SFUMATO_LEDGER", str(nowhere))
    release = sf.Mondrian(k=5).publish(table)
    with pytest.raises(LedgerError):
        sf.measure(table, release, ledger=Ledger(nowhere))
    assert table.looked is None
    sf.measure(table, release)
    assert table.looked == "a measurement"
    claim = sf.frontier(table, [sf.Mondrian(k=5)]).recommend(max_p_loss=math.inf, max_query_error=math.inf).claim
    assert claim.assumptions[-1].startswith("its setting was chosen after measures of data under its name")


def test_a_pilot_may_be_looked_at(table: sf.Table) -> None:
    """It was paid for; so was whatever follows from it."""
    front = sf.frontier(table, [sf.QuadTree], epsilon=50)
    assert front.pilot
    sf.measure(front.pilot.table, sf.Mondrian(k=5).publish(front.pilot.table))
    sf.frontier(replace(front.pilot.table), [sf.Mondrian(k=5)])
    assert (table.looked, Ledger().account("people").looked) == (None, None)
    assert isinstance(front.recommend(max_p_loss=math.inf, max_query_error=math.inf).claim, PureDP)


def test_trials_write_to_no_ledger(table: sf.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """One look is one write, however many settings are tried."""
    written: list[str] = []
    note = Ledger.note_look
    monkeypatch.setattr(Ledger, "note_look", lambda self, *more: (written.append("look"), note(self, *more))[1])
    sf.frontier(table, [sf.Mondrian(k=k) for k in (2, 3, 4, 5)], workers=1)
    assert len(written) == 1


# What is kept


def test_a_cap_does_not_vanish_with_the_ledger(run: Run, publish: Run, people: Path) -> None:
    """`rm l.db` used to lift a cap without a word, and an older copy took back a cap and a look."""
    assert run("budget", "cap", "people", "--epsilon", "0.5", "--ledger", "l.db").code == 0
    older = (people / "l.db").read_bytes()
    (people / "l.db").unlink()
    for told in (publish("r", *QUAD_TREE, "--ledger", "l.db"), run("budget", "--ledger", "l.db")):
        assert (told.code, "this ledger is gone" in told.err) == (2, True)
    (people / "l.db").write_bytes(older)
    publish("seen", "--method", "mondrian", "--k", "5")
    assert run(*MEASURE, "--ledger", "l.db").code == 0
    (people / "l.db").write_bytes(older)
    told = publish("r", "--method", "quad-tree", "--epsilon", "0.1", "--ledger", "l.db")
    assert (told.code, "this ledger has 1 of the 2 writes that its mark counts" in told.err) == (2, True)
    assert not Path("r").exists()


# Sums of ε


def pilot_at(epsilon: float) -> Pilot:
    """A pilot that cost so much, of nobody."""
    table = sf.read(
        {"age": [1, 2], "ill": ["no", "yes"]},
        {
            "columns": {
                "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9},
                "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
            }
        },
    )
    release = sf.QuadTree(epsilon=1).publish(table)
    return Pilot(
        release=replace(
            release, claim=PureDP(epsilon=epsilon), provenance=replace(release.provenance, id="a", parameters={})
        )
    )


amounts = st.one_of(
    st.floats(1e-6, 1e3), st.integers(1, 500).map(lambda n: n / 100), st.sampled_from([1 / 3, 2 / 3, 0.1 + 0.2, 0.04])
)
shares = st.one_of(st.floats(1e-6, 0.999), st.sampled_from([0.15, 0.1, 0.2, 1 / 3, 0.17, 2 / 3]))


@given(epsilon=amounts, share=shares)
def test_a_pilot_and_the_rest_add_up_to_what_is_claimed(epsilon: float, share: float) -> None:
    part = split_off(epsilon, share)
    pilot = pilot_at(part)
    rest = pilot.rest(epsilon)
    whole, asked = exact(epsilon), exact(epsilon) * exact(share)
    assert 0 <= asked - exact(part) <= asked / 10**5
    assert float(str(part)) == part
    claimed = PureDP(epsilon=rest).chosen(pilot.choice).cost.epsilon
    assert claimed == exact(rest) + exact(part)
    assert 0 <= whole - claimed <= whole / 10**14


@given(part=st.floats(1e-6, 1e3), rest=st.floats(1e-6, 1e3))
def test_a_sum_that_no_number_spells_is_never_claimed_to_be_less(part: float, rest: float) -> None:
    """Of a pilot that was bought with all its digits; the broken twin takes the nearest number."""
    claimed = PureDP(epsilon=rest).chosen(Choice(epsilon=part, pilot="a")).cost.epsilon
    assert 0 <= claimed - (exact(part) + exact(rest)) <= claimed / 10**15


def test_the_nearest_number_would_claim_less() -> None:
    part, rest = 1 / 3, 0.1 + 0.2
    assert exact(float(exact(part) + exact(rest))) < exact(part) + exact(rest)


@pytest.mark.parametrize(("epsilon", "share"), [("0.3333333333333333", "0.15"), ("0.04", "0.3333333333333333")])
def test_odd_numbers_are_published_as_printed_and_verify(epsilon: str, share: str, run: Run, people: Path) -> None:
    """The command that was printed used to fail after it was charged, or left a folder that was called broken."""
    told = run(*FRONTIER, "out", "--epsilon", epsilon, "--pilot-share", share)
    assert told.code == 0, told
    release = published(told, run)
    assert release.claim.cost == Ledger().spent("people")
    assert run("verify", "out/release").code == 3


@pytest.mark.parametrize("share", [1e-300, 1.0, 0.0])
def test_a_share_that_leaves_nothing_is_refused_before_it_is_charged(share: float, table: sf.Table) -> None:
    with pytest.raises(ParameterError, match="the pilot's share is"):
        sf.frontier(table, [sf.QuadTree], epsilon=0.1, share=share)
    assert Ledger().entries() == []


def test_a_sum_beyond_all_amounts_is_refused_before_it_is_charged(table: sf.Table) -> None:
    pilot, _ = sf.publish_to(sf.QuadTree(epsilon=600_000), table, "pilot")
    choice = Choice(epsilon=600_000, pilot=str(pilot.provenance.id))
    with pytest.raises(ParameterError, match="at most 1,000,000"):
        sf.publish_to(sf.QuadTree(epsilon=600_000), table, "r", choice=choice)
    assert len(Ledger().entries()) == 1
    shutil.rmtree("pilot")


# What is in one account


def swap_roles(people: Path) -> None:
    """Make the sensitive column a quasi-identifier, and hide another in its place."""
    text = (people / "people.toml").read_text(encoding="utf-8")
    spec = tomllib.loads(text)
    sensitive = next(name for name, column in spec["columns"].items() if column["role"] == "sensitive")
    other = next(
        name
        for name, column in spec["columns"].items()
        if column["role"] == "quasi" and column["kind"] == "categorical"
    )
    for name, old, new in ((sensitive, "sensitive", "quasi"), (other, "quasi", "sensitive")):
        head, mark, rest = text.partition(f"[columns.{name}]")
        text = head + mark + rest.replace(f'role = "{old}"', f'role = "{new}"', 1)
    (people / "people.toml").write_text(text, encoding="utf-8")


def test_a_second_release_does_not_publish_what_the_first_one_hid(run: Run, publish: Run, people: Path) -> None:
    """The ledger said what both tell of a value, and the second one published it as it is."""
    declare_one_row(people)
    assert publish("first", "--method", "local", "--epsilon", "0.2").code == 0
    swap_roles(people)
    spent = Ledger().spent("people")
    told = publish("second", "--method", "local", "--epsilon", "0.2")
    assert (told.code, "which this one would publish as it is" in told.err) == (2, True)
    assert (Ledger().spent("people"), Path("second").exists()) == (spent, False)
    assert publish("third", "--method", "quad-tree", "--epsilon", "0.2").code == 0


@pytest.mark.parametrize("epsilon", ["1e-165", "1e-200", "1e-13"])
def test_too_small_an_epsilon_is_refused_before_it_is_charged(
    epsilon: str, run: Run, publish: Run, people: Path
) -> None:
    told = publish("r", "--method", "quad-tree", "--epsilon", epsilon)
    assert (told.code, "expected a number from 1e-12" in told.err) == (2, True)
    told = run(*FRONTIER, "out", "--epsilon", epsilon)
    assert (told.code, told.err.count("\n")) == (2, 1)
    assert Ledger().entries() == []


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
def test_noise_that_does_not_fit_a_column_is_refused_before_it_is_charged(
    mechanism: str, publish: Run, people: Path
) -> None:
    declare_one_row(people)
    told = publish("r", "--method", "local", "--epsilon", "1", "--mechanism", mechanism)
    assert (told.code, "keeps near values near" in told.err) == (2, True)
    assert Ledger().entries() == []


def test_a_pilot_under_a_schema_that_refuses_other_values_is_not_chosen_on(
    run: Run, publish: Run, people: Path
) -> None:
    """The caveat of the pilot, that a value off the schema tells about somebody, was not the release's."""
    assert run(*FRONTIER, "out", "--epsilon", "1").code == 0
    text = (people / "people.toml").read_text(encoding="utf-8")
    (people / "people.toml").write_text(text.replace('kind = "numeric"', 'kind = "numeric"\noff_schema = "clip"', 1))
    told = publish("r", "--method", "quad-tree", "--epsilon", "0.85", "--pilot", "out/pilot")
    assert (told.code, "refuses values in other columns" in told.err) == (2, True)


# What a file may hold


@pytest.mark.parametrize("line", ["p1,p2,3,4", 'p1,"p2"x,3', "p1"])
def test_a_claim_about_flows_says_that_a_malformed_line_refuses_the_file(
    line: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It named unknown origins alone."""
    monkeypatch.chdir(tmp_path)
    Path("places.csv").write_text("id,latitude,longitude\np1,52,0\np2,52.1,0\np3,52.2,0\n")
    rows = "origin,destination,count\np1,p2,300\np3,p2,400\n"
    Path("flows.csv").write_text(rows)
    synthesize = ("commute", "synthesize", "flows.csv", "--places", "places.csv", "--name", "trips", "--epsilon", "4.6")
    assert run(*synthesize, "-o", "made").code == 0
    said = described("made")["claim"]["assumptions"]
    assert any("every line is well-formed; a file in which one does not is refused" in sentence for sentence in said)
    assert run("verify", "made").code == 3
    spec = described("made")
    spec["claim"]["assumptions"] = [sentence for sentence in said if "well-formed" not in sentence]
    Path("made/release.json").write_text(json.dumps(spec))
    assert (found := run("verify", "made")).code == 1
    assert "the claim leaves out that every origin" in found.out
    Path("flows.csv").write_text(rows + line + "\n")
    told = run(*synthesize, "-o", "again")
    assert (told.code, told.err.count("\n")) == (2, 1)


def test_a_claim_about_flows_of_the_first_version_is_not_contradicted_for_what_it_could_not_say(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(Path(__file__).parents[1] / "release" / "old" / "flows", tmp_path / "old")
    monkeypatch.chdir(tmp_path)
    told = run("verify", "old")
    assert (told.code, "Made by version 0.1.0: the claim leaves out that every origin" in told.out) == (3, True)


# What else was seen before a release


def bought(run: Run, epsilon: str, *options: str) -> None:
    assert run(*FRONTIER, "study", "--epsilon", epsilon, *options).code == 0


def test_a_choice_costs_every_pilot_that_was_bought(run: Run, publish: Run, people: Path) -> None:
    """The claim counted the last one alone, and the ledger all of them."""
    for _ in range(3):
        bought(run, "2", "--new-pilot")
    assert float(Ledger().spent("people").epsilon) == pytest.approx(0.9)
    told = publish("r", "--method", "quad-tree", "--epsilon", "1.1", "--pilot", "study/pilot")
    assert told.code == 0
    claim = Release.load("r").claim
    assert claim.choice
    assert (claim.choice.epsilon, claim.cost) == (0.9, Ledger().spent("people"))
    assert run("verify", "r").code == 3


def test_what_is_left_of_epsilon_is_what_all_pilots_leave(run: Run, people: Path) -> None:
    bought(run, "2")
    bought(run, "2", "--new-pilot")
    told = run(*FRONTIER, "study", "--epsilon", "2")
    assert "--epsilon 1.4" in told.out.replace("\n", " ")
    spent = Ledger().spent("people")
    refused = run(*FRONTIER, "study", "--epsilon", "0.65", "--new-pilot")
    assert (refused.code, "the pilots that were bought of people cost 0.6" in refused.err) == (2, True)
    assert Ledger().spent("people") == spent


def test_a_pilot_counts_where_the_command_leaves_it_out(run: Run, publish: Run, people: Path) -> None:
    """Whoever bought a pilot has seen its report, and may choose by it and publish by hand."""
    bought(run, "2")
    assert publish("r", "--method", "quad-tree", "--epsilon", "1").code == 0
    claim = Release.load("r").claim
    assert claim.cost == Ledger().spent("people")
    assert run("verify", "r").code == 3
    assert publish("before", "--method", "quad-tree", "--epsilon", "1", "--beforehand").code == 0
    claim = Release.load("before").claim
    assert float(claim.cost.epsilon) == 1  # type: ignore[union-attr]
    assert any("before anybody saw measures" in line for line in claim.assumptions)
    assert run("verify", "before").code == 3


def test_a_claim_that_leaves_a_pilot_out_is_found(run: Run, publish: Run, people: Path) -> None:
    bought(run, "2")
    assert publish("r", "--method", "quad-tree", "--epsilon", "1").code == 0
    spec = described("r")
    del spec["claim"]["choice"]
    spec["claim"]["epsilon"] = 1
    (people / "r" / "release.json").write_text(json.dumps(spec))
    told = run("verify", "r")
    assert (told.code, "knows of a pilot of the same people before" in told.out) == (1, True)


def test_what_hides_a_value_alone_cannot_be_paid_by_a_pilot(run: Run, publish: Run, people: Path) -> None:
    declare_one_row(people)
    bought(run, "2")
    assert publish("r", "--method", "local", "--epsilon", "1").code == 0
    claim = Release.load("r").claim
    assert isinstance(claim, Conditional)
    assert claim.looked == "the report of a pilot"
    assert run("verify", "r").code == 3


def test_a_look_at_the_same_file_in_other_columns_is_remembered(run: Run, publish: Run, people: Path) -> None:
    """A frontier with a proposed schema has another name and other columns, and the same rows."""
    told = run(
        *("frontier", "people.csv", "--sensitive", "disease", "--quasi", "age", "--method", "mondrian"),
        *("--workers", "1", *LENIENT, "-o", "look"),
    )
    assert told.code == 0
    text = (people / "people.toml").read_text()
    (people / "people.toml").write_text(text.replace('name = "people"', 'name = "residents"', 1))
    assert 'name = "residents"' in (people / "people.toml").read_text()
    assert publish("r", *QUAD_TREE).code == 0
    assert isinstance(Release.load("r").claim, Conditional)
    rows = (people / "people.csv").read_text()
    (people / "people.csv").write_text(rows + rows.splitlines()[-1].replace("99", "1") + "\n")
    assert publish("other", *QUAD_TREE).code == 0


@pytest.mark.parametrize("measured", ["frontier", "cross_validate", "measure_risks"])
def test_a_release_in_memory_says_that_the_rows_were_looked_at(measured: str, table: sf.Table) -> None:
    unseen = sf.QuadTree(epsilon=1).publish(table)
    assert isinstance(unseen.claim, PureDP)
    if measured == "frontier":
        sf.frontier(table, [sf.Mondrian(k=5)], workers=1)
    elif measured == "cross_validate":
        sf.cross_validate(table, sf.Mondrian(k=5), folds=2)
    else:
        training, control = sf.hold_out(table, 0.5)
        sf.measure_risks(training, sf.Original().publish(training), control)
    assert isinstance(sf.QuadTree(epsilon=1).publish(table).claim, Conditional)
    saved, _ = sf.publish_to(sf.QuadTree(epsilon=1), table, "r")
    assert isinstance(saved.claim, Conditional)
    saved, _ = sf.publish_to(sf.QuadTree(epsilon=1), table, "b", beforehand=True)
    assert isinstance(saved.claim, PureDP)


def test_rows_that_were_dealt_out_or_labelled_by_all_rows_promise_nothing(table: sf.Table) -> None:
    """One person less changed hundreds of rows of what was published under ε."""
    for made in (*sf.hold_out(table, 0.5), sf.cluster_labels(table, 2)):
        for method in (sf.QuadTree(epsilon=1), sf.Marginals(epsilon=1)):
            claim = method.publish(made).claim
            assert not claim.promises
            assert "one person more could change many of its rows" in claim.sentence()
        assert sf.Mondrian(k=2).publish(made).claim.promises


def test_labels_that_tell_do_not_end_a_frontier(run: Run, people: Path) -> None:
    """The end points are there to compare with, whatever their labels say."""
    diseases = ("flu", "cold", "asthma", "diabetes")
    labels = [f"{disease}|{sex}" for disease in diseases for sex in ("Female", "Male")]
    rows = [line.split(",") for line in (people / "people.csv").read_text().splitlines()]
    told = [",".join([*row[:-1], f"{diseases[number % 4]}|{row[2]}"]) for number, row in enumerate(rows[1:])]
    (people / "people.csv").write_text("\n".join([",".join(rows[0]), *told, ""]))
    schema = (people / "people.toml").read_text()
    start = schema.index("taxonomy", schema.index("[columns.disease]"))
    end = schema.index("\n", start)
    (people / "people.toml").write_text(f"{schema[:start]}values = {json.dumps(labels)}{schema[end:]}")
    found = run(*FRONTIER, "study", "--epsilon", "2")
    assert found.code == 0, found.err
    refused = run("publish", "people.csv", "--schema", "people.toml", "--method", "suppression", "-o", "s")
    assert (refused.code, "sensitive labels tell more" in refused.err) == (2, True)
