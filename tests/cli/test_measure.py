"""`measure` and `query` show what the library computes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl
import pytest

from sfumato.cli import show
from sfumato.data import read
from sfumato.measures.attacks.composition import composed_beliefs
from sfumato.measures.attacks.sampled_risk import SampledRisk
from sfumato.measures.measure import MEASURES, measure
from sfumato.privacy.claims import Conditional, PureDP
from sfumato.privacy.distances import shares
from sfumato.privacy.ledger import Ledger
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


BUCKETS_ONLY = ("definetti_guesses", "definetti_surest")
SURVEYED = {measure.name for measure in SampledRisk.measures}
"""Measures of tables with survey weights alone."""
"""What says nothing about classes."""


def test_every_measure_is_shown_with_its_sentence(measured: Run, publish: Run, people: Path) -> None:
    publish("r", "--method", "mondrian", "--k", "8")
    told = measured("r").out
    for item in MEASURES.values():
        shown = item.name not in (*BUCKETS_ONLY, *SURVEYED)
        assert (item.title in told, item.sentence in told) == (shown, shown)
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
    assert (told.code, told.out) == (0, f"Exactly {truth:,} of 240 people.\n")
    assert run("query", "r", "age >= 40 and sex = 'Male'", "--json").json == {
        "query": "age >= 40 and sex = 'Male'",
        "estimate": pytest.approx(truth),
        "rows": 240,
        "low": truth,
        "high": truth,
        "certain": True,
        "kind": "count",
        "bounds": "certain",
        "sentence": f"Exactly {truth:,} of 240 people.",
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


def test_only_the_measures_that_are_asked_for(measured: Run, publish: Run, people: Path) -> None:
    publish("r", "--method", "mondrian", "--k", "8")
    everything = measured("r", "--json").json
    asked = measured("r", "--json", "--only", "guessed_right", "--only", "classes").json
    assert asked == {name: everything[name] for name in ("guessed_right", "classes")}
    told = measured("r", "--only", "classes")
    assert MEASURES["classes"].title in told.out
    assert "Privacy:" not in told.out
    wrong = measured("r", "--only", "beauty")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err.startswith("sfumato: 'beauty' is not a measure; expected one of average_class, breach, ")


def test_progress_is_told_now_and_then_without_a_terminal(
    measured: Run, publish: Run, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish("r", "--method", "mondrian", "--k", "8")
    assert measured("r").err == ""
    monkeypatch.setattr(show, "SECONDS_BETWEEN_LINES", 0)
    told = measured("r", "--json", "--only", "p_loss", "--only", "breach")
    first, second = told.err.splitlines()
    assert first == f"{MEASURES['p_loss'].title}: 0 of 2"
    assert re.fullmatch(rf"{MEASURES['breach'].title}: 1 of 2, about [0-9]+ s left", second)
    assert set(told.json) == {"p_loss", "breach"}


@pytest.fixture
def two(publish: Run, people: Path) -> list[Release]:
    """Two releases of the people, by different settings."""
    publish("r", "--method", "mondrian", "--k", "8")
    publish("s", "--method", "mondrian", "--k", "5", "--t", "0.9", "--cut", "median", "--recoding", "bucketize")
    return [Release.load(name) for name in ("r", "s")]


def test_several_releases_are_shown_beside_what_they_are_together(run: Run, two: list[Release]) -> None:
    table = read("people.csv", "people.toml")
    shown = run("measure", "people.csv", "r", "s", "--schema", "people.toml", "--json").json
    beliefs = composed_beliefs(two, table.points, shares(table.overall))
    assert shown["together"]["highest_belief"]["value"] == pytest.approx(beliefs.max())
    right = table.histograms[range(len(beliefs)), beliefs.argmax(axis=1)].sum() / table.n
    assert shown["together"]["guessed_right"]["value"] == pytest.approx(right)
    for name, release in zip(("r", "s"), two, strict=True):
        alone = measure(table, release)
        privacy = {key for key, item in alone.items() if item.measure.family == "privacy"}
        own = shown["releases"][name]
        assert set(own) == privacy | {"highest_belief"}
        assert all(own[key]["value"] == pytest.approx(alone[key].value) for key in privacy)
        assert own["highest_belief"]["value"] == pytest.approx(release.posteriors(table.points).max())
    assert shown["together"]["highest_belief"]["value"] > shown["releases"]["r"]["highest_belief"]["value"]


def test_several_releases_are_a_table(run: Run, two: list[Release]) -> None:
    told = run("measure", "people.csv", "r", "s", "--schema", "people.toml")
    assert (told.code, told.err) == (0, "")
    assert re.match(r" +r +s +together", told.out)
    assert re.search(r"\nHighest belief +[\d.]+% +[\d.]+% +[\d.]+% *\n", told.out)
    assert MEASURES["query_error"].title not in told.out


def test_the_same_release_twice_tells_no_more_than_once(run: Run, two: list[Release], people: Path) -> None:
    two[0].save("copy")
    only = ("--only", "highest_belief", "--only", "guessed_right")
    shown = run("measure", "people.csv", "r", "copy", "r", "--schema", "people.toml", "--json", *only).json
    assert list(shown["releases"]) == ["r", "copy"]
    assert shown["together"] == shown["releases"]["r"] == shown["releases"]["copy"]


def test_rows_held_out_are_for_one_release(run: Run, two: list[Release]) -> None:
    told = run("measure", "people.csv", "r", "s", "--schema", "people.toml", "--clusters", "3")
    assert (told.code, told.out) == (2, "")
    assert "measure one release" in told.err


def test_publishing_beside_others_says_what_they_give_away_together(
    publish: Run, run: Run, two: list[Release], people: Path
) -> None:
    """Said to the publisher, kept out of the release, and noted as the look at the rows that it is."""
    ledger = ("--ledger", "beside.sqlite")
    plain = publish("plain", "--method", "mondrian", "--k", "12", *ledger)
    assert Ledger("beside.sqlite").account("people").looked is None
    told = publish("t", "--method", "mondrian", "--k", "12", "--beside", "r", "--beside", "s", *ledger)
    assert told.code == 0
    assert told.out == plain.out.replace("plain", "t")
    assert re.fullmatch(
        r"For your eyes only: .* \d+\.\d% right in this release alone, and \d+\.\d% together with r, s\..*\n", told.err
    )
    assert Release.load("t").claim == Release.load("plain").claim
    for file in (people / "t").iterdir():
        assert file.read_bytes() == (people / "plain" / file.name).read_bytes()
    assert Ledger("beside.sqlite").account("people").looked == "a measurement"
    figures = publish("u", "--method", "mondrian", "--k", "12", "--beside", "r", "--json", *ledger).json["beside"]
    both = run("measure", "people.csv", "u", "r", "--schema", "people.toml", "--json").json
    for name in ("highest_belief", "guessed_right"):
        assert figures["alone"][name] == pytest.approx(both["releases"]["u"][name]["value"])
        assert figures["together"][name] == pytest.approx(both["together"][name]["value"])


def test_noise_is_not_published_beside_others(publish: Run, two: list[Release], people: Path) -> None:
    told = publish("noisy", "--method", "quad-tree", "--epsilon", "1", "--beside", "r", "--ledger", "noise.sqlite")
    assert (told.code, told.out) == (2, "")
    assert "--beside looks at the rows" in told.err
    assert not (people / "noisy").exists()
    assert Ledger("noise.sqlite").accounts() == []
