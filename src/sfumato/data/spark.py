"""Rows on Spark: the two operations of an engine as group-bys and equi-joins, next to where the rows are.

Numbers become codes by arithmetic on their grid; of other values the distinct spellings come here, few, and are encoded
by the same code as those of any engine. Python runs beside the rows only where people have several, or names that may
be spelled in several ways. This is the one module that knows Spark.
"""

import csv
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self, cast
from urllib.parse import unquote

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql import types as kinds

from sfumato.data import pieces
from sfumato.data.delimited import SEPARATORS
from sfumato.data.encode import encode_values, find_unfit, refuse_value, spelled_numbers
from sfumato.data.engine import Counted
from sfumato.data.formats import MAX_REASON
from sfumato.data.keys import KeyCounts, Keys
from sfumato.data.people import keep_rows_of_people
from sfumato.data.pieces import Parts, refuse_absent, refuse_duplicates
from sfumato.data.source import FRAME
from sfumato.data.text import LEADING_ZERO, SHORTEST, as_names, names_of_nobody
from sfumato.errors import DataError, ParameterError, shorten
from sfumato.schema import MISSING, UNKNOWN, Axis, Schema
from sfumato.schema.axis import AS_MISSING, CLIP
from sfumato.schema.numeric import GRID_TOLERANCE, NumericAxis

MAX_LINES = 2**24
"""Distinct rows that the driver takes."""
MAX_BROADCAST = 2**20
"""Lines of a table that every executor gets a copy of."""
ROWS_AT_ONCE = 2**18
"""Rows of people with several that one task has in memory."""
NUMBER = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$"
"""Text that every reader takes for the same number."""
ONE_SPELLING = r"^[!-~]([ -~]*[!-~])?$"
PERHAPS_NUMBER = r"^[+-]?\.?[0-9]"
FAILED = (PySparkException, Py4JError)
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SparkRows:
    """Rows that Spark reads; `reading` makes the frame, which refuses malformed lines unless they are to be lenient."""

    where: str
    reading: Callable[[bool], DataFrame]
    files: tuple[Path, ...] = ()

    def __fspath__(self) -> str:
        return self.where

    @classmethod
    def of(cls, source: Any) -> Self:
        """A Spark frame, or what `open_rows` made."""
        return source if isinstance(source, cls) else cls(where=FRAME, reading=lambda _: cast(DataFrame, source))

    def frame(self, columns: Sequence[str], *, lenient: bool = False) -> DataFrame:
        """All rows; the wanted columns must be there."""
        with refusing(self.where):
            frame = self.reading(lenient)
            refuse_duplicates(frame.columns, self.where)
            refuse_absent(columns, frame.columns, self.where)
            return frame

    @property
    def columns(self) -> list[str]:
        return self.frame([]).columns

    def lines(self, columns: Sequence[str]) -> tuple[pl.DataFrame, NDArray[np.int64]]:
        """The distinct rows of some columns, and how often each occurs."""
        wanted = [named(name).alias(f"column {number}") for number, name in enumerate(columns)]
        with refusing(self.where):
            counted = self.frame(columns).groupBy(*wanted).agg(sql.count(sql.lit(1)).alias("rows"))
            found = pl.concat(brought(counted, self.where, columns))
        lines = [found[f"column {number}"].alias(name) for number, name in enumerate(columns)]
        return pl.DataFrame(lines), found["rows"].to_numpy()


def open_rows(path: str, master: str | None = None) -> SparkRows:
    """A CSV or Parquet file, a folder of such files or a pattern, as Spark finds them."""
    session = start(master)
    local = "://" not in path and (session.sparkContext.master or "").startswith("local")
    address = os.path.abspath(path) if local else path
    try:
        found = sorted(map(unquote, session.read.text(address).inputFiles()))
    except FAILED as error:
        if getattr(error, "getCondition", str)() == "PATH_NOT_FOUND":
            raise DataError(f"{path}: the file does not exist") from error
        raise DataError(f"{path}: cannot be read as a table ({_reason(error)})") from error
    if not found:
        raise DataError(f"{path}: this is a folder without data")
    parquet = {name.lower().endswith((".parquet", ".pq")) for name in found}
    if len(parquet) > 1:
        raise DataError(f"{path}: these are files of several formats; give a pattern such as *.csv")
    own = tuple(Path(place) for place in map(_shown, found) if os.path.exists(place))
    if parquet == {True}:
        return SparkRows(where=path, reading=lambda _: session.read.parquet(address), files=own)
    with refusing(path):
        return SparkRows(where=path, reading=_delimited(session, path, address, found[0]), files=own)


