"""Where rows come from: files of any known format, and data frames of other libraries.

Everything arrives as a Polars frame with the wanted columns only.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, cast

import polars as pl

from sfumato.data.formats import Reading, read_table, refuse_duplicates, select
from sfumato.data.text import UNREADABLE, column_of
from sfumato.errors import DataError, shorten

FRAME = "the data frame"
OWN_TYPES = "biufM"
"""Kinds of NumPy types whose values a column holds cell by cell: truth values, numbers, dates and times."""


def read_frame(
    source: Any, columns: Sequence[str] | None = None, *, empty: bool = False, reading: Reading = "strict"
) -> tuple[pl.DataFrame, str]:
    """The rows of a source with the wanted columns (all if `None`), and a name for error messages.

    A source without rows is refused unless it may be `empty`; `reading` says what else is refused.
    """
    if isinstance(source, str | Path):
        return read_table(Path(source), columns, empty=empty, reading=reading), str(Path(source))
    source = source.collect() if isinstance(source, pl.LazyFrame) else source
    frame = source if isinstance(source, pl.DataFrame) else _convert(source)
    if frame.height == 0 and not empty:
        raise DataError(f"{FRAME} has no rows")
    return select(frame.lazy(), frame.columns, columns, FRAME).collect(), FRAME


def _convert(source: Any) -> pl.DataFrame:
    arrow = type(source).__module__.startswith("pyarrow")
    refuse_duplicates([str(name) for name in getattr(source, "column_names" if arrow else "columns", [])], FRAME)
    if arrow and hasattr(source, "validate"):
        _refuse_invalid(source)
    try:
        if isinstance(source, Mapping):
            return pl.DataFrame({name: _column(values) for name, values in source.items()})
        if hasattr(source, "dtypes"):
            return pl.DataFrame({str(name): _column(source[name]) for name in source.columns})
        if isinstance(source, list | tuple | Iterator):
            rows = [_fields(row) for row in source]
            names = dict.fromkeys(name for row in rows for name in row if _is_text(name))
            return pl.DataFrame({name: column_of([row.get(name) for row in rows]) for name in names})
        return pl.DataFrame(source)
    except UNREADABLE as error:
        raise DataError(
            f"cannot read a table from {type(source).__name__}; expected a path or a pandas, Polars or Arrow frame"
        ) from error


def _refuse_invalid(table: Any) -> None:
    """Refuse an Arrow table with values that its types cannot hold, such as text that is not UTF-8."""
    try:
        table.validate(full=True)
    except ValueError as error:
        raise DataError(f"{FRAME} holds what its types cannot ({shorten(str(error).splitlines()[0])})") from error


def _fields(row: Any) -> Mapping[Any, Any]:
    """The cells of a row by name: a mapping, a named tuple or a data class."""
    if isinstance(row, Mapping):
        return row
    if is_dataclass(row):
        return {field.name: getattr(row, field.name) for field in fields(row)}
    if hasattr(row, "_asdict"):
        return cast(Mapping[Any, Any], row._asdict())
    raise TypeError("a row whose cells have no names")


def _is_text(name: Any) -> bool:
    """Whether this can be the name of a column."""
    return isinstance(name, str) and name == name.encode(errors="ignore").decode()


def _column(values: Any) -> Any:
    """Values that may be of several types cell by cell; columns that declare a plain type as they are."""
    if isinstance(values, pl.Series | Mapping | str) or not isinstance(values, Iterable):
        return values
    if getattr(getattr(values, "dtype", None), "kind", "O") in OWN_TYPES:
        try:
            return pl.Series(values)
        except UNREADABLE:
            pass  # A type of another library's own.
    cells = getattr(values, "tolist", None) or getattr(values, "to_pylist", None)
    return column_of(cells() if cells else list(values))
