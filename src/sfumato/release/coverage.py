"""How a set of conditions lies to the boxes of a release: which boxes are inside, which are touched, how much of each.

Conditions allow runs of codes on every axis, each axis by itself; so a box is inside if it is on every axis, is touched
if it is on every axis, and the share of it that is allowed is a product over the axes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sfumato.estimation.shape import TINY, Side
from sfumato.release.codes import allowed_in, lie
from sfumato.release.content import Content
from sfumato.schema.codes import Codes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Coverage:
    """Conditions on the quasi-identifiers, held against the boxes of a release."""

    release: Content
    allowed: Sequence[Codes]
    inside: NDArray[np.bool_]
    touched: NDArray[np.bool_]

    @classmethod
    def of(cls, release: Content, allowed: Sequence[Codes]) -> Self:
        """Conditions on every quasi-identifier of the release."""
        return cls(release, allowed, *lie(release.sides, allowed))

    def rows(self, chosen: NDArray[np.bool_]) -> float:
        """The estimated rows that satisfy the conditions and have a chosen sensitive value."""
        counts = self.release.counts
        sure = counts[self.inside][:, chosen].sum()
        partly = self.touched & ~self.inside
        if not partly.any():
            return float(sure)
        by_class = self.release.shape.rows_by_class(counts, chosen)[partly]
        return float(sure + (by_class * self.shares(partly)).sum())

    def histogram(self) -> Floats:
        """The estimated rows that satisfy the conditions, by sensitive value."""
        return np.array([self.rows(chosen) for chosen in np.eye(self.release.histograms.shape[1], dtype=bool)])

    def shares(self, some: NDArray[np.bool_]) -> Floats:
        """The share of some boxes that the conditions allow, for each class of the shape: (boxes, classes)."""
        shape = self.release.shape
        share, at_ends = np.ones((len(shape.values), int(some.sum()))), self.release.at_ends[some]
        for whole, codes, spread in zip(self.release.sides, self.allowed, shape.spreads, strict=True):
            side = Side(whole.lo[some], whole.hi[some], whole.missing[some], whole.size)
            between = allowed_in(side, codes, spread.up_to) / np.maximum(spread.inside(side), TINY)
            ends, allowed = _ends(side, codes)
            share *= np.minimum(between, 1) * (1 - ends * at_ends) + allowed * at_ends
        return share.T


def _ends(side: Side, codes: Codes) -> tuple[Integers, Integers]:
    """How many ends the range of each box has (lowest, highest and missing value), and how many are allowed."""
    lowest, highest = side.lo <= side.hi, side.lo < side.hi
    allowed = [codes.hold(end.astype(np.int32)) for end in (side.lo, side.hi)]
    ends = lowest.astype(np.int64) + highest + side.missing
    return ends, (lowest & allowed[0]).astype(np.int64) + (highest & allowed[1]) + (side.missing & codes.missing)
