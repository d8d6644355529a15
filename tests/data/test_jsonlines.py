"""JSON lines: values keep their spelling, lines are read by themselves, and what is no line is named by its number."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.data import jsonlines
from sfumato.data.formats import read_table, write_table
from sfumato.errors import DataError

LINES = ['{"age": 7.0, "town": "Köln", "ill": true}', "", '{"ill": null, "age": 12345678901234567890, "more": "x"}']
COLUMNS = {
    "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99, "off_schema": "clip"},
    "ill": {"role": "sensitive", "kind": "categorical", "values": ["true", "false"], "off_schema": "false"},
}


def lines(path: Path, *content: str) -> Path:
    text = "\n".join(content).encode(errors="surrogatepass")
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.mark.parametrize("ending", [".jsonl", ".ndjson", ".jsonl.gz"])
def test_values_keep_their_spelling(tmp_path: Path, ending: str) -> None:
    frame = read_table(lines(tmp_path / f"people{ending}", *LINES))
    assert frame.columns == ["age", "town", "ill", "more"]
    assert frame.rows() == [("7.0", "Köln", "true", None), ("12345678901234567890", None, None, "x")]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    table = pl.DataFrame({"place": ["a, b", 'ü"', None], "count": [1, 2, 3]})
    write_table(table, tmp_path / "table.jsonl")
    assert read_table(tmp_path / "table.jsonl").cast({"count": pl.Int64}).equals(table)


def test_a_file_is_read_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = lines(tmp_path / "people.jsonl", *(f'{{"age": {age}, "ill": false}}' for age in range(50)))
    whole = sf.read(path, schema={"columns": COLUMNS})
    monkeypatch.setattr(jsonlines, "ROWS", 7)
    assert sf.read(path, schema={"columns": COLUMNS}).digest == whole.digest
    assert whole.n == 50


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"age": [1, 2], "ill": true}', "line 4, column 'age': ['1', '2'] holds several values; expected one"),
        ('{"age": {"a": 1}, "ill": true}', "line 4, column 'age': {'a': '1'} holds several values"),
        ('{"age": 1', "line 4: not an object in JSON"),
        ("[1, 2]", "line 4: not an object in JSON (found ['1', '2'])"),
        ("7", "line 4: not an object in JSON"),
        ("[" * 5000, "line 4: not an object in JSON"),
    ],
)
def test_a_line_that_is_none(tmp_path: Path, line: str, expected: str) -> None:
    """Refused with its number, unless the schema says what stands for anything."""
    path = lines(tmp_path / "people.jsonl", *LINES, line)
    with pytest.raises(DataError) as caught:
        read_table(path)
    assert expected in str(caught.value)
    whole = sf.read(lines(tmp_path / "sound.jsonl", *LINES), schema={"columns": COLUMNS})
    table = sf.read(path, schema={"columns": COLUMNS})
    assert (table.n, whole.n) == (3, 2)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "people.jsonl"
    path.write_bytes(b'{"age": 7, "ill": "M\xfcller"}\n{"age": 8, "ill": "\\ud800"}\n')
    with pytest.raises(DataError, match="it looks like latin-1: say --encoding latin-1"):
        read_table(path)
    assert read_table(path, reading="lossy")["ill"].to_list() == ["M\\xfcller", "\\ud800"]


def test_a_column_is_there_if_any_line_names_it(tmp_path: Path) -> None:
    path = lines(tmp_path / "people.jsonl", *LINES)
    assert read_table(path, ["more"])["more"].to_list() == [None, "x"]
    with pytest.raises(DataError, match="the column 'wage' is missing"):
        read_table(path, ["wage"])
    assert read_table(path, ["wage"], reading="lenient")["wage"].to_list() == [None, None]
    with pytest.raises(DataError, match="the file is empty"):
        read_table(lines(tmp_path / "empty.jsonl", "", ""))
