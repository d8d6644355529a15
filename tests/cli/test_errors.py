"""What goes wrong becomes one sentence on standard error and exit code 2; readers that leave are no error."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from sfumato.cli import main, verify
from sfumato.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run

USAGE = [
    ("publish",),
    ("publish", "people.csv"),
    ("publish", "people.csv", "--schema"),
    ("publish", "people.csv", "--schema", "people.toml", "--method", "mondrian", "--k", "two", "-o", "r"),
    ("publish", "people.csv", "--schema", "people.toml", "--method", "mondrian", "--cut", "half", "-o", "r"),
    ("publish", "people.csv", "--schema", "people.toml", "--method", "mondrian", "--kk", "2", "-o", "r"),
    ("demo", "--rows", "3"),
    ("demo", "town.csv"),
    ("frontiers",),
    ("--quiet",),
]


@pytest.mark.parametrize("arguments", USAGE)
def test_wrong_usage_is_one_line_that_points_to_the_help(run: Run, people: Path, arguments: tuple[str, ...]) -> None:
    told = run(*arguments)
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("sfumato: ")
    assert told.err.endswith(" --help\n")
    assert len(told.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("init", "nobody.csv", "--sensitive", "disease"), "nobody.csv: the file does not exist"),
        (("init", ".", "--sensitive", "disease", "-o", "x.toml"), ".: this is a folder, and people.toml is no .csv"),
        (("init", "people.csv", "--sensitive", "illness", "-o", "x.toml"), "the column 'illness' is missing"),
        (("init", "people.csv", "--sensitive", "disease", "-o", "no/x.toml"), "No such file or directory"),
        (("measure", "people.csv", "nothing", "--schema", "people.toml"), "nothing: the file does not exist"),
        (("verify", "nothing"), "nothing: this release folder does not exist"),
        (("query", "nothing", "age > 3"), "nothing: this release folder does not exist"),
        (
            ("publish", "people.csv", "--schema", "no.toml", "--method", "original", "-o", "r"),
            "no.toml: the schema file does not exist",
        ),
        (
            ("publish", "people.csv", "--schema", "people.toml", "--method", "original", "-o", "people.csv/r"),
            "the release cannot be written",
        ),
    ],
)
def test_bad_input_is_one_sentence(run: Run, people: Path, arguments: tuple[str, ...], sentence: str) -> None:
    told = run(*arguments)
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("sfumato: ")
    assert len(told.err.splitlines()) == 1
    assert sentence in told.err


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (DataError("row 3:\nnot a number"), "sfumato: row 3: not a number\n"),
        (PermissionError(13, "Permission denied", "people.csv"), "sfumato: people.csv: Permission denied\n"),
        (OSError(28, "No space left on device"), "sfumato: No space left on device\n"),
        (OSError("odd"), "sfumato: odd\n"),
        (MemoryError(), "sfumato: there is not enough memory for this table under this schema\n"),
    ],
)
def test_errors_of_every_kind_are_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, error: Exception, line: str
) -> None:
    def fail(_: Path) -> None:
        raise error

    monkeypatch.setattr(verify, "load_release", fail)
    assert main(["verify", "r"]) == 2
    assert capsys.readouterr() == ("", line)


def test_a_fault_of_the_program_itself_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Path) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(verify, "load_release", fail)
    with pytest.raises(ZeroDivisionError):
        main(["verify", "r"])


def test_an_interrupt_is_quiet(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(verify, "load_release", interrupt)
    assert main(["verify", "r"]) == 130
    assert capsys.readouterr() == ("", "")


def test_a_reader_that_leaves_is_no_error(publish: Run, people: Path) -> None:
    """Standard output is a pipe that nobody reads any more."""
    publish("r", "--method", "mondrian", "--k", "5")
    for arguments in (["verify", "r"], ["verify", "r", "--json"], ["--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        try:
            done = subprocess.run(
                [sys.executable, "-m", "sfumato.cli", *arguments], stdout=writing, stderr=subprocess.PIPE, text=True
            )
        finally:
            os.close(writing)
        assert (done.returncode, done.stderr) == (141, ""), arguments


@pytest.mark.parametrize("name", ["Veröffentlichung ℓ=3", os.fsdecode(b"release \xff")])
def test_odd_names_do_not_break_the_output(people: Path, name: str) -> None:
    """Neither a name that standard output cannot spell, nor one that is not text at all."""
    command = [sys.executable, "-m", "sfumato.cli", "publish", "people.csv", "--schema", "people.toml"]
    done = subprocess.run(
        [*command, "--method", "mondrian", "--k", "5", "-o", name, "--ledger", "ledger.sqlite"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode in (0, 2), done
    lines = (len(done.stdout.splitlines()), len(done.stderr.splitlines()))
    assert lines == ((5, 0) if done.returncode == 0 else (0, 1)), done
    assert (people / name / "release.json").exists() == (done.returncode == 0)


def test_output_is_plain_and_unwrapped_when_piped(publish: Run, run: Run, people: Path) -> None:
    publish("r", "--method", "mondrian", "--k", "5")
    told = run("measure", "people.csv", "r", "--schema", "people.toml").out
    assert "\x1b" not in told
    assert max(map(len, told.splitlines())) > 120
