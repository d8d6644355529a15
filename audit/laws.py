"""The exact law of everything a budget can answer, and how far the laws of two neighbouring tables lie apart.

A law knows the logarithm of how much likelier an answer is under it than under another (`log_ratio`), and what all
answers together can reveal (`distance`): the largest size of that logarithm, in the unit ε, or under Gaussian noise the
divergence in the unit ρ. Nothing here uses the code that draws the noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


@dataclass(frozen=True, eq=False)
class GaussianCounts:
    """Discrete Gaussian noise of variance 1/2ρ on whole counts: a row of counts for each path, with a ρ of its own."""

    exact: NDArray[np.int64]
    rho: NDArray[np.float64]

    def log_ratio(self, other: Self, answer: NDArray[np.int64]) -> float:
        nearer = (answer - other.exact) ** 2 - (answer - self.exact) ** 2
        return float((_by_path(nearer) * self.rho).sum())

    def distance(self, other: Self) -> float:
        return float((_by_path((self.exact - other.exact) ** 2) * self.rho).sum())

    def touched(self, other: Self) -> NDArray[np.bool_]:
        """The paths on which the laws differ."""
        return _by_path(self.exact != other.exact) > 0


def _by_path(array: NDArray[np.generic]) -> NDArray[np.int64]:
    return np.asarray(array.sum(axis=tuple(range(1, array.ndim))))


@dataclass(frozen=True, eq=False)
class Selection:
    """The largest score after geometric noise of decay e^(−ε), the first of equals, among each run of candidates."""

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
                found += float(self._losses(ours, theirs)[winner])
        return found

    def distance(self, other: Self) -> float:
        return sum(
            self._worst(self._losses(ours, theirs))
            for ours, theirs in zip(self.runs(), other.runs(), strict=True)
            if ours != theirs
        )

    def _losses(self, ours: tuple[int, ...], theirs: tuple[int, ...]) -> NDArray[np.float64]:
        """How much likelier each candidate is by our scores."""
        return log_winning(ours, self.epsilon) - log_winning(theirs, self.epsilon)

    def _worst(self, losses: NDArray[np.float64]) -> float:
        return float(np.abs(losses).max())

    def touched(self, other: Self) -> NDArray[np.bool_]:
        """The paths on which the laws differ."""
        return np.array([ours != theirs for ours, theirs in zip(self.runs(), other.runs(), strict=True)], dtype=bool)


@dataclass(frozen=True, eq=False)
class WeightedSelection(Selection):
    """A candidate of each run, with a probability that grows as e^(ε score): losses in a range c are c²/8 of ρ."""

    def _losses(self, ours: tuple[int, ...], theirs: tuple[int, ...]) -> NDArray[np.float64]:
        logs = [self.epsilon * np.array(scores, dtype=np.float64) for scores in (ours, theirs)]
        one, other = (log - np.logaddexp.reduce(log) for log in logs)
        return np.asarray(one - other)

    def _worst(self, losses: NDArray[np.float64]) -> float:
        return float(losses.max() - losses.min()) ** 2 / 8


def log_winning(scores: tuple[int, ...], epsilon: float) -> NDArray[np.float64]:
    """ln P(candidate j wins) for every j."""
    best = max(scores)
    return _log_winning(tuple(score - best for score in scores), epsilon)


@lru_cache(maxsize=4096)
def _log_winning(scores: tuple[int, ...], epsilon: float) -> NDArray[np.float64]:
    """For scores of at most zero, one of them zero.

    With α = e^(−ε), j wins at the value v ≥ 0 with probability (1 − α) α^(v − s_j) Π (1 − bᵢ α^v), where bᵢ is
    α^([i after j] − sᵢ): that is zero if an earlier rival has v already. Every factor is (1 − bᵢ) + bᵢ (1 − α^v), so
    the product is a polynomial in 1 − α^v without negative coefficients: no digits are lost in the sum over v.
    """
    size = len(scores)
    before, after = [np.ones(1)], [np.ones(1)]
    for earlier, later in zip(scores, reversed(scores), strict=True):
        before.append(np.convolve(before[-1], _factor(epsilon * earlier)))
        after.append(np.convolve(after[-1], _factor(epsilon * (later - 1))))
    moments = _moments(epsilon, 1 << (size - 1).bit_length())[:size]
    sums = [np.convolve(before[j], after[size - 1 - j]) @ moments for j in range(size)]
    return epsilon * np.array(scores) + np.log(sums)


def _factor(log: float) -> list[float]:
    return [-math.expm1(log), math.exp(log)]


@lru_cache(maxsize=256)
def _moments(epsilon: float, count: int) -> NDArray[np.float64]:
    """Σ_v (1 − α) α^v (1 − α^v)^m for m < count: differences of Σ_v (1 − α) α^(v(m+1)) = (1 − α)/(1 − α^(m+1))."""
    with localcontext() as context:
        context.prec = 60 + count
        alpha = (-Decimal(epsilon)).exp()
        power, row = Decimal(1), []
        for _ in range(count):
            power *= alpha
            row.append((1 - alpha) / (1 - power))
        found = []
        while row:
            found.append(float(row[0]))
            row = [one - other for one, other in pairwise(row)]
    return np.array(found)


@dataclass(frozen=True, eq=False)
class SparseCounts:
    """Discrete Laplace noise on every cell of a domain, of which only counts of at least a threshold are told."""

    cells: NDArray[np.int64]
    exact: NDArray[np.int64]
    threshold: int
    epsilon: float
    in_rho: bool = False

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
        found = self.epsilon * sum(abs(ours - theirs) for ours, theirs in self._unlike(other).values())
        return found**2 / 2 if self.in_rho else found

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
        unlike = self.exact != other.exact
        return sum(self.log_probabilities(answer)[unlike]) - sum(other.log_probabilities(answer)[unlike])

    def log_probabilities(self, answer: NDArray[np.bool_]) -> NDArray[np.float64]:
        """ln P of each decision."""
        reach = self.threshold + 1 - self.exact
        return np.array(
            [
                log_below(1 - least if above else least, self.epsilon)
                for least, above in zip(reach.tolist(), answer.tolist(), strict=True)
            ]
        )


def log_below(bound: int, epsilon: float) -> float:
    """ln P(X < bound) for discrete Laplace X: 1 − αᵇ/(1 + α) for b ≥ 1, else α^(1−b)/(1 + α)."""
    beyond = -math.log1p(math.exp(-epsilon))
    if bound < 1:
        return beyond - epsilon * (1 - bound)
    return math.log1p(-math.exp(beyond - epsilon * bound))


Law = Counts | GaussianCounts | Selection | SparseCounts | Decisions
