"""The prior a promise needs, and the promise a prior makes.

Four rules, each proved in `dirichlet.proof.md`: `pure` (Theorem 4.1 of Machanavajjhala et al. 2008) for ε alone;
`reference` (their Theorem 4.4) and `exact` (exact tails, never a larger prior) for (ε, δ) probabilistic differential
privacy, which bounds the probability that anything is disclosed about anyone; and `file`, which asks for
(ε, δ)-differential privacy only.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import exp, expm1, inf, isfinite, log, log1p
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.errors import ParameterError, UnsatisfiableError
from sfumato.mechanisms.dirichlet.disclosure import Levels, Limit, disclosure_bound, shrinking_factor
from sfumato.mechanisms.dirichlet.prior import MAX_MASS, UNIT, PriorShape, round_masses
from sfumato.parameters import check_parameters, parameter

Rule = Literal["pure", "reference", "exact", "file"]
BISECTIONS = 24
DOUBLINGS = 60
THREADS = 2
MAX_EPSILON = 50
MAX_ALPHA = MAX_MASS / UNIT


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What a calibrated prior has to keep: ε, δ, by which rule, and whether draws that disclose are rejected.

    >>> sf.commute.Promise(epsilon=4.6, delta=1e-5).rule
    'exact'
    """

    epsilon: float = parameter(help="what a draw may cost", above=0, maximum=MAX_EPSILON)
    delta: float = 0.0
    rule: Rule = parameter(default="exact", help="how the prior is calibrated")
    reject: bool = False

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.rule == "pure":
            if self.delta:
                raise ParameterError("the pure rule promises epsilon alone; leave delta out")
        elif not (isinstance(self.delta, int | float) and 0 < self.delta < 1):
            raise ParameterError(f"delta is {self.delta}; expected a number above 0 and below 1")
        if self.synthesis <= 0:
            raise ParameterError("epsilon is too small for rejection at this delta")
        if self.rule == "reference" and self.synthesis <= log(3):
            raise ParameterError(f"the reference rule holds for epsilon above ln 3 = {log(3):.4f} only")
        if self.reject and self.rule not in ("reference", "exact"):
            raise ParameterError(f"the {self.rule} rule does not go with rejection; choose reference or exact")

    @property
    def rejection(self) -> float:
        """What rejecting adds to ε (Lemma 5.2)."""
        return -log1p(-self.delta) if self.reject else 0.0

    @property
    def synthesis(self) -> float:
        """What is left of ε for the draw itself."""
        return self.epsilon - self.rejection


def pure_alpha(epsilon: float, m: int) -> float:
    """The smallest prior mass of a place for ε-differential privacy of m draws (Theorem 4.1)."""
    return m / expm1(epsilon)  # proof: pure


def reference_sample(n: int, m: int, alpha: float, rest: float, factor: float) -> float:
    """ln of the reference 0-sample (Definition 7), over all numbers x of workers in a place."""
    from scipy.special import gammaln  # loading it would slow down every start

    x = np.arange(n + 1, dtype=np.float64)
    f = np.minimum(m, factor * (alpha + np.maximum(x - 1, 0)))
    choose = gammaln(m + 1) - gammaln(f + 1) - gammaln(m - f + 1)
    before = gammaln(n + alpha + rest) - gammaln(x + alpha) - gammaln(n - x + rest)
    after = gammaln(m + n + alpha + rest) - gammaln(x + f + alpha) - gammaln(n - x + m - f + rest)
    return float((choose + before - after).max())


def reference_scale(promise: Promise, n: int, weights: NDArray[np.float64], counts: NDArray[np.int64]) -> float:
    """The scale of the prior that Theorem 4.4 asks for, or Theorem 4.1 where that asks for less."""
    k = int(counts.sum())
    limit = log(promise.delta) + log1p(-2 * exp(-promise.synthesis)) - log(2 * k)
    least, total = float(weights[counts > 0].min()), float(weights @ counts)

    def holds(scale: float) -> bool:
        rest = max((total - least) * scale, 1e-300)
        return reference_sample(n, n, least * scale, rest, expm1(promise.synthesis)) <= limit

    high = pure_alpha(promise.synthesis, n) * (1 + 1e-12) / least
    return _smallest(holds, high) if holds(high) else high


def _smallest(holds: Callable[[float], bool], high: float) -> float:
    """The smallest number found for which something holds that holds for `high`."""
    low = 0.0
    for _ in range(BISECTIONS * 2):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


@compiled
def _keeps(scale: float, n: int, shape: Levels, limit: Limit) -> bool:
    """Whether the prior of this scale stays within δ; the masses of a shape are relative to each other."""
    levels = Levels(round_masses(scale, shape.alphas) / UNIT, shape.counts, shape.keep)
    return disclosure_bound(n, n, levels, limit) <= limit.delta