def _delimited(session: SparkSession, path: str, address: str, first: str) -> Callable[[bool], DataFrame]:
    """How files of text are read: their separator and columns follow from the first line of the first."""
    line = session.read.text(first).first()
    text = (line[0] if line else "").removeprefix("\ufeff")
    separator = max(SEPARATORS, key=text.count)
    header = next(csv.reader([text], delimiter=separator), [])
    if not header:
        raise DataError(f"{path}: the first line is empty; expected the names of the columns")
    if "" in header:
        raise DataError(f"{path}: column {header.index('') + 1} has no name")
    refuse_duplicates(header, path)
    value = sql.col("value")
    opened = (sql.length(value) - sql.length(sql.replace(value, sql.lit('"'), sql.lit("")))) % 2 == 1
    several = not session.read.text(address).where(opened).limit(1).isEmpty()
    options: dict[str, Any] = {"sep": separator, "quote": '"', "escape": '"', "header": True, "multiLine": several}
    schema = kinds.StructType([kinds.StructField(name, kinds.StringType()) for name in header])

    def read(lenient: bool) -> DataFrame:
        mode = "PERMISSIVE" if lenient else "FAILFAST"
        more: dict[str, Any] = {"mode": mode, "enforceSchema": False, "columnPruning": False}
        return session.read.options(**options, **more).schema(schema).csv(address)

    return read


