"""`measure` and `query` show what the library computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from sfumato.data import read
from sfumato.measures.measure import MEASURES, measure
from sfumato.privacy.claims import Conditional, PureDP
from sfumato.release import Release

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Outcome, Run


@pytest.fixture
def measured(run: Run, people: Path) -> Run:
    def run_measure(release: str, *options: str) -> Outcome:
        return run("measure", "people.csv", release, "--schema", "people.toml", *options)

    return run_measure


def test_the_figures_are_those_of_the_library(measured: Run, publish: Run, people: Path) -> None:
    publish("r", "--method", "mondrian", "--k", "8")
    shown = measured("r", "--json")
    assert shown.err == ""
    expected = measure(read("people.csv", "people.toml"), Release.load("r"))
    assert {name: item["value"] for name, item in shown.json.items()} == {
        name: pytest.approx(item.value) for name, item in expected.items()
    }
    assert shown.json["smallest_class"] == {
        "value": shown.json["smallest_class"]["value"],
        "unit": "rows",
        "direction": "higher",
        "title": MEASURES["smallest_class"].title,
        "family": "privacy",
        "sentence": MEASURES["smallest_class"].sentence,
    }
    assert shown.json["smallest_class"]["value"] >= 8


def test_every_measure_is_shown_with_its_sentence(measured: Run, publish: Run, people: Path) -> None:
    publish("r", "--method", "mondrian", "--k", "8")
    told = measured("r").out
    for item in MEASURES.values():
        assert item.title in told
        assert item.sentence in told
    assert told.index("Privacy:") < told.index("Utility:") < told.index("Shape:")
    assert "lower is better" in told
    assert "higher is better" in told


def test_a_file_of_another_tool_is_measured(measured: Run, people: Path) -> None:
    """Ages in decades and the town suppressed, as another tool writes it; two rows fully suppressed."""
    rows = pl.read_csv(people / "people.csv").with_row_index()
    decade = pl.col("age") // 10 * 10
    other = rows.select(
        age=pl.format("{}-{}", decade, decade + 9), sex="sex", town=pl.lit("*"), disease="disease"
    ).with_columns(
        pl.when(pl.int_range(pl.len()) < 2).then(pl.lit("*")).otherwise(pl.col(name)).alias(name)
        for name in ("age", "sex")
    )
    other.write_csv(people / "other.csv")
    told = measured("other.csv")
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith(
        "other.csv stands for 238 of 240 rows.\n"
        "2 more stand in it with every quasi-identifier suppressed, and count as left out.\n"
    )
    figures = measured("other.csv", "--json").json
    assert figures["suppressed"]["value"] == pytest.approx(2 / 240)
    assert figures["classes"]["value"] == 20
    smallest = other.slice(2).group_by("age", "sex").len()["len"].min()
    assert figures["smallest_class"]["value"] == smallest


def test_a_release_under_another_schema_is_refused(run: Run, publish: Run, people: Path) -> None:
    publish("r", "--method", "mondrian", "--k", "8")
    (people / "other.toml").write_text((people / "people.toml").read_text().replace("max = 99", "max = 120"))
    told = run("measure", "people.csv", "r", "--schema", "other.toml")
    assert (told.code, told.out) == (2, "")
    assert "the release has other axes than the table" in told.err


def test_a_query_is_answered(run: Run, publish: Run, people: Path) -> None:
    publish("r", "--method", "original")
    rows = pl.read_csv(people / "people.csv")
    truth = rows.filter((pl.col("age") >= 40) & (pl.col("sex") == "Male")).height
    told = run("query", "r", "age >= 40 and sex = 'Male'")
    assert (told.code, told.out) == (0, f"About {truth:,.1f} of 240 people.\n")
    assert run("query", "r", "age >= 40 and sex = 'Male'", "--json").json == {
        "query": "age >= 40 and sex = 'Male'",
        "estimate": pytest.approx(truth),
        "rows": 240,
    }


def test_a_query_that_means_nothing_is_one_sentence(run: Run, publish: Run, people: Path) -> None:
    publish("r", "--method", "original")
    told = run("query", "r", "height > 3")
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("sfumato: found 'height' where a column was expected")


def test_a_look_at_the_rows_is_known_under_any_name(measured: Run, publish: Run, run: Run, people: Path) -> None:
    """Measured under the name of the schema, published under another; other rows under that name are another matter."""
    ledger = ("--ledger", "look.sqlite")
    publish("r", "--method", "mondrian", "--k", "8", *ledger)
    assert measured("r", *ledger).code == 0
    schema = (people / "people.toml").read_text()
    lines = [line for line in schema.splitlines() if not line.startswith("name =")]
    (people / "other.toml").write_text("\n".join(['name = "elsewhere"', *lines]))
    noisy = ("--schema", "other.toml", "--method", "quad-tree", "--epsilon", "1", *ledger)
    assert run("publish", "people.csv", *noisy, "-o", "same").code == 0
    assert isinstance(Release.load("same").claim, Conditional)
    pl.read_csv(people / "people.csv").slice(1).write_csv(people / "fewer.csv")
    assert run("publish", "fewer.csv", *noisy, "-o", "fewer").code == 0
    assert isinstance(Release.load("fewer").claim, PureDP)
