"""Where rows come from: CSV (compressed too), Parquet, and data frames of other libraries.

Everything arrives as a Polars frame with the wanted columns only. Text files are read as text: whether a
field is a number is the schema's to say, not a guess from the first rows.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, cast

import polars as pl
from polars import selectors

from sfumato.errors import DataError

SEPARATORS = ",;\t|"
LONGEST_HEADER = 1_000_000
LONGEST_FIELD = 2**31 - 1
LAST_IS_EMPTY = "\0 last is empty"


def read_frame(source: Any, columns: Sequence[str] | None = None) -> tuple[pl.DataFrame, str]:
    """The rows of a source with the wanted columns (all if `None`), and a name for error messages."""
    if isinstance(source, str | Path):
        return _read_file(Path(source), columns)
    frame = _from_frame(source)
    return _select(frame.lazy(), frame.columns, columns, "the data frame").collect(), "the data frame"


def _read_file(path: Path, columns: Sequence[str] | None) -> tuple[pl.DataFrame, str]:
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{str(path)!r}: the name of the file is not UTF-8 text") from error
    if not path.exists():
        raise DataError(f"{path}: there is no such file")
    if path.is_dir():
        raise DataError(f"{path}: this is a folder; expected a CSV or Parquet file")
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            lazy = pl.scan_parquet(path)
            frame = _select(lazy, lazy.collect_schema().names(), columns, str(path)).collect()
        else:
            frame = _read_csv(path, columns)
    except (pl.exceptions.PolarsError, OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise DataError(f"{path}: cannot be read as a table ({reason})") from error
    if frame.height == 0:
        raise DataError(f"{path}: the file has no rows")
    return frame, str(path)


def _read_csv(path: Path, columns: Sequence[str] | None) -> pl.DataFrame:
    separator, header = _header(path)
    lazy = pl.scan_csv(path, separator=separator, infer_schema=False, new_columns=header)
    last = selectors.by_name(header[-1]).is_null().alias(LAST_IS_EMPTY)
    frame = _select(lazy, header, columns, str(path), last).collect()
    if frame[LAST_IS_EMPTY].any():
        frame = frame.filter(~_blank_lines(path, separator, len(header), frame.height))
    return frame.drop(LAST_IS_EMPTY)


def _blank_lines(path: Path, separator: str, fields: int, rows: int) -> pl.Series:
    """Which rows are empty lines. The reader fills up rows that lack fields, so these are looked for here."""
    csv.field_size_limit(LONGEST_FIELD)
    with _opened(path) as file:
        records = csv.reader(io.TextIOWrapper(file, encoding="utf-8-sig", newline=""), delimiter=separator)
        next(records)
        lengths = [len(record) for record in records]
    for row, length in enumerate(lengths, start=1):
        if 0 < length < fields:
            raise DataError(f"{path}, row {row}: {length} fields where the header has {fields}")
    if len(lengths) != rows:
        raise DataError(f"{path}: has empty lines that cannot be told from rows without values; remove them")
    return pl.Series([length == 0 and fields > 1 for length in lengths], dtype=pl.Boolean)


def _opened(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if path.suffix.lower() == ".gz" else path.open("rb")


def _header(path: Path) -> tuple[str, list[str]]:
    """The separator and the column names of a CSV file."""
    with _opened(path) as file:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(file.read(LONGEST_HEADER))
    line = text.partition("\n")[0]
    if not line.strip():
        what = "the first line is empty; expected the names of the columns" if text.strip() else "the file is empty"
        raise DataError(f"{path}: {what}")
    separator = max(SEPARATORS, key=line.count)
    header = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    if not header:
        raise DataError(f"{path}: the first line is empty; expected the names of the columns")
    if "" in header:
        raise DataError(f"{path}: column {header.index('') + 1} has no name")
    return separator, header


def _select(
    lazy: pl.LazyFrame, present: Sequence[str], wanted: Sequence[str] | None, where: str, *extra: pl.Expr
) -> pl.LazyFrame:
    twice = sorted({name for name in present if list(present).count(name) > 1})
    if twice:
        raise DataError(f"{where}: the column {twice[0]!r} appears more than once")
    if wanted is None:
        return lazy.with_columns(*extra)
    absent = [name for name in wanted if name not in present]
    if absent:
        shown = ", ".join(map(repr, list(present)[:12]))
        raise DataError(f"{where}: the column {absent[0]!r} is missing; the file has {shown}")
    return lazy.select(selectors.by_name(*wanted), *extra)


def _from_frame(source: Any) -> pl.DataFrame:
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    if isinstance(source, pl.DataFrame):
        frame = source
    else:
        arrow = type(source).__module__.startswith("pyarrow")
        names = [str(name) for name in getattr(source, "column_names" if arrow else "columns", [])]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise DataError(f"the data frame: the column {twice[0]!r} appears more than once")
        try:
            frame = _converted(source)
        except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
            raise DataError(
                f"cannot read a table from {type(source).__name__}; expected a path or a pandas, Polars or Arrow frame"
            ) from error
    if frame.height == 0:
        raise DataError("the data frame has no rows")
    return frame


def _converted(source: Any) -> pl.DataFrame:
    try:
        return pl.DataFrame(source)
    except (pl.exceptions.PolarsError, TypeError, ValueError):
        if not hasattr(source, "dtypes"):
            raise
        # A pandas column may mix numbers and text, as anonymized ones do; text is what both are read as.
        mixed = [name for name in source.columns if source[name].dtype == object]
        return pl.DataFrame(source.astype(dict.fromkeys(mixed, "string")))