def start(master: str | None = None) -> SparkSession:
    """The session of this process, started quietly if there is none."""
    if (session := SparkSession.getActiveSession()) is not None:
        return session
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("sfumato")
    for name, setting in SETTINGS.items():
        builder = builder.config(name, setting)
    try:
        with _quiet():
            return (builder.master(master) if master else builder).getOrCreate()
    except (PySparkRuntimeError, OSError) as error:
        raise ParameterError(
            "Spark does not start; it needs Java 17 or newer, found as java or through JAVA_HOME"
        ) from error
    except FAILED as error:
        raise ParameterError(f"Spark does not start at {master or 'its own master'} ({_reason(error)})") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """What Java writes to standard error from its start to its end, which is no sentence for users, goes nowhere."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@contextmanager
def refusing(where: str) -> Iterator[None]:
    """What Spark cannot do with rows, in a sentence."""
    try:
        yield
    except FAILED as error:
        raise DataError(f"{where}: cannot be read as a table ({_reason(error)})") from error


def _reason(error: Exception) -> str:
    """The first line of what Spark says, of the innermost cause that says something."""
    told = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    causes = [line.removeprefix("Caused by:").strip() for line in told if line.startswith("Caused by:")]
    return shorten([told[0], *causes][-1], MAX_REASON)


def named(name: str) -> Column:
    """A column, whatever signs are in its name."""
    return sql.col(f"`{name.replace('`', '``')}`")


def brought(frame: DataFrame, where: str, names: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
    """All rows to the driver in their order, part by part, at least one.

    Where they should be few, it is said of which columns they are; too many are refused.
    """
    with refusing(where), _held(frame) as held:
        part = sql.spark_partition_id()
        sizes = sorted(map(tuple, held.groupBy(part.alias("part")).agg(sql.count(sql.lit(1))).collect()))
        if names is not None and (rows := sum(size for _, size in sizes)) > MAX_LINES:
            _refuse_many(held, names, rows, where)
        if not sizes:
            yield as_frame(held.limit(0))
        while sizes:
            first, total = sizes[0][0], 0
            while sizes and (not total or total + sizes[0][1] <= pieces.ROWS_AT_ONCE):
                last, size = sizes.pop(0)
                total += size
            yield as_frame(held.where(part.between(first, last)))


def as_frame(frame: DataFrame) -> pl.DataFrame:
    """All rows of a Spark frame here."""
    return cast(pl.DataFrame, pl.from_arrow(frame.toArrow()))


def _refuse_many(held: DataFrame, names: Sequence[str], rows: int, where: str) -> None:
    """Say that there are too many distinct rows, and what makes them many."""
    several = held.agg(*(sql.approx_count_distinct(named(name)) for name in held.columns[: len(names)])).first()
    assert several is not None
    most = sorted(zip(several, names, strict=True), reverse=True)[:3]
    shown = ", ".join(f"{name} (about {count:,} values)" for count, name in most)
    raise DataError(
        f"{where}: {rows:,} distinct rows are more than the {MAX_LINES:,} that fit the driver; declare a larger step, "
        f"edges or coarsen for the columns with most values, or leave one out: {shown}"
    )


@contextmanager
def _held(frame: DataFrame) -> Iterator[DataFrame]:
    """Rows that are gone through several times, kept where Spark keeps such."""
    held = frame.persist()
    try:
        yield held
    finally:
        with suppress(*FAILED):
            held.unpersist()


class _Used(NamedTuple):
    """Rows that are used, and what was found out about people on the way."""

    rows: DataFrame
    repeated: int = 0
    unowned: int = 0


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
        counts.add(columns, **{name: lines[f"{name}"].to_numpy() for name in ("rows", "first")})
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
                yield from brought(rows.orderBy(*map(named, rows.columns)), self.where)

        return Parts(joined)

    def _code(self, axis: Axis) -> str:
        """The column of codes by arithmetic; that of values as they are spelled has the same number."""
        return f"code {self.schema.axes.index(axis)}"

    def _raw(self, axis: Axis) -> str:
        return f"raw {self.schema.axes.index(axis)}"

    @cached_property
    def _frame(self) -> DataFrame:
        schema = self.schema
        person = [schema.person_column] if schema.person_column else []
        wanted = [*(axis.name for axis in schema.axes), *schema.keep, *person]
        frame = self.source.frame(wanted, lenient=not schema.keep and not schema.refusing)
        for axis in schema.axes:
            if isinstance(kind := frame.schema[axis.name].dataType, kinds.ArrayType | kinds.MapType | kinds.StructType):
                raise DataError(
                    f"{self.where}, column {axis.name!r}: {kind.simpleString()} is not a type of plain values"
                )
        return frame

    @cached_property
    def _cells(self) -> list[Column]:
        """For each axis its code, where that is arithmetic, and the value as it is spelled, where it is not."""
        found = []
        for axis in self.schema.axes:
            raw, kind = named(axis.name), self._frame.schema[axis.name].dataType
            if isinstance(axis, NumericAxis) and isinstance(kind, kinds.NumericType):
                found.append(_on_axis(axis, raw.cast("double"), self.schema.missing).alias(self._code(axis)))
                continue
            if isinstance(axis, NumericAxis) and isinstance(kind, kinds.StringType):
                number = sql.trim(raw).rlike(NUMBER)
                code = _on_axis(axis, raw.try_cast("double"), self.schema.missing)
                found.append(sql.when(number, code).alias(self._code(axis)))
                raw = sql.when(~number, raw)
            found.append(raw.alias(self._raw(axis)))
        return found

    @cached_property
    def _lines(self) -> tuple[pl.DataFrame, int, int]:
        """The distinct lines of cells and how often each occurs, and what was found out about people."""
        with refusing(self.where), self._used() as used:
            names = [name for name in used.rows.columns if name.startswith(("code ", "raw "))]
            counted = used.rows.groupBy(*map(named, names)).agg(
                sql.count(sql.lit(1)).alias("rows"), sql.sum("first").cast("long").alias("first")
            )
            axes = [self.schema.axes[int(name.split()[1])].name for name in names]
            return pl.concat(brought(counted, self.where, axes)), used.repeated, used.unowned

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
        cells = self._frame.select(*self._cells, named(axis.name).alias("value"), sql.input_file_name().alias("file"))
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
        refuse_value(raw, code, 0, axis, _shown(unquote(found["file"][0])) or self.where)

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

    @contextmanager
    def _used(self) -> Iterator[_Used]:
        """The rows that are used, with the columns to keep; whether each is the first of its person; and the tally."""
        kept = [named(name).alias(f"keep {number}") for number, name in enumerate(self.schema.keep)]
        if self.schema.person_column is None:
            yield _Used(self._frame.select(*self._cells, *kept, sql.lit(1).alias("first")))
            return
        person = named(self.schema.person_column).alias("person")
        with _held(self._frame.select(*self._cells, *kept, person)) as rows:
            owned = self._named(rows)
            with _held(owned.groupBy("name").count()) as counts:
                known = sql.col("name").isNotNull()
                several = known & (sql.col("count") > 1)
                tally = [sql.when(~known, sql.col("count")), sql.when(several, 1), sql.when(several, sql.col("count"))]
                found = counts.agg(*(sql.coalesce(sql.sum(each), sql.lit(0)) for each in tally)).first()
                assert found is not None
                unowned, repeated, many = map(int, found)
                owned = owned.where(known)
                if not repeated:
                    yield _Used(owned.withColumn("first", sql.lit(1)), repeated, unowned)
                    return
                names = counts.where(several).select("name")
                once = owned.join(names, "name", "left_anti").withColumn("first", sql.lit(1))
                group = sql.pmod(sql.xxhash64("name"), sql.lit(-(-many // ROWS_AT_ONCE)))
                with _whatever_pandas():
                    chosen = (
                        owned.join(names, "name", "left_semi")
                        .groupBy(group)
                        .applyInArrow(_choosing(self.schema, self.where, self.only_first), once.schema)
                    )
                yield _Used(once.unionByName(chosen), repeated, unowned)

    def _named(self, rows: DataFrame) -> DataFrame:
        """Rows with the one name of whose they are, or nothing."""
        kind, person = rows.schema["person"].dataType, sql.col("person")
        text = person.cast("string")
        one = sql.lit(isinstance(kind, kinds.IntegralType))
        if isinstance(kind, kinds.StringType):
            number = text.rlike(PERHAPS_NUMBER) & ~text.rlike(SHORTEST) & ~text.rlike(LEADING_ZERO)
            one = text.rlike(ONE_SPELLING) & ~number
        one = person.isNull() | one
        name = sql.when(~text.isin(names_of_nobody(self.schema.missing)), text).alias("name")
        plain, others = rows.where(one).select("*", name), rows.where(~one)
        if others.limit(1).isEmpty():
            return plain
        place = f"{self.where}, column {self.schema.person_column!r}"
        with _whatever_pandas():
            return plain.unionByName(others.mapInArrow(_naming(self.schema.missing, place), plain.schema))


def _on_axis(axis: NumericAxis, number: Column, missing: tuple[str, ...]) -> Column:
    """The code of a number where `Axis.place` puts it, as `NumericAxis.encode` computes it."""
    if axis.edges:
        inside = (number >= axis.edges[0]) & (number < axis.edges[-1])
        nearest = _bin(number, axis.edges, 0, axis.size)
    else:
        steps = (number - float(axis.minimum)) / float(axis.step)
        rounded = sql.rint(steps)
        inside = (sql.abs(steps - rounded) <= GRID_TOLERANCE) & (rounded >= 0) & (rounded < axis.size)
        nearest = sql.least(sql.greatest(rounded, sql.lit(0.0)), sql.lit(float(axis.size - 1))).cast("int")
    absent = number.isNull() | sql.isnan(number) | number.isin(*map(float, spelled_numbers(missing)))
    off = {CLIP: nearest, AS_MISSING: sql.lit(MISSING)}.get(axis.off_schema, sql.lit(UNKNOWN))
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
        raw, code = f"raw {number}", f"code {number}"
        if raw not in lines.columns:
            found.append(lines[code].alias(axis.name))
            continue
        spelled = encode_values(lines[raw], axis, schema.missing, where)
        found.append(lines[code].fill_null(spelled).alias(axis.name) if code in lines.columns else spelled)
    return pl.DataFrame(found)


def _choosing(schema: Schema, where: str, only_first: bool) -> Callable[[pa.Table], pa.Table]:
    """Takes rows of people with several, of some people all; leaves those that are used, and values that do not fit,
    which are refused later."""

    def choose(table: pa.Table) -> pa.Table:
        rows = cast(pl.DataFrame, pl.from_arrow(table))
        codes = encode_lines(schema, rows, where)
        kept = pl.DataFrame([rows[f"keep {number}"].alias(name) for number, name in enumerate(schema.keep)])
        most = 1 if only_first else schema.rows_per_person
        first, used = (
            keep_rows_of_people(codes, kept, rows["name"], limit, secret=schema.sensitive.name) for limit in (1, most)
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


@contextmanager
def _whatever_pandas() -> Iterator[None]:
    """Spark warns of a pandas that is newer than it knows, also where it uses none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def _shown(address: str) -> str:
    """The address of a file as its path, if it is one of this machine."""
    for start_of_path in ("file://", "file:"):
        if address.startswith(start_of_path):
            return address.removeprefix(start_of_path)
    return address
