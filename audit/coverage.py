"""Do intervals hold what they say they hold, and does geometric noise beat rounded Laplace noise? By simulation.

Intervals are those of the unbiased estimate from reports through geometric noise or a square wave; one that is 0.8
times as wide, the broken twin, must be caught. Totals of reports are drawn from their exact law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sfumato.estimation.intervals import Band, delta_intervals
from sfumato.estimation.likelihood import likelihood
from sfumato.mechanisms.channels import make_channel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sfumato.estimation.solution import Solution
    from sfumato.mechanisms.channels import Channel

    Floats = NDArray[np.float64]

SIZE = 100
CONFIDENCE = 0.95
LOWEST, HIGHEST = 0.93, 0.97
REPETITIONS = 500
MIN_PEOPLE = 10
NARROWED = 0.8
COMPARISONS = 20
PEOPLE = 10**6


def smooth() -> Floats:
    """One wide hump."""
    return _normalized(np.exp(-(((np.arange(SIZE) - 38) / 18) ** 2)))


def bimodal() -> Floats:
    """Two humps with little between them."""
    at = np.arange(SIZE)
    return _normalized(np.exp(-(((at - 25) / 6) ** 2)) + 0.5 * np.exp(-(((at - 70) / 9) ** 2)) + 1e-3)


def heaped() -> Floats:
    """Round numbers are far commoner than others, as in answers from memory."""
    at = np.arange(SIZE)
    return _normalized(np.exp(-at / 40) * (1 + 20 * (at % 10 == 0) + 8 * (at % 5 == 0)))


def _normalized(shares: Floats) -> Floats:
    return np.asarray(shares / shares.sum())


DISTRIBUTIONS = {"smooth": smooth, "bimodal": bimodal, "heaped": heaped}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A mechanism, a distribution of values, ε as the mechanism counts it, and how many people report."""

    name: str
    mechanism: str = "geometric"
    epsilon: float
    people: int
    narrowed: float = 1.0

    def coverage(self, repetitions: int, seed: int | None) -> tuple[float, float]:
        """The share of intervals that hold the truth: cells where enough people are expected, and cumulative shares."""
        truth, channel = DISTRIBUTIONS[self.name](), make_channel(self.mechanism, SIZE, self.epsilon)
        enough = truth * self.people > MIN_PEOPLE
        values, generator = np.arange(float(SIZE)), np.random.default_rng(seed)
        held, upto = np.zeros(SIZE), np.zeros(SIZE)
        for counts in generator.multinomial(self.people, channel.spread(truth), size=repetitions):
            likeliest = likelihood(channel, counts / self.people).shares
            found = delta_intervals(channel, counts, likeliest, values, CONFIDENCE)
            held += self._holds(found.cells, truth)
            upto += self._holds(found.cdf, np.cumsum(truth))
        # The last cumulative share is 1 by definition.
        cells = float(held[enough].mean() / repetitions) if enough.any() else math.nan
        return cells, float(upto[:-1].mean() / repetitions)

    def _holds(self, band: Band, truth: Floats) -> NDArray[np.bool_]:
        middle, half = (band.low + band.high) / 2, self.narrowed * (band.high - band.low) / 2
        return np.asarray(np.abs(truth - middle) <= half)


FEW = [Setting(name=name, epsilon=epsilon, people=100) for name in DISTRIBUTIONS for epsilon in (0.5, 1.0)]
"""The smallest usual batch, where hardly any cell expects enough people; cumulative shares are looked at."""
SETTINGS = [
    Setting(name=name, epsilon=epsilon, people=people)
    for name in DISTRIBUTIONS
    for epsilon in (0.5, 1.0)
    for people in (10**5, 10**6)
] + [
    Setting(name=name, mechanism="square-wave", epsilon=epsilon, people=10**5)
    for name in DISTRIBUTIONS
    for epsilon in (1.0, 3.0)
]
TWIN = Setting(name="smooth", epsilon=0.5, people=10**6, narrowed=NARROWED)


def distances(
    mechanism: str, solve: Callable[[Channel, Floats], Solution], name: str, epsilon: float, seed: int | None
) -> Floats:
    """The total variation between the truth and what is solved for, in each repetition; a seed repeats the reports."""
    truth, channel = DISTRIBUTIONS[name](), make_channel(mechanism, SIZE, epsilon)
    draws = np.random.default_rng(seed).multinomial(PEOPLE, channel.spread(truth), size=COMPARISONS)
    return np.array([np.abs(solve(channel, counts / PEOPLE).shares - truth).sum() / 2 for counts in draws])


CONTESTS = [(name, epsilon) for name in DISTRIBUTIONS for epsilon in (0.5, 1.0)]
