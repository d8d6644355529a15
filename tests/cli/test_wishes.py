"""What recipients will predict or ask for, told to `sfumato publish --method synthesis`."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run

SYNTHESIS = ("--method", "synthesis", "--epsilon", "1")


def test_wishes_are_part_of_the_release(run: Run, publish: Run, people: Path) -> None:
    asked = people / "asked.txt"
    asked.write_text("# what they count\nage < 40 and disease = flu\n\nsex = Male and town = Coast\n")
    publish("r", *SYNTHESIS, "--predict", "disease", "--queries", str(asked))
    spec = json.loads((people / "r" / "release.json").read_text())
    assert spec["parameters"]["predict"] == "disease"
    assert spec["parameters"]["queries"] == ["age < 40 and disease = flu", "sex = Male and town = Coast"]
    assert run("verify", "r").code == 3, "noise can neither be confirmed nor refuted"


def test_the_frontier_tells_methods_and_prints_the_file(run: Run, people: Path) -> None:
    (people / "asked.txt").write_text("age < 40 and disease = flu\nsex = Male and town = Coast\n")
    words = ("--schema", "people.toml", "--method", "synthesis", "--queries", "asked.txt", "--audience", "inside")
    assert run("frontier", "people.csv", *words, "-o", "out").code == 0
    report = (people / "out" / "report.html").read_text(encoding="utf-8")
    assert re.search(r"--method synthesis [^\"]*--queries asked.txt", report)
    assert "--queries FILE" not in report


@pytest.mark.parametrize(
    ("words", "lines", "sentence"),
    [
        (("--predict", "illness"), "", "no column 'illness' to predict; expected one of age, sex, town, disease"),
        (("--queries", "asked.txt"), "age < 40\nage < ten\n", "query 2, age < ten: found 'ten' after 'age' <"),
        (("--queries", "asked.txt"), "illness = flu\n", "query 1, illness = flu: found 'illness' where a column"),
        (("--queries", "asked.txt"), "# nothing\n", "asked.txt: there are no queries in it"),
        (("--queries", "no.txt"), "", "no.txt: the file of queries does not exist"),
    ],
)
def test_bad_wishes_are_one_sentence(run: Run, people: Path, words: tuple[str, ...], lines: str, sentence: str) -> None:
    (people / "asked.txt").write_text(lines)
    told = run("publish", "people.csv", "--schema", "people.toml", *SYNTHESIS, *words, "-o", "r")
    assert (told.code, told.out, len(told.err.splitlines())) == (2, "", 1)
    assert sentence in told.err
    assert not (people / "r").exists()


def test_other_methods_take_no_wishes(run: Run, people: Path) -> None:
    told = run(
        "publish",
        "people.csv",
        "--schema",
        "people.toml",
        "--method",
        "marginals",
        "--epsilon",
        "1",
        "--predict",
        "sex",
        *("-o", "r"),
    )
    assert told.code == 2
    assert "marginals does not take --predict" in told.err
