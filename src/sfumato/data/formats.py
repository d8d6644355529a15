"""File formats: how a table is read from a file and written to one, chosen by the end of the file's name.

This is the one place to add a format, for tables of people, flows, places, reports and releases alike: one entry in
`FORMATS`. What is larger than memory is read and written piece by piece, where its format allows.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, ClassVar, cast

import polars as pl
from polars.io.plugins import register_io_source

from sfumato.data import pieces, sheets
from sfumato.data.blocks import COMPRESSED, open_text
from sfumato.data.delimited import Reading, read_delimited
from sfumato.data.geography import read_features
from sfumato.data.jsonlines import read_json_lines
from sfumato.data.labelled import READERS, read_labelled
from sfumato.data.opening import USUAL, Opening, guess_encoding
from sfumato.data.pieces import Parts, Piece, select
from sfumato.errors import DataError, ParameterError, shorten

TEXT_ENDINGS = (".tsv", ".txt")
"""Usual for text, which any other ending is read as."""
MAX_REASON = 200
GUESSED = 2**20
"""Bytes of a file from which its encoding is guessed."""
UNREADABLE = (pl.exceptions.PolarsError, OSError, EOFError, zlib.error, UnicodeError, csv.Error)


@dataclass(frozen=True, kw_only=True)
class Format:
    """How Polars scans a file of one kind, and how it writes a frame to an open file, if this program does."""

    scan: Callable[[Path], pl.LazyFrame] = pl.scan_csv
    write: Callable[[pl.DataFrame, IO[bytes]], Any] | None = None
    is_text: ClassVar[bool] = False
    """Whether text can have another encoding than UTF-8."""

    def pieces(
        self, path: Path, columns: Sequence[str] | None, guess: bool, reading: Reading, opening: Opening = USUAL
    ) -> Iterator[Piece]:
        """The wanted columns; `guess` allows for files that other programs wrote in a dialect of their own."""
        lazy = self.scan(path)
        wanted = select(lazy, lazy.collect_schema().names(), columns, str(path))
        rows = lazy.select(pl.len()).collect().item()
        for start in range(0, max(rows, 1), pieces.ROWS_AT_ONCE):
            frame = wanted.slice(start, pieces.ROWS_AT_ONCE).collect()
            yield Piece(frame, start, min((start + frame.height) / max(rows, 1), 1.0))

    def write_parts(self, parts: Iterable[pl.DataFrame], file: IO[bytes]) -> None:
        """Write the parts of a table, one below the other; there is at least one."""
        if self.write is not None:
            self.write(pl.concat(parts), file)


@dataclass(frozen=True, kw_only=True)
class DelimitedFormat(Format):
    """CSV, whose dialect has to be found out."""

    is_text: ClassVar[bool] = True

    def pieces(
        self, path: Path, columns: Sequence[str] | None, guess: bool, reading: Reading, opening: Opening = USUAL
    ) -> Iterator[Piece]:
        return read_delimited(path, columns, guess, reading, opening)

    def write_parts(self, parts: Iterable[pl.DataFrame], file: IO[bytes]) -> None:
        for number, part in enumerate(parts):
            part.write_csv(file, include_header=number == 0)


@dataclass(frozen=True, kw_only=True)
class JsonLinesFormat(Format):
    """An object on each line."""

    is_text: ClassVar[bool] = True

    def pieces(
        self, path: Path, columns: Sequence[str] | None, guess: bool, reading: Reading, opening: Opening = USUAL
    ) -> Iterator[Piece]:
        return read_json_lines(path, columns, reading, opening)

    def write_parts(self, parts: Iterable[pl.DataFrame], file: IO[bytes]) -> None:
        for part in parts:
            part.write_ndjson(file)


@dataclass(frozen=True, kw_only=True)
class LabelledFormat(Format):
    """A file of SPSS, Stata or SAS, with the labels of its values."""

    is_text: ClassVar[bool] = True

    def pieces(
        self, path: Path, columns: Sequence[str] | None, guess: bool, reading: Reading, opening: Opening = USUAL
    ) -> Iterator[Piece]:
        return read_labelled(path, columns, reading != "strict", opening)


@dataclass(frozen=True, kw_only=True)
class WholeFormat(Format):
    """A file that is read as a whole: a workbook, or features on a map."""

    read: Callable[[Path, Opening], pl.DataFrame]

    def pieces(
        self, path: Path, columns: Sequence[str] | None, guess: bool, reading: Reading, opening: Opening = USUAL
    ) -> Iterator[Piece]:
        frame = self.read(path, opening)
        yield Piece(select(frame.lazy(), frame.columns, columns, str(path)).collect())


@dataclass(frozen=True, kw_only=True)
class ParquetFormat(Format):
    """Parquet, of which a table in several parts is written in as many row groups or more."""

    def write_parts(self, parts: Iterable[pl.DataFrame], file: IO[bytes]) -> None:
        first, *second = islice(left := iter(parts), 2)
        if not second:
            super().write_parts([first], file)
            return

        def rows(columns: list[str] | None, *_: object) -> Iterator[pl.DataFrame]:
            yield from (part.select(columns) if columns else part for part in chain([first], second, left))

        register_io_source(rows, schema=first.schema).sink_parquet(file)


def _feature_rows(path: Path, opening: Opening) -> pl.DataFrame:
    return read_features(path)


CSV = DelimitedFormat(scan=pl.scan_csv, write=pl.DataFrame.write_csv)
PARQUET = ParquetFormat(scan=partial(pl.scan_parquet, glob=False), write=pl.DataFrame.write_parquet)
JSON_LINES = JsonLinesFormat(write=pl.DataFrame.write_ndjson)
WORKBOOK = WholeFormat(read=sheets.read_sheet)
FORMATS: dict[str, Format] = {
    ".csv": CSV,
    f".csv{COMPRESSED}": CSV,
    ".parquet": PARQUET,
    ".pq": PARQUET,
    **dict.fromkeys((".jsonl", ".ndjson", f".jsonl{COMPRESSED}"), JSON_LINES),
    **dict.fromkeys(sheets.ENDINGS, WORKBOOK),
    **dict.fromkeys(READERS, LabelledFormat()),
    ".geojson": WholeFormat(read=_feature_rows),
}
"""The format of each ending; a file with another one is read as CSV."""


def find_format(path: Path) -> tuple[str, Format] | None:
    """The ending of a file's name that says what format it has, and that format."""
    name = path.name.lower()
    return next(((end, FORMATS[end]) for end in sorted(FORMATS, key=len, reverse=True) if name.endswith(end)), None)


