"""What is asked of rows, wherever they are kept: two relational operations.

Everything else works on the cells that these return, so a method runs unchanged on every engine.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.encode import encode_column
from sfumato.data.formats import Reading
from sfumato.data.keys import pack
from sfumato.data.people import keep_rows_of_people
from sfumato.data.source import read_frame
from sfumato.data.text import as_names
from sfumato.errors import DataError
from sfumato.schema import Axis, Schema


class Engine(Protocol):
    """Rows of codes, one for each axis (`MISSING` where there is no value), and columns to keep as they are."""

    @property
    def where(self) -> str:
        """Where the rows come from, for error messages."""

    @property
    def one_each(self) -> "Engine | None":
        """The first row of each person, where there may be several."""

    @property
    def repeated(self) -> int:
        """How many people had several rows to begin with, where it is known whose a row is."""

    @property
    def unowned(self) -> int:
        """How many rows were left out because nothing says whose they are."""

    def count_by_key(self, axes: Sequence[Axis]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The distinct rows of codes in rising order, (keys, axes), and how often each occurs."""

    def join_to_class(
        self, axes: Sequence[Axis], keys: NDArray[np.int32], class_of_key: NDArray[np.int64], value: Axis
    ) -> pl.DataFrame:
        """Every row as the class of its key (`box`), its code on another axis (`value`), and its kept columns.

        `keys` (keys, axes) are distinct and cover all rows. The result is sorted, so that its order tells nothing.
        """


@dataclass(frozen=True, eq=False, kw_only=True)
class PolarsEngine:
    """Rows in memory, as Polars frames: a column of codes per axis, and the columns to keep as they are."""

    where: str
    codes: pl.DataFrame = field(repr=False)
    kept: pl.DataFrame = field(repr=False)
    one_each: Self | None = field(default=None, repr=False)
    repeated: int = 0
    unowned: int = 0

    @classmethod
    def read(cls, source: Any, schema: Schema) -> Self:
        """Read and encode the columns that matter, and forget whose a row is once the rows of people are chosen.

        Other identifiers and ignored columns are never loaded.
        """
        person = schema.person_column
        names = [*(axis.name for axis in schema.axes), *schema.keep, *([person] if person else [])]
        reading: Reading = "strict" if schema.keep else "lossy" if schema.refusing else "lenient"
        frame, where = read_frame(source, names, empty=True, reading=reading)
        codes = pl.DataFrame([encode_column(frame[axis.name], axis, schema.missing, where) for axis in schema.axes])
        kept = pl.DataFrame([frame[name] for name in schema.keep])
        if person is None:
            return cls(where=where, codes=codes, kept=kept)
        people = as_names(frame[person], schema.missing, f"{where}, column {person!r}")
        repeated = int((people.drop_nulls().value_counts()["count"] > 1).sum())
        about: dict[str, Any] = {"where": where, "repeated": repeated, "unowned": people.null_count()}
        secret = schema.sensitive.name
        first, beside = keep_rows_of_people(codes, kept, people, 1, secret=secret)
        one_each = cls(codes=first, kept=beside, **about)
        if schema.rows_per_person == 1:
            return one_each
        codes, kept = keep_rows_of_people(codes, kept, people, schema.rows_per_person, secret=secret)
        return cls(codes=codes, kept=kept, one_each=one_each, **about)

    def count_by_key(self, axes: Sequence[Axis]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        packed = pl.DataFrame({"key": self._pack(axes)}).with_row_index("row")
        counted = packed.group_by("key").agg(pl.len().alias("weight"), pl.col("row").first()).sort("key")
        keys = self.codes[[axis.name for axis in axes]][counted["row"]].to_numpy()
        return keys.astype(np.int32), counted["weight"].to_numpy().astype(np.int64)

    def join_to_class(
        self, axes: Sequence[Axis], keys: NDArray[np.int32], class_of_key: NDArray[np.int64], value: Axis
    ) -> pl.DataFrame:
        for name in self.kept.columns:
            if name in ("box", "value"):
                raise DataError(f"{self.where}: a column with role keep cannot be called {name!r}; rename it")
        packed = self._pack(axes, keys)
        class_of = pl.DataFrame({"key": packed[: len(keys)], "box": class_of_key})
        rows = pl.DataFrame({"key": packed[len(keys) :]}).join(class_of, on="key", how="left", maintain_order="left")
        return pl.DataFrame([rows["box"], self.codes[value.name].alias("value"), *self.kept]).sort(pl.all())

    def _pack(self, axes: Sequence[Axis], before: NDArray[np.int32] | None = None) -> NDArray[np.int64]:
        """The key of every row, and of the rows of codes given `before` them."""
        first = np.empty((0, len(axes)), dtype=np.int32) if before is None else before
        columns = [np.concatenate([first[:, i], self.codes[axis.name].to_numpy()]) for i, axis in enumerate(axes)]
        return pack(columns, [axis.size for axis in axes])
