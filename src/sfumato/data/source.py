"""Where rows come from: files of any known format, and data frames of other libraries.

Everything arrives as Polars frames with the wanted columns only, piece by piece.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import Any, Self, cast

import polars as pl

from sfumato.data import pieces
from sfumato.data.databases import read_database
from sfumato.data.delimited import Reading
from sfumato.data.formats import encoding_advice, endings, find_format, read_pieces
from sfumato.data.opening import PART, USUAL, Opening, hide_secrets, is_address, split_part
from sfumato.data.pieces import Piece, refuse_duplicates, select, stack
from sfumato.data.text import UNREADABLE, column_of
from sfumato.errors import DataError, ParameterError, shorten

FRAME = "the data frame"
OWN_TYPES = "biufM"
"""Kinds of NumPy types whose values a column holds cell by cell: truth values, numbers, dates and times."""
WILD = "*?["
"""Signs in a path that stand for several files."""


def is_on_spark(source: Any) -> bool:
    """Whether a source is a frame of Spark's, or files that it opened; found out without loading Spark."""
    return type(source).__module__.startswith(("pyspark.", "sfumato.data.spark"))


def read_frame(
    source: Any, columns: Sequence[str] | None = None, *, empty: bool = False, reading: Reading = "strict"
) -> tuple[pl.DataFrame, str]:
    """The rows of a source with the wanted columns (all if `None`), and a name for error messages.

    A source without rows is refused unless it may be `empty`; `reading` says what else is refused.
    """
    rows = Source.of(source)
    found = rows.pieces(columns, empty=empty, reading=reading)
    return stack([piece.frame for piece in found], rows.where), rows.where


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Source:
    """Rows that can be gone through any number of times, piece by piece: files, one after the other, or a frame."""

    where: str
    files: tuple[Path, ...] = ()
    frame: pl.DataFrame | None = None
    address: str = ""
    """Of a table in a database; it can hold a password."""
    opening: Opening = USUAL

    @classmethod
    def of(cls, source: Any, *, encoding: str | None = None, delimiter: str | None = None) -> Self:
        """A file, all files in a folder or of a pattern such as `part-*.parquet`, or a data frame of any library.

        A sheet stands behind its workbook (`people.xlsx#2024`), a table or query behind the address of its database.
        """
        opening = Opening(encoding=encoding, delimiter=delimiter)
        if isinstance(source, str | Path) and not is_address(source):
            path, part = _split(Path(source))
            return cls(where=str(Path(source)), files=find_files(path), opening=replace(opening, part=part))
        if opening != USUAL:
            raise ParameterError("encoding and delimiter say how a file of text is read; this is no such file")
        if isinstance(source, cls):
            return source
        if isinstance(source, str):
            return cls(where=hide_secrets(source), address=source)
        source = source.collect() if isinstance(source, pl.LazyFrame) else source
        return cls(where=FRAME, frame=source if isinstance(source, pl.DataFrame) else _convert(source))

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(self._sizes)

    @cached_property
    def _sizes(self) -> list[int]:
        return [max(path.stat().st_size, 1) if path.exists() else 1 for path in self.files]

    def pieces(
        self, columns: Sequence[str] | None = None, *, empty: bool = False, reading: Reading = "strict"
    ) -> Iterator[Piece]:
        """The wanted columns of all rows, at least one piece."""
        if self.frame is not None:
            yield from _pieces_of(self.frame, columns, empty=empty)
            return
        if self.address:
            yield from self._from_database(columns, empty=empty)
            return
        rows, sizes = 0, self._sizes
        for number, path in enumerate(self.files):
            several = len(self.files) > 1
            for piece in read_pieces(path, columns, empty=empty or several, reading=reading, opening=self.opening):
                rows += piece.frame.height
                done = (sum(sizes[:number]) + piece.done * sizes[number]) / sum(sizes)
                yield piece._replace(done=done, where=str(path) if several else self.where)
        if not rows and not empty:
            raise DataError(f"{self.where}: the files have no rows")

    def _from_database(self, columns: Sequence[str] | None, *, empty: bool) -> Iterator[Piece]:
        rows = 0
        for piece in read_database(self.address, columns):
            rows += piece.frame.height
            yield piece._replace(where=self.where)
        if not rows and not empty:
            raise DataError(f"{self.where}: the table has no rows")

    @property
    def name(self) -> str:
        """What it is called without its ending; of a table in a database, its name there."""
        before, part = split_part(self.where) if self.address or self.opening.part else (self.where, "")
        in_base = bool(self.address and part) and not any(sign.isspace() or sign == "/" for sign in part)
        return part if in_base else Path(before).name.split(".", 1)[0]

    @property
    def advice(self) -> str:
        """What to say of files whose bytes were spelled out, because their encoding is not known."""
        return next(filter(None, (encoding_advice(path, self.opening) for path in self.files)), "")


