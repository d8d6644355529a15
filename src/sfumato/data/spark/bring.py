"""What comes from Spark to the driver: part by part, in order, and never more distinct lines than it takes."""

from collections.abc import Iterator, Mapping
from typing import cast

import polars as pl
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from sfumato.data import pieces
from sfumato.data.source import refuse_invalid
from sfumato.data.spark.session import held, refusing
from sfumato.errors import DataError

MAX_LINES = 2**24
"""Distinct rows that the driver takes."""


class TooManyLinesError(DataError):
    """There are more distinct rows than the driver takes."""


def bring(frame: DataFrame, where: str, values: Mapping[str, Column] | None = None) -> Iterator[pl.DataFrame]:
    """All rows to the driver in their order, part by part, at least one.

    Where they should be few, it is said how the values of each column are told apart; too many are refused.
    """
    if values is not None:
        most = min(pieces.ROWS_AT_ONCE, MAX_LINES)
        with refusing(where):
            few = as_frame(frame.limit(most + 1), where)  # Spark takes twice as long if they are held
        if few.height <= most:
            yield few
            return
    with refusing(where), held(frame) as lines:
        part = sql.spark_partition_id()
        sizes = sorted(map(tuple, lines.groupBy(part.alias("part")).agg(sql.count(sql.lit(1))).collect()))
        if values is not None and (rows := sum(size for _, size in sizes)) > MAX_LINES:
            _refuse_many(lines, values, rows, where)
        if not sizes:
            yield as_frame(lines.limit(0), where)
        while sizes:
            first, total = sizes[0][0], 0
            while sizes and (not total or total + sizes[0][1] <= pieces.ROWS_AT_ONCE):
                last, size = sizes.pop(0)
                total += size
            yield as_frame(lines.where(part.between(first, last)), where)


def as_frame(frame: DataFrame, where: str) -> pl.DataFrame:
    """All rows of a Spark frame here."""
    table = frame.toArrow()
    refuse_invalid(table, where)
    return cast(pl.DataFrame, pl.from_arrow(table))


def _refuse_many(lines: DataFrame, values: Mapping[str, Column], rows: int, where: str) -> None:
    """Say that there are too many distinct rows, and what makes them many."""
    if not values:
        raise TooManyLinesError(f"{where}: {rows:,} distinct rows do not fit the driver")
    several = lines.agg(*map(sql.approx_count_distinct, values.values())).first()
    assert several is not None
    most = sorted(zip(several, values, strict=True), reverse=True)[:3]
    shown = ", ".join(f"{name} (about {count:,} values)" for count, name in most)
    raise TooManyLinesError(
        f"{where}: {rows:,} distinct rows are more than the {MAX_LINES:,} that fit the driver; declare a larger step, "
        f"edges or coarsen for the columns with most values, or leave one out: {shown}"
    )
