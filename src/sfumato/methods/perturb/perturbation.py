"""What the methods share that change the quasi-identifiers of single rows: rows out of cells, and cells out of rows.

They promise nothing. Who is in the table, and with which sensitive value, stays as it was; how well people can still be
found is for the attacks to say, which look for everybody at the published point nearest to them.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.errors import ParameterError
from sfumato.mechanisms.noise import Source
from sfumato.methods.base import Method, refuse_kept_columns
from sfumato.methods.positions import positions_of
from sfumato.release.boxes import Boxes
from sfumato.release.histograms import histograms_of
from sfumato.release.release import Release
from sfumato.schema import Axis

Rows = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Perturbation(Method):
    """A method that changes the quasi-identifiers of every row by itself and leaves its sensitive value beside them."""

    randomized: ClassVar[bool] = True
    kind: ClassVar[str | None] = None
    """The kind of columns that are changed, all if it is not given."""

    def refuse(self, table: Table) -> None:
        super().refuse(table)
        refuse_kept_columns(table, f"{self.name} changes rows one by one, and the column would link them")
        if not self.changes(table):
            raise ParameterError(
                f"{self.name} changes {self.kind} quasi-identifiers, and {table.schema.name!r} has none; use another "
                "method"
            )

    @classmethod
    def changes(cls, table: Table) -> list[int]:
        """The quasi-identifiers that are changed."""
        return [number for number, axis in enumerate(table.schema.quasi) if cls.kind in (None, axis.kind)]

    @classmethod
    def suits(cls, table: Table) -> bool:
        """Whether a table is one that is not refused."""
        return not table.schema.keep and bool(cls.changes(table))

    def _publish(self, table: Table, source: Source) -> Release:
        point, value = np.repeat(table.cell_point, table.cell_weight), np.repeat(table.cell_value, table.cell_weight)
        positions = positions_of(table)[point].astype(np.int64)
        for number, column in self._changed(table, positions, source).items():
            positions[:, number] = column
        return release_of_rows(self, table, positions, value)

    @abstractmethod
    def _changed(self, table: Table, positions: Rows, source: Source) -> dict[int, Rows]:
        """The columns that change, by their number; `positions` (rows, axes) has missing values last."""


def release_of_rows(
    method: Method, table: Table, positions: NDArray[np.integer[Any]], value: NDArray[np.integer[Any]], **more: Any
) -> Release:
    """A release of rows at some positions with their sensitive values."""
    codes = np.where(positions == _sizes(table.schema.quasi), -1, positions).astype(np.int32)
    points, number = np.unique(codes, axis=0, return_inverse=True)
    histograms = histograms_of(number.reshape(-1), value, None, len(points), table.values)
    return method.make_release(table, Boxes.of_points(points), histograms, **more)


def _sizes(axes: Sequence[Axis]) -> Rows:
    return np.array([axis.size for axis in axes])
