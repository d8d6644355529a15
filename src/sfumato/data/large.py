"""A table with more cells than fit into memory: they stay where they are, and come in parts or rounded down.

What asks for the points of such a table is refused with the sentence that says how many lines there are. What can do
with less asks for `rounded` cells, divides them into regions, and has each region looked at where its cells are.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.data.kept import KeptRows
from sfumato.data.table import Table, marks_of, mixed
from sfumato.errors import DataError
from sfumato.schema import Axis, Schema

Grower = Callable[[Table], NDArray[np.int64]]
"""Puts the points of a region into classes, numbered from 0."""
IN_MEMORY = ("points", "cell_point", "cell_value", "cell_weight")


class Rounded(NamedTuple):
    """Cells with their quasi-identifiers rounded down, and how many cells lie at each point of these."""

    table: Table
    cells: NDArray[np.int64]
    steps: tuple[int, ...]
    """To whole multiples of which codes were rounded."""


class Classes(NamedTuple):
    """The tightest box around each class, in rising order, and its rows by sensitive value, cell by cell."""

    lo: NDArray[np.int32]
    hi: NDArray[np.int32]
    missing: NDArray[np.bool_]
    number: NDArray[np.int64]
    value: NDArray[np.int64]
    rows: NDArray[np.int64]
    kept: KeptRows | None


class FarCells(Protocol):
    """Cells that are kept elsewhere."""

    @property
    def most(self) -> int:
        """How many cells fit into memory."""

    @property
    def overall(self) -> NDArray[np.int64]:
        """Rows by sensitive value."""

    @property
    def digest(self) -> str:
        """Tells whether two tables have the same rows."""

    @property
    def one_each(self) -> "FarCells":
        """The cells of the first row of each person."""

    def rounded(self) -> Rounded:
        """As fine as fits into memory."""

    def grow(self, rounded: Rounded, region_of_point: NDArray[np.int64], grower: Grower) -> Classes:
        """The classes that each region is divided into; regions are made of rounded points."""


class LargeTable(Table):
    """A table whose cells are elsewhere."""

    far: FarCells
    refusal: str

    def __init__(
        self,
        *,
        schema: Schema,
        far: FarCells,
        refusal: str,
        files: tuple[Path, ...] = (),
        derived: str = "",
        repeated: int = 0,
        unowned: int = 0,
        looks: list[str] | None = None,
    ) -> None:
        fields = {"schema": schema, "far": far, "refusal": refusal, "files": files, "derived": derived}
        people: dict[str, Any] = {"repeated": repeated, "unowned": unowned, "placed": {}}
        people |= {"_looks": [] if looks is None else looks, "_memory": {}}
        for name, value in (fields | people).items():
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name in IN_MEMORY:
            raise DataError(self.refusal)
        raise AttributeError(name)

    @property
    def n(self) -> int:
        return int(self.overall.sum())

    @cached_property
    def overall(self) -> NDArray[np.int64]:
        return self.far.overall

    @cached_property
    def digest(self) -> str:
        return self.far.digest

    @cached_property
    def people(self) -> Self:
        if self.schema.rows_per_person == 1:
            return self
        return type(self)(
            schema=self.schema,
            far=self.far.one_each,
            refusal=self.refusal,
            files=self.files,
            derived=self.derived,
            repeated=self.repeated,
            unowned=self.unowned,
            looks=self._looks,
        )

    def without_rows(self) -> Self:
        raise DataError(self.refusal)


@dataclass(frozen=True)
class Digest:
    """What tells two large tables apart, added up in any order: it is another one than that of cells in memory."""

    sums: tuple[int, int] = (0, 0)

    @classmethod
    def of(cls, axes: Sequence[Axis], columns: Sequence[NDArray[np.integer]], rows: NDArray[np.int64]) -> Self:
        """Of cells that are listed once each."""
        marks, times = marks_of(axes, columns), rows.astype(np.uint64)
        once, again = mixed(marks), mixed(marks ^ np.uint64(0xA5A5A5A5A5A5A5A5))
        return cls((int((once * times).sum()), int((again * times).sum())))

    def __add__(self, other: "Digest") -> "Digest":
        one, two = ((a + b) % 2**64 for a, b in zip(self.sums, other.sums, strict=True))
        return Digest((one, two))

    def text(self, axes: Sequence[Axis]) -> str:
        """Spelled as digests are."""
        names = json.dumps([sorted(axis.name for axis in axes), self.sums])
        return hashlib.sha256(names.encode()).hexdigest()
