"""Attacks with a control group: guesses about people who are in the release, and about people who cannot be.

What is guessed about people whose rows were never used is no leak of their rows. So the table is cut in two, one part
is published, and the rest is the control group: a risk is how much more often a guess about the published people is
right (Giomi, Boenisch, Wehmeyer and Tasnádi, 2023). The interval of that difference is Newcombe's (1998, method 10).
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.measures.measurement import Measure
from sfumato.parameters import check_parameters, parameter
from sfumato.release import Release

CONFIDENCE = 0.95
Codes = NDArray[np.int32]
"""People as rows of codes, the sensitive one last: (people, axes), a missing value as -1."""


@dataclass(frozen=True, kw_only=True)
class Risk:
    """The share of guesses that are right about published people and about the control group, and their difference.

    The interval holds the difference with 95% confidence.
    """

    success: float
    control: float
    difference: float
    interval: tuple[float, float]
    guesses: int

    @property
    def residual(self) -> float:
        """The difference as a share of what the control group leaves to gain; nothing if that is nothing."""
        return self.difference / (1 - self.control) if self.control < 1 else 0.0

    @property
    def shows(self) -> bool:
        """Whether the release tells more about its own people than about others, beyond chance."""
        return self.interval[0] > 0

    def spec(self) -> dict[str, Any]:
        """The figures as JSON shows them."""
        return {
            "success": self.success,
            "control": self.control,
            "difference": self.difference,
            "interval": list(self.interval),
            "guesses": self.guesses,
        }


@dataclass(frozen=True, kw_only=True)
class ControlledAttack(ABC):
    """Guesses about the people of a release, and the same about a control group; drawn with a seed of their own."""

    guesses: int = parameter(default=2_000, help="guesses about each of the two groups", minimum=1)
    seed: int = parameter(default=1, help="the seed by which guesses are drawn", minimum=0)

    name: ClassVar[str]
    measure: ClassVar[Measure]

    def __post_init__(self) -> None:
        check_parameters(self)

    @abstractmethod
    def run(self, training: Table, release: Release, control: Table) -> Risk | None:
        """The risk of a release of `training`, or nothing where the attack says nothing about such a release."""

    def draw(self, table: Table, generator: np.random.Generator) -> Codes:
        """Different people to guess about, all of them if there are no more."""
        person = generator.permutation(table.n)[: self.guesses]
        return table.cell_codes[np.searchsorted(np.cumsum(table.cell_weight), person, side="right")]


def compare(right: float, guesses: float, control_right: float, control_guesses: float) -> Risk | None:
    """The risk of so many right guesses; nothing if there are none to compare, or none that could be better.

    With Wilson's limits l ≤ p ≤ u of each share, the difference d = p₁ − p₂ lies between
    d − √((p₁ − l₁)² + (u₂ − p₂)²) and d + √((u₁ − p₁)² + (p₂ − l₂)²). Where the same guesses are put to both groups
    that is too wide rather than too narrow.
    """
    if not guesses or not control_guesses or control_right >= control_guesses:
        return None
    success, control = float(right / guesses), float(control_right / control_guesses)
    difference = success - control
    low, high = wilson(success, guesses)
    control_low, control_high = wilson(control, control_guesses)
    down, up = math.hypot(success - low, control_high - control), math.hypot(high - success, control - control_low)
    return Risk(
        success=success,
        control=control,
        difference=difference,
        interval=(max(difference - down, -1.0), min(difference + up, 1.0)),
        guesses=round(guesses),
    )


def wilson(share: float, count: float) -> tuple[float, float]:
    """Wilson's limits of a share: (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n)."""
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    middle = share + z**2 / (2 * count)
    half = z * math.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    scale = 1 + z**2 / count
    return max((middle - half) / scale, 0.0), min((middle + half) / scale, 1.0)
