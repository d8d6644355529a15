"""Rows of a recoded release: the class, the sensitive value, and the columns that are published as they are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.engine import Engine, spell_codes
from sfumato.data.pieces import Parts
from sfumato.errors import DataError
from sfumato.schema import Axis, Schema


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Rows with their class (`box`), the position of their sensitive value (`value`) and the columns to keep.

    They are joined anew each time they are gone through: all of them may not fit into memory.
    """

    classes: int
    join: Callable[[NDArray[np.int64]], Parts]
    """The rows sorted by the number that each class has, those of classes with a number below 0 left out."""

    @classmethod
    def of_engine(
        cls, rows: Engine, schema: Schema, points: NDArray[np.int32], class_of_point: NDArray[np.int64], count: int
    ) -> Self:
        """So many rows of an engine, at points of classes; those at points of no class (−1) are left out."""
        _refuse_overwritten(schema.keep, rows.where)
        return cls(int(class_of_point.max(initial=-1)) + 1, partial(_join, rows, schema, points, class_of_point, count))

    @classmethod
    def of_columns(
        cls, box: NDArray[np.int64], value: NDArray[np.integer], keep: pl.DataFrame, classes: int, where: str
    ) -> Self:
        """Rows that are in memory."""
        _refuse_overwritten(keep.columns, where)

        def join(number: NDArray[np.int64]) -> Parts:
            rows = pl.DataFrame([pl.Series("box", number[box]), pl.Series("value", value), *keep])
            return Parts(lambda: iter([rows.sort(pl.all())]))

        return cls(classes, join)

    @classmethod
    def of_codes(
        cls,
        box: NDArray[np.int64],
        value: NDArray[np.integer],
        keep: Mapping[Axis, NDArray[np.integer]],
        classes: int,
        where: str,
    ) -> Self:
        """The same, with the codes of the columns to keep in place of their spellings."""
        spelled = pl.DataFrame([spell_codes(codes, axis) for axis, codes in keep.items()])
        return cls.of_columns(box, value, spelled, classes, where)

    @property
    def whole(self) -> pl.DataFrame:
        """All rows."""
        return self.join(np.arange(self.classes)).whole


def _refuse_overwritten(keep: Sequence[str], where: str) -> None:
    for name in keep:
        if name in ("box", "value"):
            raise DataError(f"{where}: a column with role keep cannot be called {name!r}; rename it")


def _join(
    rows: Engine,
    schema: Schema,
    points: NDArray[np.int32],
    class_of_point: NDArray[np.int64],
    count: int,
    number: NDArray[np.int64],
) -> Parts:
    number_of_point = np.where(class_of_point >= 0, number[class_of_point], -1)

    def make() -> Iterator[pl.DataFrame]:
        found = 0
        for part in rows.join_to_class(schema.quasi, points, number_of_point, schema.sensitive):
            found += part.height
            yield part.filter(pl.col("box") >= 0)
        if found != count:
            raise DataError(f"{rows.where}: the rows are no longer those that were read")

    return Parts(make)
