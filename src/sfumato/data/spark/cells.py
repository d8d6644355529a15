"""From raw columns to cells: numbers become codes by arithmetic on their grid, all else stays as it is spelled.

The spellings that differ are encoded on the driver, by the same code as those of any engine.
"""

from collections.abc import Sequence

import polars as pl
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql
from pyspark.sql import types as kinds

from sfumato.data.encode import encode_values, spelled_numbers
from sfumato.data.spark.session import named
from sfumato.errors import DataError
from sfumato.schema import MISSING, UNKNOWN, Schema
from sfumato.schema.axis import AS_MISSING, CLIP, ROUND
from sfumato.schema.numeric import GRID_TOLERANCE, NumericAxis

NUMBER = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?\z"
"""Text that every reader takes for the same number."""
CODE, RAW = "code ", "raw "
"""How the columns of cells begin; what follows is the number of the axis."""


def cells_of(frame: DataFrame, schema: Schema, where: str) -> list[Column]:
    """For each axis its code, where that is arithmetic, and the value as it is spelled, where it is not."""
    found = []
    for number, axis in enumerate(schema.axes):
        raw, kind = named(axis.name), frame.schema[axis.name].dataType
        if isinstance(kind, kinds.ArrayType | kinds.MapType | kinds.StructType):
            raise DataError(f"{where}, column {axis.name!r}: {kind.simpleString()} is not a type of plain values")
        if isinstance(axis, NumericAxis) and isinstance(kind, kinds.NumericType):
            found.append(_on_axis(axis, raw.cast("double"), schema.missing).alias(f"{CODE}{number}"))
            continue
        if isinstance(axis, NumericAxis) and isinstance(kind, kinds.StringType):
            plain = sql.trim(raw).rlike(NUMBER)
            code = _on_axis(axis, raw.try_cast("double"), schema.missing)
            found.append(sql.when(plain, code).alias(f"{CODE}{number}"))
            raw = sql.when(~plain, raw)
        found.append(raw.alias(f"{RAW}{number}"))
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
    for number, axis in enumerate(schema.axes):
        raw, code = f"{RAW}{number}", f"{CODE}{number}"
        if raw not in lines.columns:
            found.append(lines[code].alias(axis.name))
            continue
        spelled = encode_values(lines[raw], axis, schema.missing, where)
        found.append(lines[code].fill_null(spelled).alias(axis.name) if code in lines.columns else spelled)
    return pl.DataFrame(found)
