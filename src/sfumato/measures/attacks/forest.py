"""A forest of randomized trees on integer axes: what the rows of a release teach about people at given points.

Trees are grown and asked in one pass: the points to be judged travel down together with the examples. A numeric axis
is cut in two, a category's codes are dealt out to two sides; of a few random splits the one of least entropy is kept
(extremely randomized trees: Geurts, Ernst and Wehenkel, 2006). On the way down every node draws its distribution
towards that of the node above it, so that a few rows are never taken for certainty.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.schema import Axis

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False, kw_only=True)
class Examples:
    """Places to learn from: codes of the quasi-identifiers (-1 where missing), and rows there by sensitive value."""

    codes: Codes
    counts: Floats

    def __len__(self) -> int:
        return len(self.codes)


class ExampleArrays(NamedTuple):
    """Examples as arrays, and which axes are ordered."""

    codes: NDArray[np.int64]
    counts: Floats
    ordered: NDArray[np.bool_]


class Growing(NamedTuple):
    """How trees grow, as in `Forest`."""

    trees: int
    tries: int
    least: float
    strength: float


@dataclass(frozen=True, kw_only=True)
class Forest:
    """How many trees, how many splits each node tries, and how many rows a node's parent weighs beside its own."""

    trees: int = 20
    tries: int = 8
    least: float = 10.0
    strength: float = 10.0
    seed: int = 1

    def beliefs(self, axes: Sequence[Axis], examples: Examples, points: Codes) -> Floats:
        """The mean over the trees of the distribution at each point: (points, values)."""
        training = ExampleArrays(
            np.ascontiguousarray(examples.codes, dtype=np.int64),
            np.ascontiguousarray(examples.counts, dtype=np.float64),
            np.array([axis.spaced for axis in axes]),
        )
        growing = Growing(self.trees, self.tries, float(self.least), float(self.strength))
        return _ask(training, np.ascontiguousarray(points, dtype=np.int64), growing, self.seed)


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
def _look(training: ExampleArrays, stretch: NDArray[np.int64], ends: NDArray[np.int64]) -> Floats:
    """The rows of some examples by value; `ends` becomes their lowest and highest code on each axis."""
    codes, counts = training.codes, training.counts
    found = np.zeros(counts.shape[1])
    ends[0], ends[1] = codes[stretch[0]], codes[stretch[0]]
    for example in stretch:
        for value in range(len(found)):
            found[value] += counts[example, value]
        for axis in range(codes.shape[1]):
            ends[0, axis] = min(ends[0, axis], codes[example, axis])
            ends[1, axis] = max(ends[1, axis], codes[example, axis])
    return found


@compiled
def _propose(ends: NDArray[np.int64], splits: NDArray[np.int64]) -> int:
    """Random splits (axis, cut, hash) of axes whose codes differ, as many as come of so many tries; how many."""
    number = 0
    for _ in range(len(splits)):
        axis = np.random.randint(0, ends.shape[1])
        if ends[0, axis] < ends[1, axis]:
            splits[number, 0] = axis
            splits[number, 1] = np.random.randint(ends[0, axis] + 1, ends[1, axis] + 1)
            splits[number, 2] = 2 * np.random.randint(1, 2**30) + 1
            number += 1
    return number


@compiled
def _choose(
    training: ExampleArrays, stretch: NDArray[np.int64], splits: NDArray[np.int64], whole: Floats, least: float
) -> int:
    """The split of least entropy that leaves so many rows on either side, or -1."""
    left = np.zeros((len(splits), len(whole)))
    for example in stretch:
        for number in range(len(splits)):
            axis = splits[number, 0]
            code = training.codes[example, axis]
            if _goes_left(code, splits[number, 1], splits[number, 2], training.ordered[axis]):
                for value in range(len(whole)):
                    left[number, value] += training.counts[example, value]
    best, chosen = _plogp(whole) + 1e-9, -1
    for number in range(len(splits)):
        side = left[number].sum()
        if least <= side <= whole.sum() - least:
            score = _plogp(left[number]) + _plogp(np.maximum(whole - left[number], 0.0))
            if score > best:
                best, chosen = score, number
    return chosen


@compiled
def _grow(training: ExampleArrays, points: NDArray[np.int64], growing: Growing, found: Floats) -> None:
    """One tree; adds the distribution of its leaf to what is found at each point."""
    codes = training.codes
    order, asked = np.arange(len(codes)), np.arange(len(points))
    ends, splits = np.empty((2, codes.shape[1]), np.int64), np.empty((growing.tries, 3), np.int64)
    stack = [(0, len(codes), 0, len(points))]
    priors = [np.full(found.shape[1], 1.0 / found.shape[1])]
    while len(stack) > 0:
        first, last, begin, end = stack.pop()
        prior = priors.pop()
        if begin == end:
            continue
        whole = _look(training, order[first:last], ends)
        total, chosen = whole.sum(), -1
        here = (whole + growing.strength * prior) / (total + growing.strength)
        if total >= 2 * growing.least and _plogp(whole) < -1e-6:
            number = _propose(ends, splits)
            chosen = _choose(training, order[first:last], splits[:number], whole, growing.least)
        if chosen < 0:
            for i in range(begin, end):
                found[asked[i]] += here
            continue
        axis, cut, mix = splits[chosen]
        ordered = training.ordered[axis]
        middle = _part(order, first, last, codes[:, axis], cut, mix, ordered)
        between = _part(asked, begin, end, points[:, axis], cut, mix, ordered)
        stack.append((first, middle, begin, between))
        priors.append(here)
        stack.append((middle, last, between, end))
        priors.append(here)


@compiled
def _ask(training: ExampleArrays, points: NDArray[np.int64], growing: Growing, seed: int) -> Floats:
    """The mean distribution over all trees."""
    np.random.seed(seed)
    found = np.zeros((len(points), training.counts.shape[1]))
    for _ in range(growing.trees):
        _grow(training, points, growing, found)
    return found / growing.trees
