"""What is asked of rows, wherever they are kept: two relational operations.

Everything else works on the cells that these return, so a method runs unchanged on every engine.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.schema import Axis


class Engine(Protocol):
    """Rows of codes, one for each axis (`MISSING` where there is no value), and columns to keep as they are."""

    @property
    def where(self) -> str:
        """Where the rows come from, for error messages."""

    def count_by_key(self, axes: Sequence[Axis]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The distinct rows of codes in rising order, (keys, axes), and how often each occurs."""

    def join_to_class(
        self, axes: Sequence[Axis], keys: NDArray[np.int32], class_of_key: NDArray[np.int64], value: Axis
    ) -> pl.DataFrame:
        """Every row as the class of its key (`box`), its code on another axis (`value`), and its kept columns.

        `keys` (keys, axes) are distinct and cover all rows. The result is sorted, so that its order tells nothing.
        """
