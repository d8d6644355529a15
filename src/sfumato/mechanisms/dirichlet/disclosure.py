"""How likely a draw from a Dirichlet urn discloses: a bound over every way in which n people may be distributed.

A draw *discloses* when, for somebody, two places explain it with likelihoods that differ by more than e^ε. For that
some place must be drawn more often than its threshold (`threshold`); how often it is drawn is beta-binomial. The bound
adds the tails of all places, maximized over all allocations of n people to places. The proof is `dirichlet.proof.md`.
"""

from math import exp, floor, log, log1p
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.mechanisms.dirichlet.tails import rising, tail

FEW_KEPT = 1.0 / 16.0
"""The share of δ given to the event that unusually few empty places are kept."""
SINGLE = 16
"""Numbers of workers up to this are looked at one by one, larger ones in brackets of about a tenth."""
STEPS = 48
ALWAYS = 2.0**52
"""More often than anything is drawn."""
SAFE = 1.0 - 1e-12
"""Rounds thresholds down, so that none is too large by a rounding error."""


class Levels(NamedTuple):
    """For each level, the prior mass of a place in people, how many places there are, and the chance of keeping one."""

    alphas: NDArray[np.float64]
    counts: NDArray[np.int64]
    keep: NDArray[np.float64]


class Limit(NamedTuple):
    """What may be disclosed: likelihoods that differ by e^ε = `growth`, and more with probability δ.

    With `everybody`, disclosure about anyone counts (probabilistic differential privacy); without, about one person
    (differential privacy).
    """

    growth: float
    delta: float
    everybody: bool


@compiled
def shrinking_factor(n: int, m: int, levels: Levels) -> float:
    """The most by which dropping one place raises the probability of a draw that avoids it."""
    alphas, counts, keep = levels
    used, dropping = counts > 0, (counts > 0) & (keep < 1.0)
    if not dropping.any():
        return 1.0
    least, dropped = alphas[used].min(), alphas[dropping].max()
    return exp(rising(n + least + dropped, m) - rising(n + least, m))  # proof: dropping


@compiled
def _kept_mass(levels: Levels, failing: float) -> float:
    """A prior mass below which the kept places fall with at most this probability, by Chernoff's bound."""
    alphas, counts, keep = levels
    masses, dropping = counts * alphas, (counts > 0) & (keep < 1.0)
    certain, droppable, best = float(masses[~dropping].sum()), float(masses[dropping].sum()), 0.0
    if droppable > 0.0:
        theta = 1e-6 / alphas[dropping].max()
        for _ in range(STEPS):
            exponent = 0.0
            for level in np.flatnonzero(dropping):
                exponent += counts[level] * log1p(keep[level] * (exp(-theta * alphas[level]) - 1.0))
            best = max(best, (log(failing) - exponent) / theta)  # proof: kept
            theta *= 1.5
    return certain + min(best, droppable)


@compiled
def threshold(x: int, alpha: float, keep: float, growth: float, shrinking: float) -> int:
    """How often a place with x workers may be drawn without disclosing."""
    if x <= 1:
        often = (growth * keep / shrinking - 1.0) * alpha * SAFE  # proof: threshold
    else:
        often = (growth / shrinking - 1.0) * (alpha + x - 1.0) * SAFE
    return floor(min(max(often, 0.0), ALWAYS))


@compiled
def _brackets(n: int) -> np.ndarray:
    """Numbers of workers from 0 to n as brackets (lowest, highest)."""
    pairs = np.empty((SINGLE + 2 + int(12.0 * log1p(n)), 2), dtype=np.int64)
    size, low = 0, 0
    while low <= n:
        high = low if low <= SINGLE else min(n, low + low // 10)
        pairs[size, 0], pairs[size, 1] = low, high
        size, low = size + 1, high + 1
    return pairs[:size]


@compiled
def _worst_sum(n: int, tails: np.ndarray, brackets: np.ndarray, counts: np.ndarray) -> float:
    """The largest sum of tails over all allocations of n people, by Lagrangian relaxation: never too small."""
    steepest = 0.0
    for level in range(len(counts)):
        if counts[level] > 0:
            for p in range(1, len(brackets)):
                steepest = max(steepest, (tails[level, p] - tails[level, 0]) / brackets[p, 0])
    low, high = 0.0, steepest
    best = min(_relaxed(low, n, tails, brackets, counts), _relaxed(high, n, tails, brackets, counts))
    for _ in range(STEPS):
        if high - low <= 1e-3 * high:
            break
        left, right = low + (high - low) / 3.0, high - (high - low) / 3.0
        at_left, at_right = (_relaxed(left, n, tails, brackets, counts), _relaxed(right, n, tails, brackets, counts))
        best = min(best, at_left, at_right)
        if at_left <= at_right:
            high = right
        else:
            low = left
    return best


@compiled
def _relaxed(price: float, n: int, tails: np.ndarray, brackets: np.ndarray, counts: np.ndarray) -> float:
    total = price * n  # proof: allocation
    for level in range(len(counts)):
        if counts[level] > 0:
            best = 0.0
            for p in range(len(brackets)):
                best = max(best, tails[level, p] - price * brackets[p, 0])
            total += counts[level] * best
    return total


@compiled
def disclosure_bound(n: int, m: int, levels: Levels, limit: Limit) -> float:
    """A bound on the probability that a draw of m discloses more than the limit, over all data sets of n people.

    Up to δ/16 stands for the event that too few places are kept.
    """
    alphas, counts, keep = levels
    shrinking = shrinking_factor(n, m, levels)
    if shrinking >= limit.growth:
        return 1.0
    few_kept = FEW_KEPT * limit.delta if shrinking > 1.0 else 0.0
    mass = _kept_mass(levels, few_kept) if shrinking > 1.0 else float((alphas * counts).sum())
    brackets = _brackets(n)
    tails = np.zeros((len(alphas), len(brackets)))
    for level in range(len(alphas)):
        if counts[level] == 0:
            continue
        alpha = alphas[level]
        rest = max(0.0, mass - alpha)
        for p in range(len(brackets)):
            low, high = brackets[p, 0], brackets[p, 1]
            above = threshold(low, alpha, keep[level], limit.growth, shrinking)
            tails[level, p] = tail(m, high + alpha, n - high + rest, above)  # proof: tail
            if low == 0:
                tails[level, p] *= keep[level]
    if limit.everybody:
        return few_kept + _worst_sum(n, tails, brackets, counts)
    return few_kept + float(tails[:, 1:].max())  # proof: file
