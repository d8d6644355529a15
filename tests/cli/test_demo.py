"""`demo`: the whole story, again and again in the same folder, and in nobody else's."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

import polars as pl
import pytest

from sfumato.methods import Anatomy, Marginals, Mondrian
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.loss import Approximate
from sfumato.release import Release
from sfumato.samples.town import SCHEMA_PATH

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run

QUICK = ("--rows", "300")
METHODS = [Mondrian(k=5), Marginals(epsilon=2.55), Anatomy(l=2)]


@pytest.fixture(autouse=True)
def _few_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few settings in place of all; the tutorial's test runs the demo as it is."""
    monkeypatch.setattr("sfumato.trials.frontier.default_methods", lambda table, epsilons=(): METHODS)


def test_the_demo_tells_the_whole_story(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = run("demo", *QUICK)
    assert told.code == 0, told
    out = tmp_path / "sfumato-demo"
    lines = told.out.splitlines()
    assert lines[0] == (
        "1. sfumato-demo/town.csv is a made-up town of 300 residents, described by sfumato-demo/town.toml."
    )
    assert [line[:2] for line in lines if re.match(r"\d\. ", line)] == ["1.", "2.", "3.", "4.", "5.", "6."]
    answer = re.search(r"About ([\d,.]+) of .+? The truth is (\d+)\.", told.out, re.DOTALL)
    assert answer
    town = pl.read_csv(out / "town.csv")
    ill = pl.col("condition").is_in(["Heart disease", "Diabetes"])
    asked = (pl.col("age") >= 60) & (pl.col("sex") == "Female") & ill
    assert int(answer[2]) == town.filter(asked).height
    assert lines[-1] == "The report, with every trial and all figures: sfumato-demo/report.html"
    assert (out / "report.html").stat().st_size > 10_000
    assert (out / "town.toml").read_bytes() == SCHEMA_PATH.read_bytes()
    release = Release.load(out / "release").verified()
    assert release.claim.sentence() in told.out
    assert release.claim.cost == Approximate(Fraction(3), Fraction(0))
    assert Ledger(out / "ledger.sqlite").spent("town") == release.claim.cost
    assert not (out / "release" / "report.html").exists()

    (out / "notes.txt").write_text("mine")
    stored = (out / "pilot-trials.jsonl").read_text()
    again = run("demo", *QUICK)
    assert (again.code, again.out) == (0, told.out)
    assert (out / "pilot-trials.jsonl").read_text() == stored
    assert Ledger(out / "ledger.sqlite").spent("town") == release.claim.cost
    assert Release.load(out / "release").provenance.id == release.provenance.id
    assert (out / "notes.txt").read_text() == "mine"


def test_the_demo_overwrites_nothing_of_somebody_else(run: Run, tmp_path: Path) -> None:
    for name in ("town.csv", "town.toml", "report.html", "release"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_text("mine")
        told = run("demo", *QUICK, "-o", folder)
        assert (told.code, told.out) == (2, "")
        assert told.err.startswith(f"sfumato: {folder / name}: this ")
        assert (folder / name).read_text() == "mine"
        assert [path.name for path in folder.iterdir()] == [name]


def test_the_demo_leaves_an_edited_schema_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "town.toml").write_text(SCHEMA_PATH.read_text() + "# edited\n")
    assert run("demo", *QUICK, "-o", tmp_path).code == 2
    assert (tmp_path / "town.toml").read_text().endswith("# edited\n")


def test_the_demo_needs_a_folder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    told = run("demo", *QUICK, "-o", tmp_path / "file")
    assert told.code == 2
    assert len(told.err.splitlines()) == 1
