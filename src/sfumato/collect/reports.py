"""Reports in files: how often each possible one occurs, and files of them to write.

Files are CSV (compressed too) or Parquet with a column of numbers in the survey's units. Counts are exact and add up:
those of several files are the counts of all their reports.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.collect.survey import Survey, describe_range
from sfumato.data.distinct import Lines
from sfumato.data.formats import table_bytes
from sfumato.data.pieces import refuse_absent, row_of
from sfumato.data.source import Source
from sfumato.errors import DataError, ParameterError, quote
from sfumato.files import place

INEXACT = 2**53
"""Whole numbers from here on may be those of their neighbours when read as floating point."""


def count_reports(files: Path | str | Iterable[Any], survey: Survey, column: str | None = None) -> NDArray[np.int64]:
    """How often each possible report occurs in all the files or frames together, lowest first.

    Without the name of a column, each must have one column only. Spark counts its frames itself.

    >>> survey = sf.local.Survey(name="visits", question="How often?", min=0, max=9, epsilon=1)
    >>> path = sf.local.write_reports("reports.csv", "report", [0, 3, 3])
    >>> int(sf.local.count_reports(path, survey).sum())
    3
    """
    counts = np.zeros(survey.channel.reports, dtype=np.int64)
    every = [files] if isinstance(files, Path | str) else list(files)
    paths = [file for file in every if isinstance(file, str | os.PathLike)]
    named = [*map(Path, paths), *(path for file in every if isinstance(file, Source) for path in file.files)]
    twice = [file for number, file in enumerate(named) if file in named[:number]]
    if twice:
        raise ParameterError(f"{twice[0]}: the file is given twice; its reports would count twice")
    for file in every:
        codes, rows, _ = _read_codes(file, column, survey.reports)
        np.add.at(counts, codes, rows)
    return counts


def read_answers(file: Path | str, survey: Survey, column: str | None = None) -> tuple[NDArray[np.int64], str]:
    """The true answers in a file, and the name of their column.

    >>> survey = sf.local.Survey(name="visits", question="How often?", min=0, max=9, epsilon=1)
    >>> path = sf.local.write_reports("answers.csv", "visits", [0, 3, 3])
    >>> sf.local.read_answers(path, survey)[1]
    'visits'
    """
    codes, _, name = _read_codes(file, column, survey.axis)
    return survey.min + survey.step * codes, name


def _read_codes(file: Any, column: str | None, values: range) -> tuple[NDArray[np.int64], NDArray[np.int64], str]:
    """The place of each number among the possible values, from 0 for the lowest, how many rows have it, and the name
    of the column."""
    lines = Lines.read(file, partial(_choose, column), None if column is None else [column])
    raw = lines.frame.to_series()
    numbers, whole = _whole_numbers(raw, lines.where), pl.col("whole")
    # Compared before they are subtracted: what lies far outside would overflow.
    steps = pl.when(whole.is_between(values[0], values[-1])).then(whole) - values[0]
    on_grid = pl.when(steps % values.step == 0).then(steps // values.step)
    codes = numbers.to_frame("whole").lazy().select(on_grid).collect().to_series()
    if codes.null_count():
        row = int(codes.is_null().arg_max() or 0)
        problem = "the value is missing; expected" if raw[row] is None else f"{quote(str(raw[row]))} is not"
        raise DataError(f"{row_of(lines.where, row)}, column {raw.name!r}: {problem} {describe_range(values)}")
    return codes.to_numpy(), lines.rows, raw.name


def _choose(column: str | None, names: list[str], where: str) -> list[str]:
    """The column that is asked for, or the only one."""
    if column is not None:
        refuse_absent([column], names, where)
        return [column]
    if len(names) != 1:
        shown = ", ".join(map(quote, names[:12]))
        raise DataError(f"{where}: the file has {len(names)} columns; choose the one to read from {shown}")
    with suppress(ValueError):
        float(names[0])
        raise DataError(f"{where}: the first line is {quote(names[0])}; expected the name of the column")
    return names


def _whole_numbers(raw: pl.Series, where: str) -> pl.Series:
    """The values as 64-bit integers, null for those that are not whole numbers."""
    if raw.dtype.is_integer() or raw.dtype == pl.Null:
        return raw.cast(pl.Int64, strict=False)
    if raw.dtype.is_float() or raw.dtype.is_decimal():
        numbers = raw.cast(pl.Float64)
        whole = (numbers == numbers.floor()) & (numbers.abs() < INEXACT)
        return numbers.set(~whole, None).cast(pl.Int64)
    if raw.dtype == pl.String or isinstance(raw.dtype, pl.Categorical | pl.Enum):
        text = raw.cast(pl.String).str.strip_chars()
        whole = text.cast(pl.Int64, strict=False)
        return whole.zip_with(whole.is_not_null(), _whole_numbers(text.cast(pl.Float64, strict=False), where))
    raise DataError(f"{where}, column {raw.name!r}: {raw.dtype} is not a type of numbers; expected whole numbers")


def write_reports(path: Path | str, column: str, values: NDArray[np.integer]) -> Path:
    """Write reports to a new file, in one column, whole or not at all; its name says the format.

    >>> sf.local.write_reports("reports.csv", "report", [0, 3, 3]).name
    'reports.csv'
    """
    target = Path(path)
    if not column:
        raise ParameterError("the column of the reports has no name")
    frame = pl.DataFrame({column: np.asarray(values, dtype=np.int64)})
    return place(target, table_bytes(frame, target))
