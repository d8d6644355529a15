"""The two operations of an engine on Spark: group-bys and equi-joins, next to where the rows are.

What comes to the driver are distinct lines of cells, and rows of a recoded release part by part.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql
from pyspark.sql import types as kinds

from sfumato.data.encode import encode_values, find_unfit, refuse_value
from sfumato.data.engine import Counted
from sfumato.data.keys import KeyCounts, Keys
from sfumato.data.pieces import Parts
from sfumato.data.spark.bring import as_frame, bring
from sfumato.data.spark.cells import CODE, RAW, cells_of, encode_lines
from sfumato.data.spark.people import Used, used_rows
from sfumato.data.spark.rows import SparkRows, shown
from sfumato.data.spark.session import named, refusing
from sfumato.schema import Axis, Schema

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
        return cls(schema=schema, source=SparkRows.of(source))

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
        words = Keys([axis.size for axis in axes])
        names = [f"word {number}" for number in range(len(words.words))]
        class_of = words.pack(list(keys.T)).rename(dict(zip(words.names, names, strict=True)))
        class_of = class_of.with_columns(box=class_of_key)

        def joined() -> Iterator[pl.DataFrame]:
            with self._used() as used:
                rows = self._with_codes(used.rows, {axis.name for axis in (*axes, value)})
                left = [sql.col(self._code(axis)) for axis in axes]
                for name, sizes in zip(names, words.words, strict=True):
                    word = sql.lit(0).cast("long")
                    for size in sizes:
                        word = word * sql.lit(size).cast("long") + (left.pop(0) + 1)
                    rows = rows.withColumn(name, word)
                rows = rows.join(self._spark(class_of), on=names, how="inner")
                code = sql.col(self._code(value))
                position = sql.when(code < 0, value.size).otherwise(code).cast("int").alias("value")
                kept = [sql.col(f"keep {number}").alias(name) for number, name in enumerate(self.schema.keep)]
                rows = rows.select("box", position, *kept)
                yield from bring(rows.orderBy(*map(named, rows.columns)), self.where)

        return Parts(joined)

    def _code(self, axis: Axis) -> str:
        """The column of codes by arithmetic; that of values as they are spelled has the same number."""
        return f"{CODE}{self.schema.axes.index(axis)}"

    def _raw(self, axis: Axis) -> str:
        return f"{RAW}{self.schema.axes.index(axis)}"

    @cached_property
    def _frame(self) -> DataFrame:
        schema = self.schema
        person = [schema.person_column] if schema.person_column else []
        wanted = [*(axis.name for axis in schema.axes), *schema.keep, *person]
        return self.source.frame(wanted, lenient=not schema.keep and not schema.refusing)

    @cached_property
    def _lines(self) -> tuple[pl.DataFrame, int, int]:
        """The distinct lines of cells and how often each occurs, and what was found out about people."""
        with refusing(self.where), self._used() as used:
            names = [name for name in used.rows.columns if name.startswith((CODE, RAW))]
            counted = used.rows.groupBy(*map(named, names)).agg(
                sql.count(sql.lit(1)).alias("rows"), sql.sum("first").cast("long").alias("first")
            )
            axes = [self.schema.axes[int(name.split()[1])].name for name in names]
            return pl.concat(bring(counted, self.where, axes)), used.repeated, used.unowned

    @cached_property
    def _codes(self) -> pl.DataFrame:
        """The codes of the distinct lines; a value that does not fit is refused."""
        lines = self._lines[0]
        codes = encode_lines(self.schema, lines, self.where)
        for axis in self.schema.axes:
            wrong = find_unfit(codes[axis.name], axis)
            if wrong.any():
                self._refuse(axis, lines.filter(wrong), codes[axis.name].filter(wrong))
        return codes

    def _refuse(self, axis: Axis, lines: pl.DataFrame, codes: pl.Series) -> None:
        """Refuse the first of lines with a value that does not fit, in the order of files and values."""
        parts = [name for name in (self._code(axis), self._raw(axis)) if name in lines.columns]
        wrong = lines.select(parts).unique()
        cells = self._frame.select(
            *cells_of(self._frame, self.schema, self.where),
            named(axis.name).alias("value"),
            sql.input_file_name().alias("file"),
        )
        for name in parts:
            wrong = wrong.rename({name: f"wrong {name}"})
        same = [sql.col(name).eqNullSafe(sql.col(f"wrong {name}")) for name in parts]
        condition = same[0] if len(same) == 1 else same[0] & same[1]
        with refusing(self.where):
            found = as_frame(
                cells.join(self._spark(wrong), on=condition, how="left_semi")
                .select("file", "value")
                .orderBy("file", "value")
                .limit(1)
            )
        raw = found["value"]
        code = encode_values(raw, axis, self.schema.missing, self.where)[0]
        refuse_value(raw, code, 0, axis, shown(found["file"][0]) or self.where)

    def _with_codes(self, rows: DataFrame, names: set[str]) -> DataFrame:
        """Rows with the codes of some axes: of values that are no numbers, those of their spellings."""
        lines, codes = self._lines[0], self._codes
        for axis in self.schema.axes:
            raw, code = self._raw(axis), self._code(axis)
            if axis.name not in names or raw not in lines.columns:
                continue
            spelled = lines.select(pl.col(raw).alias("spelled"), codes[axis.name].alias("is"))
            if code in lines.columns:
                spelled = spelled.filter(lines[code].is_null())
            table = self._spark(spelled.unique(), spelled=rows.schema[raw].dataType)
            rows = rows.join(table, on=sql.col(raw).eqNullSafe(sql.col("spelled")), how="left").drop("spelled")
            known = sql.coalesce(sql.col(code), sql.col("is")) if code in lines.columns else sql.col("is")
            rows = rows.withColumn(code, known).drop("is")
        return rows

    def _spark(self, frame: pl.DataFrame, **of_kind: kinds.DataType) -> DataFrame:
        """A frame of the driver's on Spark."""
        made = self._frame.sparkSession.createDataFrame(frame.to_arrow())
        for name, kind in of_kind.items():
            made = made.withColumn(name, sql.col(name).cast(kind))
        return sql.broadcast(made) if frame.height <= MAX_BROADCAST else made

    def _used(self) -> AbstractContextManager[Used]:
        return used_rows(self._frame, self.schema, self.where, self.only_first)
