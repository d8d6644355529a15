"""Folders made to mislead: `verify` finds each out, lets the honest one pass, and lists what it cannot see."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.cli.show import printable
from sfumato.measures import looks
from sfumato.measures.flows import evaluation
from sfumato.privacy.ledger import Ledger
from sfumato.publish import pilots
from sfumato.publish.agreement import LOOKS
from sfumato.release import load_release
from sfumato.release.envelope import spelled
from sfumato.report.map import page
from sfumato.trials import frontier

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import Run

    Change = Callable[[dict[str, Any]], Any]

OLD = Path(__file__).parents[1] / "release" / "old"
K_ANONYMITY = ("--method", "mondrian", "--k", "5", "--l", "1.5")
NOISE = ("--method", "quad-tree", "--epsilon", "2")
DIRICHLET = ("--method", "dirichlet", "--epsilon", "1")


def describe(folder: Path, change: Change) -> None:
    """Change what `release.json` says; the codebook, which would tell, goes."""
    (folder / "codebook.md").unlink(missing_ok=True)
    path = folder / "release.json"
    spec = json.loads(path.read_text(encoding="utf-8"))
    change(spec)
    path.write_text(spelled(spec), encoding="utf-8")


def declare(people: Path, old: str, new: str) -> None:
    path = people / "people.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_kept_column_of_names_without_its_caveat(run: Run, publish: Run, people: Path) -> None:
    declare(people, 'role = "identifier"', 'role = "keep"')
    publish("r", *K_ANONYMITY)
    honest = run("verify", "r")
    assert honest.code == 0
    assert "Note: nobody knows the name of a person; these columns are published as they are." in honest.out
    describe(people / "r", lambda spec: spec["claim"]["assumptions"].pop())
    told = run("verify", "r")
    assert told.code == 1
    assert "Contradicts it: the claim leaves out that nobody knows the name of a person" in told.out
    assert run("verify", "r", "--json").json["outcome"] == "broken"
    assert any("nobody knows the name" in sentence for sentence in load_release(people / "r").violations())


def test_a_schema_read_off_the_rows_without_its_caveat(run: Run, publish: Run, people: Path) -> None:
    declare(people, "max = 99", 'max = 99\nfrom_data = ["min", "max"]')
    publish("r", *K_ANONYMITY)
    assert run("verify", "r").code == 0
    describe(people / "r", lambda spec: spec["claim"]["assumptions"].pop())
    told = run("verify", "r")
    assert (told.code, "the declared bounds and values of age were read off the rows" in told.out) == (1, True)


def test_a_noise_release_of_the_first_version_is_not_broken_but_what_it_left_out_is_said(
    run: Run, publish: Run, people: Path
) -> None:
    publish("r", *NOISE)
    describe(people / "r", lambda spec: spec["claim"]["assumptions"].pop())
    assert run("verify", "r").code == 1

    def age(spec: dict[str, Any]) -> None:
        spec["version"] = "0.1.0"
        del spec["kind"]

    describe(people / "r", age)
    told = run("verify", "r")
    assert told.code == 3
    assert "Made by version 0.1.0: the claim leaves out that every value of " in told.out
    describe(people / "r", lambda spec: spec["parameters"].update(epsilon=3))
    assert run("verify", "r").code == 1


def test_a_release_of_classes_of_the_first_version_still_holds(run: Run, publish: Run, people: Path) -> None:
    declare(people, 'role = "identifier"', 'role = "ignore"')
    publish("r", *K_ANONYMITY)
    assert run("verify", "r").code == 0
    describe(people / "r", lambda spec: spec["claim"]["assumptions"].pop())
    told = run("verify", "r")
    assert (told.code, "leaves out that every person has at most one row" in told.out) == (1, True)
    describe(people / "r", lambda spec: spec.update(version="0.1.0"))
    told = run("verify", "r")
    assert told.code == 0
    assert "Made by version 0.1.0: the claim leaves out that every person has at most one row" in told.out


@pytest.mark.parametrize("name", ["original.csv", ".hidden", "commute.json"])
def test_a_file_that_is_no_part_of_the_release(name: str, run: Run, publish: Run, people: Path) -> None:
    publish("r", *K_ANONYMITY)
    assert run("verify", "r").code == 0
    shutil.copy(people / "people.csv", people / "r" / name)
    told = run("verify", "r")
    assert told.code == 1
    assert f"the folder holds what is no part of the release: {name}." in told.out


def with_labels(rows: pl.DataFrame, spell: Callable[[dict[str, Any]], str]) -> pl.DataFrame:
    return rows.with_columns(disease=pl.Series([spell(row) for row in rows.iter_rows(named=True)]))


@pytest.mark.parametrize(
    "spelling", ["{disease}|{age}|{sex}", "{disease} {age} {sex}", "{town}, {disease}", "{disease}; age {age}"]
)
def test_quasi_identifiers_inside_sensitive_labels(spelling: str, run: Run, publish: Run, people: Path) -> None:
    """Classes of five with five labels each are diverse, and every label says who is meant."""
    rows = with_labels(pl.read_csv(people / "people.csv"), lambda row: spelling.format(**row))
    rows.write_csv(people / "people.csv")
    labels = json.dumps(sorted(set(rows["disease"])))
    declare(people, SENSITIVE, f"values = {labels}")
    refused = publish("r", *K_ANONYMITY)
    assert refused.code == 2
    assert "sensitive labels tell more of the quasi-identifiers than the classes do: " in refused.err
    publish("k", "--method", "original")
    hidden = rows.select(age=pl.lit("*"), sex=pl.lit("*"), town=pl.lit("*"), disease="disease").sort("disease")
    hidden.write_csv(people / "k" / "data.csv")
    claim = {"claim": "syntactic", "requirements": [{"requirement": "k-anonymity", "k": 5}], "buckets": False}
    describe(people / "k", lambda spec: spec.update(claim=claim | {"assumptions": assumptions()}))
    told = run("verify", "k")
    assert told.code == 1
    assert "holds  k-anonymity (k=5)" in told.out
    assert "sensitive labels tell more" in told.out


SENSITIVE = 'taxonomy = { none = [], infectious = ["flu", "cold"], chronic = ["asthma", "diabetes"] }'


def assumptions() -> list[str]:
    spec = json.loads((OLD / "table" / "release.json").read_text(encoding="utf-8"))
    return list(spec["claim"]["assumptions"])


@pytest.mark.parametrize(
    "honest",
    [
        ("Male pattern baldness", "stage 2", "HIV+", "HIV-", "cancer, female", "coast-down type_3"),
        ("<=20", "20-30", "30 - 40", ">=40", "40=42", "120/80 [35-50]"),
    ],
)
def test_labels_that_hold_a_value_by_chance_are_no_fault(
    honest: tuple[str, ...], run: Run, publish: Run, people: Path
) -> None:
    rows = pl.read_csv(people / "people.csv")
    rows = rows.with_columns(disease=pl.Series([honest[number % len(honest)] for number in range(rows.height)]))
    rows.write_csv(people / "people.csv")
    declare(people, SENSITIVE, f"values = {json.dumps(honest)}")
    for name, options in (
        ("r", K_ANONYMITY),
        ("s", ("--method", "suppression")),
        ("b", ("--method", "anatomy", "--l", "2")),
    ):
        assert publish(name, *options).code == 0
        assert run("verify", name).code == 0


def test_five_copies_of_one_row_cannot_be_seen_and_that_is_said(run: Run, publish: Run, people: Path) -> None:
    rows = pl.read_csv(people / "people.csv")
    pl.concat([rows[:10]] * 5).write_csv(people / "people.csv")
    publish("r", "--method", "mondrian", "--k", "5")
    told = run("verify", "r")
    assert told.code == 0
    _, unseen = told.out.split("What no verification can see:\n")
    assert "whether each row is one person: rows that were copied or made up look like anybody's" in unseen


def test_noisy_counts_under_a_claim_about_classes(run: Run, publish: Run, people: Path) -> None:
    publish("r", *NOISE, "--spread", "even")
    claim = {"claim": "syntactic", "requirements": [{"requirement": "k-anonymity", "k": 1}], "buckets": False}

    def forge(spec: dict[str, Any]) -> None:
        spec.update(method="mondrian", parameters={"k": 1}, claim=claim | {"assumptions": assumptions()})
        del spec["id"]

    describe(people / "r", forge)
    counts = pl.read_csv(people / "r" / "counts.csv")
    boxes = counts.group_by("age", "sex", "town").agg(pl.sum("count")).filter(pl.col("count") >= 1)
    counts.join(boxes, on=["age", "sex", "town"], how="semi", maintain_order="left").write_csv(
        people / "r" / "counts.csv"
    )
    told = run("verify", "r")
    assert told.code == 1
    assert "holds  k-anonymity (k=1)" in told.out
    assert "noisy or fractional counts stand for no people" in told.out


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda spec: spec.update(note="0.1-differential privacy"), "'note' in release.json is not part of a release"),
        (lambda spec: spec["claim"].update(also="everything"), "'also' in the claim is not part of a release"),
        (lambda spec: spec["claim"]["requirements"][0].update(people=9), "has others"),
        (lambda spec: spec["files"].update(original="people.csv"), "'original' in files is not part of a release"),
        (lambda spec: spec["columns"].update(names="name"), "'names' in columns is not part of a release"),
        (lambda spec: spec["schema"]["columns"]["town"].update(hierarchy="/etc/passwd"), "not in a file"),
    ],
)
def test_a_part_without_a_meaning_is_refused(
    change: Change, sentence: str, run: Run, publish: Run, people: Path
) -> None:
    publish("r", *K_ANONYMITY)
    describe(people / "r", change)
    for command in (("verify", "r"), ("query", "r", "age >= 40")):
        told = run(*command)
        assert (told.code, told.out, sentence in told.err, told.err.count("\n")) == (2, "", True, 1)


def test_a_part_given_twice_is_refused(run: Run, publish: Run, people: Path) -> None:
    """Of two claims, one reader would take the first and another the last."""
    publish("r", *K_ANONYMITY)
    path = people / "r" / "release.json"
    path.write_text(path.read_text().replace('"claim"', '"claim": {"claim": "pure-dp", "epsilon": 0.1},\n"claim"', 1))
    told = run("verify", "r")
    assert (told.code, "'claim' is given twice" in told.err) == (2, True)


def test_rows_in_an_order_of_their_own(run: Run, publish: Run, people: Path) -> None:
    """The order of the people in the original would tell each of them."""
    publish("r", *K_ANONYMITY)
    path = people / "r" / "data.csv"
    rows = pl.read_csv(path, infer_schema=False)
    rows.sample(fraction=1, shuffle=True, seed=3).write_csv(path)
    told = run("verify", "r")
    assert (told.code, "the rows of data.csv are not in the order of their labels" in told.out) == (1, True)
    rows.write_csv(path)
    assert run("verify", "r").code == 0


def test_values_that_look_the_same_make_no_class_diverse(run: Run, publish: Run, people: Path) -> None:
    publish("r", *K_ANONYMITY)
    path = people / "r" / "data.csv"
    rows = pl.read_csv(path, infer_schema=False)
    halves = pl.Series(["flu" if number % 2 else "Flu" for number in range(rows.height)])
    rows.with_columns(disease=halves).sort(pl.all(), maintain_order=True).write_csv(path)
    describe(people / "r", lambda spec: spec["schema"]["columns"]["disease"].pop("taxonomy"))
    describe(people / "r", lambda spec: spec["schema"]["columns"]["disease"].update(values=["flu", "Flu", "cold"]))
    told = run("verify", "r")
    assert told.code == 1
    assert "holds  k-anonymity (k=5)" in told.out
    assert "FAILS  l-diversity (l=1.5)" in told.out


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda spec: spec["claim"].update(epsilon=0.1),
            "costs ε = 2 for add-remove neighbours, the claim says ε = 0.1",
        ),
        (lambda spec: spec["claim"].update(neighbours="replace-one"), "the claim says ε = 2 for replace-one"),
        (lambda spec: spec["parameters"].update(names=["Ada"]), "its parameters are not those of its method"),
        (lambda spec: spec.update(method="mondrian", parameters={"k": 5}), "mondrian adds no noise"),
        (lambda spec: spec["claim"]["assumptions"].pop(0), "leaves out that every person has at most one row"),
        (
            lambda spec: spec.update(exact_people=True),
            "said to be those of real people, whose presence the claim hides",
        ),
        (
            lambda spec: spec["schema"]["columns"]["age"].update(from_data=["max"]),
            "the bounds or values of age were read off the rows, which no noise covers",
        ),
    ],
)
def test_a_claim_of_noise_that_is_contradicted(
    change: Change, sentence: str, run: Run, publish: Run, people: Path
) -> None:
    publish("r", *NOISE, "--rows", "synthetic")
    honest = run("verify", "r")
    assert honest.code == 3
    assert "whether noise was drawn as the method says, and ε spent as the claim says" in honest.out
    assert "whether anybody looked at the rows before the setting was chosen" in honest.out
    describe(people / "r", change)
    told = run("verify", "r")
    assert (told.code, sentence in told.out) == (1, True)
    assert told.out.endswith("The release does not keep its claim.\n")


def test_the_ledger_is_asked_about_the_id(
    run: Run, publish: Run, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SFUMATO_LEDGER", str(people / "own.sqlite"))
    publish("r", *NOISE, "--ledger", "mine.sqlite")
    name = load_release(people / "r").provenance.id
    told = run("verify", "r", "--ledger", "mine.sqlite")
    assert (told.code, f"Its id is {name}; the ledger mine.sqlite was charged ε = 2 for it, settled." in told.out) == (
        3,
        True,
    )
    assert "whoever made it can look it up in their ledger" in run("verify", "r").out
    Ledger("other.sqlite").cap("people", 1)
    assert "which the ledger other.sqlite does not know" in run("verify", "r", "--ledger", "other.sqlite").out
    missing = run("verify", "r", "--ledger", "nowhere.sqlite")
    assert (missing.code, "nowhere.sqlite: there is no such ledger" in missing.err) == (2, True)

    def claim_less(spec: dict[str, Any]) -> None:
        spec["claim"]["epsilon"] = spec["parameters"]["epsilon"] = 1.5

    describe(people / "r", claim_less)
    assert run("verify", "r").code == 3
    told = run("verify", "r", "--ledger", "mine.sqlite")
    assert (
        told.code,
        "the ledger was charged ε = 2 for add-remove neighbours, the claim says ε = 1.5" in told.out,
    ) == (1, True)
    describe(people / "r", lambda spec: [spec[part].update(epsilon=0.1) for part in ("claim", "parameters")])
    told = run("verify", "r")
    assert (told.code, "ε=0.1 adds at least 14.1" in told.out) == (1, True), "so small an ε is found without a ledger"
    describe(people / "r", lambda spec: spec.pop("id"))
    assert "It has no id: no ledger was charged for it" in run("verify", "r").out


def test_a_conditional_claim_says_so_first(run: Run, publish: Run, people: Path) -> None:
    ledger = Ledger("mine.sqlite")
    ledger.note_look("people", "a frontier")
    publish("r", *NOISE, "--ledger", "mine.sqlite")
    told = run("verify", "r", "--ledger", "mine.sqlite")
    assert told.code == 3
    assert told.out.startswith(
        "Claim: choosing its setting is not covered: a frontier showed measures of data under its name"
    )
    assert "whether anybody looked" not in told.out


def look_earlier(ledger: str, folder: Path) -> None:
    """Turn the clock of a look back: within a second, nobody can tell what came first."""
    with closing(sqlite3.connect(ledger)) as connection, connection:
        connection.execute("UPDATE looks SET at = '2020-01-01T00:00:00+00:00'")


@pytest.mark.parametrize("looked_at", ["people", "the same rows under another name"])
def test_a_conditional_claim_made_unconditional(looked_at: str, run: Run, publish: Run, people: Path) -> None:
    """The ledger knows of the look, and that it was there before the release."""
    table = sf.read("people.csv", schema="people.toml")
    Ledger("mine.sqlite").note_look(looked_at, "a frontier", table.digest)
    look_earlier("mine.sqlite", people)
    publish("r", *NOISE, "--ledger", "mine.sqlite")
    publish("before", *NOISE, "--ledger", "mine.sqlite", "--beforehand")
    for honest in ("r", "before"):
        assert run("verify", honest, "--ledger", "mine.sqlite").code == 3
    describe(people / "r", lambda spec: spec.update(claim=spec["claim"]["given"]))
    describe(people / "before", lambda spec: spec["claim"]["assumptions"].pop())
    for forged in ("r", "before"):
        told = run("verify", forged, "--ledger", "mine.sqlite")
        sentence = "the ledger knows that a frontier showed measures of data under its name, or of the same"
        assert (told.code, sentence in told.out) == (1, True)


def test_a_look_after_the_release_changes_nothing(run: Run, publish: Run, people: Path) -> None:
    publish("r", *NOISE, "--ledger", "mine.sqlite")
    Ledger("mine.sqlite").note_look("people", "a frontier")
    assert run("verify", "r", "--ledger", "mine.sqlite").code == 3


FORGED = "it is also differentially private with epsilon = 0.01, which this verification confirmed"


@pytest.mark.parametrize("options", [NOISE, K_ANONYMITY, DIRICHLET], ids=lambda options: options[1])
@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        (FORGED, "no such claim says 'it is also differentially private"),
        ("every person has at most one row, which the office certified", "no such claim says 'every person has"),
        ("a person is whoever has the same shoe; at most one row of each is used", "no such claim says 'a person is"),
        ("x\n  holds  k-anonymity (k=5000)\n\x1b[2J\x1b[H", "no such claim says 'x\\n  holds  k-anonymity"),
        (None, "the claim says something twice"),
    ],
    ids=["promise", "longer", "another person", "lines", "twice"],
)
def test_a_sentence_added_to_a_claim(
    sentence: str | None, told: str, options: tuple[str, ...], run: Run, publish: Run, people: Path
) -> None:
    publish("r", *options)
    assert run("verify", "r").code == (0 if options is K_ANONYMITY else 3)
    describe(
        people / "r", lambda spec: spec["claim"]["assumptions"].append(sentence or spec["claim"]["assumptions"][-1])
    )
    found = run("verify", "r")
    assert (found.code, told in found.out) == (1, True)
    assert not any(line.strip() == "holds  k-anonymity (k=5000)" for line in found.out.splitlines())
    assert "\x1b" not in found.out


def test_people_left_out_without_the_caveat(run: Run, publish: Run, people: Path) -> None:
    """What a method takes for granted at one setting belongs to the claim there, and nowhere else."""
    for name, suppress in (("r", ("--suppress", "0.05")), ("k", ())):
        publish(name, "--method", "mondrian", "--k", "5", *suppress)
        assert run("verify", name).code == 0
    said = json.loads((people / "r" / "release.json").read_text())["claim"]["assumptions"]
    caveat = next(sentence for sentence in said if sentence.startswith("up to 0.05 of the people are left out"))
    describe(people / "r", lambda spec: spec["claim"]["assumptions"].remove(caveat))
    describe(people / "k", lambda spec: spec["claim"]["assumptions"].append(caveat))
    silent, talkative = run("verify", "r"), run("verify", "k")
    assert (silent.code, "the claim leaves out that up to 0.05 of the people" in silent.out) == (1, True)
    assert (talkative.code, "no such claim says 'up to 0.05 of the people" in talkative.out) == (1, True)


@pytest.mark.parametrize("assumptions", [[5], "none", None, [["x"]]], ids=str)
def test_assumptions_are_sentences(assumptions: Any, run: Run, publish: Run, people: Path) -> None:
    for name, options in (("r", K_ANONYMITY), ("n", NOISE)):
        publish(name, *options)
        describe(people / name, lambda spec: spec["claim"].update(assumptions=assumptions))
        told = run("verify", name)
        assert (told.code, told.out, "expected a list of sentences" in told.err) == (2, "", True)


def test_what_showed_measures_is_one_of_few_things(run: Run, publish: Run, people: Path) -> None:
    publish("r", *NOISE)
    for looked, code in (("a frontier", 3), ("nothing; the office certified that nobody", 1)):
        claim = {"claim": "conditional", "looked": looked}
        describe(
            people / "r",
            lambda spec, claim=claim: spec.update(claim=claim | {"given": spec["claim"].get("given") or spec["claim"]}),
        )
        assert run("verify", "r").code == code
    describe(people / "r", lambda spec: spec.update(claim=spec["claim"] | {"given": spec["claim"]}))
    assert "the claim is conditional twice" in run("verify", "r").err


def test_every_look_is_known_to_verify() -> None:
    found = {looks.LOOK, evaluation.LOOK, page.LOOK, frontier.LOOK, pilots.PILOT}
    assert found == set(LOOKS)


def test_a_claim_without_requirements(run: Run, publish: Run, people: Path) -> None:
    publish("r", *K_ANONYMITY)
    describe(people / "r", lambda spec: spec["claim"].update(requirements=[]))
    told = run("verify", "r")
    assert (told.code, "the claim has no requirements" in told.err) == (2, True)


def test_parameters_of_a_method_that_nobody_knows(run: Run, publish: Run, people: Path) -> None:
    publish("r", *K_ANONYMITY)
    describe(people / "r", lambda spec: spec.update(method="another tool", parameters={"Alice": "cancer"}))
    told = run("verify", "r")
    assert (told.code, "so that nothing says what its parameters mean" in told.out) == (1, True)


def test_escapes_in_what_is_refused_do_not_reach_the_terminal(run: Run, publish: Run, people: Path) -> None:
    publish("r", *K_ANONYMITY)
    (people / "r").rename(people / "\x1b[2Jr")
    (people / "\x1b[2Jr" / "data.csv").unlink()
    told = run("verify", "\x1b[2Jr")
    assert (told.code, "\x1b" in told.err, "\\x1b[2Jr" in told.err) == (2, False, True)


def test_signs_that_steer_a_terminal_are_spelled_out() -> None:
    assert printable("a\nb\x1b[1m\u202ec\u2028\x9b\x7f") == "a\\nb\\x1b[1m\\u202ec\\u2028\\x9b\\x7f"
    assert printable("ε = 1, naïve 日本 שלום") == "ε = 1, naïve 日本 שלום"


def test_old_folders_are_verified_as_ever(run: Run, people: Path) -> None:
    assert run("verify", OLD / "table").code == 0
    told = run("verify", OLD / "flows")
    assert told.code == 3
    assert "Its id is bff50e6e-d1d9-4efb-85da-d249c2ac00a9" in told.out
    assert "the first version wrote that of the places" in told.out


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("at most e^4,", "at most e^0.1,", "its promise is in other words than the claim"),
        (
            "origins are the only secret",
            "origins are a secret",
            "the claim leaves out that origins are the only secret",
        ),
        ('"synthesis": 4.0', '"synthesis": 5.0', "epsilon is made of 5 in all, the claim says 4"),
    ],
)
def test_flows_that_say_more_than_they_claim(old: str, new: str, sentence: str, run: Run, people: Path) -> None:
    shutil.copytree(OLD / "flows", people / "flows")
    path = people / "flows" / "commute.json"
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))
    told = run("verify", "flows")
    assert (told.code, sentence in told.out) == (1, True)


HUGE = 10**400


@pytest.mark.parametrize(
    "change",
    [
        lambda spec: spec["claim"].update(epsilon=HUGE),
        lambda spec: spec["claim"].update(epsilon=10**7),
        lambda spec: spec["claim"].update(epsilon=float("nan")),
        lambda spec: spec["claim"].update(epsilon=float("inf")),
        lambda spec: spec["claim"].update(choice={"epsilon": HUGE, "pilot": "x"}),
        lambda spec: spec.update(
            claim={"claim": "conditional", "looked": "x", "given": spec["claim"] | {"epsilon": HUGE}}
        ),
    ],
)
def test_a_number_beyond_all_amounts_is_one_sentence(change: Change, run: Run, publish: Run, people: Path) -> None:
    publish("r", *NOISE)
    describe(people / "r", change)
    told = run("verify", "r")
    assert (told.code, told.out, "expected a number above 0 and at most 1,000,000" in told.err) == (2, "", True)
    assert len(told.err) < 300


def numbers_in(spec: Any) -> list[tuple[Any, Any]]:
    """Every number in a description, as where it stands and under which key."""
    parts = list(spec.items() if isinstance(spec, dict) else enumerate(spec) if isinstance(spec, list) else ())
    found = [(spec, key) for key, value in parts if isinstance(value, int | float) and not isinstance(value, bool)]
    return found + [place for _, value in parts for place in numbers_in(value)]


@pytest.mark.parametrize(
    "options", [NOISE, K_ANONYMITY, ("--method", "dirichlet", "--epsilon", "1")], ids=lambda o: o[1]
)
@pytest.mark.parametrize("number", [HUGE, -HUGE, 10**20, 1e308, 5e-324, -1, 0], ids=str)
def test_any_number_anywhere_is_one_sentence_or_a_verdict(
    number: float, options: tuple[str, ...], run: Run, publish: Run, people: Path
) -> None:
    declare(people, '[columns.name]\nrole = "identifier"\n', "")
    assert publish("r", *options).code == 0
    spec = json.loads((people / "r" / "release.json").read_text(encoding="utf-8"))
    for where, key in numbers_in(spec):
        before, where[key] = where[key], number
        (people / "r" / "release.json").write_text(json.dumps(spec), encoding="utf-8")
        assert run("verify", "r").code in (0, 1, 2, 3)
        where[key] = before


PURE = {
    "claim": "pure-dp",
    "epsilon": 0.1,
    "neighbours": "add-remove",
    "assumptions": [
        "every person has at most one row",
        "domains, bounds, categories and taxonomies in the schema are public knowledge",
        "other releases of the same people add their own epsilon to this one",
    ],
}


@pytest.mark.parametrize(
    ("options", "change"),
    [
        (NOISE, lambda spec: spec["claim"].update(epsilon=0.01)),
        (NOISE, lambda spec: spec["claim"].update(epsilon=0.01, neighbours="replace-one")),
        (K_ANONYMITY, lambda spec: spec.update(claim=PURE)),
    ],
    ids=["smaller epsilon", "other neighbours", "classes of people"],
)
def test_a_method_that_nobody_knows_promises_nothing(
    options: tuple[str, ...], change: Change, run: Run, publish: Run, people: Path
) -> None:
    publish("r", *options)
    describe(people / "r", change)
    describe(people / "r", lambda spec: spec.update(method="private-synthesis"))
    told = run("verify", "r")
    assert (told.code, "'private-synthesis' is no method of this program" in told.out) == (1, True)


def test_what_another_tool_made_without_a_promise_is_no_matter(run: Run, publish: Run, people: Path) -> None:
    publish("r", *K_ANONYMITY)
    describe(people / "r", lambda spec: spec.update(method="another tool", parameters={}))
    assert run("verify", "r").code == 0, "classes are recomputed, whoever made them"
    describe(people / "r", lambda spec: spec.update(claim={"claim": "none", "reason": "nothing is known"}))
    told = run("verify", "r")
    assert (told.code, "no method of this program" in told.out) == (1, False)


def test_a_person_named_in_the_middle_of_a_sentence(run: Run, publish: Run, people: Path) -> None:
    """Of sensitive values alone, the claim says who is a person and more in one sentence."""
    publish("r", *DIRICHLET)
    told = run("verify", "r")
    assert (told.code, "Contradicts" in told.out) == (3, False)
    assert "Assumes: a person is whoever has the same name; at most one row of each is used, and sensitive" in told.out
    describe(people / "r", lambda spec: spec["claim"]["assumptions"].pop(0))
    told = run("verify", "r")
    assert (told.code, "the claim leaves out that a person is whoever has the same name" in told.out) == (1, True)


@pytest.mark.parametrize(
    ("options", "name", "value", "said"),
    [
        ("mondrian --k 5", "k", 50, "Mondrian k=50 promises k-anonymity (k=50) of classes, the claim says k-anonymi"),
        ("mondrian --k 5 --l 1.5", "l", 3, "promises k-anonymity (k=5), l-diversity (l=3) of classes, the claim says"),
        ("mondrian --k 5 --l 1.5", "recoding", "bucketize", "promises size of buckets (k=5), l-diversity (l=1.5) of b"),
        ("mondrian --l 1.5", "t", 0.2, "promises l-diversity (l=1.5), t-closeness (t=0.2, distance=equal) of classes"),
        ("anatomy --l 2", "l", 3, "Anatomy l=3 promises l-diversity (l=3), distinct l-diversity (l=3) of buckets"),
        ("kd-tree --epsilon 2", "epsilon", 1, "kd-tree ε=1 costs ε = 1 for add-remove neighbours, the claim says ε ="),
        ("local --epsilon 2", "epsilon", 1, "costs ε = 1 for replace-sensitive neighbours, the claim says ε = 2"),
        ("dirichlet --epsilon 2 --delta 1e-3", "delta", 1e-9, "costs ε = 2, δ = 1e-09 for replace-sensitive neighbou"),
        ("mst --epsilon 2 --delta 1e-3", "delta", 1e-9, "costs ε = 2, δ = 1e-09 for add-remove neighbours, the claim"),
    ],
)
def test_parameters_that_promise_more_than_the_claim(
    options: str, name: str, value: Any, said: str, run: Run, publish: Run, people: Path
) -> None:
    """As it was found: k = 50 among the parameters, beside a claim and classes of k = 5."""
    done = publish("r", "--method", *options.split())
    assert done.code == 0, done.err
    assert run("verify", "r").code in (0, 3)
    describe(people / "r", lambda spec: spec["parameters"].update({name: value}))
    told = run("verify", "r")
    assert (told.code, said in " ".join(told.out.split())) == (1, True), told.out


@pytest.mark.parametrize("method", ["quad-tree", "kd-tree", "privtree", "dpcube", "diffgen", "diffmulti --h 50"])
@pytest.mark.parametrize("people_rows", [1, 3], ids=["one row", "three rows"])
def test_noise_beside_counts_that_epsilon_does_not_allow(
    method: str, people_rows: int, run: Run, publish: Run, people: Path
) -> None:
    """As it was found: noise of 5.3 written as 0.00001, so that counts look exact; the twin is what was drawn."""
    if people_rows > 1:
        declare(people, 'name = "people"', f'name = "people"\nrows_per_person = {people_rows}')
    done = publish("r", "--epsilon", "2", "--method", *method.split())
    assert done.code == 0, done.err
    honest = run("verify", "r")
    assert (honest.code, "whether the noise beside the counts is what was drawn" in honest.out) == (3, True)
    path = people / "r" / "counts.csv"
    counts = pl.read_csv(path, infer_schema=False)
    least = 2 * math.exp(2 / people_rows) / (math.exp(2 / people_rows) - 1) ** 2
    assert counts["noise"].cast(float).min() >= math.sqrt(least) * 0.99999
    for noise in ("0.00001", f"{math.sqrt(least) * 0.999:.6g}"):
        counts.with_columns(noise=pl.lit(noise)).write_csv(path)
        told = run("verify", "r")
        assert (told.code, f"a count is said to have noise of {float(noise):.6g}, and " in told.out) == (1, True)


def test_other_noise_on_values_than_the_method_draws(run: Run, publish: Run, people: Path) -> None:
    publish("r", "--method", "local", "--epsilon", "2")
    describe(people / "r", lambda spec: spec["channel"].update(epsilon="1"))
    told = run("verify", "r")
    assert (told.code, "Local randomized-response ε=2 draws by" in told.out) == (1, True)


def test_a_claim_of_another_kind_than_its_method_makes(run: Run, publish: Run, people: Path) -> None:
    declare(people, '[columns.name]\nrole = "identifier"\n', "")
    publish("r", "--method", "dirichlet", "--epsilon", "1")
    assert run("verify", "r").code == 3
    describe(people / "r", lambda spec: spec["claim"].update(claim="approximate-dp"))
    told = run("verify", "r")
    assert (told.code, "promises probabilistic-dp, the claim says approximate-dp" in told.out) == (1, True)


def test_the_id_of_another_release(run: Run, publish: Run, people: Path) -> None:
    """Of the same people, at the same ε: the ledger knows of which method."""
    publish("r", *NOISE)
    publish("other", "--method", "marginals", "--epsilon", "2")
    assert run("verify", "r").code == 3
    name = load_release(people / "other").provenance.id
    describe(people / "r", lambda spec: spec.update(id=name))
    for version in (load_release(people / "other").provenance.version, "0.1.0"):
        describe(people / "r", lambda spec, version=version: spec.update(version=version))
        told = run("verify", "r")
        assert (told.code, "the ledger was charged for Marginals ε=2, not for " in told.out) == (1, True)


def test_a_choice_that_the_ledger_knows_otherwise(run: Run, publish: Run, people: Path) -> None:
    publish("pilot", "--method", "quad-tree", "--epsilon", "0.5")
    publish("r", *NOISE, "--pilot", "pilot")
    assert run("verify", "r").code == 3

    def shift(spec: dict[str, Any]) -> None:
        spec["claim"]["choice"]["epsilon"], spec["parameters"]["epsilon"] = 2.0, 0.5

    describe(people / "r", shift)
    told = run("verify", "r")
    assert (told.code, "the ledger was charged ε = 0.5 for add-remove neighbours for the pilot" in told.out) == (
        1,
        True,
    )


@pytest.mark.parametrize("name", ["data.csv", "release.json"])
def test_a_link_out_of_the_folder(name: str, run: Run, publish: Run, people: Path) -> None:
    """What was verified stays behind when the folder is handed on, or changes afterwards."""
    publish("r", *K_ANONYMITY)
    (people / "r" / name).rename(people / "elsewhere")
    (people / "r" / name).symlink_to("../elsewhere")
    told = run("verify", "r")
    assert (told.code, f"{name} is a link to another place" in told.out) == (1, True)


@pytest.mark.parametrize("place", ["file", "schema"])
def test_the_original_in_the_metadata_of_a_parquet_file(place: str, run: Run, publish: Run, people: Path) -> None:
    publish("r", *K_ANONYMITY, "--parquet")
    assert run("verify", "r").code == 0
    path, secret = people / "r" / "data.parquet", (people / "people.csv").read_text(encoding="utf-8")
    if place == "file":
        pl.read_parquet(path).write_parquet(path, metadata={"secret": secret})
    else:
        arrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        rows = parquet.read_table(path)
        fields = [arrow.field(field.name, field.type, metadata={"secret": secret}) for field in rows.schema]
        parquet.write_table(rows.cast(arrow.schema(fields)), path)
    told = run("verify", "r")
    named = "secret" if place == "file" else "ARROW:schema"
    assert (told.code, f"data.parquet holds metadata that are no part of the release: {named}" in told.out) == (1, True)


def test_a_parquet_file_that_another_program_wrote_plainly_is_no_fault(run: Run, publish: Run, people: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    publish("r", *K_ANONYMITY, "--parquet")
    path = people / "r" / "data.parquet"
    parquet.write_table(parquet.read_table(path), path)
    assert run("verify", "r").code == 0


def test_a_comment_in_the_head_of_a_compressed_file(run: Run, people: Path) -> None:
    table = sf.read("people.csv", schema="people.toml")
    sf.publish_to(sf.Mondrian(k=5), table, "r", suffix=".csv.gz")
    assert run("verify", "r").code == 0
    path = people / "r" / "data.csv.gz"
    packed, secret = path.read_bytes(), (people / "people.csv").read_bytes()
    path.write_bytes(packed[:3] + bytes([16]) + packed[4:10] + secret + b"\0" + packed[10:])
    told = run("verify", "r")
    assert (told.code, "data.csv.gz holds more than rows in its compression" in told.out) == (1, True)


@pytest.fixture
def flows(run: Run, people: Path) -> Path:
    """Synthetic flows in a folder, which nothing contradicts."""
    pl.DataFrame({"id": ["a", "b", "c"], "lat": [41.0, 41.1, 41.2], "lon": [-71.0] * 3}).write_csv("places.csv")
    pl.DataFrame({"origin": ["a", "b"], "destination": ["b", "b"], "count": [60, 40]}).write_csv("flows.csv")
    words = ("commute", "synthesize", "flows.csv", "--places", "places.csv", "--name", "region", "-o", "flows")
    assert run(*words, "--epsilon", "4.6", "--delta", "1e-4", "--radius", "20").code == 0
    assert run("verify", "flows").code == 3
    return people / "flows"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda spec: spec["claim"].update(epsilon=0.01), "commute costs ε = 4.6, δ = 0.0001 for replace-origin"),
        (lambda spec: spec["claim"].update(delta=1e-12), "the claim says ε = 4.6, δ = 1e-12"),
        (lambda spec: spec["claim"].update(claim="approximate-dp"), "commute promises probabilistic-dp"),
        (
            lambda spec: spec["claim"].update(claim="pure-dp") or spec["claim"].pop("delta"),
            "the claim says ε = 4.6 for",
        ),
        (lambda spec: spec.pop("epsilon_made_of"), "it leaves out what epsilon is made of"),
        (lambda spec: spec.update(epsilon_made_of={"x": 1.0}), "it says otherwise"),
        (lambda spec: spec.update(epsilon_made_of={"synthesis": 4.6, "rejection": -100.0}), "it says otherwise"),
        (
            lambda spec: spec.update(epsilon_made_of={"synthesis": 0.1}),
            "epsilon is made of 0.1 in all, the claim says 4.6",
        ),
        (lambda spec: spec.update(drawn_from_data=5), "no share of people is 5"),
        (lambda spec: spec["claim"]["assumptions"].append("the bureau certified it"), "no such claim says 'the bureau"),
        (lambda spec: spec.pop("promise"), "it leaves out its promise in words"),
        (lambda spec: spec.pop("about"), "it leaves out its about in words"),
        (lambda spec: spec.update(parameters={}), "its parameters are not those of its method"),
        (lambda spec: spec["parameters"].pop("epsilon"), "its parameters are not those of its method"),
        (
            lambda spec: spec["parameters"].update(certified="by the bureau"),
            "certified is 'by the bureau'; no synthetic",
        ),
        (lambda spec: spec["parameters"].update(density=3), "density is 3; no synthetic"),
        (lambda spec: spec["parameters"].update(rejection="no"), "rejection is 'no'; expected true or false"),
        (lambda spec: spec["parameters"].update(coarse=[7]), "no synthetic flows are made so"),
        (lambda spec: spec["parameters"].update(rule="pure"), "its parameters are not those of its method"),
        (lambda spec: spec.update(method="commuting"), "'commuting' is no method of this program"),
        (lambda spec: spec["claim"].update(choice={"epsilon": 4, "pilot": "x"}), "commute costs ε = 8.6"),
    ],
)
def test_flows_that_claim_less_than_they_cost(change: Change, sentence: str, run: Run, flows: Path) -> None:
    describe(flows, change)
    told = run("verify", "flows")
    assert (told.code, sentence in told.out) == (1, True), told


def test_flows_under_no_guarantee_need_no_words(run: Run, flows: Path) -> None:
    describe(flows, lambda spec: spec.update(claim={"claim": "none", "reason": "seeded"}))
    describe(flows, lambda spec: spec.pop("promise"))
    told = run("verify", "flows")
    assert (told.code, "Contradicts" in told.out) == (1, False)


@pytest.mark.parametrize("old", ['"delta": 0.001', '"claim": "probabilistic-dp"'])
def test_old_flows_are_held_to_their_rule(old: str, run: Run, people: Path) -> None:
    shutil.copytree(OLD / "flows", people / "flows")
    path = people / "flows" / "commute.json"
    new = {'"delta": 0.001': '"delta": 1e-12', '"claim": "probabilistic-dp"': '"claim": "approximate-dp"'}[old]
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))
    assert run("verify", "flows").code == 1


@pytest.mark.parametrize("key", ["drawn_from_data", "radius_km"])
def test_a_huge_number_in_a_description_of_flows_is_one_sentence(key: str, run: Run, flows: Path) -> None:
    describe(flows, lambda spec: (spec["parameters"] if key in spec["parameters"] else spec).update({key: HUGE}))
    told = run("verify", "flows")
    assert (told.code, f"{key} is 1000" in told.err, len(told.err) < 300) == (2, True, True)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (",6\n", ",06\n", "the program writes '001,001,6"),
        (",6\n", ",+6\n", "the program writes '001,001,6"),
        (",6\n", ", 6\n", "the program writes '001,001,6"),
        (",6\n", ",9223372036854775807\n", "more than 10,000,000 people go to one destination"),
    ],
)
def test_counts_of_flows_that_no_flows_have(old: str, new: str, sentence: str, run: Run, people: Path) -> None:
    shutil.copytree(OLD / "flows", people / "flows")
    path = people / "flows" / "flows.csv"
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))
    told = run("verify", "flows")
    assert (told.code, sentence in told.out) == (1, True)


def test_flows_in_an_order_of_their_own(run: Run, flows: Path) -> None:
    rows = (flows / "flows.csv").read_text().splitlines(keepends=True)
    assert len(rows) > 2
    (flows / "flows.csv").write_text("".join([rows[0], *rows[:0:-1]]))
    told = run("verify", "flows")
    assert (told.code, "the rows of flows.csv are not in the order of their labels" in told.out) == (1, True)


MARGINS = "column,value,share\nsex,Female,0.5\nsex,Male,0.5\n"


def add_margins(folder: Path) -> None:
    (folder / "margins.csv").write_text(MARGINS, encoding="utf-8")
    describe(folder, lambda spec: spec["files"].update({"margins": "margins.csv"}))


@pytest.mark.parametrize("method", ["mondrian", "by hand"])
def test_exact_margins_beside_classes(method: str, run: Run, publish: Run, people: Path) -> None:
    """As it was found: a claim about classes held beside the exact count of every value, down to single people."""
    publish("r", *K_ANONYMITY)
    add_margins(people / "r")
    if method == "by hand":
        describe(people / "r", lambda spec: spec.update({"method": method, "parameters": {}}))
    told = run("verify", "r")
    assert (told.code, "margins" in told.err) == (2, True)


@pytest.mark.parametrize("options", [(*NOISE, "--spread", "even"), ("--method", "privtree", "--epsilon", "2")])
def test_margins_of_a_method_that_counts_none(options: tuple[str, ...], run: Run, publish: Run, people: Path) -> None:
    publish("r", *options)
    assert run("verify", "r").code == 3
    add_margins(people / "r")
    told = run("verify", "r")
    assert told.code == 1
    assert "counts no columns by themselves" in " ".join(told.out.split())


def test_more_classes_than_the_height_allows(run: Run, publish: Run, people: Path) -> None:
    publish("r", *K_ANONYMITY)
    describe(people / "r", lambda spec: spec["parameters"].update({"height": 1}))
    told = run("verify", "r")
    assert (told.code, "makes at most 2" in " ".join(told.out.split())) == (1, True)
