"""Impossible combinations from the command line: no such row is published, and `verify` finds one that is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run

DECLARED = 'impossible = ["age < 15 and disease in (asthma, diabetes)", "sex = Male and town = \'Fish Quay\'"]\n'


def impossible_rows(path: Path) -> int:
    rows = pl.read_csv(path, infer_schema=False).with_columns(pl.col("age").cast(pl.Int64))
    young = (pl.col("age") < 15) & pl.col("disease").is_in(["asthma", "diabetes"])
    return rows.filter(young | ((pl.col("sex") == "Male") & (pl.col("town") == "Fish Quay"))).height


@pytest.mark.parametrize(
    "method", [("synthesis",), ("marginals",), ("kd-tree", "--rows", "synthetic")], ids=lambda words: words[0]
)
def test_no_impossible_row_is_published(run: Run, publish: Run, people: Path, method: tuple[str, ...]) -> None:
    publish("before", "--method", *method, "--epsilon", "1")
    assert impossible_rows(people / "before" / "data.csv") > 0
    schema = people / "people.toml"
    schema.write_text(DECLARED + schema.read_text())
    publish("r", "--method", *method, "--epsilon", "1")
    assert impossible_rows(people / "r" / "data.csv") == 0
    assert len(json.loads((people / "r" / "release.json").read_text())["schema"]["impossible"]) == 2
    assert run("verify", "r").code == 3, "noise can neither be confirmed nor refuted"


def test_a_synthetic_release_with_an_impossible_row_is_found_out(run: Run, publish: Run, people: Path) -> None:
    publish("r", "--method", "synthesis", "--epsilon", "1")
    path = people / "r" / "release.json"
    spec = json.loads(path.read_text())
    spec["schema"]["impossible"] = ["sex = Male"]
    path.write_text(json.dumps(spec))
    told = run("verify", "r")
    assert told.code == 1
    assert "rows that its schema declares impossible: sex = Male" in told.out


def test_rows_of_people_are_not_held_against_the_declaration(run: Run, publish: Run, people: Path) -> None:
    schema = people / "people.toml"
    schema.write_text('impossible = ["sex = Male"]\n' + schema.read_text())
    publish("r", "--method", "mondrian", "--k", "5")
    assert run("verify", "r").code == 0


def test_a_bad_condition_is_one_sentence(run: Run, people: Path) -> None:
    schema = people / "people.toml"
    schema.write_text('impossible = ["age < 15 and illness = flu"]\n' + schema.read_text())
    told = run("publish", "people.csv", "--schema", "people.toml", "--method", "synthesis", "--epsilon", "1", "-o", "r")
    assert (told.code, told.out, len(told.err.splitlines())) == (2, "", 1)
    assert "people.toml: impossible holds 'age < 15 and illness = flu', but found 'illness'" in told.err
    assert "where a column was expected: 'age', 'sex', 'town', 'disease'" in told.err
