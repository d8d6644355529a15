"""What Spark reads: files as it finds them, or a frame; and the distinct lines of a few columns."""

import csv
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast
from urllib.parse import unquote

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql import types as kinds

from sfumato.data.delimited import SEPARATORS
from sfumato.data.formats import CSV, PARQUET, find_format
from sfumato.data.pieces import refuse_absent, refuse_duplicates
from sfumato.data.source import FRAME
from sfumato.data.spark.bring import bring
from sfumato.data.spark.session import FAILED, named, reason, refusing, start
from sfumato.errors import DataError

TEXT = "the rows were read by Spark from text, of which one cell can decide how others are read"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SparkRows:
    """Rows that Spark reads; `reading` makes the frame, which refuses malformed lines unless they are to be lenient."""

    where: str
    reading: Callable[[bool], DataFrame]
    files: tuple[Path, ...] = ()
    derived: str = ""
    """How the rows were made of what lies there, if one person more could change many of them."""
    columns_of: Callable[[], Iterator[tuple[str, list[str]]]] = lambda: iter(())
    """The columns of every file, where some may lack what others have."""

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
            for file, present in self.columns_of():
                refuse_absent(columns, present, file)
            return frame

    @property
    def columns(self) -> list[str]:
        return self.frame([]).columns

    def lines(self, columns: Sequence[str]) -> tuple[pl.DataFrame, NDArray[np.int64]]:
        """The distinct rows of some columns, and how often each occurs."""
        wanted = [named(name).alias(f"column {number}") for number, name in enumerate(columns)]
        with refusing(self.where):
            counted = self.frame(columns).groupBy(*wanted).agg(sql.count(sql.lit(1)).alias("rows"))
            found = pl.concat(
                bring(counted, self.where, {name: sql.col(f"column {number}") for number, name in enumerate(columns)})
            )
        lines = [found[f"column {number}"].alias(name) for number, name in enumerate(columns)]
        return pl.DataFrame(lines), found["rows"].to_numpy()


def open_rows(path: str, master: str | None = None) -> SparkRows:
    """A CSV or Parquet file, a folder of such files or a pattern, as Spark finds them."""
    session = start(master)
    local = "://" not in path and (session.sparkContext.master or "").startswith("local")
    address = os.path.abspath(path) if local else path
    try:
        found = sorted(map(shown, session.read.text(address).inputFiles()))
    except FAILED as error:
        if getattr(error, "getCondition", str)() == "PATH_NOT_FOUND":
            raise DataError(f"{path}: the file does not exist") from error
        raise DataError(f"{path}: cannot be read as a table ({reason(error)})") from error
    if not found:
        raise DataError(f"{path}: this is a folder without data")
    parquet = {name.lower().endswith((".parquet", ".pq")) for name in found}
    if len(parquet) > 1:
        raise DataError(f"{path}: these are files of several formats; give a pattern such as *.csv")
    known = [(name, (find_format(Path(name)) or ("", CSV))[1]) for name in found]
    for name, kind in known:
        if kind not in (CSV, PARQUET):
            raise DataError(f"{name}: Spark reads CSV and Parquet here; leave out --engine spark for other files")
    own = tuple(Path(place) for place in found if os.path.exists(place))
    if parquet == {True}:

        def columns_of() -> Iterator[tuple[str, list[str]]]:
            for file in found if len(found) > 1 else ():
                here = os.path.exists(file)
                yield file, list(pl.read_parquet_schema(file)) if here else session.read.parquet(file).columns

        return SparkRows(where=path, reading=lambda _: session.read.parquet(address), files=own, columns_of=columns_of)
    with refusing(path):
        reading = _delimited(session, path, address, found[0])
        return SparkRows(where=path, reading=reading, files=own, derived=TEXT)


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


def shown(address: str) -> str:
    """The address of a file as its path, if it is one of this machine."""
    return unquote(address).removeprefix("file://").removeprefix("file:")
