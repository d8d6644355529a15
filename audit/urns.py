"""The Dirichlet urn on domains too large to enumerate: how often a draw discloses, counted over many draws.

The data are the worst that the calibration knows: every person comes from another place, so that a place with one
person may be drawn often. A draw discloses when some place explains it better than another by more than e^ε. A right
prior lets that happen with probability δ at most; a prior that is too small, or calibrated before places are
dropped, does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from audit.empirical import FAILING, at_least
from sfumato.mechanisms.dirichlet import UNIT, Calibration, PriorShape, Promise, Segments, Urn
from sfumato.mechanisms.dirichlet.disclosure import Levels, shrinking_factor, threshold

if TYPE_CHECKING:
    from sfumato.mechanisms.dirichlet.calibration import Rule
    from sfumato.mechanisms.noise import Source

DRAWS = 60_000
MIN_SHARE = 1 / 3
"""Where nothing is dropped the calibration is tight, and the count must come at least this near to δ."""


@dataclass(frozen=True, kw_only=True)
class UrnCase:
    """A promise, a domain, and by how much the prior is made too small in a broken twin."""

    people: int
    places: int
    epsilon: float
    delta: float
    keep: float = 1.0
    rule: Rule = "exact"
    shrunk: float = 1.0
    """Below 1: a broken twin."""

    @property
    def what(self) -> str:
        dropped = "" if self.keep == 1 else f", kept {self.keep:g}"
        twin = "" if self.shrunk == 1 else f", prior × {self.shrunk:g}"
        domain = f"{self.people} people, {self.places:,} places{dropped}"
        return f"urn {self.rule} ε={self.epsilon:g} δ={self.delta:g}, {domain}{twin}"

    @property
    def has_teeth(self) -> bool:
        """Whether the bound is tight enough to be reached."""
        return self.keep == 1 and self.rule == "exact"


URNS = (
    UrnCase(people=10, places=1_000, epsilon=2.0, delta=0.004),
    UrnCase(people=30, places=25_181, epsilon=4.6, delta=0.02),
    UrnCase(people=200, places=246, epsilon=1.0, delta=0.02),
    UrnCase(people=12, places=5_000, epsilon=8.6, delta=0.02, keep=0.0378),
    UrnCase(people=15, places=120_690, epsilon=8.6, delta=0.02, keep=0.0378),
    UrnCase(people=30, places=25_181, epsilon=4.6, delta=0.02, rule="reference"),
)
BROKEN_URNS = (
    UrnCase(people=30, places=25_181, epsilon=4.6, delta=0.02, shrunk=0.7),
    UrnCase(people=200, places=246, epsilon=1.0, delta=0.02, shrunk=0.7),
    UrnCase(people=12, places=5_000, epsilon=8.6, delta=0.02, keep=0.0378, shrunk=0.5),
)


def disclosing_share(case: UrnCase, source: Source) -> tuple[float, float]:
    """The share of draws that disclose, and a bound below which the probability is not, but for a rare chance."""
    shape = PriorShape(keep=[case.keep])
    promise = Promise(epsilon=case.epsilon, delta=case.delta, rule=case.rule)
    scale = Calibration(promise, shape).scales(np.array([case.people]), np.array([[case.places]]))[0]
    masses = shape.masses(scale * case.shrunk)
    alpha, urn = float(masses[0]) / UNIT, Urn(source, shape.keep)
    growth = exp(case.epsilon)
    levels = Levels(np.array([alpha]), np.array([case.places]), shape.keep)
    shrinking = float(shrinking_factor(case.people, case.people, levels))
    often = threshold(1, alpha, case.keep, growth, shrinking)
    real = np.arange(case.people, dtype=np.int64)
    every = Segments(*(np.array([number], dtype=np.int64) for number in (0, case.places, 0)))
    hits = 0
    for _ in range(DRAWS):
        drawn, _ = urn.draw(real, np.zeros(case.people, dtype=np.int64), case.people, every, masses)
        drawn.sort()
        hits += bool((drawn[often:] == drawn[: len(drawn) - often]).any()) if often < len(drawn) else False
    return hits / DRAWS, at_least(hits, DRAWS, FAILING / (len(URNS) + len(BROKEN_URNS)))
