"""Attacks on people with many rows, through the command: a person is protected, not a row."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from typing import TYPE_CHECKING

import polars as pl
import pytest

from sfumato.data import engine

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run

pytestmark = pytest.mark.usefixtures("few_queries")
SCHEMA = """
name = "visits"
{more}
[columns.patient]
role = "identifier"

[columns.age]
role = "quasi"
kind = "numeric"
min = 0
max = 3
off_schema = "clip"

[columns.town]
role = "quasi"
kind = "categorical"
values = ["A", "B"]
off_schema = "A"

[columns.test]
role = "sensitive"
kind = "categorical"
values = ["negative", "positive"]
off_schema = "negative"
"""
CROWD = [f"P{number},{number % 4},{'AB'[number // 4 % 2]},negative" for number in range(200)]
PATIENT = ["SECRET-ID-77,0,A,positive"] * 40
RUNS = 60


def write(folder: Path, rows: list[str], more: str = "") -> None:
    (folder / "visits.csv").write_text("\n".join(["patient,age,town,test", *rows, ""]))
    (folder / "visits.toml").write_text(SCHEMA.format(more=more))


def publish(run: Run, output: str, *options: str) -> str:
    command = ("publish", "visits.csv", "--schema", "visits.toml", "-o", output, "--ledger", "ledger.sqlite", *options)
    done = run(*command)
    assert done.code == 0, done.err
    return done.out


def times_seen(folder: Path, run: Run, rows: list[str], more: str, name: str) -> int:
    """In how many releases at ε = 0.5 more than 20 people test positive."""
    write(folder, rows, more)
    found = 0
    for number in range(RUNS):
        release = f"{name}-{number}"
        publish(run, release, "--method", "quad-tree", "--epsilon", "0.5", "--height", "0")
        with (folder / release / "counts.csv").open(newline="") as file:
            lines = list(csv.DictReader(file))
        found += sum(float(line["count"]) for line in lines if line["test"] == "positive") > 20
    return found


@pytest.mark.parametrize("more", ["", "rows_per_person = 40"], ids=["one row", "forty rows"])
def test_a_patient_with_forty_rows_is_not_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, more: str
) -> None:
    """Seen with probability p and without q ≥ p e^-0.5; a binomial of 60 runs strays by four deviations at most."""
    monkeypatch.chdir(tmp_path)
    present = times_seen(tmp_path, run, CROWD + PATIENT, more, "with")
    absent = times_seen(tmp_path, run, CROWD, more, "without")
    slack = 4 * math.sqrt(RUNS) / 2
    assert present <= math.exp(0.5) * absent + slack * 1.3


def test_a_twin_that_keeps_every_row_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        engine, "keep_rows_of_people", lambda codes, *_, **__: pl.repeat(True, codes.height, eager=True)
    )
    present = times_seen(tmp_path, run, CROWD + PATIENT, "", "with")
    assert present > math.exp(0.5) * 1 + 4 * math.sqrt(RUNS) / 2 * 1.3


@pytest.mark.parametrize("more", ["", "rows_per_person = 40"], ids=["one row", "forty rows"])
@pytest.mark.parametrize("recoding", ["generalize", "bucketize"])
def test_forty_rows_of_one_patient_are_no_class_of_ten_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, more: str, recoding: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, CROWD + PATIENT, more)
    said = publish(run, "release", "--method", "mondrian", "--k", "10", "--t", "0.5", "--recoding", recoding)
    assert "People with several rows in the file: 1; one row of each was used." in said
    assert "a person is whoever has the same patient; one row of each is published" in said
    name = "data.csv" if recoding == "generalize" else "sensitive.csv"
    with (tmp_path / "release" / name).open(newline="") as file:
        lines = list(csv.DictReader(file))
    positive = sum(int(line.get("count", 1)) for line in lines if line["test"] == "positive")
    assert positive == 1
    if recoding == "generalize":
        assert min(Counter((line["age"], line["town"]) for line in lines).values()) >= 10


@pytest.mark.parametrize("more", ["", "rows_per_person = 3"], ids=["one row", "three rows"])
def test_identifiers_reach_nothing_that_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, more: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, CROWD + PATIENT, more)
    said = [
        publish(run, "mondrian", "--method", "mondrian", "--k", "5"),
        publish(run, "tree", "--method", "quad-tree", "--epsilon", "1", "--rows", "synthetic"),
        publish(run, "original", "--method", "original"),
    ]
    tried = [word for name in ("mondrian", "quad-tree") for word in ("--method", name)]
    words = ("--schema", "visits.toml", "-o", "study", "--ledger", "ledger.sqlite", *tried)
    for paid in ((), ("--epsilon", "2", "--new-pilot")):
        found = run("frontier", "visits.csv", *words, *paid)
        assert found.code == 0 or paid, found.err
        said += [found.out, found.err]
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "visits.csv"]
    assert len(written) > 6
    for path in written:
        assert b"SECRET-ID-77" not in path.read_bytes(), path
    assert not any("SECRET-ID-77" in text for text in said)
    public = json.loads((tmp_path / "tree" / "release.json").read_text())["schema"]
    assert public["person"] == "patient"
    assert "patient" not in public["columns"]


NAMELESS = [",0,A,positive", " ,1,B,positive", '"",2,A,positive']


@pytest.mark.parametrize("more", ["", "rows_per_person = 3"], ids=["one row", "three rows"])
@pytest.mark.parametrize("method", [("quad-tree", "--epsilon", "1"), ("mondrian", "--k", "10")], ids=lambda how: how[0])
def test_rows_of_nobody_are_left_out_and_only_the_publisher_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, more: str, method: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, CROWD + NAMELESS * 411, more)
    said = publish(run, "release", "--method", *method)
    assert "Rows without a patient in the file: 1,233; they were left out. This is for your eyes only." in said
    told = json.loads(publish(run, "again", "--method", *method, "--json"))
    assert told["rows_of_nobody"] == 1233
    for path in tmp_path.rglob("release/*"):
        assert b"1233" not in path.read_bytes()
        assert b"nobody" not in path.read_bytes()
    if method[0] == "mondrian":
        assert "positive" not in (tmp_path / "release" / "data.csv").read_text()


def test_a_second_person_without_an_identifier_is_not_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """Whoever has none is in no release, so that the files published are the same: here without noise, byte by byte."""
    monkeypatch.chdir(tmp_path)
    published = []
    for name, rows in (("none", []), ("one", [",0,A,negative"]), ("two", [",0,A,negative", ",0,A,positive"])):
        write(tmp_path, CROWD + rows)
        publish(run, name, "--method", "mondrian", "--k", "5")
        published.append((tmp_path / name / "data.csv").read_bytes())
    assert published[0] == published[1] == published[2]


def test_several_identifiers_need_one_that_is_the_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """Five rows of one patient are no class of five people because a second identifier is declared."""
    monkeypatch.chdir(tmp_path)
    rows = [f"P1,{number},0,A,positive" for number in range(5)]
    (tmp_path / "visits.csv").write_text("\n".join(["patient,visit,age,town,test", *rows, ""]))
    schema = SCHEMA.replace("[columns.age]", '[columns.visit]\nrole = "identifier"\n\n[columns.age]')
    words = ("publish", "visits.csv", "--schema", "visits.toml", "--method", "mondrian", "--k", "5", "-o", "release")
    (tmp_path / "visits.toml").write_text(schema.format(more=""))
    refused = run(*words)
    assert (refused.code, "'patient' and 'visit' are identifiers; name the one" in refused.err) == (2, True)
    (tmp_path / "visits.toml").write_text(schema.format(more='person = "patient"'))
    refused = run(*words)
    assert (refused.code, refused.err.count("\n")) == (2, 1), "one person is no class of five"
