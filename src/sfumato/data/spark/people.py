"""People, not rows, on Spark: whose a row is, and which rows of a person are used.

Which these are is decided by the same code as for every engine, run beside the rows of those who have several; so are
names that may be spelled in several ways. Nothing else needs Python there.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, cast

import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql
from pyspark.sql import types as kinds

from sfumato.data.encode import find_unfit
from sfumato.data.people import keep_rows_of_people
from sfumato.data.spark.cells import cells_of, encode_lines
from sfumato.data.spark.session import held, named, whatever_pandas
from sfumato.data.text import LEADING_ZERO, SHORTEST, as_names, names_of_nobody
from sfumato.schema import Schema

ROWS_AT_ONCE = 2**18
"""Rows of people with several that one task has in memory."""
ONE_SPELLING = r"^[!-~]([ -~]*[!-~])?\z"
PERHAPS_NUMBER = r"^[+-]?\.?[0-9]"


class Used(NamedTuple):
    """Rows that are used, and what was found out about people on the way."""

    rows: DataFrame
    repeated: int = 0
    unowned: int = 0


@contextmanager
def used_rows(frame: DataFrame, schema: Schema, where: str, only_first: bool) -> Iterator[Used]:
    """The rows that are used, with the columns to keep; whether each is the first of its person; and the tally."""
    cells = cells_of(frame, schema, where)
    kept = [named(name).alias(f"keep {number}") for number, name in enumerate(schema.keep)]
    if schema.person_column is None:
        yield Used(frame.select(*cells, *kept, sql.lit(1).alias("first")))
        return
    person = named(schema.person_column).alias("person")
    with held(frame.select(*cells, *kept, person)) as rows:
        owned = _named(rows, schema, where)
        with held(owned.groupBy("name").count()) as counts:
            known = sql.col("name").isNotNull()
            several = known & (sql.col("count") > 1)
            tally = [sql.when(~known, sql.col("count")), sql.when(several, 1), sql.when(several, sql.col("count"))]
            found = counts.agg(*(sql.coalesce(sql.sum(each), sql.lit(0)) for each in tally)).first()
            assert found is not None
            unowned, repeated, many = map(int, found)
            owned = owned.where(known)
            if not repeated:
                yield Used(owned.withColumn("first", sql.lit(1)), repeated, unowned)
                return
            names = counts.where(several).select("name")
            once = owned.join(names, "name", "left_anti").withColumn("first", sql.lit(1))
            group = sql.pmod(sql.xxhash64("name"), sql.lit(-(-many // ROWS_AT_ONCE)))
            with whatever_pandas():
                chosen = (
                    owned.join(names, "name", "left_semi")
                    .groupBy(group)
                    .applyInArrow(_choosing(schema, where, only_first), once.schema)
                )
            yield Used(once.unionByName(chosen), repeated, unowned)


def _named(rows: DataFrame, schema: Schema, where: str) -> DataFrame:
    """Rows with the one name of whose they are, or nothing."""
    kind, person = rows.schema["person"].dataType, sql.col("person")
    text = person.cast("string")
    one = sql.lit(isinstance(kind, kinds.IntegralType))
    if isinstance(kind, kinds.StringType):
        number = text.rlike(PERHAPS_NUMBER) & ~text.rlike(SHORTEST) & ~text.rlike(LEADING_ZERO)
        one = text.rlike(ONE_SPELLING) & ~number
    one = person.isNull() | one
    name = sql.when(~text.isin(names_of_nobody(schema.missing)), text).alias("name")
    plain, others = rows.where(one).select("*", name), rows.where(~one)
    if others.limit(1).isEmpty():
        return plain
    place = f"{where}, column {schema.person_column!r}"
    with whatever_pandas():
        return plain.unionByName(others.mapInArrow(_naming(schema.missing, place), plain.schema))


def _choosing(schema: Schema, where: str, only_first: bool) -> Callable[[pa.Table], pa.Table]:
    """Takes rows of people with several, of some people all; leaves those that are used, and values that do not fit,
    which are refused later."""

    def choose(table: pa.Table) -> pa.Table:
        rows = cast(pl.DataFrame, pl.from_arrow(table))
        codes = encode_lines(schema, rows, where)
        kept = pl.DataFrame([rows[f"keep {number}"].alias(name) for number, name in enumerate(schema.keep)])
        most = 1 if only_first else schema.rows_per_person
        first, used = (
            keep_rows_of_people(codes, kept, rows["name"], limit, secrets=schema.secret_names) for limit in (1, most)
        )
        for axis in schema.axes:
            used |= find_unfit(codes[axis.name], axis)
        added = table.append_column("first", pa.array(first.cast(pl.Int32).to_numpy()))
        return added.filter(pa.array(used.to_numpy()))

    return choose


def _naming(missing: tuple[str, ...], place: str) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Adds the name of whose each row is."""

    def name(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            person = cast(pl.Series, pl.from_arrow(batch.column("person")))
            found = as_names(person, missing, place).to_list()
            yield pa.RecordBatch.from_arrays(
                [*batch.columns, pa.array(found, pa.string())], names=[*batch.schema.names, "name"]
            )

    return name
