"""β-likeness (Cao and Karras, 2012): no sensitive value gains more than β relative to all that is published."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.parameters import parameter
from sfumato.privacy.requirements.base import ROUNDING, Counts, Population, Requirement


@dataclass(frozen=True, kw_only=True)
class BetaLikeness(Requirement):
    """(p_s − q_s)/q_s ≤ `beta` for every sensitive value s; if `enhanced`, also ≤ −ln q_s.

    >>> release = sf.Mondrian(requirements=(sf.BetaLikeness(beta=3),)).publish(table)
    """

    name: ClassVar[str] = "beta-likeness"
    merges: ClassVar[bool] = True
    beta: float = parameter(help="how much more frequent a value may be than among all published", above=0, example=2)
    enhanced: bool = parameter(default=False, help="bound the gain of frequent values more tightly")

    def _holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        occurring = population.counts > 0
        limit = self._largest_shares(population.shares[occurring])
        return np.asarray((population.exposed(counts)[..., occurring] <= limit + ROUNDING).all(-1))

    def _strain(self, counts: Counts, population: Population) -> NDArray[np.float64]:
        occurring = population.counts > 0
        limit = self._largest_shares(population.shares[occurring])
        return np.asarray((population.exposed(counts)[..., occurring] / limit).max(-1))

    def _largest_shares(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the share of each value may be at most."""
        limit = np.minimum(self.beta, -np.log(q)) if self.enhanced else np.full_like(q, self.beta)
        return np.asarray(q * (1 + limit))

    def sentence(self) -> str:
        return (
            f"no sensitive value is more than 1 + {self.beta:g} times as frequent in a class as among all who are "
            "published"
        )
