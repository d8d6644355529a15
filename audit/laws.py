"""The exact law of everything a budget can answer, and how far the laws of two neighbouring tables lie apart.

A law knows the logarithm of how much likelier an answer is under it than under another (`log_ratio`), and the
largest size of that logarithm over all answers (`distance`). Nothing here uses the code that draws the noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_EXPANDED = 10
"""With more rivals than this, alternating signs would cost digits; then probabilities are summed up term by term."""
NEGLIGIBLE = 45.0
"""e^−45 of a probability is left out of a sum."""


@dataclass(frozen=True, eq=False)
class Counts:
    """Discrete Laplace noise on whole counts: a row of counts for each path, with an ε of its own."""

    exact: NDArray[np.int64]
    epsilon: NDArray[np.float64]

    def log_ratio(self, other: Self, answer: NDArray[np.int64]) -> float:
        nearer = np.abs(answer - other.exact) - np.abs(answer - self.exact)
        return float((_by_path(nearer) * self.epsilon).sum())

    def distance(self, other: Self) -> float:
        return float((_by_path(np.abs(self.exact - other.exact)) * self.epsilon).sum())

    def touched(self, other: Self) -> NDArray[np.bool_]:
        """The paths on which the laws differ."""
        return _by_path(self.exact != other.exact) > 0


def _by_path(array: NDArray[np.generic]) -> NDArray[np.int64]:
    return np.asarray(array.sum(axis=tuple(range(1, array.ndim))))


@dataclass(frozen=True, eq=False)
class Selection:
    """The largest score after geometric noise of decay e^(−ε), the first of equals; a run of candidates for each path."""

    scores: NDArray[np.int64]
    starts: NDArray[np.int64]
    epsilon: float

    def runs(self) -> list[tuple[int, ...]]:
        """The scores of each path's candidates."""
        ends = [*self.starts[1:].tolist(), len(self.scores)]
        scores = self.scores.tolist()
        return [tuple(scores[start:end]) for start, end in zip(self.starts.tolist(), ends, strict=True)]

    def log_ratio(self, other: Self, answer: NDArray[np.int64]) -> float:
        found = 0.0
        for ours, theirs, winner in zip(self.runs(), other.runs(), (answer - self.starts).tolist(), strict=True):
            if ours != theirs:
                found += log_winning(ours, self.epsilon)[winner] - log_winning(theirs, self.epsilon)[winner]
        return found

    def distance(self, other: Self) -> float:
        return sum(
            float(np.abs(log_winning(ours, self.epsilon) - log_winning(theirs, self.epsilon)).max())
            for ours, theirs in zip(self.runs(), other.runs(), strict=True) if ours != theirs
        )

    def touched(self, other: Self) -> NDArray[np.bool_]:
        """The paths on which the laws differ."""
        return np.array([ours != theirs for ours, theirs in zip(self.runs(), other.runs(), strict=True)], dtype=bool)


def log_winning(scores: tuple[int, ...], epsilon: float) -> NDArray[np.float64]:
    """ln P(candidate j wins) for every j."""
    best = max(scores)
    return _log_winning(tuple(score - best for score in scores), epsilon)


@lru_cache(maxsize=4096)
def _log_winning(scores: tuple[int, ...], epsilon: float) -> NDArray[np.float64]:
    """For scores of at most zero, one of them zero.

    With α = e^(−ε), j wins at the value v ≥ 0 with probability (1 − α) α^(v − s_j) Π (1 − α^(v − s_i + [i after j])):
    that is zero where an earlier rival has v already. The sum over v is taken power by power of α^v, or value by value.
    """
    behind = np.array(scores, dtype=np.float64)
    found = np.empty(len(scores))
    for j in range(len(scores)):
        later = np.arange(len(scores)) > j
        rivals = np.delete(np.exp(-epsilon * (later - behind)), j)
        total = _expanded(rivals, epsilon) if len(rivals) <= MOST_EXPANDED else _summed(rivals, epsilon)
        found[j] = epsilon * behind[j] + math.log(total)
    return found


def _expanded(rivals: NDArray[np.float64], epsilon: float) -> float:
    """Σ_v (1 − α) α^v Π (1 − bᵢ α^v), the product multiplied out."""
    product = np.ones(1)
    for rival in rivals:
        product = np.convolve(product, [1.0, -rival])
    powers = np.arange(1, len(product) + 1)
    return float((product * math.expm1(-epsilon) / np.expm1(-epsilon * powers)).sum())


def _summed(rivals: NDArray[np.float64], epsilon: float) -> float:
    """The same, value by value."""
    fallen = -epsilon * np.arange(math.ceil(NEGLIGIBLE / epsilon))
    product = np.exp(fallen) * -math.expm1(-epsilon)
    for rival in rivals[rivals > 0]:
        product *= -np.expm1(math.log(rival) + fallen)
    return math.fsum(product)


@dataclass(frozen=True, eq=False)
class SparseCounts:
    """Discrete Laplace noise on every cell of a domain, of which only counts of at least a threshold are told."""

    cells: NDArray[np.int64]
    exact: NDArray[np.int64]
    threshold: int
    epsilon: float

    def log_ratio(self, other: Self, answer: tuple[NDArray[np.int64], NDArray[np.int64]]) -> float:
        told = dict(zip(answer[0].tolist(), answer[1].tolist(), strict=True))
        found = 0.0
        for cell, (ours, theirs) in self._unlike(other).items():
            if cell in told:
                found += self.epsilon * (abs(told[cell] - theirs) - abs(told[cell] - ours))
            else:
                found += self._log_untold(ours) - self._log_untold(theirs)
        return found

    def distance(self, other: Self) -> float:
        return self.epsilon * sum(abs(ours - theirs) for ours, theirs in self._unlike(other).values())

    def touched(self, other: Self) -> NDArray[np.bool_]:
        """The paths on which the laws differ."""
        return np.array([bool(self._unlike(other))])

    def _unlike(self, other: Self) -> dict[int, tuple[int, int]]:
        ours, theirs = (dict(zip(law.cells.tolist(), law.exact.tolist(), strict=True)) for law in (self, other))
        both = {cell: (ours.get(cell, 0), theirs.get(cell, 0)) for cell in {*ours, *theirs}}
        return {cell: pair for cell, pair in both.items() if pair[0] != pair[1]}

    def _log_untold(self, count: int) -> float:
        """ln P(count + X < threshold)."""
        return log_below(self.threshold - count, self.epsilon)


@dataclass(frozen=True, eq=False)
class Decisions:
    """Whether exact values are above a threshold after discrete Laplace noise."""

    exact: NDArray[np.int64]
    threshold: int
    epsilon: float

    def log_ratio(self, other: Self, answer: NDArray[np.bool_]) -> float:
        return sum(
            self._log_probability(int(ours), bool(above)) - self._log_probability(int(theirs), bool(above))
            for ours, theirs, above in zip(self.exact, other.exact, answer, strict=True) if ours != theirs
        )

    def _log_probability(self, exact: int, above: bool) -> float:
        reach = self.threshold + 1 - exact
        return log_below(1 - reach, self.epsilon) if above else log_below(reach, self.epsilon)


def log_below(bound: int, epsilon: float) -> float:
    """ln P(X < bound) for discrete Laplace X: 1 − αᵇ/(1 + α) for b ≥ 1, else α^(1−b)/(1 + α)."""
    beyond = -math.log1p(math.exp(-epsilon))
    if bound < 1:
        return beyond - epsilon * (1 - bound)
    return math.log1p(-math.exp(beyond - epsilon * bound))


Law = Counts | Selection | SparseCounts | Decisions
