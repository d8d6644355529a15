"""Several sensitive columns as one axis: every combination of their values is one value, counted like digits.

So whatever looks at the histogram of one sensitive attribute looks at that of several, and a column by itself is a sum
over the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.schema.axis import Axis
from sfumato.schema.taxonomy import Node, flat_tree

BETWEEN = " and "
"""Joins the names and labels of columns."""


@dataclass(frozen=True, kw_only=True)
class JointAxis(Axis):
    """The combinations of the positions of `columns`, the last column changing fastest; none of them is missing."""

    kind: ClassVar[str] = "joint"
    columns: tuple[Axis, ...]

    @classmethod
    def of(cls, columns: Sequence[Axis]) -> Axis:
        """The axis of some columns, which of a single one is its own."""
        return columns[0] if len(columns) == 1 else cls(name=joined(columns), columns=tuple(columns))

    @property
    def parts(self) -> tuple[Axis, ...]:
        return self.columns

    @property
    def size(self) -> int:
        return prod(axis.positions for axis in self.columns)

    @property
    def taxonomy(self) -> Node:
        return flat_tree(self.labels)

    @property
    def expected(self) -> str:
        return BETWEEN.join(axis.expected for axis in self.columns)

    @cached_property
    def secret(self) -> NDArray[np.bool_]:
        """A combination is a secret if it holds one."""
        found = np.zeros(1, dtype=bool)
        for axis in self.columns:
            found = np.logical_or.outer(found, axis.secret).reshape(-1)
        return found

    @cached_property
    def labels(self) -> list[str]:
        found = [""]
        for axis in self.columns:
            found = [f"{before}{BETWEEN if before else ''}{label}" for before in found for label in axis.labels]
        return found

    def spec(self) -> dict[str, Any]:
        return {"kind": self.kind, "columns": {axis.name: axis.spec() for axis in self.columns}}

    def encode(self, values: object) -> NoReturn:
        self._refuse()

    def _stand_ins(self, codes: object, values: object) -> NoReturn:
        self._refuse()

    def _spell(self, lo: int, hi: int) -> NoReturn:
        self._refuse()

    def _parse_values(self, text: str) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise DataError(f"{self.name!r} are several columns; each is read and spelled by itself")


def joined(columns: Sequence[Axis]) -> str:
    """The names of some columns in a sentence."""
    return BETWEEN.join(axis.name for axis in columns)
