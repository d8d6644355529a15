"""A survey from file to folder: what is asked for, refused, published and verified."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

if TYPE_CHECKING:
    from .conftest import Run

SCHEMA = """
name = "made-up survey"

[columns.age]
role = "quasi"
kind = "numeric"
min = 0
max = 9

[columns.ill]
role = "sensitive"
kind = "categorical"
values = ["no", "yes"]

[columns.weight]
role = "weight"
publish = "mean"

[columns.home]
role = "household"
"""


@pytest.fixture
def survey(tmp_path: Path) -> list[str]:
    rows = range(60)
    columns = {
        "age": [row % 10 for row in rows],
        "ill": ["yes" if row % 3 else "no" for row in rows],
        "weight": [1.5 + row for row in rows],
        "home": [row // 4 for row in rows],
    }
    pl.DataFrame(columns).write_csv(tmp_path / "people.csv")
    (tmp_path / "schema.toml").write_text(SCHEMA)
    return [str(tmp_path / "people.csv"), "--schema", str(tmp_path / "schema.toml")]


@pytest.mark.parametrize(("more", "code"), [((), 0), (("--k", "3"), 0), (("--k-households", "2"), 3)])
def test_what_is_told_can_be_verified(
    run: Run, survey: list[str], tmp_path: Path, more: tuple[str, ...], code: int
) -> None:
    out = str(tmp_path / "out")
    made = run("publish", *survey, "--method", "mondrian", "--k-map", "200", *more, "-o", out)
    assert made.code == 0, made.err
    found = run("verify", out, "--json")
    assert found.code == code
    spec = json.loads(found.out)
    assert [one["recomputed"] for one in spec["requirements"]].count(False) == (code == 3)
    assert spec["contradictions"] == []
    measured = json.loads(run("measure", *survey[:1], out, *survey[1:], "--json").out)
    measured = measured.get("measures", measured)
    assert 0 < measured["sample_risk"]["value"] < measured["household_matches"]["value"]


def test_a_weight_that_is_none_names_its_row(run: Run, survey: list[str], tmp_path: Path) -> None:
    path = Path(survey[0])
    path.write_text(path.read_text().replace("\n1,yes,2.5,", "\n1,yes,many,"))
    found = run("publish", *survey, "--method", "mondrian", "--k-map", "200", "-o", str(tmp_path / "out"))
    assert found.code == 2
    assert "row 2, column 'weight': 'many' is not a weight" in " ".join(found.err.split())
    assert not (tmp_path / "out").exists()