@compiled
def _exact_scale(n: int, shape: Levels, limit: Limit) -> float:
    """The smallest scale found whose bound stays within δ; infinite if there is none."""
    odds = np.maximum(limit.growth * shape.keep - 1.0, 1e-3 * limit.growth * shape.keep)
    gain = float(np.where(shape.counts > 0, odds * shape.alphas, np.inf).min())
    below, step, scale = 0.0, 1.0, (1.0 + 1e-9) / gain
    while scale * shape.alphas.max() <= MAX_ALPHA and not _keeps(scale, n, shape, limit):
        step = step + 1.0 if step < 32.0 else step * 1.1
        below, scale = scale, step * (1.0 + 1e-9) / gain
    if scale * shape.alphas.max() > MAX_ALPHA:
        return np.inf
    for _ in range(BISECTIONS):
        middle = (below + scale) / 2.0
        below, scale = (below, middle) if _keeps(middle, n, shape, limit) else (middle, scale)
    return scale


def _pure_scale(n: int, growth: float, shape: PriorShape, counts: NDArray[np.int64]) -> float:
    """The smallest scale found at which no place can be drawn more often than its threshold."""
    used = counts > 0
    scale = 0.0
    for _ in range(DOUBLINGS * 4):
        shrinking = shrinking_factor(n, n, Levels(shape.masses(scale) / UNIT, counts, shape.keep))
        gain = float(((growth * shape.keep / shrinking - 1.0) * shape.weights)[used].min())
        if gain <= 0 or scale * shape.weights.max() > MAX_ALPHA:
            return inf
        needed = n / gain * (1 + 1e-12)
        if needed <= scale:
            return scale
        scale = needed * (1 + 1e-9)
    return inf


@dataclass(frozen=True)
class Calibration:
    """The smallest priors of one shape that keep a promise; equal destinations are calibrated once."""

    promise: Promise
    shape: PriorShape
    _known: dict[bytes, float] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.promise.rule == "reference" and self.shape.drops:
            raise ParameterError("the reference rule does not hold when places are dropped; choose the exact rule")

    def scales(self, n: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """The scale of the prior for every destination: n[d] people, counts[d, l] places of level l."""
        rows = np.ascontiguousarray(np.column_stack((n, counts)), dtype=np.int64)
        keys = [row.tobytes() for row in rows]
        new = {key: row for key, row in zip(keys, rows, strict=True) if key not in self._known}
        with ThreadPoolExecutor(THREADS) as pool:
            for key, row, scale in zip(new, new.values(), pool.map(self._scale, new.values()), strict=True):
                self._check(scale, row)
                self._known[key] = scale
        return np.array([self._known[key] for key in keys])

    def _scale(self, row: NDArray[np.int64]) -> float:
        n, counts, shape, promise = int(row[0]), row[1:], self.shape, self.promise
        growth = exp(promise.synthesis) * (1 - 1e-14)
        if promise.rule == "pure":
            return _pure_scale(n, growth, shape, counts)
        limit = Limit(growth, promise.delta, promise.rule != "file")
        exact = float(_exact_scale(n, Levels(shape.weights, counts, shape.keep), limit))
        if promise.rule == "reference":
            return max(exact, reference_scale(promise, n, shape.weights, counts))  # proof: reference
        return exact

    def _check(self, scale: float, row: NDArray[np.int64]) -> None:
        """There must be a prior, and an urn must hold it, in whole numbers of a word: far more than is of use."""
        asked, people = f"epsilon {self.promise.epsilon:g}", f"for a destination of {int(row[0])} people"
        if not isfinite(scale):
            kept = f" when empty places are kept with probability {float(self.shape.keep.min()):g}"
            dropping, more = (kept, " or keep more of them") if self.shape.drops else ("", "")
            raise UnsatisfiableError(f"no prior keeps {asked} {people}{dropping}; ask for a larger epsilon{more}")
        mass = float(self.shape.masses(scale).astype(np.float64) @ row[1:]) + 2.0 * UNIT * float(row[0])
        if mass >= MAX_MASS:
            raise UnsatisfiableError(
                f"the prior that {asked} needs {people} is too large to draw from; ask for a larger epsilon or a "
                "smaller domain"
            )


def promised_epsilon(
    alphas: Sequence[float],
    counts: Sequence[int],
    n: int,
    m: int,
    delta: float,
    keep: Sequence[float] | None = None,
    everybody: bool = True,
) -> float:
    """The smallest ε that a given prior keeps at this δ, by the exact rule (or the file rule).

    >>> round(sf.commute.promised_epsilon([0.04], [120_690], n=10, m=10, delta=1e-5), 1)
    4.3
    """
    kept = np.ones(len(alphas)) if keep is None else np.asarray(keep, dtype=np.float64)
    levels = Levels(np.asarray(alphas, dtype=np.float64), np.asarray(counts, dtype=np.int64), kept)

    def holds(epsilon: float) -> bool:
        return bool(disclosure_bound(n, m, levels, Limit(exp(epsilon), delta, everybody)) <= delta)

    return _smallest(holds, MAX_EPSILON) if holds(MAX_EPSILON) else inf
