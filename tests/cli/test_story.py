"""The examples in the commands' help, run one after the other as a reader would."""

from __future__ import annotations

import shlex
from itertools import pairwise
from typing import TYPE_CHECKING

from sfumato.cli import init, measure, publish, query, verify
from sfumato.schema import Schema

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run


def test_the_examples_work_one_after_the_other(run: Run, people: Path) -> None:
    (people / "people.toml").unlink()
    told = {}
    for module in (init, publish, measure, verify, query):
        outcome = run(*shlex.split(module.EXAMPLE)[1:])
        assert (outcome.code, outcome.err) == (0, ""), outcome
        told[module] = outcome.out
    assert "The schema is in people.toml." in told[init]
    assert "Mondrian k=10: 240 rows in " in told[publish]
    assert "Assumes: this is the only release of these people" in told[publish]
    assert "release stands for 240 of 240 rows." in told[measure]
    assert "holds  k-anonymity (k=10)" in told[verify]
    assert told[query].startswith("About ")
    assert " of 240 people; for certain at least " in told[query]


def test_init_says_what_it_took_for_what(run: Run, people: Path) -> None:
    (people / "people.toml").unlink()
    told = run("init", "people.csv", "--sensitive", "disease").out
    lines = told.splitlines()
    rows = {line.split()[0]: (line, after) for line, after in pairwise(lines) if line.strip()}
    assert "identifier  dropped" in rows["name"][0]
    assert "it names whose row it is" in rows["name"][1]
    assert "a whole number from" in rows["age"][0]
    assert "whole numbers" in rows["age"][1]
    assert "sensitive" in rows["disease"][0]
    assert "from_data marks in the file: values or bounds of age, sex, town, disease." in told
    assert "it names whose row it is" in (people / "people.toml").read_text()
    schema = Schema.load(people / "people.toml")
    assert [axis.name for axis in schema.quasi] == ["age", "sex", "town"]
    assert schema.sensitive.name == "disease"


def test_init_takes_the_named_quasi_identifiers(run: Run, people: Path) -> None:
    quasi = ("--quasi", "age, sex", "--quasi", "town")
    told = run("init", "people.csv", "--sensitive", "disease", *quasi, "-o", "new.toml")
    assert told.code == 0
    assert [axis.name for axis in Schema.load(people / "new.toml").quasi] == ["age", "sex", "town"]
    assert "not among the columns named." in told.out


def test_init_takes_so_many_and_other_words_for_missing_values(run: Run, people: Path) -> None:
    town = Schema.load(people / "people.toml").quasi[-1]
    gone = town.labels[0]
    told = run("init", "people.csv", "--sensitive", "disease", "--max-quasi", "2", "--missing", gone, "-o", "new.toml")
    schema = Schema.load(people / "new.toml")
    assert (told.code, len(schema.quasi), gone in schema.missing) == (0, 2, True)
    assert "tells less about whose a row is" in told.out
    assert [axis.nullable for axis in schema.quasi if axis.name == town.name] in ([True], [])
    assert run("init", "people.csv", "--sensitive", "disease", "--max-quasi", "0", "-o", "x.toml").code == 2


def test_init_does_not_overwrite_unless_forced(run: Run, people: Path) -> None:
    before = (people / "people.toml").read_text()
    refused = run("init", "people.csv", "--sensitive", "disease")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("sfumato: people.toml: this already exists")
    assert (people / "people.toml").read_text() == before
    assert run("init", "people.csv", "--sensitive", "disease", "--force").code == 0
    assert (people / "people.toml").read_text() != before
    assert sorted(path.name for path in people.iterdir()) == ["people.csv", "people.toml"]
