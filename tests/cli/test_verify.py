"""`verify` finds out a release that does not keep its claim, and says so in its exit code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from sfumato.data import read
from sfumato.methods import Mondrian

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run


def test_a_claim_that_holds(run: Run, publish: Run, people: Path) -> None:
    publish("r", "--method", "mondrian", "--k", "5", "--l", "1.5")
    told = run("verify", "r")
    assert (told.code, told.err) == (0, "")
    assert "holds  k-anonymity (k=5)" in told.out
    assert "holds  l-diversity (l=1.5)" in told.out
    assert told.out.endswith("The release keeps its claim.\n")
    spec = run("verify", "r", "--json").json
    assert spec["verified"] is True
    assert [item["violations"] for item in spec["requirements"]] == [[], []]


def test_removing_a_row_is_found_out(run: Run, publish: Run, people: Path) -> None:
    """A row taken out of a smallest class leaves it below k; diversity still holds."""
    publish("r", "--method", "mondrian", "--k", "5", "--l", "1")
    path = people / "r" / "data.csv"
    rows = pl.read_csv(path, infer_schema=False)
    sizes = rows.group_by("age", "sex", "town").len().sort("len", "age", "sex", "town")
    assert sizes["len"][0] == 5
    smallest = sizes.drop("len").row(0)
    at = next(i for i, row in enumerate(rows.select("age", "sex", "town").iter_rows()) if row == smallest)
    rows.filter(pl.int_range(pl.len()) != at).write_csv(path)
    told = run("verify", "r")
    assert (told.code, told.err) == (1, "")
    assert "FAILS  k-anonymity (k=5)" in told.out
    assert "holds  l-diversity (l=1)" in told.out
    assert "1 of " in told.out
    assert told.out.endswith("The release does not keep its claim.\n")
    spec = run("verify", "r", "--json")
    assert spec.code == 1
    assert spec.json["verified"] is False
    assert [bool(item["violations"]) for item in spec.json["requirements"]] == [True, False]


def test_a_claim_made_stronger_is_found_out(run: Run, publish: Run, people: Path) -> None:
    publish("r", "--method", "anatomy", "--l", "2")
    path = people / "r" / "release.json"
    spec = json.loads(path.read_text())
    spec["claim"]["requirements"][0]["l"] = 4
    path.write_text(json.dumps(spec))
    told = run("verify", "r")
    assert told.code == 1
    assert "FAILS  l-diversity (l=4)" in told.out
    assert "buckets" in told.out


def test_a_size_of_buckets_is_no_k_anonymity(run: Run, publish: Run, people: Path) -> None:
    """As it was found: with `k` alone the folder was the original table, and k-anonymity was said to hold."""
    bucketized = ("--method", "mondrian", "--k", "5", "--recoding", "bucketize")
    told = run("publish", people / "people.csv", "--schema", people / "people.toml", *bucketized, "-o", people / "no")
    assert (told.code, told.out, told.err.count("\n")) == (2, "", 1)
    assert "no requirement bounds the sensitive values in them" in told.err
    assert "add one that does (l, t, delta, alpha or beta), or generalize" in told.err
    assert not (people / "no").exists()
    publish("r", *bucketized, "--l", "1.5")
    told = run("verify", "r")
    assert told.code == 0
    assert "holds  size of buckets (k=5)\n      every bucket has at least 5 people\n" in told.out
    assert "anonymity" not in told.out
    named = [item["requirement"] for item in run("verify", "r", "--json").json["requirements"]]
    assert named == ["size of buckets (k=5)", "l-diversity (l=1.5)"]


def test_buckets_of_an_older_version_promise_nothing_by_their_size(run: Run, people: Path) -> None:
    """They are read and their sizes recomputed, and a size that is too small is still found."""
    table = read(people / "people.csv", people / "people.toml")
    folder = Mondrian(k=5, recoding="bucketize").publish(table).save(people / "old")
    told = run("verify", folder)
    assert told.code == 1
    assert "holds  size of buckets (k=5)" in told.out
    assert "Contradicts" not in told.out
    assert "The release keeps" not in told.out
    assert "Claim: nothing is promised: the sensitive values of a bucket may all be the same; every bucket" in told.out
    assert run("verify", folder, "--json").json["outcome"] == "nothing promised"
    path = folder / "release.json"
    path.write_text(path.read_text().replace('"k": 5', '"k": 500'))
    told = run("verify", folder)
    assert (told.code, "FAILS  size of buckets (k=500)" in told.out) == (1, True)


def test_without_a_claim_there_is_nothing_to_verify(run: Run, publish: Run, people: Path) -> None:
    publish("r", "--method", "original")
    told = run("verify", "r")
    assert told.code == 1
    assert told.out == (
        "This release has no claim that could be verified; nothing is promised: these are the original rows.\n"
    )
    spec = run("verify", "r", "--json").json
    assert (spec["verified"], spec["outcome"], spec["requirements"]) == (False, "nothing promised", [])
    assert spec["claim"] == {"claim": "none", "reason": "these are the original rows"}


def test_a_folder_that_is_no_release(run: Run, people: Path) -> None:
    told = run("verify", people)
    assert (told.code, told.out) == (2, "")
    assert len(told.err.splitlines()) == 1
    assert "release.json" in told.err
