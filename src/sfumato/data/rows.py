"""The rows themselves, encoded: counted into cells once, and recoded once more where a release needs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.encode import encode_column
from sfumato.data.keys import pack
from sfumato.data.source import read_frame
from sfumato.errors import DataError
from sfumato.schema import Schema


@dataclass(frozen=True, eq=False)
class Rows:
    """Encoded rows: a code column per axis, and the columns to keep as they are."""

    schema: Schema
    codes: pl.DataFrame
    kept: pl.DataFrame
    where: str

    @staticmethod
    def read(source: Any, schema: Schema) -> Rows:
        """Read and encode the columns that matter; identifiers and ignored columns are never loaded."""
        names = [axis.name for axis in schema.axes]
        frame, where = read_frame(source, [*names, *schema.keep])
        codes = {axis.name: encode_column(frame[axis.name], axis, schema.missing, where) for axis in schema.axes}
        return Rows(schema, pl.DataFrame(codes), frame[list(schema.keep)], where)

    def count_cells(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The distinct rows of codes in rising order, (cells, axes), and how often each occurs."""
        cells = (
            pl.DataFrame({"key": self._keys()})
            .with_row_index("row")
            .group_by("key")
            .agg(pl.len().alias("weight"), pl.col("row").first())
            .sort("key")
        )
        codes = self.codes[cells["row"]].to_numpy().astype(np.int32)
        return codes, cells["weight"].to_numpy().astype(np.int64)

    def assigned(self, points: NDArray[np.int32], box_of_point: NDArray[np.int64]) -> pl.DataFrame:
        """Every row as its box, its sensitive code and its kept columns, sorted so that order tells nothing."""
        for name in self.kept.columns:
            if name in ("box", "value"):
                raise DataError(f"{self.where}: a column with role keep cannot be called {name!r}; rename it")
        stacked = [
            np.concatenate([points[:, i], self.codes[axis.name].to_numpy()]) for i, axis in enumerate(self.schema.quasi)
        ]
        keys = pack(stacked, [axis.size for axis in self.schema.quasi])
        point_of_row = np.searchsorted(keys[: len(points)], keys[len(points) :])
        box = pl.Series("box", box_of_point[point_of_row])
        value = self.codes[self.schema.sensitive.name].alias("value")
        return pl.DataFrame([box, value, *self.kept]).sort(pl.all())

    def _keys(self) -> NDArray[np.int64]:
        axes = self.schema.axes
        return pack([self.codes[axis.name].to_numpy() for axis in axes], [axis.size for axis in axes])
