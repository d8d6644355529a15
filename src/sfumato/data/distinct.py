"""Distinct lines of a few columns, and how many rows are like each: all that flows and reports are counted from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.pieces import Unnumbered
from sfumato.data.source import is_on_spark, read_frame

Choose = Callable[[list[str], str], Sequence[str]]
"""The columns that are wanted of those that are there; the second argument is a name of the source for messages."""


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines, and how many rows each stands for: on Spark as many as are like it, elsewhere itself."""

    frame: pl.DataFrame
    rows: NDArray[np.int64]
    where: str

    @classmethod
    def read(cls, source: Any, choose: Choose, columns: Sequence[str] | None = None) -> Self:
        """The lines of a file, a frame, or what Spark reads; of other `columns`, if these are known, none is loaded."""
        if is_on_spark(source):
            from sfumato.data.spark import SparkRows  # Spark takes a second to import

            rows = SparkRows.of(source)
            return cls(*rows.lines(choose(rows.columns, rows.where)), Unnumbered(rows.where))
        frame, where = read_frame(source, columns)
        wanted = choose(frame.columns, where)
        return cls(frame.select(frame[name] for name in wanted), np.ones(frame.height, dtype=np.int64), where)
