"""A forest of randomized trees on integer axes: what the rows of a release teach about people at given points.

Trees are grown and asked in one pass: the points to be judged travel down together with the examples. A numeric axis
is cut in two, a category's codes are dealt out to two sides; of a few random splits the one of least entropy is kept
(extremely randomized trees: Geurts, Ernst and Wehenkel, 2006). On the way down every node draws its distribution
towards that of the node above it, so that a few rows are never taken for certainty.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.schema import Axis

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False, kw_only=True)
class WeightedRows:
    """Rows to learn from: codes of the quasi-identifiers (-1 where missing), a sensitive code and a weight each."""

    codes: Codes
    values: NDArray[np.int64]
    weights: Floats

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, chosen: NDArray[np.generic]) -> "WeightedRows":
        return WeightedRows(codes=self.codes[chosen], values=self.values[chosen], weights=self.weights[chosen])


@dataclass(frozen=True, kw_only=True)
class Forest:
    """How many trees, how many splits each node tries, and how many rows a node's parent weighs beside its own."""

    trees: int = 20
    tries: int = 8
    least: float = 10.0
    strength: float = 10.0
    seed: int = 1

    def beliefs(self, axes: Sequence[Axis], rows: WeightedRows, points: Codes, values: int) -> Floats:
        """The mean over the trees of the distribution at each point: (points, values)."""
        ordered = np.array([axis.kind == "numeric" for axis in axes])
        return _ask(
            np.ascontiguousarray(rows.codes, dtype=np.int64),
            rows.values.astype(np.int64),
            rows.weights.astype(np.float64),
            np.ascontiguousarray(points, dtype=np.int64),
            ordered,
            values,
            (self.trees, self.tries, self.seed),
            (float(self.least), float(self.strength)),
        )


@compiled
def _goes_left(code: int, cut: int, mix: int, ordered: bool) -> bool:
    """A number by its size; a category by one bit of a random hash of its code."""
    if ordered:
        return code < cut
    return ((code + 2) * mix >> 31) & 1 == 1


@compiled
def _plogp(counts: NDArray[np.float64]) -> float:
    """Σ c ln c − N ln N, which is minus the entropy of all rows together."""
    total = found = 0.0
    for count in counts:
        if count > 0:
            found += count * math.log(count)
            total += count
    return found - total * math.log(total) if total > 0 else 0.0


@compiled
def _part(
    order: NDArray[np.int64], first: int, last: int, codes: NDArray[np.int64], cut: int, mix: int, ordered: bool
) -> int:
    """Move those that go left to the front of a stretch; where the others begin."""
    place = first
    for i in range(first, last):
        if _goes_left(codes[order[i]], cut, mix, ordered):
            order[i], order[place] = order[place], order[i]
            place += 1
    return place


@compiled
def _grow(
    codes: NDArray[np.int64],
    values: NDArray[np.int64],
    weights: NDArray[np.float64],
    points: NDArray[np.int64],
    ordered: NDArray[np.bool_],
    tries: int,
    limits: tuple[float, float],
    found: NDArray[np.float64],
) -> None:
    """One tree; adds the distribution of its leaf to what is found at each point."""
    least, strength = limits
    size = found.shape[1]
    order, asked = np.arange(len(codes)), np.arange(len(points))
    stack = [(0, len(codes), 0, len(points))]
    priors = [np.full(size, 1.0 / size)]
    while len(stack) > 0:
        first, last, begin, end = stack.pop()
        prior = priors.pop()
        if begin == end:
            continue
        counts = np.zeros(size)
        for i in range(first, last):
            counts[values[order[i]]] += weights[order[i]]
        total = counts.sum()
        here = (counts + strength * prior) / (total + strength)
        best, axis, cut, mix = _plogp(counts) + 1e-9, -1, 0, 0
        if total >= 2 * least and best < -1e-6:
            for _ in range(tries):
                on = np.random.randint(0, codes.shape[1])
                low = high = codes[order[first], on]
                for i in range(first, last):
                    code = codes[order[i], on]
                    low, high = min(low, code), max(high, code)
                if low == high:
                    continue
                at, hashing = np.random.randint(low + 1, high + 1), 2 * np.random.randint(1, 2**30) + 1
                left = np.zeros(size)
                for i in range(first, last):
                    if _goes_left(codes[order[i], on], at, hashing, ordered[on]):
                        left[values[order[i]]] += weights[order[i]]
                side = left.sum()
                if side < least or total - side < least:
                    continue
                score = _plogp(left) + _plogp(np.maximum(counts - left, 0.0))
                if score > best:
                    best, axis, cut, mix = score, on, at, hashing
        if axis < 0:
            for i in range(begin, end):
                found[asked[i]] += here
            continue
        middle = _part(order, first, last, codes[:, axis], cut, mix, ordered[axis])
        between = _part(asked, begin, end, points[:, axis], cut, mix, ordered[axis])
        stack.append((first, middle, begin, between))
        priors.append(here)
        stack.append((middle, last, between, end))
        priors.append(here)


@compiled
def _ask(
    codes: NDArray[np.int64],
    values: NDArray[np.int64],
    weights: NDArray[np.float64],
    points: NDArray[np.int64],
    ordered: NDArray[np.bool_],
    size: int,
    growing: tuple[int, int, int],
    limits: tuple[float, float],
) -> NDArray[np.float64]:
    """The mean distribution over all trees."""
    trees, tries, seed = growing
    np.random.seed(seed)
    found = np.zeros((len(points), size))
    for _ in range(trees):
        _grow(codes, values, weights, points, ordered, tries, limits, found)
    return found / trees
