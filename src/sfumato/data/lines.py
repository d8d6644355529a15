"""Text split into rows, whatever stands in its cells.

Where a reader of CSV would refuse a file because of one cell, this one reads on: a quotation mark inside a cell is a
character like any other, what follows a closed cell belongs to it, what a line lacks is missing, and what it has
beyond the header's fields is left out. A cell may hold line breaks if it is quoted and closed; a mark that opens a cell
and is never closed stands for itself. A carriage return at the end of a cell belongs to the end of a line wherever it
stands, as it does to the quick reader: a well-formed row is read alike by both.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

MARK, LINE, RETURN = (ord(letter) for letter in '"\n\r')
CHUNK = 50_000
"""Rows that are held as Python text at a time."""


def is_well_formed(content: bytes, separator: str) -> bool:
    """Whether quotation marks stand around cells and nowhere else, doubled inside them, and no line is empty."""
    empty = b"\n\n" in content or b"\n\r\n" in content or content.endswith(b"\n\r")
    return not empty and marks_are_closed(content, separator)


def marks_are_closed(content: bytes, separator: str) -> bool:
    """Whether quotation marks stand around cells and nowhere else, doubled inside them."""
    if MARK not in content:
        return True
    letters = np.frombuffer(b"\n%b\n\n" % content.removeprefix(b"\xef\xbb\xbf"), dtype=np.uint8)
    marks = np.flatnonzero(letters == MARK)
    if len(marks) % 2:
        return False
    opening, closing = marks[::2], marks[1::2]
    after = letters[closing + 1]
    opens = np.isin(letters[opening - 1], (ord(separator), LINE))
    closes = np.isin(after, (ord(separator), LINE)) | ((after == RETURN) & (letters[closing + 2] == LINE))
    doubled = closing[:-1] + 1 == opening[1:]
    return bool(opens[0] and closes[-1] and (opens[1:] | doubled).all() and (closes[:-1] | doubled).all())


def split_lines(text: str, separator: str, names: Sequence[str], wanted: Sequence[str]) -> pl.DataFrame:
    """The wanted columns of a text whose first line has the names of all; empty lines are nobody's."""
    places, width = [list(names).index(name) for name in wanted], len(names)
    columns: list[list[pl.Series]] = [[pl.Series([], dtype=pl.String)] for _ in wanted]
    rows = _rows(text, separator)
    next(rows, None)
    filled = (row + [None] * (width - len(row)) for row in rows if row != [None] or width == 1)
    while chunk := [row for _, row in zip(range(CHUNK), filled, strict=False)]:
        for column, place in zip(columns, places, strict=True):
            column.append(pl.Series([row[place] for row in chunk], dtype=pl.String))
    return pl.DataFrame({name: pl.concat(column) for name, column in zip(wanted, columns, strict=True)})


def _rows(text: str, separator: str) -> Iterator[list[str | None]]:
    """The cells of each row; one that is empty and not quoted is missing."""
    sign = re.escape(separator)
    cell = re.compile(
        rf'(?:"(?P<line>(?:[^"\n]|"")*+)"|"(?P<lines>(?:[^"]|"")*+)"(?={sign}|\r?\n|\r?\Z))?'
        rf"(?P<rest>[^{sign}\n]*)(?P<end>{sign}|\n|\Z)"
    )
    row: list[str | None] = []
    for found in cell.finditer(text):
        line, lines, rest, end = found.groups()
        quoted = lines if line is None else line
        rest = rest.removesuffix("\r")
        row.append((rest or None) if quoted is None else quoted.replace('""', '"') + rest)
        if end == separator:
            continue
        yield row
        row = []
        if not end or found.end() == len(text):
            return
