"""The sample hospital from file to frontier to release: dates, codes, two secrets, households, weights and more."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import polars as pl
import pytest

import sfumato as sf
from sfumato.samples import hospital

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run

VISITS = 200_000
COARSER = {'unit = "day"': 'unit = "year"', "levels = [2, 3]": "levels = [1, 2]\ncoarsen = 2"}
"""So that there are fewer combinations to measure."""


@pytest.fixture
def visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
    schema = hospital.SCHEMA_PATH.read_text(encoding="utf-8")
    for finer, coarser in COARSER.items():
        assert finer in schema
        schema = schema.replace(finer, coarser)
    (tmp_path / "hospital.toml").write_text(schema, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = sf.visits(VISITS)
    found.write_csv("visits.csv")
    return found


def test_two_hundred_thousand_visits(run: Run, visits: pl.DataFrame, tmp_path: Path) -> None:
    tried = ("--method", "mondrian", "--method", "original", "--method", "suppression")
    told = run("frontier", "visits.csv", "--schema", "hospital.toml", *tried, "-o", "out", "--json")
    assert told.code == 0, told.err
    found = told.json
    assert (tmp_path / "out" / "report.html").exists()
    published = shlex.split(found["publish"])[1:]
    told = run(*published)
    assert told.code == 0, told.err
    folder = published[published.index("-o") + 1]
    assert run("verify", folder).code in (0, 3)
    rows = pl.read_csv(tmp_path / folder / "data.csv", infer_schema=False)
    people = visits["patient"].n_unique()
    assert rows.height == people
    assert {"diagnosis", "outcome", "department", "insurance", "urgent", "stay", "weight"} <= set(rows.columns)
    assert not {"patient", "household"} & set(rows.columns)
    classes = rows.group_by("visit", "age", "sex", "postal_code").agg(pl.len(), pl.col("weight").n_unique())
    assert classes["weight"].max() == 1, "weights tell rows of a class apart"
    assert min(classes["len"]) >= 5
    asked = run("query", folder, "visit = 2024 and diagnosis = 'I*' and outcome = Died", "--json").json
    assert 0 <= asked["low"] <= asked["estimate"] <= asked["high"] <= people
    schema = json.loads((tmp_path / folder / "release.json").read_text())["schema"]["columns"]
    assert (schema["outcome"]["role"], schema["stay"]["role"]) == ("sensitive", "other")


def test_homes_and_people_of_the_population(run: Run, visits: pl.DataFrame, tmp_path: Path) -> None:
    words = ("publish", "visits.csv", "--schema", "hospital.toml", "--method", "mondrian", "--k", "5")
    told = run(*words, "--k-households", "4", "--k-map", "200", "-o", "release")
    assert told.code == 0, told.err
    rows = pl.read_csv(tmp_path / "release" / "data.csv", infer_schema=False)
    classes = rows.group_by("visit", "age", "sex", "postal_code").agg(pl.col("weight").cast(pl.Float64).sum())
    assert min(classes["weight"]) >= 200 * (1 - 1e-3)
    assert run("verify", "release").code == 3, "how many homes there are is not published"
