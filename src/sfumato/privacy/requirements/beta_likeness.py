"""β-likeness (Cao and Karras, 2012): no sensitive value gains more than β relative to the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy.distances import shares
from sfumato.privacy.requirements.base import ROUNDING, Counts, Population, Requirement, expect, is_number


@dataclass(frozen=True, kw_only=True)
class BetaLikeness(Requirement):
    """(p_s − q_s)/q_s ≤ `beta` for every sensitive value s; if `enhanced`, also ≤ −ln q_s."""

    name: ClassVar[str] = "beta-likeness"
    beta: float
    enhanced: bool = False

    def __post_init__(self) -> None:
        expect(is_number(self.beta) and self.beta > 0, f"beta is {self.beta!r}; expected a number above 0")
        expect(isinstance(self.enhanced, bool), f"enhanced is {self.enhanced!r}; expected true or false")

    def holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        occurring = population.counts > 0
        q = population.shares[occurring]
        limit = np.minimum(self.beta, -np.log(q)) if self.enhanced else np.full_like(q, self.beta)
        return np.asarray((shares(counts[..., occurring]) <= q * (1 + limit) + ROUNDING).all(-1))

    def sentence(self) -> str:
        return f"no sensitive value is more than 1 + {self.beta:g} times as frequent in a class as in the whole table"
