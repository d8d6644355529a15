"""Cells that do not fit the driver, on Spark: rounded down until they do, and grown into classes beside the rows.

Regions come from the driver and are looked at one by one where their cells are, by the same code as a table in memory.
Cells of a region are put into their order first, so nothing depends on how Spark divides its work.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Self, cast

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from sfumato.data import pieces
from sfumato.data.engine import Counted
from sfumato.data.kept import KeptRows
from sfumato.data.large import Classes, Digest, Grower, LargeTable, Rounded
from sfumato.data.pieces import Parts
from sfumato.data.spark import bring as bringing
from sfumato.data.spark.bring import TooManyLinesError, as_frame, bring
from sfumato.data.spark.cells import RAW, WORD, code_columns, encode_lines, in_words, pack_words, unpack_words, words_of
from sfumato.data.spark.engine import MAX_BROADCAST, SparkEngine
from sfumato.data.spark.session import held_with, named, refusing, whatever_pandas
from sfumato.data.table import Table
from sfumato.errors import DataError
from sfumato.schema import MISSING, Schema

ROOM = 0.8
"""Estimates of how many distinct lines there are may be off by so much."""


def read_on_spark(source: Any, schema: Schema) -> Table:
    """The table of a source that is on Spark, wherever its cells fit."""
    engine = SparkEngine.read(source, schema)
    rows = engine.source
    try:
        return replace(Table.from_rows(engine, schema), files=rows.files, derived=rows.derived)
    except TooManyLinesError as error:
        if len(schema.secrets) > 1:
            raise
        far = SparkCells(engine=engine)
        far.refuse_unfit()
        tally = far.tally
        return LargeTable(
            schema=schema,
            far=far,
            refusal=str(error),
            files=rows.files,
            derived=rows.derived,
            repeated=tally[0],
            unowned=tally[1],
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class SparkCells:
    """The distinct cells of an engine's rows, as words of codes with the rows of each, kept by Spark."""

    engine: SparkEngine = field(repr=False)

    @property
    def schema(self) -> Schema:
        return self.engine.schema

    @property
    def most(self) -> int:
        return bringing.MAX_LINES

    @property
    def one_each(self) -> Self:
        return replace(self, engine=self.engine.one_each)

    @cached_property
    def _counted(self) -> tuple[DataFrame, int, int]:
        with refusing(self.engine.where), self.engine.used() as used:
            counted = self.engine.lines_of(used.rows)
            whole = _encoded(counted, self.schema, self.engine.where)
            added = held_with(self, whole.groupBy(*self._words).agg(sql.sum("rows").alias("rows")))
            added.count()
            return added, used.repeated, used.unowned

    @property
    def _cells(self) -> DataFrame:
        return self._counted[0]

    @property
    def tally(self) -> tuple[int, int]:
        """How many people had several rows, and how many rows were left out."""
        return self._counted[1:]

    @property
    def _words(self) -> list[Column]:
        return [sql.col(f"{WORD}{number}") for number in range(len(words_of(self.schema).words))]

    def refuse_unfit(self) -> None:
        """Refuse a value that does not fit its axis."""
        least = self._cells.agg(*map(sql.min, code_columns(self.schema))).first()
        assert least is not None
        for axis, code in zip(self.schema.axes, least, strict=True):
            if code is not None and code < (MISSING if axis.nullable else 0):
                with refusing(self.engine.where), self.engine.used() as used:
                    lines = self.engine.lines_of(used.rows)
                    unfit = partial(_only_unfit, self.schema, axis.name, self.engine.where)
                    with whatever_pandas():
                        wrong = as_frame(lines.mapInArrow(unfit, lines.schema).limit(1), self.engine.where)
                self.engine.refuse(axis, wrong)

    @cached_property
    def overall(self) -> NDArray[np.int64]:
        axis = self.schema.sensitive
        counts = self._cells.groupBy(code_columns(self.schema)[-1].alias("value")).agg(sql.sum("rows").alias("rows"))
        found = as_frame(counts, self.engine.where)
        value = found["value"].to_numpy()
        return np.bincount(np.where(value < 0, axis.size, value), found["rows"].to_numpy(), axis.positions).astype(int)

    @cached_property
    def digest(self) -> str:
        with whatever_pandas():
            sums = self._cells.mapInArrow(partial(_digests, self.schema), "one string, again string")
        found = (Digest((int(one), int(again))) for one, again in as_frame(sums, self.engine.where).iter_rows())
        return sum(found, Digest()).text(self.schema.axes)

    def rounded(self) -> Rounded:
        """With the finest steps that leave few enough lines."""
        finer = _steps(self.schema)
        estimates = self._cells.agg(
            *(sql.approx_count_distinct(sql.struct(*self._rounded(steps))) for steps in finer)
        ).first()
        assert estimates is not None
        for steps, lines in zip(finer, estimates, strict=True):
            if lines > ROOM * bringing.MAX_LINES:
                continue
            counted = self._cells.groupBy(*self._rounded(steps)).agg(
                sql.sum("rows").alias("rows"), sql.count(sql.lit(1)).alias("cells")
            )
            try:
                return self._as_rounded(pl.concat(bring(counted, self.engine.where, {})), steps)
            except TooManyLinesError:
                continue
        raise DataError(
            f"{self.engine.where}: the values of {self.schema.sensitive.name!r} alone do not fit the driver"
        )

    def _as_rounded(self, lines: pl.DataFrame, steps: tuple[int, ...]) -> Rounded:
        codes, rows, cells = _sorted_lines(self.schema, lines, "rows", "cells")
        table = Table.of_counted(Counted(keys=codes, rows=rows), self.schema)
        return Rounded(table, np.bincount(_points(codes), cells).astype(np.int64), steps)

    def _rounded(self, steps: tuple[int, ...], value: int | None = None) -> list[Column]:
        """The words of codes rounded down to whole steps; missing values stay, and the sensitive one unless given."""
        codes = code_columns(self.schema)
        for place, step in enumerate(steps):
            codes[place] = sql.when(codes[place] < 0, codes[place]).otherwise(codes[place] - codes[place] % step)
        if value is not None:
            codes[-1] = sql.lit(value)
        return list(in_words(codes, self.schema))

    def grow(self, rounded: Rounded, region_of_point: NDArray[np.int64], grower: Grower) -> Classes:
        """The classes of each region, made by tasks that take a region each."""
        where = self.engine.where
        with refusing(where):
            grown = held_with(self, self._grown(rounded, region_of_point, grower))
            codes, keys = code_columns(self.schema), ["region", "class"]
            inside = [
                side.alias(f"{name} {number}")
                for number, code in enumerate(codes[:-1])
                for name, side in {
                    "lo": sql.min(sql.when(code >= 0, code)),
                    "hi": sql.max(code),
                    "missing": sql.min(code) < 0,
                }.items()
            ]
            boxes = pl.concat(bring(grown.groupBy(*keys).agg(*inside), where))
            counted = grown.groupBy(*keys, codes[-1].alias("value")).agg(sql.sum("rows").alias("rows"))
            lines = pl.concat(bring(counted, where))
        sides = [[f"{name} {number}" for number in range(len(codes) - 1)] for name in ("lo", "hi", "missing")]
        boxes = boxes.with_columns(pl.col(sides[0]).fill_null(0)).sort(*sides[0], *sides[1], *sides[2])
        boxes = boxes.with_row_index("number").with_columns(pl.col("number").cast(pl.Int64))
        lines = lines.join(boxes.select(*keys, "number"), on=keys).sort("number", "value")
        value = lines["value"].to_numpy()
        lo, hi, missing = (boxes.select(side).to_numpy() for side in sides)
        return Classes(
            lo.astype(np.int32),
            hi.astype(np.int32),
            missing.astype(bool),
            lines["number"].to_numpy(),
            np.where(value < 0, self.schema.sensitive.size, value).astype(np.int64),
            lines["rows"].to_numpy(),
            self._kept(grown, boxes.select(*keys, "number")),
        )

    def _grown(self, rounded: Rounded, region_of_point: NDArray[np.int64], grower: Grower) -> DataFrame:
        """All cells with their region and class."""
        points, schema = rounded.table.points, self.schema
        words = pack_words(schema, [*points.T, np.zeros(len(points), dtype=np.int32)])
        lines = words.rename({name: f"same {name}" for name in words.columns}).with_columns(region=region_of_point)
        regions = self._cells.sparkSession.createDataFrame(lines.to_arrow())
        regions = sql.broadcast(regions) if lines.height <= MAX_BROADCAST else regions
        down = [
            word.alias(f"down {name}")
            for name, word in zip(words.columns, self._rounded(rounded.steps, 0), strict=True)
        ]
        placed = self._cells.select("*", *down)
        same = [sql.col(f"down {name}") == sql.col(f"same {name}") for name in words.columns]
        placed = placed.join(regions, on=same, how="inner").select(*self._words, "rows", "region")
        kind = placed.select("*", sql.lit(0).cast("long").alias("class")).schema
        with whatever_pandas():
            return placed.groupBy("region").applyInArrow(_growing(schema, grower), kind)

    def _kept(self, grown: DataFrame, numbers: pl.DataFrame) -> KeptRows | None:
        if not self.schema.keep:
            return None
        return KeptRows(numbers.height, partial(self._join, grown, numbers))

    def _join(self, grown: DataFrame, numbers: pl.DataFrame, number: NDArray[np.int64]) -> Parts:
        """All rows with the number of their class, their sensitive value and the kept columns, in order."""
        schema, where = self.schema, self.engine.where
        mapped = numbers.select("region", "class", box=pl.Series(number[numbers["number"].to_numpy()]))

        def make() -> Iterator[pl.DataFrame]:
            found = 0
            with refusing(where), self.engine.used() as used:
                kept = [sql.col(f"keep {place}").alias(name) for place, name in enumerate(schema.keep)]
                code = code_columns(schema)[-1]
                value = sql.when(code < 0, schema.sensitive.size).otherwise(code).cast("int").alias("value")
                boxes = grown.join(grown.sparkSession.createDataFrame(mapped.to_arrow()), on=["region", "class"])
                words = [f"{WORD}{place}" for place in range(len(self._words))]
                rows = _encoded(used.rows, schema, where).join(boxes.select(*words, "box"), on=words)
                rows = rows.select("box", value, *kept)
                columns = list(map(named, rows.columns))
                parts = -(-int(self.overall.sum()) // pieces.ROWS_AT_ONCE)
                ranges = rows.repartitionByRange(parts, *columns).sortWithinPartitions(*columns)
                for part in bring(ranges, where):
                    found += part.height
                    yield part
            if found != self.overall.sum():
                raise DataError(f"{where}: the rows are no longer those that were read")

        return Parts(make)


def _steps(schema: Schema) -> list[tuple[int, ...]]:
    """How codes can be rounded, from not at all to one value each: the axis with most values left is the next one."""
    sizes = [axis.size for axis in schema.quasi]
    steps = [1] * len(sizes)
    found = [tuple(steps)]
    while any(step < size for step, size in zip(steps, sizes, strict=True)):
        left = [-(-size // step) for step, size in zip(steps, sizes, strict=True)]
        steps[left.index(max(left))] *= 2
        found.append(tuple(steps))
    return found


def _points(codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """The point of each of some lines in their order."""
    starts = np.ones(len(codes), dtype=bool)
    starts[1:] = (codes[1:, :-1] != codes[:-1, :-1]).any(axis=1)
    return np.cumsum(starts) - 1


def _sorted_lines(schema: Schema, lines: pl.DataFrame, *counts: str) -> tuple[NDArray[Any], ...]:
    """The codes of lines in rising order, and their counts."""
    codes = unpack_words(schema, lines)
    order = np.lexsort(codes.T[::-1])
    return codes[order], *(lines[name].to_numpy()[order] for name in counts)


def _encoded(lines: DataFrame, schema: Schema, where: str) -> DataFrame:
    """Lines of cells with all their codes in words, beside the columns that stand beside cells."""
    if not any(name.startswith(RAW) for name in lines.columns):
        return lines
    kind = lines.select(*(named(name) for name in lines.columns if not name.startswith(RAW))).schema

    def encode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            frame = cast(pl.DataFrame, pl.from_arrow(batch))
            codes = encode_lines(schema, frame, where)
            words = pack_words(schema, [codes[axis.name].to_numpy() for axis in schema.axes])
            for word in words:
                place = batch.schema.get_field_index(word.name)
                batch = batch.set_column(place, word.name, pa.array(word.to_numpy()))
            yield batch.select([name for name in batch.schema.names if not name.startswith(RAW)])

    with whatever_pandas():
        return lines.mapInArrow(encode, kind)


def _only_unfit(schema: Schema, name: str, where: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The lines whose value does not fit an axis."""
    axis = next(axis for axis in schema.axes if axis.name == name)
    for batch in batches:
        codes = encode_lines(schema, cast(pl.DataFrame, pl.from_arrow(batch)), where)[name].to_numpy()
        yield batch.filter(pa.array(codes < (MISSING if axis.nullable else 0)))


def _digests(schema: Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    found = Digest()
    for batch in batches:
        codes = unpack_words(schema, cast(pl.DataFrame, pl.from_arrow(batch)))
        found += Digest.of(schema.axes, list(codes.T), batch.column("rows").to_numpy())
    yield pa.RecordBatch.from_pydict({"one": [str(found.sums[0])], "again": [str(found.sums[1])]})


def _growing(schema: Schema, grower: Grower) -> Callable[[pa.Table], pa.Table]:
    """Takes the cells of a region; adds the class of each."""

    def grow(table: pa.Table) -> pa.Table:
        lines = cast(pl.DataFrame, pl.from_arrow(table))
        codes = unpack_words(schema, lines)
        order = np.lexsort(codes.T[::-1])
        counted = Counted(keys=codes[order], rows=lines["rows"].to_numpy()[order])
        class_of = grower(Table.of_counted(counted, schema))[_points(codes[order])]
        return table.take(pa.array(order)).append_column("class", pa.array(class_of))

    return grow
