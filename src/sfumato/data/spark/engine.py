"""The two operations of an engine on Spark: group-bys and equi-joins, next to where the rows are.

What comes to the driver are distinct lines of cells, and rows of a recoded release part by part.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import and_
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from sfumato.data import pieces
from sfumato.data.encode import encode_values, find_unfit, refuse_value
from sfumato.data.engine import Counted, as_positions
from sfumato.data.keys import KeyCounts, Keys
from sfumato.data.pieces import Parts
from sfumato.data.spark.bring import as_frame, bring
from sfumato.data.spark.cells import RAW, WORD, cells_of, encode_lines, values_of
from sfumato.data.spark.people import Used, used_rows
from sfumato.data.spark.rows import SparkRows, shown
from sfumato.data.spark.session import held, named, refusing
from sfumato.errors import DataError
from sfumato.schema import Axis, Schema

MOST_SORTED = 4
"""Times as many rows as come in a part that the driver still sorts; Spark sorts more."""
MAX_BROADCAST = 2**20
"""Lines of a table that every executor gets a copy of."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SparkEngine:
    """Rows of a Spark frame, gone through for each question; what comes to the driver are distinct lines."""

    schema: Schema = field(repr=False)
    source: SparkRows = field(repr=False)
    only_first: bool = False

    @classmethod
    def read(cls, source: Any, schema: Schema) -> Self:
        """The rows of a source, with the columns that a schema declares."""
        rows = SparkRows.of(source)
        for column in schema.columns:
            if column.role in ("weight", "household", "other"):
                raise DataError(
                    f"{rows.where}, column {column.name!r}: rows on Spark are not read with a column of role "
                    f"{column.role}; read them without Spark, or give it another role"
                )
        return cls(schema=schema, source=rows)

    @property
    def where(self) -> str:
        return self.source.where

    @property
    def one_each(self) -> Self:
        return replace(self, only_first=True)

    def count_by_key(self, axes: Sequence[Axis]) -> Counted:
        lines, repeated, unowned = self._lines
        codes, counts = self._codes, KeyCounts(Keys([axis.size for axis in axes]), ("rows", "first"))
        columns = [codes[axis.name].to_numpy() for axis in axes]
        counts.add(columns, **{name: lines[name].to_numpy() for name in ("rows", "first")})
        keys, (rows, first) = counts.sorted()
        people = first if self.schema.rows_per_person > 1 and not self.only_first else None
        return Counted(keys=keys, rows=rows, first=people, repeated=repeated, unowned=unowned)

    def join_to_class(
        self, axes: Sequence[Axis], keys: NDArray[np.int32], class_of_key: NDArray[np.int64], value: Axis
    ) -> Parts:
        return Parts(lambda: self._joined(self._placed(axes, keys, class_of_key, value)))

    def _placed(
        self, axes: Sequence[Axis], keys: NDArray[np.int32], class_of_key: NDArray[np.int64], value: Axis
    ) -> pl.DataFrame:
        """The distinct lines with their class (`box`) and position (`value`), and the part in which their rows come.

        All rows of one class and position come in one part: so many that the driver can sort them.
        """
        words = Keys([axis.size for axis in axes])
        class_of = words.pack(list(keys.T)).with_columns(box=class_of_key)
        packed = words.pack([self._codes[axis.name].to_numpy() for axis in axes])
        lines = self._lines[0].with_columns(*packed, as_positions(self._codes, value))
        lines = lines.join(class_of, on=words.names, how="inner")
        rows = lines.group_by("box", "value").agg(pl.col("rows").sum()).sort("box", "value")
        part = (pl.col("rows").cum_sum() - pl.col("rows")) // pieces.ROWS_AT_ONCE
        together = rows.select("box", "value", part.rank("dense").cast(pl.Int64).alias("part"))
        return lines.join(together, on=["box", "value"]).select(*self._cells(lines), "box", "value", "part", "rows")

    def _joined(self, placed: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """All rows with their class, position and kept columns, sorted part by part."""
        names = self._cells(placed)
        kept = [sql.col(f"keep {number}").alias(name) for number, name in enumerate(self.schema.keep)]
        sizes = placed.group_by("part").agg(pl.col("rows").sum()).sort("part").rows()
        with refusing(self.where), self.used() as used:
            lines = self._spark(placed.drop("rows").rename({name: f"same {name}" for name in names}))
            same = [_alike(name, nullable=bool(placed[name].null_count())) for name in names]
            rows = used.rows.join(lines, on=reduce(and_, same), how="inner").select("part", "box", "value", *kept)
            with held(rows.repartition(max(len(sizes), 1), "part")) as there:
                if not sizes:
                    yield as_frame(there.drop("part").limit(0), self.where)
                for part, size in sizes:
                    some = there.where(sql.col("part") == part).drop("part")
                    if size > MOST_SORTED * pieces.ROWS_AT_ONCE:
                        columns = list(map(named, some.columns))
                        ranges = some.repartitionByRange(-(-size // pieces.ROWS_AT_ONCE), *columns)
                        yield from bring(ranges.sortWithinPartitions(*columns), self.where)
                    else:
                        yield as_frame(some, self.where).sort(pl.all())

    def _cells(self, lines: pl.DataFrame | DataFrame) -> list[str]:
        """The columns of cells."""
        return [name for name in lines.columns if name.startswith((WORD, RAW))]

    @cached_property
    def _frame(self) -> DataFrame:
        schema = self.schema
        person = [schema.person_column] if schema.person_column else []
        wanted = [*(axis.name for axis in schema.axes), *schema.keep, *person]
        return self.source.frame(wanted, lenient=not schema.keep and not schema.refusing)

    def lines_of(self, rows: DataFrame) -> DataFrame:
        """The distinct lines of cells of rows that are used, and how often each occurs."""
        return rows.groupBy(*map(named, self._cells(rows))).agg(
            sql.count(sql.lit(1)).alias("rows"), sql.sum("first").cast("long").alias("first")
        )

    @cached_property
    def _lines(self) -> tuple[pl.DataFrame, int, int]:
        """The distinct lines of cells and how often each occurs, and what was found out about people."""
        with refusing(self.where), self.used() as used:
            counted = self.lines_of(used.rows)
            lines = pl.concat(bring(counted, self.where, values_of(self.schema, counted.columns)))
            return lines, used.repeated, used.unowned

    @cached_property
    def _codes(self) -> pl.DataFrame:
        """The codes of the distinct lines; a value that does not fit is refused."""
        lines = self._lines[0]
        codes = encode_lines(self.schema, lines, self.where)
        for axis in self.schema.axes:
            wrong = find_unfit(codes[axis.name], axis)
            if wrong.any():
                self.refuse(axis, lines.filter(wrong))
        return codes

    def refuse(self, axis: Axis, lines: pl.DataFrame) -> None:
        """Refuse the first value that does not fit, of those of some lines, in the order of files and values."""
        cells = cells_of(self._frame, self.schema, self.where)
        names = self._cells(lines)
        wrong = self._spark(lines.select(pl.col(name).alias(f"same {name}") for name in names))
        same = reduce(and_, (_alike(name, nullable=True) for name in names))
        with refusing(self.where):
            rows = self._frame.select(*cells, named(axis.name).alias("value"), sql.input_file_name().alias("file"))
            first = rows.join(wrong, on=same, how="left_semi").select("file", "value").orderBy("file", "value").limit(1)
            found = as_frame(first, self.where)
        code = encode_values(found["value"], axis, self.schema.missing, self.where)[0]
        refuse_value(found["value"], code, 0, axis, shown(found["file"][0]) or self.where)

    def _spark(self, frame: pl.DataFrame) -> DataFrame:
        """A frame of the driver's on Spark."""
        made = self._frame.sparkSession.createDataFrame(frame.to_arrow())
        return sql.broadcast(made) if frame.height <= MAX_BROADCAST else made

    def used(self) -> AbstractContextManager[Used]:
        """The rows that are used, as cells and kept columns."""
        return used_rows(self._frame, self.schema, self.where, self.only_first)


def _alike(name: str, *, nullable: bool) -> Column:
    """Whether a cell of rows is that of a line; comparing what may be missing takes longer."""
    ours, theirs = sql.col(name), sql.col(f"same {name}")
    return ours.eqNullSafe(theirs) if nullable else ours == theirs
