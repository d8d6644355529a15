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


def read_frame(source: Any, columns: Sequence[str] | None = None) -> tuple[pl.DataFrame, str]:
    """The rows of a source with the wanted columns (all if `None`), and a name for error messages."""
    if isinstance(source, str | Path):
        return read_table(Path(source), columns), str(Path(source))
    frame = _from_frame(source)
    return select(frame.lazy(), frame.columns, columns, FRAME).collect(), FRAME


def _from_frame(source: Any) -> pl.DataFrame:
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    if isinstance(source, pl.DataFrame):
        frame = source
    else:
        arrow = type(source).__module__.startswith("pyarrow")
        refuse_duplicates([str(name) for name in getattr(source, "column_names" if arrow else "columns", [])], FRAME)
        try:
            frame = _convert(source)
        except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
            raise DataError(
                f"cannot read a table from {type(source).__name__}; expected a path or a pandas, Polars or Arrow frame"
            ) from error
    if frame.height == 0:
        raise DataError("the data frame has no rows")
    return frame


def _convert(source: Any) -> pl.DataFrame:
    try:
        return pl.DataFrame(source)
    except (pl.exceptions.PolarsError, TypeError, ValueError):
        if not hasattr(source, "dtypes"):
            raise
        # A pandas column may mix numbers and text, as anonymized ones do; text is what both are read as.
        mixed = [name for name in source.columns if source[name].dtype == object]
        return pl.DataFrame(source.astype(dict.fromkeys(mixed, "string")))
