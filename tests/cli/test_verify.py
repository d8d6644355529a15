"""`verify` finds out a release that does not keep its claim, and says so in its exit code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

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
