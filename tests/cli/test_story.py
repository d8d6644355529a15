"""The examples in the commands' help, run one after the other as a reader would."""

from __future__ import annotations

import shlex
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
    rows = {line.split()[0]: line for line in told.splitlines() if line.strip()}
    assert "identifier" in rows["name"]
    assert rows["age"].rstrip().endswith("  min, max, step")
    assert "sensitive" in rows["disease"]
    assert "Columns taken as identifiers, and dropped: name." in told
    schema = Schema.load(people / "people.toml")
    assert [axis.name for axis in schema.quasi] == ["age", "sex", "town"]
    assert schema.sensitive.name == "disease"


def test_init_takes_the_named_quasi_identifiers(run: Run, people: Path) -> None:
    quasi = ("--quasi", "age, sex", "--quasi", "town")
    told = run("init", "people.csv", "--sensitive", "disease", *quasi, "-o", "new.toml")
    assert told.code == 0
    assert [axis.name for axis in Schema.load(people / "new.toml").quasi] == ["age", "sex", "town"]
    assert "Columns left out: name." in told.out


def test_init_does_not_overwrite_unless_forced(run: Run, people: Path) -> None:
    before = (people / "people.toml").read_text()
    refused = run("init", "people.csv", "--sensitive", "disease")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("sfumato: people.toml: this already exists")
    assert (people / "people.toml").read_text() == before
    assert run("init", "people.csv", "--sensitive", "disease", "--force").code == 0
    assert (people / "people.toml").read_text() != before
    assert sorted(path.name for path in people.iterdir()) == ["people.csv", "people.toml"]
