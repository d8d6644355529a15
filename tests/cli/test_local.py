"""The commands for noise at the client: plan, perturb, estimate and serve, and every way to misuse them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import closing
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from sfumato.collect.collector.storage import Report, Storage
from sfumato.collect.survey import read_survey

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from .conftest import Outcome

    Run = Callable[..., Outcome]

SURVEY = """\
name = "visits"
question = "How often?"
min = 10
max = 30
step = 2
epsilon = 1
smallest_batch = 50
"""
PEOPLE = 6_000
ESTIMATE = ("estimate", "people.csv", "--survey", "visits.toml", "--column", "visits")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A survey and a file of true answers."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visits.toml").write_text(SURVEY, encoding="utf-8")
    answers = 10 + 2 * np.random.default_rng(1).binomial(10, 0.4, PEOPLE)
    (tmp_path / "bare.csv").write_text("12\n14\n", encoding="utf-8")
    pl.DataFrame({"who": np.arange(PEOPLE), "visits": answers}).write_csv(tmp_path / "people.csv")
    return tmp_path


def true_shares(folder: Path) -> NDArray[np.float64]:
    answers = pl.read_csv(folder / "people.csv")["visits"].to_numpy()
    return np.bincount((answers - 10) // 2, minlength=11) / PEOPLE


@pytest.mark.parametrize("output", ["reports.csv", "reports.csv.gz", "reports.parquet"])
def test_from_true_answers_to_the_distribution_behind_the_reports(run: Run, folder: Path, output: str) -> None:
    made = run("local", "perturb", "people.csv", "--survey", "visits.toml", "--column", "visits", "-o", output)
    assert made.code == 0, made
    assert "6,000 reports" in made.out
    assert "22,100 (10-local differential privacy); values a step apart" in made.out
    assert "at most 2.72. A step is 2." in made.out
    reports = (pl.read_parquet if output.endswith("parquet") else pl.read_csv)(folder / output)
    assert reports.columns == ["visits"]
    assert set(reports["visits"].unique()) <= set(range(10, 31, 2))
    assert (reports["visits"] != pl.read_csv(folder / "people.csv")["visits"]).mean() > 0.3
    found = run("local", "estimate", output, "--survey", "visits.toml", "--json").json
    assert found["reports"] == PEOPLE
    assert found["reached"] is True
    shares = np.array([cell["share"] for cell in found["cells"]])
    assert np.abs(shares - true_shares(folder)).sum() / 2 < 0.1
    true = true_shares(folder)
    inside = [cell["low"] <= share <= cell["high"] for cell, share in zip(found["cells"], true, strict=True)]
    assert sum(inside) >= 7


def test_a_second_run_draws_fresh_noise_and_nothing_is_overwritten(run: Run, folder: Path) -> None:
    command = ("local", "perturb", "people.csv", "--survey", "visits.toml", "--column", "visits", "-o")
    assert run(*command, "a.csv").code == run(*command, "b.csv").code == 0
    assert (folder / "a.csv").read_bytes() != (folder / "b.csv").read_bytes()
    refused = run(*command, "a.csv")
    assert refused.code == 2
    assert "a.csv: this already exists" in refused.err


@pytest.fixture
def reports(run: Run, folder: Path) -> Path:
    run("local", "perturb", "people.csv", "--survey", "visits.toml", "--column", "visits", "-o", "reports.csv")
    return folder / "reports.csv"


def test_the_estimate_is_shown_and_written(run: Run, folder: Path, reports: Path) -> None:
    shown = run("local", "estimate", "reports.csv", "--survey", "visits.toml", "-o", "found.csv")
    assert shown.code == 0, shown
    for part in ("How often? 6,000 reports, geometric noise", "Mean 1", "50% have at most 18", "95% interval"):
        assert part in shown.out
    assert "This is the likeliest distribution" in shown.err
    written = pl.read_csv(folder / "found.csv")
    assert written["value"].to_list() == list(range(10, 31, 2))
    assert written["share"].sum() == pytest.approx(1)
    assert written["cumulative"][-1] == pytest.approx(1)
    assert run("local", "estimate", "reports.csv", "--survey", "visits.toml", "-o", "found.json", "--json").code == 0
    document = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    assert document["survey"]["epsilon"] == "1"
    assert [cell["share"] for cell in document["cells"]] == pytest.approx(written["share"].to_list(), abs=1e-8)


def test_files_add_up(run: Run, folder: Path, reports: Path) -> None:
    one = run("local", "estimate", "reports.csv", "--survey", "visits.toml", "--json").json
    (folder / "more.csv").write_bytes(reports.read_bytes())
    two = run("local", "estimate", "reports.csv", "more.csv", "--survey", "visits.toml", "--json").json
    assert two["reports"] == 2 * one["reports"]
    assert two["mean"]["value"] == pytest.approx(one["mean"]["value"])
    width = [found["mean"]["high"] - found["mean"]["low"] for found in (one, two)]
    assert width[1] == pytest.approx(width[0] / 2**0.5, rel=0.01)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--estimate", "inversion"), "This is the unbiased estimate"),
        (("--estimate", "em", "--steps", "5"), "Stopped early"),
        (("--estimate", "smooth", "--steps", "20"), "Smoothed on purpose"),
    ],
)
def test_other_estimates_say_what_they_are(run: Run, reports: Path, options: tuple[str, ...], part: str) -> None:
    shown = run("local", "estimate", "reports.csv", "--survey", "visits.toml", *options)
    assert shown.code == 0, shown
    assert part in shown.err


def test_nothing_is_overwritten_by_an_estimate(run: Run, folder: Path, reports: Path) -> None:
    before = reports.read_bytes()
    for output, sentence in (("reports.csv", "this already exists"), ("visits.toml", "ends in .csv or .json")):
        outcome = run("local", "estimate", "reports.csv", "--survey", "visits.toml", "-o", output)
        assert outcome.code == 2
        assert sentence in outcome.err
    assert reports.read_bytes() == before


def test_reports_that_never_got_noise_are_noticed(run: Run, folder: Path, reports: Path) -> None:
    noisy = run("local", "estimate", "reports.csv", "--survey", "visits.toml").err
    assert "do not look as if they got this noise" not in noisy
    pl.DataFrame({"visits": [16] * 3_000}).write_csv(folder / "same.csv")
    same = run("local", "estimate", "same.csv", "--survey", "visits.toml").err
    assert "do not look as if they got this noise" in same


def test_a_database_is_estimated_from(run: Run, folder: Path) -> None:
    survey = read_survey(folder / "visits.toml")
    storage = Storage(folder / "visits.db")
    storage.add_survey(survey)
    sent = survey.perturb(pl.read_csv(folder / "people.csv")["visits"].to_numpy()).tolist()
    storage.add_reports("visits", [Report(f"report-{number:010}", value) for number, value in enumerate(sent[:49])])
    few = run("local", "estimate", "--database", "visits.db", "--name", "visits")
    assert few.code == 2
    assert "the survey 'visits' has 49 reports; expected at least 50 before anything is shown" in few.err
    more = [Report(f"report-{number:010}", value) for number, value in enumerate(sent)]
    storage.add_reports("visits", more)
    storage.close()
    found = run("local", "estimate", "--database", "visits.db", "--name", "visits", "--json").json
    assert found["reports"] == PEOPLE
    unknown = run("local", "estimate", "--database", "visits.db", "--name", "ages")
    assert unknown.code == 2
    assert "there is no survey 'ages'; there are 'visits'" in unknown.err


def test_two_of_three_are_planned(run: Run, folder: Path) -> None:
    wanted = run("local", "plan", "--survey", "visits.toml", "--error", "0.02", "--json").json
    assert wanted["error"] <= 0.02
    exact = run("local", "plan", "--survey", "visits.toml", "--reports", str(wanted["reports"]), "--json").json
    assert exact["error"] == pytest.approx(wanted["error"])
    private = run(
        "local", "plan", "--survey", "visits.toml", "--reports", str(wanted["reports"]), "--error", "0.02", "--json"
    ).json
    assert float(Fraction(private["epsilon"])) == pytest.approx(1, rel=0.01)
    same = run("local", "plan", "--size", "11", "--epsilon", "1", "--error", "0.02", "--json").json
    assert same["reports"] == wanted["reports"]
    text = run("local", "plan", "--size", "11", "--epsilon", "1", "--error", "0.02").out
    assert f"{wanted['reports']:,} reports give the share of people with any one value within ±0.02" in text
    mean = run("local", "plan", "--survey", "visits.toml", "--reports", "1000", "--quantity", "mean", "--json").json
    plain = ("--size", "11", "--epsilon", "1", "--reports", "1000", "--quantity", "mean", "--json")
    single = run("local", "plan", *plain).json
    assert mean["error"] == pytest.approx(2 * single["error"])
    wave = run("local", "plan", *plain, "--mechanism", "square-wave").json
    assert wave["mechanism"] == "square-wave"
    assert wave["error"] > single["error"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("perturb", "people.csv", "--survey", "no.toml", "-o", "r.csv"), "no.toml: the survey does not exist"),
        (("perturb", "no.csv", "--survey", "visits.toml", "-o", "r.csv"), "no.csv: the file does not exist"),
        (("perturb", "people.csv", "--survey", "visits.toml", "-o", "r.csv"), "the file has 2 columns; choose the one"),
        (("perturb", "people.csv", "--survey", "visits.toml", "--column", "age", "-o", "r.csv"), "the column 'age' is"),
        (
            ("perturb", "people.csv", "--survey", "visits.toml", "--column", "who", "-o", "r.csv"),
            "row 1, column 'who': '0' is not a whole number from 10 to 30 in steps of 2",
        ),
        (("perturb", "people.csv", "--survey", "visits.toml", "--column", "visits", "-o", "r.txt"), "must end in .csv"),
        (("estimate",), "say which reports"),
        (("estimate", "people.csv"), "say which reports"),
        (("estimate", "people.csv", "--survey", "visits.toml", "--name", "x"), "say which reports"),
        (("estimate", "people.csv", "--database", "d.db", "--name", "x"), "--database and --name alone"),
        (("estimate", "--database", "d.db"), "--database and --name alone"),
        (("estimate", "--database", "d.db", "--name", "x"), "d.db: the file does not exist"),
        (("estimate", "--database", "mysql://h/d", "--name", "x"), "'mysql' is not a known kind of database"),
        ((*ESTIMATE, "--confidence", "2"), "the confidence is 2"),
        ((*ESTIMATE, "--steps", "0"), "steps is 0"),
        (("estimate", "people.csv", "./people.csv", "--survey", "visits.toml"), "the file is given twice"),
        (("estimate", "bare.csv", "--survey", "visits.toml"), "the first line is '12'; expected the name"),
        (("plan",), "say what is planned"),
        (("plan", "--size", "5"), "give two of"),
        (("plan", "--size", "5", "--epsilon", "1"), "say what is wanted"),
        (("plan", "--size", "5", "--epsilon", "1", "--error", "0.1", "--reports", "5"), "give two of"),
        (("plan", "--survey", "visits.toml", "--size", "5", "--error", "0.1"), "leave these options out"),
        (("plan", "--size", "0", "--epsilon", "1", "--error", "0.1"), "number of values is 0"),
        (("plan", "--size", "5", "--epsilon", "0", "--error", "0.1"), "epsilon is 0"),
        (("plan", "--size", "5", "--epsilon", "1", "--error", "0"), "the error is 0"),
        (("plan", "--size", "5", "--error", "0.0001", "--reports", "10"), "plan more reports"),
        (("serve", "no.toml"), "no.toml: the survey does not exist"),
        (("serve", "--token", "short"), "token is not usable"),
        (("serve", "--port", "99999"), "the port is 99999"),
        (("serve", "--database", ":memory:x://"), "is not a known kind of database"),
        (("serve", "--allow-origin", "*"), "the origin '*' is not a site"),
    ],
)
def test_misuse_gets_one_sentence_and_leaves_nothing_behind(
    run: Run, folder: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    outcome = run("local", *arguments)
    assert outcome.code == 2, outcome
    assert sentence in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1
    assert not {"r.csv", "r.txt", "d.db"} & {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("line", "replaced", "sentence"),
    [
        ("max = 30", "max = 31", "max is 31; expected a whole number of steps of 2 above 10"),
        ("min = 10", "min = ", "not valid TOML, "),
    ],
)
def test_a_survey_that_cannot_be_is_refused(run: Run, folder: Path, line: str, replaced: str, sentence: str) -> None:
    (folder / "visits.toml").write_text(SURVEY.replace(line, replaced), encoding="utf-8")
    outcome = run("local", "plan", "--survey", "visits.toml", "--error", "0.1")
    assert outcome.code == 2, outcome
    assert outcome.err.startswith("sfumato: visits.toml: ")
    assert sentence in outcome.err


@pytest.mark.parametrize(
    ("line", "replaced"),
    [
        ("epsilon = 1", "epsilon = 1.01"),
        ("How often?", "How often? "),
        ("max = 30", "max = 32"),
        ("step = 2", "step = 4"),
        ("epsilon = 1", "epsilon = 1\nmechanism = 'randomized-response'"),
    ],
)
def test_a_survey_cannot_be_served_again_changed(run: Run, folder: Path, line: str, replaced: str) -> None:
    """Nor is what the database holds overwritten."""
    with closing(Storage("v.db")) as storage:
        storage.add_survey(read_survey("visits.toml"))
    (folder / "visits.toml").write_text(SURVEY.replace(line, replaced), encoding="utf-8")
    outcome = run("local", "serve", "visits.toml", "--database", "v.db", "--port", "0")
    assert (outcome.code, outcome.err) == (2, "sfumato: another survey has the name 'visits'; choose a new name\n")
    with closing(Storage("v.db")) as storage:
        assert [(survey.epsilon, survey.max) for survey, _ in storage.surveys()] == [(1, 30)]


def fetch(address: str, token: str | None = None, body: Any = None) -> Any:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(address, data, headers), timeout=20) as answer:
        return json.load(answer)


def test_the_server_opens_surveys_says_where_and_stops_when_interrupted(folder: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "SFUMATO_TOKEN"}
    (folder / "weak.toml").write_text(
        SURVEY.replace("visits", "weak").replace("epsilon = 1", "epsilon = 4.5"), encoding="utf-8"
    )
    fine = SURVEY.replace("visits", "years").replace("min = 10\nmax = 30\nstep = 2", "min = 0\nmax = 99000")
    (folder / "years.toml").write_text(fine.replace("epsilon = 1", "epsilon = 0.5"), encoding="utf-8")
    options = ["visits.toml", "weak.toml", "years.toml", "--port", "0", "--database", "v.db"]
    command = [sys.executable, "-m", "sfumato.cli", "local", "serve", *options]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        try:
            lines = [server.stdout.readline() for _ in range(3)]
            address = re.search(r"Collecting at (http://127\.0\.0\.1:\d+), into v\.db", lines[0])
            assert address, lines
            assert lines[1].strip() == f"visits: {address[1]}/s/visits (0 reports)"
            token = lines[2].partition("#token=")[2].strip()
            report = {"id": "a" * 20, "value": 12}
            place = f"{address[1]}/api/surveys/visits/reports"
            assert fetch(place, body=report) == {"accepted": 1, "repeated": 0}
            assert fetch(place, body=report) == {"accepted": 0, "repeated": 1}
            assert fetch(f"{address[1]}/api/surveys", token)["surveys"][0]["reports"] == 1
        finally:
            server.send_signal(signal.SIGINT)
            rest, errors = server.communicate(timeout=30)
    assert server.returncode == 0, errors
    assert "Traceback" not in rest + errors
    assert token in errors
    assert "weak: epsilon is 4.5; no browser will answer, since each sends reports worth 4 in all." in errors
    assert "visits: epsilon" not in errors
    assert "years: epsilon is 0.5 per step, so that one report tells answers a hundredth of the range apart" in errors
    assert "(990 steps) from each other with epsilon 495; use a smaller epsilon or a larger step; no browser" in errors
