"""Boxes: an interval per quasi-identifier, and whether missing values are in it.

Published classes, exact points, queries and large populations are all boxes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.schema import Axis, Span


class BoxArrays(NamedTuple):
    """Boxes as compiled loops take them, each array (boxes, axes)."""

    lo: NDArray[np.int32]
    hi: NDArray[np.int32]
    missing: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Boxes:
    """`lo`, `hi` and `missing`, each (boxes, axes); `lo > hi` where only the missing value is inside."""

    lo: NDArray[np.int32]
    hi: NDArray[np.int32]
    missing: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.lo)

    def __getitem__(self, chosen: NDArray[np.generic] | slice) -> Self:
        return type(self)(self.lo[chosen], self.hi[chosen], self.missing[chosen])

    @property
    def arrays(self) -> BoxArrays:
        """`lo`, `hi` and `missing`, as compiled loops take them."""
        return BoxArrays(self.lo, self.hi, self.missing)

    @cached_property
    def widths(self) -> NDArray[np.int64]:
        """How many positions of each axis a box covers: (boxes, axes)."""
        return self.hi.astype(np.int64) - self.lo + 1 + self.missing

    @cached_property
    def are_points(self) -> NDArray[np.bool_]:
        """Which boxes hold a single combination of values."""
        return np.asarray((self.widths == 1).all(axis=1))

    def span(self, box: int, axis: int) -> Span:
        """The generalized value of one box on one axis."""
        return Span(int(self.lo[box, axis]), int(self.hi[box, axis]), bool(self.missing[box, axis]))

    def labels(self, axis: Axis, position: int) -> list[str]:
        """The published label of every box on the axis at `position`."""
        return [axis.label(self.span(box, position)) for box in range(len(self))]

    @classmethod
    def of_points(cls, points: NDArray[np.int32]) -> Self:
        """One box around each point."""
        missing = points < 0
        return cls(np.where(missing, 0, points), points.copy(), missing)

    @classmethod
    def of_spans(cls, spans: Sequence[Sequence[Span]] | NDArray[np.int32]) -> Self:
        """Boxes from generalized values, a sequence of spans for each box."""
        array = np.asarray(spans, dtype=np.int32)
        return cls(array[..., 0].copy(), array[..., 1].copy(), array[..., 2].astype(bool))

    @classmethod
    def whole(cls, axes: Sequence[Axis]) -> Self:
        """The one box that covers the whole domain."""
        return cls.of_spans([[axis.everything for axis in axes]])

    @classmethod
    def around(cls, points: NDArray[np.int32], group_of: NDArray[np.int64], groups: int) -> Self:
        """The tightest box around the points of each group."""
        order = np.argsort(group_of, kind="stable")
        starts = np.searchsorted(group_of[order], np.arange(groups))
        codes = points[order]
        absent = codes < 0
        lo = np.minimum.reduceat(np.where(absent, np.iinfo(np.int32).max, codes), starts, axis=0)
        hi = np.maximum.reduceat(codes, starts, axis=0)
        return cls(np.where(hi < 0, 0, lo), hi, np.logical_or.reduceat(absent, starts, axis=0))
