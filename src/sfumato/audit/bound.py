"""How much privacy is lost at the least, given how many guesses were right.

The one-run audit of Steinke, Nasr and Jagielski (2023), with the exact worst case under (ε, δ) in place of their bound
on it; `one_run.proof.md` derives both formulas.
"""

import math

from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import beta, binom

from sfumato.errors import ParameterError


def chance(right: int, guesses: int, *, epsilon: float, delta: float = 0.0, canaries: int | None = None) -> float:
    """The largest probability, over all (ε, δ) programs, that at least so many of the guesses are right.

    With B binomial over r guesses at q = e^ε / (1 + e^ε), f = P[B ≥ v] and m canaries to guess from, it is

        f + (1 − f) · min(1, m δ f / (v P[B = v])).
    """
    canaries = _check(right, guesses, delta, canaries)
    if right == 0:
        return 1.0
    q = float(expit(epsilon))
    tail = float(binom.sf(right - 1, guesses, q))
    if delta == 0:
        return tail
    return tail + (1 - tail) * min(1.0, canaries * delta / right * _tail_ratio(right, guesses, q))


def lower_bound(
    right: int, guesses: int, *, delta: float = 0.0, canaries: int | None = None, confidence: float = 0.95
) -> float:
    """The ε that the program exceeds with this confidence, 0 if nothing can be said.

    It is the largest ε at which `chance` is at most 1 − confidence. Without δ that is the logit of Clopper and
    Pearson's lower limit for the share of right guesses, the (1 − confidence) quantile of Beta(v, r − v + 1).
    """
    canaries = _check(right, guesses, delta, canaries)
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence is {confidence:g}; expected a number between 0 and 1")
    failing = 1 - confidence
    if right == 0 or chance(right, guesses, epsilon=0, delta=delta, canaries=canaries) >= failing:
        return 0.0
    without_delta = float(logit(beta.ppf(failing, right, guesses - right + 1)))
    if delta == 0:
        return without_delta

    def excess(epsilon: float) -> float:
        return chance(right, guesses, epsilon=epsilon, delta=delta, canaries=canaries) - failing

    return float(brentq(excess, 0, without_delta + 1e-9)) if excess(without_delta + 1e-9) > 0 else without_delta


def _tail_ratio(right: int, guesses: int, q: float) -> float:
    """P[B ≥ v] / P[B = v]; where both vanish in floating point, the geometric series that is above it."""
    at, tail = float(binom.pmf(right, guesses, q)), float(binom.sf(right - 1, guesses, q))
    if at > 0:
        return tail / at
    step = (guesses - right) / (right + 1) * q / (1 - q) if q < 1 else math.inf
    return 1 / (1 - step) if step < 1 else math.inf


def _check(right: int, guesses: int, delta: float, canaries: int | None) -> int:
    """How many canaries could be guessed; refuses numbers that do not fit together."""
    canaries = guesses if canaries is None else canaries
    if not 0 <= right <= guesses <= canaries or guesses == 0:
        raise ParameterError(
            f"{right} right of {guesses} guesses about {canaries} canaries; expected right ≤ guesses ≤ canaries"
        )
    if not 0 <= delta < 1:
        raise ParameterError(f"delta is {delta:g}; expected a number from 0 to below 1")
    return canaries
