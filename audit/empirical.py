"""The empirical audit: run a method many times on both tables and bound from below what an observer can tell.

The observer sees the full transcript and asks whether the logarithm of its ratio is at least t. If that happens with
probability p on one table and q on the other, no ε below ln(p/q) holds. The threshold t is chosen on some of the runs;
the others give Clopper–Pearson bounds for p and q, both right with probability 1 − `failing`.

For ρ-concentrated privacy, p − q is at most √(ρ/2) (the divergence of the two tables is at most ρ; Pinsker). So
p − q bounds ρ from below, and that is told as the ε to which the method's own rule converts it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import beta

from audit.exact import log_ratio
from audit.transcript import AuditedBudget
from sfumato.privacy.loss import Pure

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from audit.cases import Case
    from sfumato.mechanisms.noise import Source
    from sfumato.methods.base import DPMethod

TRAINING = 0.25
"""Share of the runs on which thresholds are chosen."""
MAX_THRESHOLDS = 400
FAILING = 1e-3
"""Probability with which any of the bounds of one audit may be wrong."""


@dataclass(frozen=True)
class Bound:
    """A lower bound on ε, and the event that shows it."""

    epsilon: float
    threshold: float
    likelier: int
    rarer: int
    runs: int


def ratios(case: Case, runs: int, source: Source, kind: type[AuditedBudget] = AuditedBudget) -> NDArray[np.float64]:
    """ln P(transcript | row added) / P(transcript | without), for runs without (row 0) and with the row (row 1)."""
    pair, method = case.pair, case.method
    without = [log_ratio(method, pair.without, pair.added, source, kind) for _ in range(runs)]
    added = [-log_ratio(method, pair.added, pair.without, source, kind) for _ in range(runs)]
    return np.array([without, added])


def pure_epsilon(least: float, most: float) -> float:
    """The ε below which no promise holds, if an event has probabilities of at least and at most these."""
    return math.log(least / most) if least > 0 else -math.inf


def concentrated_epsilon(delta: float) -> Callable[[float, float], float]:
    """The same where a ρ stands for ε at `delta`."""

    def found(least: float, most: float) -> float:
        rho = 2 * max(least - most, 0.0) ** 2
        return rho + 2 * math.sqrt(-rho * math.log(delta))

    return found


def rule_of(method: DPMethod) -> Callable[[float, float], float]:
    """How probabilities bound the ε that a method claims."""
    return pure_epsilon if isinstance(method.total, Pure) else concentrated_epsilon(method.claim.delta)


def lower_bound(
    ratios: NDArray[np.float64],
    failing: float,
    rule: Callable[[float, float], float] = pure_epsilon,
    training: float = TRAINING,
) -> Bound:
    """The larger of the bounds from the two directions; it is too large with probability at most `failing`."""
    directions = ((ratios[1], ratios[0]), (-ratios[0], -ratios[1]))
    return max(
        (_one_way(likelier, rarer, failing / 2, rule, training) for likelier, rarer in directions),
        key=lambda bound: bound.epsilon,
    )


def _one_way(
    likelier: NDArray[np.float64],
    rarer: NDArray[np.float64],
    failing: float,
    rule: Callable[[float, float], float],
    training: float,
) -> Bound:
    """From the event that the ratio is at least t, which `likelier` has more often than `rarer`."""
    split = int(len(likelier) * training)
    thresholds = _thresholds(np.concatenate([likelier[:split], rarer[:split]]))
    best = max(thresholds, key=lambda t: _bounded(likelier[:split], rarer[:split], t, failing, rule).epsilon)
    return _bounded(likelier[split:], rarer[split:], float(best), failing, rule)


def _thresholds(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Between neighbouring values, so that rounding does not decide who is above."""
    distinct = np.unique(np.round(values, 9))
    distinct = distinct[:: max(1, len(distinct) // MAX_THRESHOLDS)]
    return np.where(np.isfinite(distinct), distinct - 1e-6, distinct)


def _bounded(
    likelier: NDArray[np.float64],
    rarer: NDArray[np.float64],
    t: float,
    failing: float,
    rule: Callable[[float, float], float],
) -> Bound:
    many, few, runs = int((likelier >= t).sum()), int((rarer >= t).sum()), len(likelier)
    least, most = at_least(many, runs, failing / 2), at_most(few, runs, failing / 2)
    return Bound(rule(least, most), t, many, few, runs)


def at_least(hits: int, runs: int, failing: float) -> float:
    """Clopper and Pearson's lower bound of a probability."""
    return float(beta.ppf(failing, hits, runs - hits + 1)) if hits else 0.0


def at_most(hits: int, runs: int, failing: float) -> float:
    """Clopper and Pearson's upper bound of a probability."""
    return float(beta.ppf(1 - failing, hits + 1, runs - hits)) if hits < runs else 1.0
