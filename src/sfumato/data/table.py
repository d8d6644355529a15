"""A table of people as weighted cells on integer axes: all that methods, attacks and workloads look at.

Cells are the distinct combinations of quasi-identifiers and sensitive value, in the order of their codes, so
nothing downstream can depend on the order of rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.rows import Rows
from sfumato.errors import DataError
from sfumato.schema import Schema


@dataclass(frozen=True, eq=False, kw_only=True)
class Table:
    """Distinct points of the quasi-identifiers, and the rows at each by sensitive value.

    `points` (points, axes) rises lexicographically; `cell_point`, `cell_value` and `cell_weight` list the
    occupied (point, sensitive value) cells in order. The code of a missing sensitive value is the last one.
    """

    schema: Schema
    points: NDArray[np.int32]
    cell_point: NDArray[np.int64]
    cell_value: NDArray[np.int32]
    cell_weight: NDArray[np.int64]
    rows: Rows | None = None
    _memory: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def remember(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What `make` returns for this table, made once for each key."""
        if key not in self._memory:
            self._memory[key] = make()
        return self._memory[key]

    @property
    def n(self) -> int:
        """How many rows the table has."""
        return int(self.cell_weight.sum())

    @property
    def values(self) -> int:
        """How many sensitive values there can be, a missing one counted."""
        return self.schema.sensitive.positions

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """Rows at each point."""
        return np.bincount(self.cell_point, self.cell_weight, len(self.points)).astype(np.int64)

    @cached_property
    def cell_start(self) -> NDArray[np.int64]:
        """Where the cells of each point begin, and the end of the last."""
        return np.searchsorted(self.cell_point, np.arange(len(self.points) + 1))

    @cached_property
    def histograms(self) -> NDArray[np.int64]:
        """Rows at each point by sensitive value: (points, values)."""
        flat = self.cell_point * self.values + self.cell_value
        counts = np.bincount(flat, self.cell_weight, len(self.points) * self.values)
        return counts.astype(np.int64).reshape(-1, self.values)

    @cached_property
    def overall(self) -> NDArray[np.int64]:
        """Rows by sensitive value."""
        return np.bincount(self.cell_value, self.cell_weight, self.values).astype(np.int64)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of schema and cells, by which a stored trial knows its table."""
        digest = hashlib.sha256(json.dumps(self.schema.spec(), sort_keys=True).encode())
        for array in (self.points, self.cell_point, self.cell_value, self.cell_weight):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    def kept_rows(self, box_of_point: NDArray[np.int64]) -> pl.DataFrame | None:
        """The rows with their boxes and the columns to keep as they are, where there are any."""
        return self.rows.assigned(self.points, box_of_point) if self.rows and self.schema.keep else None

    def without_rows(self) -> Table:
        """The same cells without the rows behind them, light enough to send to another process."""
        return Table(
            schema=self.schema,
            points=self.points,
            cell_point=self.cell_point,
            cell_value=self.cell_value,
            cell_weight=self.cell_weight,
        )

    @staticmethod
    def from_rows(rows: Rows) -> Table:
        """Count the cells of encoded rows."""
        codes, weights = rows.count_cells()
        points, values = codes[:, :-1], codes[:, -1].copy()
        values[values < 0] = rows.schema.sensitive.size
        starts = np.ones(len(points), dtype=bool)
        starts[1:] = (points[1:] != points[:-1]).any(axis=1)
        table = Table(
            schema=rows.schema,
            points=np.ascontiguousarray(points[starts]),
            cell_point=np.cumsum(starts) - 1,
            cell_value=values.astype(np.int32),
            cell_weight=weights,
            rows=rows,
        ).sorted_cells()
        if np.count_nonzero(table.overall) < 2:
            raise DataError(
                f"{rows.where}: the sensitive column {rows.schema.sensitive.name!r} holds one value only; "
                "there is nothing to protect"
            )
        return table

    def sorted_cells(self) -> Table:
        """The cells ordered by point, then value (a missing sensitive value comes last)."""
        order = np.lexsort((self.cell_value, self.cell_point))
        return Table(
            schema=self.schema,
            points=self.points,
            rows=self.rows,
            cell_point=self.cell_point[order],
            cell_value=self.cell_value[order],
            cell_weight=self.cell_weight[order],
        )


def read(source: Any, schema: Schema | Path | str) -> Table:
    """The table in a file or data frame, as its schema (or the path of one) declares it."""
    if not isinstance(schema, Schema):
        schema = Schema.load(schema)
    return Table.from_rows(Rows.read(source, schema))
