"""`frontier`: what it writes and where, what it refuses, and that an interrupt loses nothing."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from sfumato.cli import study
from sfumato.privacy.claims import Choice, Conditional, PureDP
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.loss import Approximate
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
WRITTEN = sorted([*REPORT, "trials.jsonl"])


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
    limits = ("--max-p-loss", "0.6", "--max-query-error", "0.5", "--allow-exact")
    fixed = ("--method", "anatomy", *limits, "--workers", "1", "-o", "out")

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


def published(told: Outcome, run: Run) -> Release:
    """What the command that a frontier names publishes."""
    words = shlex.split(told.out.splitlines()[-1])
    assert words[0] == "sfumato"
    assert run(*words[1:]).code == 0
    return Release.load(words[-1])


def test_it_writes_a_report_and_names_the_command_that_publishes(
    run: Run, with_schema: Run, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.chdir(people)
    told = with_schema()
    assert (told.code, told.err) == (0, "")
    assert names(people / "out") == WRITTEN
    assert re.search(r"\n  (good|fair|poor)  Worst-case belief shift  ", told.out)
    assert "For your eyes only, the report: out/report.html\n" in told.out
    assert (people / "out" / "report.html").read_text().lstrip().lower().startswith("<!doctype html>")
    release = published(told, run).verified()
    assert names(people / "out") == sorted([*WRITTEN, "release"])
    assert f"Recommended: Anatomy l={release.provenance.parameters['l']}, " in told.out
    assert "its setting was chosen after measures of data under its name" in release.claim.assumptions[-1]


def test_json_is_all_that_is_on_standard_output(with_schema: Run, people: Path) -> None:
    told = with_schema("--json")
    assert (told.code, told.err) == (0, "")
    spec = told.json
    assert spec["publish"].startswith("sfumato publish people.csv --schema people.toml --method anatomy --l ")
    assert spec["trial"].startswith("anatomy:")
    assert spec["pilot"] is None
    assert {figure["verdict"] for figure in spec["figures"]} <= {"good", "fair", "poor"}
    assert sorted(path.removeprefix("out/") for path in spec["files"]) == REPORT


def test_a_second_run_tries_nothing_again_and_leaves_what_was_published(
    run: Run, with_schema: Run, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = with_schema()
    before = stored(people / "out")
    published(first, run)
    released = {path.name: path.read_bytes() for path in (people / "out" / "release").iterdir()}

    def refuse(*_: Any) -> list[Any]:
        raise AssertionError("a stored trial was run again")

    with monkeypatch.context() as patch:
        patch.setattr(trials, "run_trial", refuse, raising=False)
        patch.setattr("sfumato.trials.runner.run_trial", refuse)
        second = with_schema()
    assert second.code == 0
    assert second.out == first.out
    assert stored(people / "out") == before
    assert {path.name: path.read_bytes() for path in (people / "out" / "release").iterdir()} == released


PILOT = ("--method", "marginals", "--method", "mondrian", "--workers", "1", "--schema", "people.toml", "-o", "out")


@pytest.fixture
def with_pilot(run: Run, people: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """A frontier whose choice is paid for, with a ledger of its own."""
    monkeypatch.setattr("sfumato.report.frontier.page.write", quick_report)
    monkeypatch.setenv("SFUMATO_LEDGER", str(tmp_path / "ledger.sqlite"))
    lenient = ("--max-p-loss", "inf", "--max-query-error", "inf")
    return lambda *options: run("frontier", "people.csv", *PILOT, *lenient, *options)


def test_exploring_is_free_and_a_pilot_is_bought_once(run: Run, with_pilot: Run, people: Path) -> None:
    """The same frontier three times used to take the ledger from 3 to 6 to 9, with another draw each time."""
    told = [with_pilot("--epsilon", "2") for _ in range(3)]
    assert [outcome.code for outcome in told] == [0, 0, 0], told
    assert told[0].out == told[1].out == told[2].out
    assert names(people / "out") == sorted([*REPORT, "pilot", "pilot-trials.jsonl"])
    (pilot,) = Ledger().entries()
    assert (pilot.cost.epsilon, pilot.state) == (Fraction(3, 10), "settled")
    release = published(told[0], run)
    assert release.claim.cost == Approximate(Fraction(2), Fraction(0))
    assert release.claim.choice == Choice(epsilon=0.3, pilot=pilot.release)
    assert Ledger().spent("people").epsilon == 2
    assert with_pilot("--epsilon", "2").code == 0
    assert Ledger().spent("people").epsilon == 2
    assert with_pilot("--epsilon", "2", "--new-pilot").code == 0
    assert Ledger().spent("people").epsilon == Fraction(23, 10)


def test_the_report_of_a_pilot_promises_what_the_release_will(run: Run, with_pilot: Run, people: Path) -> None:
    """It used to promise the ε of the setting alone, without that of the choice."""
    told = with_pilot("--epsilon", "2")
    promised = json.loads((people / "out" / "frontier.json").read_text(encoding="utf-8"))["claim"]
    assert "(2-differential privacy)" in promised
    assert promised == published(told, run).claim.sentence()


def test_the_report_of_a_pilot_does_not_tell_how_many_people_there_are(with_pilot: Run, people: Path) -> None:
    """It may be published; it used to hold the exact number of rows."""
    assert with_pilot("--epsilon", "2").code == 0
    files = (people / "people.csv", people / "out" / "pilot" / "data.csv")
    real, pilot = (len(path.read_text(encoding="utf-8").splitlines()) - 1 for path in files)
    told = json.loads((people / "out" / "frontier.json").read_text(encoding="utf-8"))["recipient"][0]
    assert f": {pilot:,} people" in told
    assert real == pilot or f"{real:,}" not in told


def test_a_syntactic_choice_on_a_pilot_has_its_own_claim_and_the_pilots(run: Run, with_pilot: Run) -> None:
    given = ("--schema", "people.toml", "--workers", "1", "-o", "out", "--epsilon", "20", "--max-p-loss", "1")
    lenient = ("--allow-exact", "--max-query-error", "inf")
    told = run("frontier", "people.csv", "--method", "mondrian", *lenient, *given)
    assert told.code == 0, told
    release = published(told, run)
    assert release.claim.noise is None
    assert "chosen on a synthetic table under 3-differential privacy" in release.claim.sentence()
    assert Ledger().spent("people").epsilon == 3


def test_a_schema_read_off_the_rows_buys_no_pilot(run: Run, people: Path) -> None:
    told = run("frontier", "people.csv", "--sensitive", "disease", "--quasi", "age,sex", "--epsilon", "1", "-o", "out")
    assert told.code == 2
    assert "were read off the rows, so that no pilot would promise anything" in told.err
    assert Ledger().entries() == []


def test_a_pilot_counts_for_its_own_rows_and_ledger_alone(
    run: Run, with_pilot: Run, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert with_pilot("--epsilon", "1").code == 0
    publish = ("publish", "people.csv", "--schema", "people.toml", "--method", "marginals", "--epsilon", "0.85")
    text = (people / "people.csv").read_text()
    (people / "people.csv").write_text("\n".join(text.splitlines()[:-1]) + "\n")
    for refused in (with_pilot("--epsilon", "1"), run(*publish, "--pilot", "out/pilot", "-o", "released")):
        assert refused.code == 2
        assert "pilot" in refused.err
    (people / "people.csv").write_text(text)
    assert run(*publish, "--pilot", "out/pilot", "-o", "released").code == 0
    monkeypatch.setenv("SFUMATO_LEDGER", str(tmp_path / "other.sqlite"))
    assert run(*publish, "--pilot", "out/pilot", "-o", "again").code == 2


def test_what_is_set_after_looking_says_that_choosing_is_not_covered(run: Run, with_pilot: Run, people: Path) -> None:
    """A frontier on the rows themselves, or a measurement, and then a release by hand."""
    publish = ("publish", "people.csv", "--schema", "people.toml", "--method", "marginals", "--epsilon", "1", "-o")
    assert run(*publish, "before").code == 0
    assert isinstance(Release.load("before").claim, PureDP)
    assert run("measure", "people.csv", "before", "--schema", "people.toml").code == 0
    told = run(*publish, "after")
    assert told.code == 0
    assert "Claim: choosing its setting is not covered: a measurement showed measures of data" in told.out
    assert isinstance(Release.load("after").claim, Conditional)
    assert run(*publish, "said", "--beforehand").code == 0
    assert "before anybody saw measures" in Release.load("said").claim.assumptions[-1]
    chosen = published(with_pilot(), run)
    assert isinstance(chosen.claim, Conditional) or chosen.claim.noise is None


def test_a_proposed_schema_is_kept_and_never_overwritten(frontier: Run, people: Path) -> None:
    told = frontier("--sensitive", "disease", "--quasi", "age,sex,town")
    assert told.code == 0
    assert told.err.startswith("The schema was proposed from the rows; look it through in out/schema.toml")
    kept = people / "out" / "schema.toml"
    assert [axis.name for axis in Schema.load(kept).quasi] == ["age", "sex", "town"]
    kept.write_text(kept.read_text() + "# edited\n")
    refused = frontier("--sensitive", "disease", "--quasi", "age,sex,town")
    assert refused.code == 2
    assert "give --schema out/schema.toml to use it" in refused.err
    assert kept.read_text().endswith("# edited\n")
    assert frontier("--schema", "out/schema.toml").code == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "give either --schema, or --sensitive"),
        (("--schema", "people.toml", "--sensitive", "disease"), "give either --schema, or --sensitive"),
        (("--schema", "people.toml", "--quasi", "age"), "--quasi means nothing with --schema"),
        (("--schema", "people.toml", "--method", "mondrain"), "'mondrain' is not a known method"),
        (("--schema", "people.toml", "--workers", "0"), "'--workers'"),
        (("--schema", "people.toml", "--max-p-loss", "-1"), "p_loss"),
        (("--schema", "people.toml", "--audience", "all"), "'all' is not an audience; expected one of public"),
        (("--schema", "people.toml", "--predict", "height"), "there is no column 'height' to predict"),
        (("--schema", "people.toml", "--queries", "absent.txt"), "absent.txt"),
    ],
)
def test_it_refuses_in_one_sentence(frontier: Run, people: Path, options: tuple[str, ...], sentence: str) -> None:
    told = frontier(*options)
    assert (told.code, told.out) == (2, "")
    assert len(told.err.splitlines()) == 1
    assert sentence in told.err


def test_where_nothing_is_fit_it_says_so_and_gives_advice_that_helps(run: Run, frontier: Run, people: Path) -> None:
    """Errors of at most 2% are asked for, which Mondrian cannot keep with all three columns."""
    asked = ("--method", "mondrian", "--audience", "inside", "--max-query-error", "0.02", "--workers", "1")
    told = run("frontier", "people.csv", "--schema", "people.toml", *asked, "-o", "hard", "--json")
    assert (told.code, told.json["status"], told.json["trial"], told.json["publish"]) == (
        0,
        "nothing recommended",
        None,
        None,
    )
    assert {one["column"] for one in told.json["advice"]["columns"]} == {"age", "sex", "town"}
    said = run("frontier", "people.csv", "--schema", "people.toml", *asked, "-o", "hard")
    assert said.code == 0
    assert "Nothing recommended\n" in said.out
    assert "sfumato publish" not in said.out
    assert "Nothing is recommended, and nothing is published." in said.out
    if told.json["schema"]:
        assert shlex.split(said.out.splitlines()[-1])[4] == told.json["schema"] == "hard/advised.toml"
        again = run("frontier", "people.csv", "--schema", "hard/advised.toml", *asked, "-o", "soft", "--json")
        assert again.json["status"] == "recommended"


@pytest.mark.parametrize("name", [*REPORT, "pilot"])
def test_nothing_of_somebody_else_is_overwritten(with_schema: Run, people: Path, name: str) -> None:
    (people / "out").mkdir()
    (people / "out" / name).write_text("mine")
    told = with_schema()
    assert told.code == 2
    assert told.err.startswith(f"sfumato: out/{name}: this already exists and comes from elsewhere")
    assert (people / "out" / name).read_text() == "mine"
    assert names(people / "out") == [name]


def test_the_report_is_never_put_into_a_release(run: Run, people: Path) -> None:
    run("publish", "people.csv", "--schema", "people.toml", "--method", "original", "-o", "released")
    for folder in ("released", "released/sub/folder"):
        told = run("frontier", "people.csv", "--schema", "people.toml", "-o", folder)
        assert told.code == 2
        assert "are for the publisher's eyes only" in told.err
    assert names(people / "released") == ["codebook.md", "data.csv", "release.json"]


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
    # On a busy machine, progress may be told now and then.
    assert all(re.search(r"(: [\d,]+ of [\d,]+| \.\.\.)$", line) for line in again.stderr.splitlines()), again
    assert again.returncode == 0
    after = stored(out)
    assert after[: len(before)] == before
    # Settings between those of the coarse pass may have been added.
    assert len(after) == len({setting(line) for line in after}) >= int(found[2])
    assert set(names(out)) - {"advised.toml"} == {*REPORT, "trials.jsonl"}
