"""JSON lines: an object on each line, whose names are those of the columns; every value is read by itself, as text."""

import codecs
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data.blocks import bytes_read, open_text
from sfumato.data.opening import Opening
from sfumato.data.pieces import Piece, refuse_absent
from sfumato.data.text import NOT_TEXT
from sfumato.errors import DataError, quote

ROWS = 2**18
"""Rows that are held as Python's values at a time."""
MAX_SHARE = 0.99
NO_TEXT = re.compile("[\udc80-\udcff]")
"""How Python holds bytes that are no text."""
Row = dict[str, str | None]


def read_json_lines(path: Path, columns: Sequence[str] | None, reading: str, opening: Opening) -> Iterator[Piece]:
    """The wanted columns piece by piece, all of them in one piece.

    A column is there if a line names it. Where reading is `lenient`, what is no plain value is spelled as JSON, and a
    line that is no object has no values.
    """
    lenient, size, before = reading == "lenient", max(path.stat().st_size, 1), 0
    names: dict[str, None] = {}
    with open_text(path, opening, reading) as file:
        rows: list[Row] = []
        for row in _rows(file, path, reading):
            rows.append(row)
            names.update(dict.fromkeys(row))
            if columns is not None and len(rows) >= ROWS:
                yield Piece(_frame(rows, columns), before, min(bytes_read(file) / size, MAX_SHARE))
                before, rows = before + len(rows), []
    if columns is None:
        if not names:
            raise DataError(f"{path}: the file is empty")
    elif not lenient and before + len(rows):
        refuse_absent(columns, list(names), str(path))
    yield Piece(_frame(rows, list(names) if columns is None else columns), before)


def _frame(rows: Sequence[Row], columns: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame({name: pl.Series([row.get(name) for row in rows], dtype=pl.String) for name in columns})


def _rows(file: Any, path: Path, reading: str) -> Iterator[Row]:
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            text = _decoded(line.removeprefix(codecs.BOM_UTF8) if number == 1 else line, reading)
            found = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
            if not isinstance(found, dict):
                raise ValueError(f"found {quote(found)}")
            yield _row(found, where, lenient=reading == "lenient")
        except UnicodeDecodeError:
            raise
        except (ValueError, RecursionError) as error:
            if reading != "lenient":
                raise DataError(f"{where}: not an object in JSON ({str(error).splitlines()[0]})") from error
            yield {}


def _decoded(line: bytes, reading: str) -> str:
    """A line as text; bytes that are none are spelled out, with a backslash as JSON has it."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        if reading == "strict":
            raise
    return NO_TEXT.sub(lambda byte: f"\\\\x{ord(byte[0]) - 0xDC00:02x}", line.decode(errors="surrogateescape"))


def _row(found: dict[str, Any], where: str, *, lenient: bool) -> Row:
    return {_text(name): _cell(value, name, where, lenient=lenient) for name, value in found.items()}


def _text(text: str) -> str:
    """Text without halves of characters, which JSON can spell."""
    return text if text.isascii() else text.encode(errors=NOT_TEXT).decode()


def _cell(value: Any, name: str, where: str, *, lenient: bool) -> str | None:
    if isinstance(value, str):
        return _text(value)
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if not lenient:
        raise DataError(f"{where}, column {name!r}: {quote(value)} holds several values; expected one")
    return json.dumps(value, ensure_ascii=True)
