"""`frontier`: what it writes and where, what it refuses, and that an interrupt loses nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from sfumato.cli import study
from sfumato.release import Release
from sfumato.samples.town import SCHEMA_PATH, residents
from sfumato.schema import Schema
from sfumato.trials import frontier as trials
from sfumato.trials.frontier import STORE_NAME

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.trials.document import FrontierDocument

    from .conftest import Outcome, Run

REPORT = ["frontier.csv", "frontier.json", "frontier.png", "frontier.svg", "report.html"]
WRITTEN = sorted([*REPORT, "measures.json", "release", "trials.jsonl"])


def quick_report(document: FrontierDocument, folder: Path) -> list[Path]:
    """The files of a report without the drawing."""
    folder.mkdir(exist_ok=True)
    for name in REPORT:
        (folder / name).write_text(json.dumps(asdict(document)["recommendation"]))
    return [folder / name for name in REPORT]


@pytest.fixture
def frontier(run: Run, people: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Try Anatomy alone, which is quick, and the end points, into the folder out."""
    monkeypatch.setattr("sfumato.report.frontier.page.write", quick_report)
    fixed = ("--method", "anatomy", "--max-query-error", "0.17", "--allow-exact", "--workers", "1", "-o", "out")

    def run_frontier(*options: str) -> Outcome:
        return run("frontier", "people.csv", *fixed, *options)

    return run_frontier


@pytest.fixture
def with_schema(frontier: Run) -> Run:
    return lambda *options: frontier("--schema", "people.toml", *options)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def stored(folder: Path) -> list[str]:
    return (folder / STORE_NAME).read_text().splitlines()


def setting(line: str) -> str:
    trial = json.loads(line)["trial"]
    return json.dumps([trial["method"], trial["parameters"]], sort_keys=True)


def test_the_names_agree_with_the_library(with_schema: Run, people: Path) -> None:
    assert sorted(study.REPORT) == REPORT


def test_it_writes_a_report_and_apart_from_it_the_release(
    with_schema: Run, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.chdir(people)
    told = with_schema()
    assert (told.code, told.err) == (0, "")
    assert names(people / "out") == WRITTEN
    assert names(people / "out" / "release") == ["quasi.csv", "release.json", "sensitive.csv"]
    release = Release.load(people / "out" / "release").verified()
    assert f"Recommended: Anatomy l={release.provenance.parameters['l']}, " in told.out
    assert f"Claim: {release.claim.sentence()}." in told.out
    assert re.search(r"\n  (good|fair|poor)  Worst-case belief shift  ", told.out)
    assert told.out.splitlines()[-1] == "For your eyes only, the report: out/report.html"
    assert (people / "out" / "report.html").read_text().lstrip().lower().startswith("<!doctype html>")
    measures = json.loads((people / "out" / "measures.json").read_text())
    assert measures["claim"] == release.claim.spec()
    assert measures["measures"]["classes"]["value"] == len(release.histograms)


def test_json_is_all_that_is_on_standard_output(with_schema: Run, people: Path) -> None:
    told = with_schema("--json")
    assert (told.code, told.err) == (0, "")
    spec = told.json
    assert spec["release"] == "out/release"
    assert spec["trial"].startswith("anatomy:")
    assert spec["claim"] == Release.load(people / "out" / "release").claim.spec()
    assert {figure["verdict"] for figure in spec["figures"]} <= {"good", "fair", "poor"}
    assert sorted(path.removeprefix("out/") for path in spec["files"]) == REPORT


def test_a_second_run_tries_nothing_again_and_replaces_the_release(
    with_schema: Run, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = with_schema()
    before = stored(people / "out")

    def refuse(*_: Any) -> list[Any]:
        raise AssertionError("a stored trial was run again")

    with monkeypatch.context() as patch:
        patch.setattr(trials, "run_trial", refuse, raising=False)
        patch.setattr("sfumato.trials.runner.run_trial", refuse)
        second = with_schema("--parquet")
    assert second.code == 0
    assert second.out == first.out
    assert stored(people / "out") == before
    assert names(people / "out") == WRITTEN
    assert names(people / "out" / "release") == ["quasi.parquet", "release.json", "sensitive.parquet"]
    Release.load(people / "out" / "release").verified()


def test_without_saving_there_is_no_release(with_schema: Run, people: Path) -> None:
    told = with_schema("--no-save")
    assert told.code == 0
    assert names(people / "out") == sorted([*REPORT, "trials.jsonl"])
    assert "to publish" not in told.out


def test_a_proposed_schema_is_kept_and_never_overwritten(frontier: Run, people: Path) -> None:
    told = frontier("--sensitive", "disease", "--quasi", "age,sex,town", "--no-save")
    assert told.code == 0
    assert told.err.startswith("The schema was proposed from the rows; look it through in out/schema.toml")
    kept = people / "out" / "schema.toml"
    assert [axis.name for axis in Schema.load(kept).quasi] == ["age", "sex", "town"]
    kept.write_text(kept.read_text() + "# edited\n")
    refused = frontier("--sensitive", "disease", "--quasi", "age,sex,town", "--no-save")
    assert refused.code == 2
    assert "give --schema out/schema.toml to use it" in refused.err
    assert kept.read_text().endswith("# edited\n")
    assert frontier("--schema", "out/schema.toml", "--no-save").code == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "give either --schema, or --sensitive"),
        (("--schema", "people.toml", "--sensitive", "disease"), "give either --schema, or --sensitive"),
        (("--schema", "people.toml", "--quasi", "age"), "--quasi means nothing with --schema"),
        (("--schema", "people.toml", "--method", "mondrain"), "'mondrain' is not a known method"),
        (("--schema", "people.toml", "--workers", "0"), "'--workers'"),
        (("--schema", "people.toml", "--max-p-loss", "-1"), "p_loss"),
    ],
)
def test_it_refuses_in_one_sentence(frontier: Run, people: Path, options: tuple[str, ...], sentence: str) -> None:
    told = frontier(*options)
    assert (told.code, told.out) == (2, "")
    assert len(told.err.splitlines()) == 1
    assert sentence in told.err


