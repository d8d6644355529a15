"""Do intervals hold what they say they hold, and does geometric noise beat rounded Laplace noise? By simulation.

Intervals are those of the unbiased estimate from reports through geometric noise; an interval that is 0.8 times as
wide, the broken twin, must be caught. Totals of reports are drawn from their exact law.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sfumato.local.reconstruct.intervals import delta_intervals
from sfumato.local.reconstruct.likelihood import likelihood
from sfumato.local.reconstruct.smooth import smooth as smooth_updates
from sfumato.privacy.channels import TruncatedGeometric, make_channel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SIZE = 100
CONFIDENCE = 0.95
LOWEST, HIGHEST = 0.93, 0.97
REPETITIONS = 500
FEWEST = 10
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
    """A distribution of values, ε per unit, and how many people report."""

    name: str
    epsilon: float
    people: int
    narrowed: float = 1.0

    def coverage(self, repetitions: int, seed: int | None) -> float:
        """The share of intervals that hold the truth, over cells where enough people are expected."""
        truth, channel = DISTRIBUTIONS[self.name](), TruncatedGeometric(size=SIZE, epsilon=self.epsilon)
        enough = truth * self.people > FEWEST
        values, generator = np.arange(float(SIZE)), np.random.default_rng(seed)
        held = np.zeros(SIZE)
        for counts in generator.multinomial(self.people, channel.spread(truth), size=repetitions):
            cells = delta_intervals(channel, counts, values, CONFIDENCE).cells
            middle, half = (cells.low + cells.high) / 2, self.narrowed * (cells.high - cells.low) / 2
            held += np.abs(truth - middle) <= half
        return float(held[enough].mean() / repetitions)


SETTINGS = [
    Setting(name=name, epsilon=epsilon, people=people)
    for name in DISTRIBUTIONS for epsilon in (0.5, 1.0) for people in (10**5, 10**6)
]
TWIN = Setting(name="smooth", epsilon=0.5, people=10**6, narrowed=NARROWED)


def distances(mechanism: str, name: str, epsilon: float, repetitions: int, seed: int | None) -> Floats:
    """The total variation between truth and the likeliest distribution, in each repetition."""
    truth, channel = DISTRIBUTIONS[name](), make_channel(mechanism, SIZE, epsilon)
    draws = np.random.default_rng(seed).multinomial(PEOPLE, channel.spread(truth), size=repetitions)
    return np.array([np.abs(likelihood(channel, counts / PEOPLE).shares - truth).sum() / 2 for counts in draws])


def smoothed(name: str, epsilon: float, repetitions: int, seed: int | None) -> tuple[float, float]:
    """The mean total variation of the likeliest distribution, and of smoothed updates, from the same reports."""
    truth, channel = DISTRIBUTIONS[name](), TruncatedGeometric(size=SIZE, epsilon=epsilon)
    draws = np.random.default_rng(seed).multinomial(PEOPLE, channel.spread(truth), size=repetitions)
    found = [
        [np.abs(solve(channel, counts / PEOPLE).shares - truth).sum() / 2 for solve in (likelihood, smooth_updates)]
        for counts in draws
    ]
    plain, smoother = np.mean(found, axis=0)
    return float(plain), float(smoother)


CONTESTS = [(name, epsilon) for name in DISTRIBUTIONS for epsilon in (0.5, 1.0)]
