"""Pieces of a table: so many rows as are in memory at a time, with the columns that are wanted."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars import selectors

from sfumato.errors import DataError, quote


class Piece(NamedTuple):
    """Rows that follow each other, how many of the same file came before, and what share of all is read then."""

    frame: pl.DataFrame
    before: int = 0
    done: float = 1.0
    where: str = ""

    def row(self, place: int) -> str:
        """A row as error messages name it."""
        return f"{self.where}, row {self.before + place + 1}"


class Unnumbered(str):
    """The name of a source whose rows come in no order, so that none has a number."""


def row_of(where: str, place: int, sign: str = ",") -> str:
    """A row of a source, or the source where rows have no numbers."""
    return str(where) if isinstance(where, Unnumbered) else f"{where}{sign} row {place + 1}"


ROWS_AT_ONCE = 2**21
"""Of a frame, and of a file that is not text."""


@dataclass(frozen=True, eq=False)
class Parts:
    """A table that is made part by part, anew each time it is gone through: all of it may not fit into memory."""

    make: Callable[[], Iterator[pl.DataFrame]]

    def __iter__(self) -> Iterator[pl.DataFrame]:
        return self.make()

    @property
    def whole(self) -> pl.DataFrame:
        """All of it."""
        return pl.concat(self, rechunk=True)

    def map(self, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Self:
        """Every part changed."""
        return type(self)(lambda: map(change, self))

    @classmethod
    def repeating(cls, times: NDArray[np.int64], lines: Callable[[NDArray[np.int64]], pl.DataFrame]) -> Self:
        """Rows of which each line stands there so many times; `lines` makes those with some numbers."""

        def make() -> Iterator[pl.DataFrame]:
            ends = np.cumsum(times)
            rows = int(ends[-1]) if len(ends) else 0
            for start in range(0, max(rows, 1), ROWS_AT_ONCE):
                stop = min(start + ROWS_AT_ONCE, rows)
                first, last = np.searchsorted(ends, (start, stop - 1), side="right")
                some = np.arange(first, last + 1)[:rows]
                inside = np.minimum(ends[some], stop) - np.maximum(ends[some] - times[some], start)
                yield lines(np.repeat(some, inside))

        return cls(make)


def stack(frames: Iterable[pl.DataFrame], where: str) -> pl.DataFrame:
    """Frames with the same columns, one below the other; refuses a column that changes its type."""
    return pl.concat(same_types(frames, where), rechunk=True)


def same_types(frames: Iterable[pl.DataFrame], where: str) -> Iterator[pl.DataFrame]:
    """The same frames as they come."""
    kinds: dict[str, pl.DataType] = {}
    for frame in frames:
        kinds = kinds or dict(frame.schema)
        for name, kind in kinds.items():
            if frame.schema[name] != kind:
                raise DataError(
                    f"{where}: the column {name!r} is {kind} in one file and {frame.schema[name]} in another"
                )
        yield frame


def select(
    lazy: pl.LazyFrame, present: Sequence[str], wanted: Sequence[str] | None, where: str, *extra: pl.Expr
) -> pl.LazyFrame:
    """The wanted columns of those that are present, and the extra ones."""
    refuse_duplicates(present, where)
    if wanted is None:
        return lazy.with_columns(*extra)
    refuse_absent(wanted, present, where)
    return lazy.select(selectors.by_name(*wanted), *extra)


def refuse_absent(wanted: Sequence[str], present: Sequence[str], where: str) -> None:
    """Refuse a table without a column that is wanted."""
    for name in wanted:
        if name not in present:
            shown = ", ".join(map(quote, present[:12]))
            raise DataError(f"{where}: the column {name!r} is missing; the file has {shown}")


def refuse_duplicates(names: Sequence[str], where: str) -> None:
    """Refuse two columns of one name."""
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise DataError(f"{where}: the column {quote(twice[0])} appears more than once")
