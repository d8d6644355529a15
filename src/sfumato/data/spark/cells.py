"""From raw columns to cells: numbers become codes by arithmetic on their grid, labels by their place in a list.

The codes of a row are packed into as few whole numbers as they need. All else stays as it is spelled, and the spellings
that differ are encoded on the driver, by the same code as those of any engine.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql
from pyspark.sql import types as kinds

from sfumato.data.encode import encode_values, spelled_numbers
from sfumato.data.keys import Keys
from sfumato.data.spark.session import named
from sfumato.errors import DataError
from sfumato.schema import MISSING, UNKNOWN, Axis, CategoricalAxis, Schema
from sfumato.schema.axis import AS_MISSING, CLIP, ROUND
from sfumato.schema.numeric import GRID_TOLERANCE, NumericAxis
from sfumato.schema.taxonomy import leaves

NUMBER = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?\z"
"""Text that every reader takes for the same number."""
WORD, RAW = "word ", "raw "
"""How the columns of cells begin; what follows is the number of the word, or of the axis."""
SPELLED = -3
"""The code of a value that stands beside as it is spelled."""
MAX_LISTED = 64
"""Values are compared with labels one by one, so longer lists are not made."""


def cells_of(frame: DataFrame, schema: Schema, where: str) -> list[Column]:
    """The codes of each row in words, and beside them the values as they are spelled of which no code is known."""
    codes, spelled = [], []
    for number, axis in enumerate(schema.axes):
        kind, raw = frame.schema[axis.name].dataType, named(axis.name)
        if isinstance(kind, kinds.ArrayType | kinds.MapType | kinds.StructType):
            raise DataError(f"{where}, column {axis.name!r}: {kind.simpleString()} is not a type of plain values")
        code = _code_of(axis, raw, kind, schema.missing)
        if not (isinstance(axis, NumericAxis) and isinstance(kind, kinds.NumericType)):
            code = sql.coalesce(code, sql.lit(SPELLED))
            spelled.append(sql.when(code == SPELLED, raw).alias(f"{RAW}{number}"))
        codes.append(code)
    return [*in_words(codes, schema), *spelled]


def _code_of(axis: Axis, raw: Column, kind: kinds.DataType, missing: tuple[str, ...]) -> Column:
    """The code of a value where `encode_values` puts it, nothing where only that knows."""
    if isinstance(axis, NumericAxis) and isinstance(kind, kinds.NumericType):
        return _on_axis(axis, raw.cast("double"), missing)
    if isinstance(axis, NumericAxis) and isinstance(kind, kinds.StringType):
        return sql.when(sql.trim(raw).rlike(NUMBER), _on_axis(axis, raw.try_cast("double"), missing))
    if isinstance(axis, CategoricalAxis) and kind == kinds.StringType():
        labels = [*(leaf.label for leaf in leaves(axis.finer or axis.tree)), *missing]
        if len(labels) <= MAX_LISTED:
            codes = encode_values(pl.Series(labels, dtype=pl.String), axis, missing, axis.name)
            place = sql.array_position(sql.array(*map(sql.lit, labels)), raw).cast("int") - 1
            return sql.get(sql.array(*map(sql.lit, codes)), place)
    return sql.lit(None).cast("int")


def words_of(schema: Schema) -> Keys:
    """How codes from `SPELLED` on are packed: 2 is added to each."""
    return Keys([axis.size - SPELLED - 1 for axis in schema.axes])


def in_words(codes: list[Column], schema: Schema) -> Iterator[Column]:
    """As `Keys.pack` does it."""
    left = iter(codes)
    for number, sizes in enumerate(words_of(schema).words):
        word = sql.lit(0).cast("long")
        for size in sizes:
            word = word * sql.lit(size).cast("long") + (next(left) - SPELLED)
        yield word.alias(f"{WORD}{number}")


def code_columns(schema: Schema) -> list[Column]:
    """The code of each axis, taken out of the words."""
    found = []
    for number, sizes in enumerate(words_of(schema).words):
        for place, size in enumerate(sizes):
            after = math.prod(sizes[place + 1 :])
            found.append(sql.expr(f"cast((`{WORD}{number}` div {after}L) % {size}L as int)") + SPELLED)
    return found


def values_of(schema: Schema, columns: Sequence[str]) -> dict[str, Column]:
    """What tells the values of each axis apart."""
    found = {}
    for number, (axis, code) in enumerate(zip(schema.axes, code_columns(schema), strict=True)):
        spelled = [sql.col(f"{RAW}{number}").cast("string")] if f"{RAW}{number}" in columns else []
        found[axis.name] = sql.coalesce(*spelled, code.cast("string"))
    return found


def _on_axis(axis: NumericAxis, number: Column, missing: tuple[str, ...]) -> Column:
    """The code of a number where `Axis.place` puts it, as `NumericAxis.encode` computes it."""
    if axis.edges:
        inside = number >= axis.edges[0]
        inside = inside if axis.open_above else inside & (number < axis.edges[-1])
        nearest = _bin(number, axis.edges, 0, axis.size)
    else:
        steps = (number - float(axis.minimum)) / float(axis.step)
        rounded = sql.rint(steps)
        inside = (sql.abs(steps - rounded) <= GRID_TOLERANCE) & (rounded >= 0) & (rounded < axis.size)
        if axis.top:
            inside |= number > float(axis.maximum)
        if axis.bottom:
            inside |= number < float(axis.minimum)
        nearest = sql.least(sql.greatest(rounded, sql.lit(0.0)), sql.lit(float(axis.size - 1))).cast("int")
    absent = number.isNull() | sql.isnan(number) | number.isin(*map(float, spelled_numbers(missing)))
    within = sql.when(number.between(float(axis.minimum), float(axis.maximum)), nearest).otherwise(sql.lit(UNKNOWN))
    off = {CLIP: nearest, ROUND: within, AS_MISSING: sql.lit(MISSING)}.get(axis.off_schema, sql.lit(UNKNOWN))
    nothing = 0 if axis.off_schema == CLIP and not axis.nullable else MISSING
    return sql.when(absent, nothing).when(inside, nearest).otherwise(off)


def _bin(number: Column, edges: Sequence[float], low: int, high: int) -> Column:
    """The bin from `low` to below `high` that a number lies in; below the first edge the first, above the last the
    last."""
    if high - low == 1:
        return sql.lit(low)
    middle = (low + high) // 2
    below, above = _bin(number, edges, low, middle), _bin(number, edges, middle, high)
    return sql.when(number < float(edges[middle]), below).otherwise(above)


def encode_lines(schema: Schema, lines: pl.DataFrame, where: str) -> pl.DataFrame:
    """The codes of lines of cells, on the driver or beside the rows."""
    found = []
    for number, (axis, codes) in enumerate(zip(schema.axes, unpack_words(schema, lines).T, strict=True)):
        column, raw = pl.Series(axis.name, codes, dtype=pl.Int32), f"{RAW}{number}"
        if raw in lines.columns and (places := (column == SPELLED).arg_true()).len():
            column = column.scatter(places, encode_values(lines[raw][places], axis, schema.missing, where))
        found.append(column)
    return pl.DataFrame(found)


def pack_words(schema: Schema, codes: Sequence[NDArray[np.integer]]) -> pl.DataFrame:
    """Codes in words, as on Spark."""
    words = words_of(schema).pack([column - (SPELLED + 1) for column in codes])
    return words.rename({name: f"{WORD}{number}" for number, name in enumerate(words.columns)})


def unpack_words(schema: Schema, lines: pl.DataFrame) -> NDArray[np.int32]:
    """The codes in words: (lines, axes)."""
    words = words_of(schema)
    packed = lines.select(pl.col(f"{WORD}{number}").alias(name) for number, name in enumerate(words.names))
    return words.unpack(packed) + np.int32(SPELLED + 1)
