"""Several sensitive columns from the command line: publish, verify, query and measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run

MEASURE = ("measure", "people.csv", "r", "--schema", "people.toml")


@pytest.fixture
def people(people: Path) -> Path:
    """The people, whose town is a secret as well."""
    schema = people / "people.toml"
    text = schema.read_text()
    schema.write_text(text.replace('[columns.town]\nrole = "quasi"', '[columns.town]\nrole = "sensitive"'))
    return people


def test_the_whole_way(run: Run, publish: Run, people: Path) -> None:
    publish(
        "r", "--method", "mondrian", "--k", "5", "--of", "town: l=2", "--of", "disease: t=0.5, distance=hierarchical"
    )
    frame = pl.read_csv(people / "r" / "data.csv", infer_schema=False)
    assert frame.columns == ["age", "sex", "town", "disease"]
    shares = (
        frame.group_by("age", "sex", "town").len().with_columns(pl.col("len") / pl.col("len").sum().over("age", "sex"))
    )
    assert shares["len"].max() <= 0.5 + 1e-9
    told = run("verify", "r")
    assert told.code == 0
    assert "of town: no sensitive value has more than 1/2 of a class" in told.out
    asked = run("query", "r", "town = Mill and disease = flu")
    assert asked.code == 0
    read = pl.read_csv(people / "people.csv")
    truth = read.filter((pl.col("town") == "Mill") & (pl.col("disease") == "flu")).height
    assert f"Exactly {truth} of 240" in asked.out


def test_those_who_know_the_other_column_learn_no_more(run: Run, publish: Run, people: Path) -> None:
    publish("r", "--method", "mondrian", "--k", "2", "--l", "1.3", "--others-known")
    frame = pl.read_csv(people / "r" / "data.csv", infer_schema=False)
    for secret, other in (("town", "disease"), ("disease", "town")):
        known = ["age", "sex", other]
        shares = frame.group_by(*known, secret).len().with_columns(pl.col("len") / pl.col("len").sum().over(known))
        assert shares["len"].max() <= 1 / 1.3 + 1e-9
    assert "also for those who know the other sensitive columns" in run("verify", "r").out


def test_measures_name_the_worst_and_every_column(run: Run, publish: Run, people: Path) -> None:
    publish("r", "--method", "mondrian", "--k", "5")
    told = run(*MEASURE, "--only", "p_loss")
    assert "By sensitive column: what stands above is the worst of them" in told.out
    found = run(*MEASURE, "--only", "p_loss", "--json").json["p_loss"]
    assert set(found["by_column"]) == {"town", "disease"}
    assert found["value"] == max(found["by_column"].values())


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("town l=2", "--of is 'town l=2'; expected a column and requirements"),
        ("town: l=many", "l in --of 'town: l=many' is 'many'; expected a number"),
        ("town: q=2", "expected a column and requirements"),
        ("village: l=2", "asked of 'village'; the sensitive columns are 'town', 'disease'"),
        ("town: distance=equal", "--distance means nothing without --t"),
    ],
)
def test_a_bad_requirement_of_a_column_is_one_sentence(run: Run, people: Path, option: str, told: str) -> None:
    words = ("publish", "people.csv", "--schema", "people.toml", "--method", "mondrian", "--k", "2", "-o", "r")
    found = run(*words, "--of", option)
    assert found.code == 2
    assert told in found.err.replace("\n", " ")
    assert not (people / "r").exists()
