"""Delimited text, which is CSV with any separator: every field is text, whether it is a number is the schema's to say.

Another program's separator is found out, and its empty lines are left out.
"""

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import polars as pl
from polars import selectors

from sfumato.data.blocks import open_text, read_blocks
from sfumato.data.lines import is_well_formed, split_lines
from sfumato.data.opening import USUAL, Opening
from sfumato.data.pieces import Piece, select
from sfumato.data.text import NOT_TEXT
from sfumato.errors import DataError, quote

Reading = Literal["strict", "lossy", "lenient"]
"""What a file is forgiven: nothing, text that is not UTF-8 (its bytes are spelled out), or anything in a line."""
SEPARATORS = ",;\t|"
MAX_HEADER = 1_000_000
MAX_NAMED = 20
"""Lines of a kind that one message names."""
MAX_FIELD = 2**31 - 1
LAST_IS_EMPTY = "\0 last is empty"
RETURN_IN_CELL = re.compile(rb"\r(?!\n)")
"""It ends a line to Python's reader, and not to the one whose rows are counted."""


def read_delimited(
    path: Path, columns: Sequence[str] | None, guess: bool, reading: Reading, opening: Opening = USUAL
) -> Iterator[Piece]:
    """The wanted columns; `guess` allows for files that other programs wrote in a dialect of their own."""
    dialect = Dialect.of(path, guess, reading, opening)
    if guess and not opening.delimiter and len(dialect.header) == 1:
        _refuse_unsplit(path, dialect.header[0], columns or ())
    rows = lines = breaks = 0
    for text, done in read_blocks(path, dialect.separator, opening, reading):
        before = (lines, breaks)
        frame, seen = dialect.read(_as_utf8(text) if reading != "strict" else text, columns, before)
        yield Piece(frame, rows, done)
        rows, lines = rows + frame.height, lines + seen
        # The header stands at the head of every block.
        breaks += text.count(b"\n") - 1


class Dialect:
    """How a file of text is read."""

    def __init__(self, path: Path, separator: str, header: list[str], guess: bool, reading: Reading) -> None:
        self.path, self.separator, self.header = path, separator, header
        self.guess, self.reading = guess, reading

    @classmethod
    def of(cls, path: Path, guess: bool, reading: Reading, opening: Opening = USUAL) -> "Dialect":
        """The separator, if none is given, and the column names follow from the first line."""
        with open_text(path, opening, reading) as file:
            errors = "strict" if reading == "strict" else NOT_TEXT
            text = codecs.getincrementaldecoder("utf-8-sig")(errors).decode(file.read(MAX_HEADER))
        line = text.partition("\n")[0]
        separator = opening.delimiter or (max(SEPARATORS, key=line.count) if guess else SEPARATORS[0])
        header = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), [])
        if not line.strip() or not header:
            what = "the first line is empty; expected the names of the columns" if text.strip() else "the file is empty"
            raise DataError(f"{path}: {what}")
        if "" in header:
            raise DataError(f"{path}: column {header.index('') + 1} has no name")
        return cls(path, separator, header, guess, reading)

    def read(self, text: bytes, columns: Sequence[str] | None, before: tuple[int, int]) -> tuple[pl.DataFrame, int]:
        """The wanted columns of rows below the header, and how many rows there are; so many, in so many lines, came
        `before`."""
        if self.reading == "lenient":
            frame = self._read_leniently(text, columns)
            return frame, frame.height
        lazy = self._scan(text)
        if not self.guess:
            frame = select(lazy, self.header, columns, str(self.path)).collect()
            return frame, frame.height
        last = selectors.by_name(self.header[-1]).is_null().alias(LAST_IS_EMPTY)
        wanted = select(lazy, self.header, columns, str(self.path), last)
        try:
            frame = wanted.collect()
        except pl.exceptions.PolarsError:
            self._refuse_ragged(*self._records(text), before)
            if not is_well_formed(_as_utf8(text), self.separator):
                raise DataError(
                    f"{self.path}: a quotation mark opens a cell and is not closed, or stands inside one"
                ) from None
            raise
        lines = frame.height
        if frame[LAST_IS_EMPTY].any():
            frame = frame.filter(~self._find_blank_lines(text, lines, before))
        return frame.drop(LAST_IS_EMPTY), lines

    def _read_leniently(self, text: bytes, columns: Sequence[str] | None) -> pl.DataFrame:
        """The wanted columns, whatever stands in a line; two readers read what both can alike, the quick one first."""
        lazy = select(self._scan(text, ragged=True), self.header, columns, str(self.path))
        if is_well_formed(text, self.separator):
            return lazy.collect()
        return split_lines(text.decode("utf-8-sig"), self.separator, self.header, columns or self.header)

    def _scan(self, text: bytes, *, ragged: bool = False) -> pl.LazyFrame:
        return pl.scan_csv(
            text, separator=self.separator, infer_schema=False, new_columns=self.header, truncate_ragged_lines=ragged
        )

    def _find_blank_lines(self, text: bytes, rows: int, before: tuple[int, int]) -> pl.Series:
        """Which rows are empty lines. The reader fills up rows that lack fields, so these are looked for here."""
        lengths, lines = self._records(text)
        self._refuse_ragged(lengths, lines, before)
        if len(lengths) != rows:
            raise DataError(f"{self.path}: has empty lines that cannot be told from rows without values; remove them")
        return pl.Series([length == 0 and len(self.header) > 1 for length in lengths], dtype=pl.Boolean)

    def _records(self, text: bytes) -> tuple[list[int], list[int]]:
        """How many fields each row has, and in which line it begins."""
        csv.field_size_limit(MAX_FIELD)
        errors = "strict" if self.reading == "strict" else NOT_TEXT
        content = io.BytesIO(RETURN_IN_CELL.sub(b" ", text))
        file = io.TextIOWrapper(content, encoding="utf-8-sig", errors=errors, newline="")
        records = csv.reader(file, delimiter=self.separator)
        next(records)
        lengths, ends = [], [records.line_num]
        for record in records:
            lengths.append(len(record))
            ends.append(records.line_num)
        return lengths, [end + 1 for end in ends[:-1]]

    def _refuse_ragged(self, lengths: Sequence[int], lines: Sequence[int], before: tuple[int, int]) -> None:
        """Refuse rows that are not empty and have more or fewer fields than the header; the first ones are named."""
        fields, (rows, breaks) = len(self.header), before
        wrong = [row for row, length in enumerate(lengths) if length not in (0, fields)]
        if not wrong:
            return
        first, others = wrong[0], [str(lines[row] + breaks) for row in wrong[1:MAX_NAMED]]
        more = f" and {len(wrong) - MAX_NAMED:,} more" if len(wrong) > MAX_NAMED else ""
        also = f"; so it is in line{'s' if len(others) > 1 else ''} {', '.join(others)}{more}" if others else ""
        raise DataError(
            f"{self.path}, line {lines[first] + breaks} (row {first + rows + 1}): {lengths[first]} fields where the "
            f"header has {fields}{also}"
        )


def _refuse_unsplit(path: Path, header: str, columns: Sequence[str]) -> None:
    """Refuse a file whose first line is one cell in which names that are wanted stand between other signs."""
    for name in columns:
        if name != header and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", header):
            raise DataError(
                f"{path}: the column {name!r} is missing; the file has {quote(header)} alone. If another sign than a "
                "comma, a semicolon, a tab or a bar stands between cells, say --delimiter"
            )


def _as_utf8(text: bytes) -> bytes:
    """Text as UTF-8 even where it is not: two lines that differ still do."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return text.decode(errors=NOT_TEXT).encode()
    return text