@pytest.mark.parametrize("name", [*REPORT, "measures.json", "release"])
def test_nothing_of_somebody_else_is_overwritten(with_schema: Run, people: Path, name: str) -> None:
    (people / "out").mkdir()
    (people / "out" / name).write_text("mine")
    told = with_schema()
    assert told.code == 2
    assert told.err.startswith(f"sfumato: out/{name}: this already exists and comes from elsewhere")
    assert (people / "out" / name).read_text() == "mine"
    assert names(people / "out") == [name]


def test_a_release_with_something_added_is_not_replaced(with_schema: Run, people: Path) -> None:
    assert with_schema().code == 0
    (people / "out" / "release" / "README").write_text("mine")
    told = with_schema()
    assert told.code == 2
    assert "out/release: this holds more than a release" in told.err
    assert (people / "out" / "release" / "README").read_text() == "mine"


def test_the_report_is_never_put_into_a_release(run: Run, people: Path) -> None:
    run("publish", "people.csv", "--schema", "people.toml", "--method", "original", "-o", "released")
    for folder in ("released", "released/sub/folder"):
        told = run("frontier", "people.csv", "--schema", "people.toml", "-o", folder)
        assert told.code == 2
        assert "are for the publisher's eyes only" in told.err
    assert names(people / "released") == ["data.csv", "release.json"]


def test_a_failed_replacement_leaves_the_earlier_release(
    with_schema: Run, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fails at the worst moment: the earlier release is moved away, the new one cannot take its place."""
    assert with_schema().code == 0
    before = {path.name: path.read_bytes() for path in (people / "out" / "release").iterdir()}
    rename = type(people).rename

    def failing(path: Path, target: Path) -> Path:
        if path.name == "new":
            raise OSError(28, "No space left on device", str(path))
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(type(people), "rename", failing)
        told = with_schema()
    assert (told.code, told.out) == (2, "")
    assert told.err.endswith("(No space left on device)\n")
    assert {path.name: path.read_bytes() for path in (people / "out" / "release").iterdir()} == before
    assert names(people / "out") == WRITTEN


def wait_for_trials(process: subprocess.Popen[str], folder: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while not (folder / STORE_NAME).exists() or len(stored(folder)) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_an_interrupt_loses_no_trial_and_the_same_command_goes_on(tmp_path: Path) -> None:
    residents(400).write_csv(tmp_path / "town.csv")
    shutil.copy(SCHEMA_PATH, tmp_path / "town.toml")
    out = tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "sfumato.cli",
        "frontier",
        "town.csv",
        "--schema",
        "town.toml",
        "-o",
        "out",
        "--workers",
        "2",
        "--no-save",
        "--method",
        "mondrian",
    ]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_for_trials(process, out, 3)
        os.kill(process.pid, signal.SIGINT)
        told = process.communicate(timeout=60)
    finally:
        process.kill()
    before = stored(out)
    assert process.returncode == 130, told
    found = re.fullmatch(
        r"Interrupted; (\d+) of (\d+) trials are stored in out/trials\.jsonl; run the same command again to go on\.\n",
        told[1],
    )
    assert found, told
    assert told[0] == ""
    # A trial may be stored at the very moment of the interrupt and not be counted any more.
    assert int(found[1]) in (len(before) - 1, len(before))
    assert 3 <= len(before) < int(found[2])
    assert names(out) == ["trials.jsonl"]

    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (again.returncode, again.stderr) == (0, "")
    after = stored(out)
    assert after[: len(before)] == before
    assert len(after) == int(found[2]) == len({setting(line) for line in after})
    assert names(out) == sorted([*REPORT, "trials.jsonl"])
