"""Where rows come from: CSV (compressed too), Parquet, and data frames of other libraries.

Everything arrives as a Polars frame with the wanted columns only. Text files are read as text: whether a
field is a number is the schema's to say, not a guess from the first rows.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from sfumato.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

SEPARATORS = ",;\t|"
LONGEST_HEADER = 1_000_000


def read_frame(source: Any, columns: Sequence[str] | None = None) -> tuple[pl.DataFrame, str]:
    """The rows of a source with the wanted columns (all if `None`), and a name for error messages."""
    if isinstance(source, str | Path):
        return _read_file(Path(source), columns)
    frame = _from_frame(source)
    return _select(frame.lazy(), frame.columns, columns, "the data frame").collect(), "the data frame"


def _read_file(path: Path, columns: Sequence[str] | None) -> tuple[pl.DataFrame, str]:
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
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError, csv.Error) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise DataError(f"{path}: cannot be read as a table ({reason})") from error
    if frame.height == 0:
        raise DataError(f"{path}: the file has no rows")
    return frame, str(path)


def _read_csv(path: Path, columns: Sequence[str] | None) -> pl.DataFrame:
    separator, header = _header(path)
    lazy = pl.scan_csv(path, separator=separator, infer_schema=False)
    return _select(lazy, header, columns, str(path)).collect()


def _header(path: Path) -> tuple[str, list[str]]:
    """The separator and the column names of a CSV file."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        line = file.readline(LONGEST_HEADER).decode("utf-8-sig")
    if not line.strip():
        raise DataError(f"{path}: the file is empty")
    separator = max(SEPARATORS, key=line.count)
    return separator, next(csv.reader([line], delimiter=separator))


def _select(
    lazy: pl.LazyFrame, present: Sequence[str], wanted: Sequence[str] | None, where: str
) -> pl.LazyFrame:
    twice = sorted({name for name in present if list(present).count(name) > 1})
    if twice:
        raise DataError(f"{where}: the column {twice[0]!r} appears more than once")
    if wanted is None:
        return lazy
    absent = [name for name in wanted if name not in present]
    if absent:
        shown = ", ".join(map(repr, list(present)[:12]))
        raise DataError(f"{where}: the column {absent[0]!r} is missing; the file has {shown}")
    return lazy.select(list(wanted))


def _from_frame(source: Any) -> pl.DataFrame:
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    if isinstance(source, pl.DataFrame):
        frame = source
    else:
        names = [str(name) for name in getattr(source, "columns", getattr(source, "column_names", []))]
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
    if hasattr(source, "__arrow_c_stream__") or not hasattr(source, "to_dict"):
        return pl.DataFrame(source)
    return pl.from_pandas(source)
