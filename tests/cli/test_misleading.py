"""Folders made to mislead: `verify` finds each out, lets the honest one pass, and lists what it cannot see."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from sfumato.privacy.ledger import Ledger
from sfumato.release import load_release

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import Run

    Change = Callable[[dict[str, Any]], Any]

OLD = Path(__file__).parents[1] / "release" / "old"
K_ANONYMITY = ("--method", "mondrian", "--k", "5", "--l", "1.5")
NOISE = ("--method", "quad-tree", "--epsilon", "2")


def describe(folder: Path, change: Change) -> None:
    """Change what `release.json` says."""
    path = folder / "release.json"
    spec = json.loads(path.read_text(encoding="utf-8"))
    change(spec)
    path.write_text(json.dumps(spec, ensure_ascii=False), encoding="utf-8")


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


def test_labels_that_hold_a_value_by_chance_are_no_fault(run: Run, publish: Run, people: Path) -> None:
    honest = ("Male pattern baldness", "stage 2", "HIV+", "HIV-", "cancer, female", "coast-down type_3")
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
    publish("r", *NOISE)
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
        spec["claim"]["epsilon"] = spec["parameters"]["epsilon"] = 0.1

    describe(people / "r", claim_less)
    assert run("verify", "r").code == 3
    told = run("verify", "r", "--ledger", "mine.sqlite")
    assert (
        told.code,
        "the ledger was charged ε = 2 for add-remove neighbours, the claim says ε = 0.1" in told.out,
    ) == (1, True)
    describe(people / "r", lambda spec: spec.pop("id"))
    assert "It has no id: no ledger was charged for it" in run("verify", "r").out


def test_a_conditional_claim_says_so_first(run: Run, publish: Run, people: Path) -> None:
    ledger = Ledger("mine.sqlite")
    ledger.note_look("people", "a frontier")
    publish("r", *NOISE, "--ledger", "mine.sqlite")
    told = run("verify", "r", "--ledger", "mine.sqlite")
    assert told.code == 3
    assert told.out.startswith(
        "Claim: choosing its setting is not covered: a frontier showed measures of the same rows"
    )
    assert "whether anybody looked" not in told.out


def test_old_folders_are_verified_as_ever(run: Run, people: Path) -> None:
    assert run("verify", OLD / "table").code == 0
    told = run("verify", OLD / "flows")
    assert told.code == 3
    assert "Its id is bff50e6e-d1d9-4efb-85da-d249c2ac00a9" in told.out


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
