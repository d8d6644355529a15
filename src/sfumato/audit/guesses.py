"""Guesses: which canaries were in the input, for as many of them as are worth a guess.

A fifth of the canaries are scouts. Their coins are looked at first and choose the plan: the score, and how many of the
others are guessed. The coins of the others are independent of all that, so nothing is paid for the choice.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sfumato.audit.bound import lower_bound

SCOUTS = 5
"""One canary in so many is a scout."""
SHARES = (1.0, 0.5, 0.25, 0.1)
"""How many of the canaries may be guessed; of the others nothing is said."""
SIDES = (0.5, 1.0)
"""Which share of the guesses may say that a canary was in the input: half of them, or all."""
SCOUT_CONFIDENCE = 0.99
"""High, so that a few lucky guesses among the scouts choose nothing."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Guess a share of the canaries by a score: the highest are called in, the lowest out."""

    score: str
    share: float
    called_in: float

    def guess(self, scores: NDArray[np.float64]) -> NDArray[np.int8]:
        """1 for in, -1 for out, 0 for no guess; how many of each depends on nothing but the number of canaries."""
        guesses = max(1, round(self.share * len(scores)))
        called_in = round(self.called_in * guesses)
        order = np.argsort(-scores, kind="stable")
        found = np.zeros(len(scores), dtype=np.int8)
        found[order[:called_in]] = 1
        found[order[len(scores) - (guesses - called_in) :]] = -1
        return found


PLANS = [(share, called_in) for share, called_in in product(SHARES, SIDES) if share * called_in <= SHARES[1]]
"""Nobody calls more than half of the canaries in."""


def are_scouts(count: int) -> NDArray[np.bool_]:
    """Which canaries are scouts; they come in random order."""
    return np.asarray(np.arange(count) % SCOUTS == 0)


def count_right(guesses: NDArray[np.int8], included: NDArray[np.bool_]) -> int:
    """How many guesses are right."""
    return int(np.count_nonzero(guesses == np.where(included, 1, -1)))


def choose_plan(scores: Mapping[str, NDArray[np.float64]], included: NDArray[np.bool_]) -> Plan:
    """The plan that would have shown most on the scouts: the highest bound, and then the largest excess.

    The excess of v right guesses of r is (2v − r) / √r standard deviations.
    """
    plans = [Plan(score=name, share=share, called_in=called_in) for name, (share, called_in) in product(scores, PLANS)]

    def shown(plan: Plan) -> tuple[float, float]:
        guesses = plan.guess(scores[plan.score])
        made, right = int(np.count_nonzero(guesses)), count_right(guesses, included)
        return lower_bound(right, made, confidence=SCOUT_CONFIDENCE), (2 * right - made) / made**0.5

    return max(plans, key=shown)
