"""`sfumato audit` runs a program once and says in words and by its exit code what that shows."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from .conftest import Run

COPY = "import shutil, sys; shutil.copy(sys.argv[1], sys.argv[2])"
NOBODY = "import sys; rows = open(sys.argv[1]).readlines(); open(sys.argv[2], 'w').writelines(rows[:1] + rows[1:2] * 9)"
OPTIONS = ("people.csv", "--schema", "people.toml", "--canaries", "200")


def audit(run: Run, *words: str, code: str = COPY, folder: str = "found") -> tuple[int, str, str]:
    program = ("--", sys.executable, "-c", code, "{input}", "{output}")
    told = run("audit", *OPTIONS, "--epsilon", "1", "-o", folder, *words, *program)
    return told.code, told.out, told.err


def test_a_broken_claim(run: Run, people: Path) -> None:
    code, out, err = audit(run)
    assert (code, err) == (1, "")
    assert out.startswith("Claimed ε = 1; the claim is broken: ε ≥ ")
    assert "were right; a program that keeps its claim gets that many with a probability of at most" in out
    figures = json.loads((people / "found" / "audit.json").read_text(encoding="utf-8"))
    assert "for the publisher's eyes only" in figures["note"]
    assert figures["contradicted"] is True
    assert figures["simulated"] is False
    guesses = pl.read_csv(people / "found" / "guesses-for-the-publisher-only.csv")
    assert guesses.columns == [*("age", "sex", "town", "disease"), *("canary_included", "canary_score", "canary_guess")]
    assert sorted(path.name for path in (people / "found").iterdir()) == [
        "audit.json",
        "guesses-for-the-publisher-only.csv",
    ]


def test_nothing_contradicts_a_claim(run: Run, people: Path) -> None:
    """The output tells nothing; at this confidence it is contradicted in one run of a million."""
    code, out, err = audit(run, "--confidence", "0.999999", code=NOBODY)
    assert (code, err) == (0, "")
    assert "nothing contradicts the claim" in out
    assert "That is no proof of the claim" in out


def test_json_alone(run: Run, people: Path) -> None:
    program = (sys.executable, "-c", COPY, "{input}", "{output}")
    told = run("audit", *OPTIONS, "--epsilon", "1", "-o", "found", "--json", "--delta", "1e-6", "--", *program)
    assert told.code == 1
    assert told.json["claim"] == {"epsilon": 1, "delta": 1e-6}
    assert told.json["bound"] > 1
    assert told.json["folder"] == "found"


def test_parquet_and_releases_are_read(run: Run, people: Path) -> None:
    code = "import sys, polars as pl; pl.read_parquet(sys.argv[1]).write_parquet(sys.argv[2])"
    program = ("--", sys.executable, "-c", code, "{input.parquet}", "{output.parquet}")
    assert run("audit", *OPTIONS, "--epsilon", "1", "-o", "one", *program).code == 1
    publish = ("publish", "{input}", "--schema", "people.toml", "--method", "original", "-o", "{output}")
    program = ("--", sys.executable, "-m", "sfumato.cli", *publish)
    assert run("audit", *OPTIONS, "--epsilon", "1", "-o", "two", *program).code == 1


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import sys; print('first', file=sys.stderr); sys.exit('no luck')", "exit code 1 and said: no luck"),
        ("import sys; sys.exit(7)", "exit code 7 and said nothing on standard error"),
        ("import os; os.kill(os.getpid(), 9)", "the program was ended by signal 9"),
        ("pass", "the program ended well but wrote no {output}"),
        ("import sys; open(sys.argv[2], 'w').write('age,sex\\n1,Male\\n')", "the column 'town' is missing"),
        ("import sys; open(sys.argv[2], 'w')", "the file is empty"),
    ],
)
def test_a_program_that_fails_is_one_sentence(run: Run, people: Path, code: str, expected: str) -> None:
    told = audit(run, code=code)
    assert told[:2] == (2, "")
    assert told[2].startswith("sfumato: ")
    assert expected in told[2]
    assert told[2].count("\n") == 1
    assert not (people / "found").exists()


def test_a_program_that_takes_too_long_is_ended_with_what_it_started(run: Run, people: Path) -> None:
    code = (
        "import subprocess, sys, time; "
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3); open(\"late\", \"w\")']); time.sleep(60)"
    )
    told = audit(run, "--timeout", "1", code=code)
    assert told[0] == 2
    assert "the program was still running after 1 seconds; allow more with --timeout" in told[2]
    time.sleep(3)
    assert sorted(path.name for path in people.iterdir()) == ["people.csv", "people.toml"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["python", "{input}"], "the command of the program needs one placeholder {output}; it has none"),
        (["python", "{output}"], "the command of the program needs one placeholder {input}; it has none"),
        (["python", "{input}", "{input.parquet}", "{output}"], "it has several formats of it"),
        (["python", "{input}", "{output.doc}"], "{output.doc}: expected an ending such as .csv"),
        (["python", "{input.xlsx}", "{output}"], "{input.xlsx}: expected an ending such as .csv"),
        (["no-such-program", "{input}", "{output}"], "no-such-program: the program cannot be run (No such file"),
    ],
)
def test_a_command_that_cannot_work_is_refused(run: Run, people: Path, words: list[str], expected: str) -> None:
    told = run("audit", *OPTIONS, "--epsilon", "1", "-o", "found", "--", *words)
    assert told.code == 2
    assert expected in told.err


def test_a_folder_that_is_there_is_left_alone(run: Run, people: Path) -> None:
    (people / "found").mkdir()
    code, _, err = audit(run, code="open('ran', 'w')")
    assert code == 2
    assert "this already exists" in err
    assert not (people / "ran").exists()
