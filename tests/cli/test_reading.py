"""Commands read a file, a folder or a pattern, and say how far they are where that takes a while."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl
import pytest

from sfumato.cli import reading, show
from sfumato.data import blocks

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run

PUBLISH = ("--schema", "people.toml", "--method", "mondrian", "--k", "5", "-o")


def test_a_folder_and_a_pattern_are_published_as_one_file_is(run: Run, people: Path) -> None:
    rows = pl.read_csv("people.csv")
    (people / "parts").mkdir()
    for number in range(3):
        rows[number::3].write_parquet(people / "parts" / f"part-{number}.parquet")
    for source, folder in (("people.csv", "one"), ("parts", "two"), ("parts/part-*.parquet", "three")):
        assert run("publish", source, *PUBLISH, folder).code == 0
    written = {(people / folder / "data.csv").read_bytes() for folder in ("one", "two", "three")}
    assert len(written) == 1


def test_how_far_reading_is_is_told(run: Run, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("publish", "people.csv", *PUBLISH, "quiet").err == ""
    monkeypatch.setattr(reading, "MIN_SHOWN", 0)
    monkeypatch.setattr(show, "SECONDS_BETWEEN_LINES", 0)
    monkeypatch.setattr(blocks, "BLOCK", 1_000)
    told = run("publish", "people.csv", *PUBLISH, "release")
    assert told.code == 0
    lines = told.err.splitlines()
    assert len(lines) > 5
    assert all(re.fullmatch(r"reading rows: [0-9]+ of [0-9]+, about [0-9]+ s left", line) for line in lines)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("empty", "this is a folder without data; expected files such as .csv"),
        ("*.parquet", "no file has such a name"),
        ("nothing.csv", "the file does not exist"),
    ],
)
def test_what_is_no_table_is_one_sentence(run: Run, people: Path, source: str, words: str) -> None:
    (people / "empty").mkdir()
    refused = run("publish", source, *PUBLISH, "release")
    assert (refused.code, refused.out) == (2, "")
    assert words in refused.err
    assert refused.err.count("\n") == 1
    assert not (people / "release").exists()
