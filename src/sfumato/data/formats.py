"""File formats: how a table is read from a file and written to one, chosen by the end of the file's name.

This is the one place to add a format, for tables of people, flows, places, reports and releases alike: one entry in
`FORMATS`. Text is read as text: whether a field is a number is the schema's to say, not a guess from the first rows.
"""

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, cast

import polars as pl
from polars import selectors

from sfumato.data.lines import is_well_formed, split_lines
from sfumato.data.text import NOT_TEXT
from sfumato.errors import DataError, ParameterError, quote, shorten

Reading = Literal["strict", "lossy", "lenient"]
"""What a file is forgiven: nothing, text that is not UTF-8 (its bytes are spelled out), or anything in a line."""
SEPARATORS = ",;\t|"
MAX_HEADER = 1_000_000
MAX_FIELD = 2**31 - 1
COMPRESSED = ".gz"
TEXT_ENDINGS = (".tsv", ".txt")
"""Usual for text, which any other ending is read as."""
MAX_REASON = 200
LAST_IS_EMPTY = "\0 last is empty"
UNREADABLE = (pl.exceptions.PolarsError, OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error)


@dataclass(frozen=True, kw_only=True)
class Format:
    """How Polars scans a file of one kind, and how it writes a frame to an open file."""

    scan: Callable[[Path], pl.LazyFrame]
    write: Callable[[pl.DataFrame, IO[bytes]], Any]

    def read(self, path: Path, columns: Sequence[str] | None, guess: bool, reading: Reading) -> pl.DataFrame:
        """The wanted columns; `guess` allows for files that other programs wrote in a dialect of their own."""
        lazy = self.scan(path)
        return select(lazy, lazy.collect_schema().names(), columns, str(path)).collect()


@dataclass(frozen=True, kw_only=True)
class DelimitedFormat(Format):
    """CSV: every field is text; another program's separator is found out and its empty lines are left out."""

    def read(self, path: Path, columns: Sequence[str] | None, guess: bool, reading: Reading) -> pl.DataFrame:
        errors = "strict" if reading == "strict" else NOT_TEXT
        separator, header = _read_header(path, guess, errors)
        if reading == "lenient":
            return _read_leniently(path, separator, header, columns)
        lazy = _scan(path if reading == "strict" else _read_text(path), separator, header)
        if not guess:
            return select(lazy, header, columns, str(path)).collect()
        last = selectors.by_name(header[-1]).is_null().alias(LAST_IS_EMPTY)
        wanted = select(lazy, header, columns, str(path), last)
        try:
            frame = wanted.collect()
        except pl.exceptions.PolarsError:
            _refuse_ragged(path, len(header), _row_lengths(path, separator, errors))
            if not is_well_formed(_read_text(path), separator):
                raise DataError(
                    f"{path}: a quotation mark opens a cell and is not closed, or stands inside one"
                ) from None
            raise
        if frame[LAST_IS_EMPTY].any():
            frame = frame.filter(~_find_blank_lines(path, separator, len(header), frame.height, errors))
        return frame.drop(LAST_IS_EMPTY)


CSV = DelimitedFormat(scan=pl.scan_csv, write=pl.DataFrame.write_csv)
PARQUET = Format(scan=pl.scan_parquet, write=pl.DataFrame.write_parquet)
FORMATS: dict[str, Format] = {".csv": CSV, f".csv{COMPRESSED}": CSV, ".parquet": PARQUET, ".pq": PARQUET}
"""The format of each ending; a file with another one is read as CSV."""


def find_format(path: Path) -> tuple[str, Format] | None:
    """The ending of a file's name that says what format it has, and that format."""
    name = path.name.lower()
    return next(((end, FORMATS[end]) for end in sorted(FORMATS, key=len, reverse=True) if name.endswith(end)), None)


def read_table(
    path: Path,
    columns: Sequence[str] | None = None,
    *,
    guess: bool = True,
    empty: bool = False,
    reading: Reading = "strict",
) -> pl.DataFrame:
    """The rows of a file with the wanted columns (all if `None`); without `guess`, a file that this program wrote.

    A file without rows is refused unless it may be `empty`; `reading` says what else is refused.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{str(path)!r}: the name of the file is not UTF-8 text") from error
    if not path.exists():
        raise DataError(f"{path}: the file does not exist")
    if path.is_dir():
        raise DataError(f"{path}: this is a folder; expected a file such as {_endings()}")
    try:
        _, known = find_format(path) or ("", CSV)
        frame = known.read(path, columns, guess, reading)
    except UNREADABLE as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise DataError(f"{path}: cannot be read as a table ({shorten(reason, MAX_REASON)})") from error
    if frame.height == 0 and not empty:
        raise DataError(f"{path}: the file has no rows")
    return frame


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Write a table in the format that the name of the file says."""
    with path.open("wb") as file:
        _write(table, path, file)


