"""Where rows come from: files of any known format, and data frames of other libraries.

Everything arrives as a Polars frame with the wanted columns only.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data.formats import read_table, refuse_duplicates, select
from sfumato.errors import DataError

FRAME = "the data frame"
UNREADABLE = (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError)


def read_frame(
    source: Any, columns: Sequence[str] | None = None, *, empty: bool = False, tolerant: bool = False
) -> tuple[pl.DataFrame, str]:
    """The rows of a source with the wanted columns (all if `None`), and a name for error messages.

    A source without rows is refused unless it may be `empty`, and text that is not UTF-8 unless reading is `tolerant`.
    """
    if isinstance(source, str | Path):
        return read_table(Path(source), columns, empty=empty, tolerant=tolerant), str(Path(source))
    source = source.collect() if isinstance(source, pl.LazyFrame) else source
    frame = source if isinstance(source, pl.DataFrame) else _convert(source)
    if frame.height == 0 and not empty:
        raise DataError(f"{FRAME} has no rows")
    return select(frame.lazy(), frame.columns, columns, FRAME).collect(), FRAME


def _convert(source: Any) -> pl.DataFrame:
    arrow = type(source).__module__.startswith("pyarrow")
    refuse_duplicates([str(name) for name in getattr(source, "column_names" if arrow else "columns", [])], FRAME)
    try:
        try:
            return pl.DataFrame(source)
        except UNREADABLE:
            # A column may mix numbers and text, as anonymized ones do; text is what both are read as.
            if not hasattr(source, "dtypes"):
                return pl.DataFrame(source, strict=False, infer_schema_length=None)
            mixed = [name for name in source.columns if source[name].dtype == object]
            return pl.DataFrame(source.astype(dict.fromkeys(mixed, "string")))
    except UNREADABLE as error:
        raise DataError(
            f"cannot read a table from {type(source).__name__}; expected a path or a pandas, Polars or Arrow frame"
        ) from error