def read_table(path: Path, columns: Sequence[str] | None = None, **how: Any) -> pl.DataFrame:
    """The rows of a file with the wanted columns (all if `None`), read as `read_pieces` is told."""
    return pl.concat([piece.frame for piece in read_pieces(path, columns, **how)], rechunk=True)


def read_pieces(
    path: Path,
    columns: Sequence[str] | None = None,
    *,
    guess: bool = True,
    empty: bool = False,
    reading: Reading = "strict",
    opening: Opening = USUAL,
) -> Iterator[Piece]:
    """The rows of a file with the wanted columns (all if `None`), piece by piece, at least one.

    Without `guess`, it is a file that this program wrote. One without rows is refused unless it may be `empty`;
    `reading` says what else is refused.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{str(path)!r}: the name of the file is not UTF-8 text") from error
    if not path.exists():
        raise DataError(f"{path}: the file does not exist")
    if path.is_dir():
        raise DataError(f"{path}: this is a folder; expected a file such as {endings()}")
    rows = 0
    _, known = find_format(path) or ("", CSV)
    _refuse_meaningless(path, known, opening)
    try:
        for piece in known.pieces(path, columns, guess, reading, opening):
            rows += piece.frame.height
            yield piece
    except UNREADABLE as error:
        if known.is_text and (advice := encoding_advice(path, opening)):
            raise DataError(f"{path}: the text is not UTF-8{advice}") from error
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise DataError(f"{path}: cannot be read as a table ({shorten(reason, MAX_REASON)})") from error
    if not rows and not empty:
        raise DataError(f"{path}: the file has no rows")


def _refuse_meaningless(path: Path, known: Format, opening: Opening) -> None:
    """Refuse what is said of a file and means nothing for its format."""
    if opening.part and known is not WORKBOOK:
        raise ParameterError(f"{path}: only workbooks and databases have parts; leave out #{opening.part}")
    if opening.encoding and not known.is_text:
        raise ParameterError(f"{path}: files of this format say by themselves what encoding they have")
    if opening.delimiter and known is not CSV:
        raise ParameterError(f"{path}: a delimiter means something for files of delimited text alone")


def encoding_advice(path: Path, opening: Opening) -> str:
    """What to say of a file of text in an encoding that is not known; nothing of one that is as expected."""
    kind = (find_format(path) or ("", CSV))[1]
    if opening.encoding or kind not in (CSV, JSON_LINES):
        return ""
    with suppress(*UNREADABLE), open_text(path, opening) as file:
        if guessed := guess_encoding(file.read(GUESSED)):
            return f"; it looks like {guessed}: say --encoding {guessed}"
    return ""


def write_table(table: pl.DataFrame | Parts, path: Path) -> None:
    """Write a table in the format that the name of the file says."""
    with path.open("wb") as file:
        _write(table, path, file)


def table_bytes(table: pl.DataFrame | Parts, path: Path) -> bytes:
    """What `write_table` would write to a file of this name."""
    content = io.BytesIO()
    _write(table, path, content)
    return content.getvalue()


def require_format(path: Path) -> tuple[str, Format]:
    """The ending and the format of a file to write; refuses a name that says none, or one that is read alone."""
    found = find_format(path)
    if found is None or found[1].write is None:
        raise ParameterError(f"{path}: the name of the file must end in {endings(written=True)}")
    return found


def is_written(table: pl.DataFrame | Parts, path: Path) -> bool:
    """Whether a file is, byte for byte, what `write_table` would write."""
    with path.open("rb") as file:
        compared = _Compared(file)
        _write(table, path, cast(IO[bytes], compared))
        return compared.same and not file.read(1)


class _Compared(io.RawIOBase):
    """Takes what is written, and compares it with a file."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.same = file, True

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        written = bytes(content)
        self.same = self.same and self.file.read(len(written)) == written
        return len(written)


def _write(table: pl.DataFrame | Parts, path: Path, file: IO[bytes]) -> None:
    ending, known = require_format(path)
    parts = [table] if isinstance(table, pl.DataFrame) else table
    try:
        if ending.endswith(COMPRESSED):
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                known.write_parts(parts, cast(IO[bytes], packed))
        else:
            known.write_parts(parts, file)
    except pl.exceptions.PolarsError as error:
        raise OSError(str(error)) from error


def endings(*, written: bool = False) -> str:
    """The ends of names that tell a format, or one that is `written` too."""
    *first, last = [end for end, known in FORMATS.items() if known.write or not written]
    return f"{', '.join(first)} or {last}"