def _split(path: Path) -> tuple[Path, str]:
    """A file and the part of it that is meant; a sign in the name of a file that is there belongs to the name."""
    if PART not in path.name or path.exists():
        return path, ""
    name, part = split_part(path.name)
    return (path.with_name(name), part) if name else (path, "")


def find_files(path: Path) -> tuple[Path, ...]:
    """The files that a path stands for, in the order of their names; those that begin with `_` or `.` are no data."""
    if path.is_dir():
        found = [each for each in path.iterdir() if each.name[0] not in "._"]
        for each in sorted(found):
            if not find_format(each):
                raise DataError(
                    f"{path}: this is a folder, and {each.name} is no {endings()}; give a pattern such as *.csv"
                )
        if not found:
            raise DataError(f"{path}: this is a folder without data; expected files such as {endings()} in it")
    elif any(sign in path.name for sign in WILD) and not path.exists():
        beside = path.parent.iterdir() if path.parent.is_dir() else ()
        found = [each for each in beside if fnmatch(each.name, path.name) and each.name[0] not in "._"]
        if not found:
            raise DataError(f"{path}: no file has such a name")
    else:
        found = [path]
    return tuple(sorted(found))


def _pieces_of(frame: pl.DataFrame, columns: Sequence[str] | None, *, empty: bool) -> Iterator[Piece]:
    if frame.height == 0 and not empty:
        raise DataError(f"{FRAME} has no rows")
    frame = select(frame.lazy(), frame.columns, columns, FRAME).collect()
    for start in range(0, max(frame.height, 1), pieces.ROWS_AT_ONCE):
        part = frame[start : start + pieces.ROWS_AT_ONCE]
        yield Piece(part, start, (start + part.height) / max(frame.height, 1), FRAME)


def _convert(source: Any) -> pl.DataFrame:
    arrow = type(source).__module__.startswith("pyarrow")
    refuse_duplicates([str(name) for name in getattr(source, "column_names" if arrow else "columns", [])], FRAME)
    if arrow and hasattr(source, "validate"):
        refuse_invalid(source, FRAME)
    try:
        if isinstance(source, Mapping):
            return pl.DataFrame({name: _column(values) for name, values in source.items()})
        if hasattr(source, "dtypes"):
            return pl.DataFrame({str(name): _column(source[name]) for name in source.columns})
        if isinstance(source, list | tuple | Iterator):
            rows = [_fields(row) for row in source]
            names = dict.fromkeys(name for row in rows for name in row if _is_text(name))
            return pl.DataFrame({name: column_of([row.get(name) for row in rows]) for name in names})
        return pl.DataFrame(source)
    except UNREADABLE as error:
        raise DataError(
            f"cannot read a table from {type(source).__name__}; expected a path or a pandas, Polars or Arrow frame"
        ) from error


def refuse_invalid(table: Any, where: str) -> None:
    """Refuse an Arrow table with values that its types cannot hold, such as text that is not UTF-8."""
    try:
        table.validate(full=True)
    except ValueError as error:
        raise DataError(f"{where} holds what its types cannot ({shorten(str(error).splitlines()[0])})") from error


def _fields(row: Any) -> Mapping[Any, Any]:
    """The cells of a row by name: a mapping, a named tuple or a data class."""
    if isinstance(row, Mapping):
        return row
    if is_dataclass(row):
        return {field.name: getattr(row, field.name) for field in fields(row)}
    if hasattr(row, "_asdict"):
        return cast(Mapping[Any, Any], row._asdict())
    raise TypeError("a row whose cells have no names")


def _is_text(name: Any) -> bool:
    """Whether this can be the name of a column."""
    return isinstance(name, str) and name == name.encode(errors="ignore").decode()


def _column(values: Any) -> Any:
    """Values that may be of several types cell by cell; columns that declare a plain type as they are."""
    if isinstance(values, pl.Series | Mapping | str) or not isinstance(values, Iterable):
        return values
    if getattr(getattr(values, "dtype", None), "kind", "O") in OWN_TYPES:
        try:
            return pl.Series(values)
        except UNREADABLE:
            pass  # A type of another library's own.
    cells = getattr(values, "tolist", None) or getattr(values, "to_pylist", None)
    return column_of(cells() if cells else list(values))
