"""Commands with `--engine spark`: the same releases, figures and refusals as without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from engines import MASTER, session
from sfumato.cli import app
from sfumato.methods import Mondrian
from sfumato.privacy.ledger import Ledger
from sfumato.samples.commuters import commuters
from sfumato.samples.town import SCHEMA_PATH, residents

from .test_frontier import quick_report

ON_SPARK = ["--engine", "spark", "--master", MASTER]


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of text as Spark leaves it, with two files and a mark."""
    folder = tmp_path_factory.mktemp("town") / "people.csv"
    folder.mkdir()
    people = residents(400)
    for number in range(2):
        people[number::2].write_csv(folder / f"part-{number}.csv")
    (folder / "_SUCCESS").touch()
    return folder


def printed(capsys: pytest.CaptureFixture[str], *command: str) -> dict[str, Any]:
    assert app.run([*command, "--json"]) == 0, capsys.readouterr().err
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


@pytest.mark.spark
def test_a_table_is_published_and_measured_alike(
    town: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session()
    figures = []
    for name, more in {"spark": ON_SPARK, "polars": []}.items():
        out = tmp_path / name
        arguments = [str(town), "--schema", str(SCHEMA_PATH), *more]
        printed(capsys, "publish", *arguments, "--method", "mondrian", "--k", "5", "-o", str(out))
        figures.append(printed(capsys, "measure", str(town), str(out), *arguments[1:], "--only", "p_loss"))
    assert figures[0] == figures[1]
    assert (tmp_path / "spark" / "data.csv").read_bytes() == (tmp_path / "polars" / "data.csv").read_bytes()


@pytest.mark.spark
def test_noise_on_rows_of_spark_is_charged_once(town: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session()
    ledger = tmp_path / "ledger.sqlite"
    rows = tmp_path / "people.parquet"
    pl.read_csv(town / "*.csv").write_parquet(rows)
    arguments = ["publish", str(rows), "--schema", str(SCHEMA_PATH), "--method", "kd-tree", "--epsilon", "1"]
    told = printed(capsys, *arguments, *ON_SPARK, "--ledger", str(ledger), "-o", str(tmp_path / "release"))
    assert app.run([*arguments, *ON_SPARK, "--ledger", str(ledger), "-o", str(tmp_path / "release")]) == 2
    assert "already exists" in capsys.readouterr().err
    assert [entry.release for entry in Ledger(ledger).entries()] == [told["charge"]["id"]]


@pytest.mark.spark
def test_text_that_spark_reads_promises_nothing_under_noise(
    town: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cell with an open quotation mark can decide how Spark reads the lines after it."""
    session()
    arguments = ["publish", str(town), "--schema", str(SCHEMA_PATH), "--method", "kd-tree", "--epsilon", "1"]
    told = printed(capsys, *arguments, *ON_SPARK, "-o", str(tmp_path / "release"))
    assert told["claim"]["claim"] == "none"
    assert "one cell can decide how others are read" in told["sentence"]


@pytest.mark.spark
def test_a_frontier_prints_a_command_for_the_same_engine(
    town: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With two settings in place of all, and no drawing."""
    session()
    monkeypatch.setattr(Mondrian, "grid", lambda *_: iter([Mondrian(k=5), Mondrian(k=20)]))
    monkeypatch.setattr("sfumato.report.frontier.page.write", quick_report)
    arguments = ["frontier", str(town), "--schema", str(SCHEMA_PATH), "--method", "mondrian"]
    told = printed(capsys, *arguments, "--max-p-loss", "2", "--workers", "1", *ON_SPARK, "-o", str(tmp_path / "out"))
    assert told["publish"].startswith(f"sfumato publish {town} --engine spark --master 'local[2]'")
    assert app.run([*arguments[:2], *ON_SPARK, "--sensitive", "condition", "-o", str(tmp_path / "other")]) == 2
    assert "--engine spark needs --schema" in capsys.readouterr().err


@pytest.mark.spark
def test_reports_and_flows_are_counted_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session()
    survey = tmp_path / "age.toml"
    survey.write_text('name = "age"\nquestion = "How old?"\nmin = 0\nmax = 9\nepsilon = 1\n')
    for number in range(2):
        pl.DataFrame({"report": [n * n % 10 for n in range(500 + number)]}).write_csv(tmp_path / f"{number}.csv")
    files = [str(tmp_path / f"{number}.csv") for number in range(2)]
    found = [printed(capsys, "local", "estimate", *files, "--survey", str(survey), *more) for more in ([], ON_SPARK)]
    assert found[0] == found[1]
    for name, frame in zip(("places", "flows"), commuters(), strict=True):
        frame.write_csv(tmp_path / f"{name}.csv")
        frame.write_parquet(tmp_path / f"{name}.parquet")
    named = ["--places", str(tmp_path / "places.csv"), "--name", "region", "--epsilon", "4", "-o"]
    figures = [
        printed(capsys, "commute", "synthesize", str(tmp_path / "flows.parquet"), *named, str(tmp_path / each), *more)
        for each, more in {"memory": [], "spark": ON_SPARK}.items()
    ]
    assert figures[0]["people"] == figures[1]["people"]
    assert app.run(["commute", "synthesize", str(tmp_path / "flows.csv"), *named, str(tmp_path / "r"), *ON_SPARK]) == 2
    assert "which no noise covers; give Parquet" in capsys.readouterr().err


def test_a_master_without_spark_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["publish", "people.csv", "--schema", str(SCHEMA_PATH), "--method", "original", "-o", str(tmp_path)]
    assert app.run([*arguments, "--master", MASTER]) == 2
    assert "--master means nothing without --engine spark" in capsys.readouterr().err
    assert app.run([*arguments, "--engine", "duckdb"]) == 2
    assert "--engine" in capsys.readouterr().err
