"""`sfumato reproduce`: one figure on a small sample, what is listed, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sfumato.reproduce.papers import PAPERS
from sfumato.reproduce.running import Plan

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run

ONE = ("reproduce", "li2009", "--figure", "table-1", "--quick", "--workers", "1")


def test_a_figure_is_reproduced_and_judged(run: Run, data_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    told = run(*ONE, "--data", data_folder, "-o", out)
    assert told.code == 0
    assert "li2009: 9 statements;" in told.out
    assert "holds: age has 74 values. Printed: 74. Measured: 74." in told.out
    assert f"{out / 'index.html'}" in told.out
    assert "no verdict counts" in told.err
    assert {"index.html", "li2009.html", "runs.jsonl", "statements.csv"} <= {path.name for path in out.iterdir()}
    again = run(*ONE, "--data", data_folder, "-o", out, "--json")
    assert [one["verdict"] for one in again.json["statements"]][1] == "holds"
    assert all(one["command"] == "sfumato reproduce li2009 --figure table-1" for one in again.json["statements"])


def test_without_a_paper_all_are_listed(run: Run) -> None:
    listed = run("reproduce")
    assert listed.code == 0
    for name, paper in PAPERS.items():
        assert f"{name}: {paper.title}" in listed.out
    assert "--figure 2a: " in listed.out
    assert set(run("reproduce", "--json").json) == set(PAPERS)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["dwork2006"], "there is no paper 'dwork2006'; expected one of li2009"),
        (["li2009", "--figure", "9"], "li2009 has no figure '9' to reproduce; expected one of table-1, "),
        (["--figure", "2a"], "--figure needs a paper, such as: sfumato reproduce li2009 --figure 2a"),
        (["li2009", "--all"], "--all reproduces every paper; leave out the paper and --figure"),
        (["li2009", "--data", "nowhere"], "nowhere: this folder does not exist; expected the data of the papers in it"),
        (["li2009", "--data", "."], "adult/adult.csv: this file does not exist; Adult: rows from https://archive.ics"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(run: Run, people: Path, words: list[str], sentence: str) -> None:
    told = run("reproduce", *words)
    assert told.code == 2
    assert sentence in told.err
    assert not (people / "reproduction").exists()


def test_without_data_it_says_how_to_name_the_folder(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SFUMATO_DATA", raising=False)
    told = run("reproduce", "li2009")
    assert (told.code, told.err.count("\n")) == (2, 1)
    assert "expected its folder as --data FOLDER or in the variable SFUMATO_DATA" in told.err


def test_an_interrupt_says_how_to_go_on(
    run: Run, data_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(plan: Plan, workers: int, progress: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Plan, "run", stop)
    told = run(*ONE, "--data", data_folder, "-o", tmp_path)
    assert told.code == 130
    assert "run the same command again to go on" in told.err
