"""How values spread inside boxes, as the boxes themselves tell: narrow ones say where values lie in wide ones.

A model of latent classes. A row belongs to class z with probability π_z, and given z its values are independent:
  Pr[x, s, z] = π_z p_z(s) Π_a p_za(x_a).
It is fitted to boxes with histograms by a few steps of expectation and maximization, from a start at which the class is
the sensitive value. Positions run over the values of an axis and then its missing value. Between two ends of
boxes nothing is known, and the spread is even.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

STEPS = 12
MAX_CLASSES = 24
PRIOR_ROWS = 0.5
"""Rows that are like everybody, in each class and for each piece of an axis or sensitive value."""
TINY = 1e-300


class Side(NamedTuple):
    """Boxes along one axis of `size` values: each covers `lo..hi`, and the missing value where `missing`."""

    lo: Integers
    hi: Integers
    missing: NDArray[np.bool_]
    size: int


@dataclass(frozen=True, eq=False)
class Spread:
    """Along one axis, the share of each class that lies below each of the `cuts`: `below` is (classes, cuts)."""

    cuts: Integers
    below: Floats

    def up_to(self, positions: Integers) -> Floats:
        """The share of each class below each position: (classes, positions)."""
        last = np.clip(np.searchsorted(self.cuts, positions, side="right") - 1, 0, len(self.cuts) - 2)
        part = (positions - self.cuts[last]) / np.diff(self.cuts)[last]
        return np.asarray(self.below[:, last] + part * (self.below[:, last + 1] - self.below[:, last]))

    def inside(self, side: Side) -> Floats:
        """The share of each class that lies in each box: (classes, boxes)."""
        absent = np.diff(self.up_to(np.array([side.size, side.size + 1])))
        return self.up_to(side.hi + 1) - self.up_to(side.lo) + absent * side.missing

    def find(self, shares: Floats) -> Integers:
        """The position at which each share of the first class is reached."""
        return np.floor(np.interp(shares, self.below[0], self.cuts)).astype(np.int64)


def spread_of_steps(starts: Integers, shares: Floats, size: int) -> Spread:
    """One class, with a share of it in each step of an axis of `size` values; even inside a step.

    The missing value is at `size`; where no step begins there, nothing is missing. Shares count up to a factor.
    """
    cuts, amounts = np.append(starts, size + 1), np.append(0.0, shares)
    if starts[-1] < size:
        cuts, amounts = np.insert(cuts, -1, size), np.append(amounts, 0.0)
    return Spread(cuts, np.cumsum(amounts)[None])


def even_spread(size: int) -> Spread:
    """One class, as much of it at every position as at any other."""
    return Spread(np.array([0, size + 1]), np.array([[0.0, 1.0]]))


@dataclass(frozen=True, eq=False)
class Shape:
    """A spread for each axis, how likely each class is in each box, and the sensitive values of the classes."""

    spreads: tuple[Spread, ...]
    likely: Floats  # (boxes, classes), up to a factor for each box
    values: Floats  # (classes, values)

    def rows_by_class(self, counts: Floats, worth: Floats | NDArray[np.bool_]) -> Floats:
        """The rows of each box by class, each worth what its sensitive value is, or one if that is chosen and nothing
        otherwise: (boxes, classes)."""
        chosen = worth != 0
        explained = counts[:, chosen] / np.maximum(self.likely @ self.values[:, chosen], TINY)
        return np.asarray(self.likely * ((explained * worth[chosen]) @ self.values[:, chosen].T))


class _Pieces:
    """The pieces into which the ends of boxes cut one axis, and which of them each box covers."""

    def __init__(self, side: Side, rows: Floats) -> None:
        self.side = side
        self.cuts = np.unique(np.concatenate([[0, side.size, side.size + 1], side.lo, side.hi + 1]))
        self.first, self.last = np.searchsorted(self.cuts, side.lo), np.searchsorted(self.cuts, side.hi + 1)
        widths = side.hi - side.lo + 1 + side.missing
        even = np.diff(self.cuts) * self.covering((rows / widths)[None])[0] + TINY
        self.overall = even / even.sum()

    def covering(self, amounts: Floats) -> Floats:
        """For each class, the sum of the amounts of the boxes that cover each piece: (classes, pieces)."""
        found = np.empty((len(amounts), len(self.cuts)))
        for row, amount in zip(found, amounts, strict=True):
            row[:] = np.bincount(self.first, amount, len(self.cuts)) - np.bincount(self.last, amount, len(self.cuts))
        covering = np.maximum(np.cumsum(found, axis=1)[:, :-1], 0)
        covering[:, -1] = amounts @ self.side.missing
        return covering

    def spread(self, shares: Floats) -> Spread:
        return Spread(self.cuts, np.pad(np.cumsum(shares, axis=1), ((0, 0), (1, 0))))

    def fit(self, rows: Floats) -> Spread:
        """p_z(x) ∝ p(x) (Σ_b rows_zb [x ∈ b] / p(b) + prior), p being everybody's spread; `rows` (classes, boxes)."""
        everywhere = self.spread(self.overall[None]).inside(self.side)
        prior = PRIOR_ROWS * len(self.overall)
        shares = self.overall * (self.covering(rows / np.maximum(everywhere, TINY)) + prior)
        return self.spread(shares / shares.sum(axis=1, keepdims=True))


def fit_shape(sides: list[Side], counts: Floats) -> Shape:
    """The shape that boxes with counts of sensitive values tell; `counts` (boxes, values) are not negative."""
    rows, overall = counts.sum(axis=1), counts.sum(axis=0) + TINY
    pieces = [_Pieces(side, rows) for side in sides]
    class_of, prior_values = _classes(overall), PRIOR_ROWS * len(overall) * overall / overall.sum()
    by_class = np.stack([counts[:, class_of == number].sum(axis=1) for number in range(class_of[-1] + 1)])
    for _ in range(STEPS):
        spreads = [piece.fit(by_class) for piece in pieces]
        likely = np.log(by_class.sum(axis=1) + 1) + sum(
            np.log(np.maximum(spread.inside(side), TINY)).T for spread, side in zip(spreads, sides, strict=True)
        )
        values = by_class @ (counts / np.maximum(rows, TINY)[:, None]) + prior_values
        shape = Shape(
            tuple(spreads),
            np.exp(likely - likely.max(axis=1, keepdims=True)),
            values / values.sum(axis=1, keepdims=True),
        )
        by_class = shape.rows_by_class(counts, np.ones(len(overall), dtype=bool)).T
    return shape


def told_shape(spreads: tuple[Spread, ...], counts: Floats) -> Shape:
    """The shape of boxes inside which all rows are spread alike, each axis by itself."""
    return Shape(spreads, np.ones((len(counts), 1)), np.ones((1, counts.shape[1])))


def _classes(overall: Floats) -> Integers:
    """The class in which each sensitive value starts; where there are many, neighbours start together."""
    if len(overall) <= MAX_CLASSES:
        return np.arange(len(overall))
    before = np.cumsum(overall) - overall / 2
    return np.unique(np.floor(before / overall.sum() * MAX_CLASSES), return_inverse=True)[1].reshape(-1)