def table_bytes(table: pl.DataFrame, path: Path) -> bytes:
    """What `write_table` would write to a file of this name."""
    content = io.BytesIO()
    _write(table, path, content)
    return content.getvalue()


def require_format(path: Path) -> tuple[str, Format]:
    """The ending and the format of a file to write; refuses a name that says none."""
    found = find_format(path)
    if found is None:
        raise ParameterError(f"{path}: the name of the file must end in {_endings()}")
    return found


def _write(table: pl.DataFrame, path: Path, file: IO[bytes]) -> None:
    ending, known = require_format(path)
    try:
        if ending.endswith(COMPRESSED):
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                known.write(table, cast(IO[bytes], packed))
        else:
            known.write(table, file)
    except pl.exceptions.PolarsError as error:
        raise OSError(str(error)) from error


def _endings() -> str:
    *first, last = FORMATS
    return f"{', '.join(first)} or {last}"


def select(
    lazy: pl.LazyFrame, present: Sequence[str], wanted: Sequence[str] | None, where: str, *extra: pl.Expr
) -> pl.LazyFrame:
    """The wanted columns of those that are present, and the extra ones."""
    refuse_duplicates(present, where)
    if wanted is None:
        return lazy.with_columns(*extra)
    refuse_absent(wanted, present, where)
    return lazy.select(selectors.by_name(*wanted), *extra)


def refuse_absent(wanted: Sequence[str], present: Sequence[str], where: str) -> None:
    """Refuse a table without a column that is wanted."""
    for name in wanted:
        if name not in present:
            shown = ", ".join(map(quote, present[:12]))
            raise DataError(f"{where}: the column {name!r} is missing; the file has {shown}")


def refuse_duplicates(names: Sequence[str], where: str) -> None:
    """Refuse two columns of one name."""
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise DataError(f"{where}: the column {quote(twice[0])} appears more than once")


def _read_header(path: Path, guess: bool, errors: str) -> tuple[str, list[str]]:
    """The separator and the column names of a CSV file."""
    with _open(path) as file:
        text = codecs.getincrementaldecoder("utf-8-sig")(errors).decode(file.read(MAX_HEADER))
    line = text.partition("\n")[0]
    separator = max(SEPARATORS, key=line.count) if guess else SEPARATORS[0]
    header = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), [])
    if not line.strip() or not header:
        what = "the first line is empty; expected the names of the columns" if text.strip() else "the file is empty"
        raise DataError(f"{path}: {what}")
    if "" in header:
        raise DataError(f"{path}: column {header.index('') + 1} has no name")
    return separator, header


def _scan(source: Path | bytes, separator: str, header: list[str], *, ragged: bool = False) -> pl.LazyFrame:
    return pl.scan_csv(
        source, separator=separator, infer_schema=False, new_columns=header, truncate_ragged_lines=ragged
    )


def _read_text(path: Path) -> bytes:
    """What is in a file, as UTF-8 even where it is not: two lines that differ still do."""
    with _open(path) as file:
        content = file.read()
    try:
        content.decode()
    except UnicodeDecodeError:
        return content.decode(errors=NOT_TEXT).encode()
    return content


def _read_leniently(path: Path, separator: str, header: list[str], columns: Sequence[str] | None) -> pl.DataFrame:
    """The wanted columns, whatever stands in a line; the quick reader and the patient one read what both can alike."""
    content = _read_text(path)
    lazy = select(_scan(content, separator, header, ragged=True), header, columns, str(path))
    if is_well_formed(content, separator):
        return lazy.collect()
    return split_lines(content.decode("utf-8-sig"), separator, header, columns or header)


def _find_blank_lines(path: Path, separator: str, fields: int, rows: int, errors: str) -> pl.Series:
    """Which rows are empty lines. The reader fills up rows that lack fields, so these are looked for here."""
    lengths = _row_lengths(path, separator, errors)
    _refuse_ragged(path, fields, lengths)
    if len(lengths) != rows:
        raise DataError(f"{path}: has empty lines that cannot be told from rows without values; remove them")
    return pl.Series([length == 0 and fields > 1 for length in lengths], dtype=pl.Boolean)


def _row_lengths(path: Path, separator: str, errors: str) -> list[int]:
    """How many fields each row has."""
    csv.field_size_limit(MAX_FIELD)
    with _open(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", errors=errors, newline="")
        records = csv.reader(text, delimiter=separator)
        next(records)
        return [len(record) for record in records]


def _refuse_ragged(path: Path, fields: int, lengths: Sequence[int]) -> None:
    """Refuse the first row that is not empty and has more or fewer fields than the header."""
    for row, length in enumerate(lengths, start=1):
        if length not in (0, fields):
            raise DataError(f"{path}, row {row}: {length} fields where the header has {fields}")


def _open(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if path.suffix.lower() == COMPRESSED else path.open("rb")
