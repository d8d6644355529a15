"""(α, k)-anonymity (Wong et al., 2006): classes of k, and no sensitive value above a share of α."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.parameters import parameter
from sfumato.privacy.requirements.base import ROUNDING, Counts, Population, Requirement


@dataclass(frozen=True, kw_only=True)
class AlphaK(Requirement):
    """At least `k` rows, of which no sensitive value takes more than `alpha`.

    >>> release = sf.Mondrian(requirements=(sf.AlphaK(alpha=0.8, k=5),)).publish(table)
    """

    name: ClassVar[str] = "(alpha,k)-anonymity"
    merges: ClassVar[bool] = True
    name_in_buckets: ClassVar[str] = "size and shares of buckets"
    alpha: float = parameter(help="the largest share of a sensitive value in a class", above=0, maximum=1, example=0.5)
    k: int = parameter(help="at least this many people in a class", minimum=1, example=10)

    @property
    def bounds_values(self) -> bool:
        return self.alpha < 1

    @property
    def smallest_class(self) -> int:
        return self.k

    def _holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        total = counts.sum(-1)
        return np.asarray(
            (total >= self.k - ROUNDING) & (population.commonest_secret(counts) <= self.alpha * total * (1 + ROUNDING))
        )

    def _strain(self, counts: Counts, population: Population) -> NDArray[np.float64]:
        return np.asarray(population.commonest_secret(counts) / (self.alpha * counts.sum(-1)))

    def sentence(self) -> str:
        return (
            f"each person is in a class of at least {self.k}, and at most a share of {self.alpha:g} of a class "
            "have the same sensitive value"
        )

    def sentence_in_buckets(self) -> str:
        return (
            f"every bucket has at least {self.k} people, of whom at most a share of {self.alpha:g} have the same "
            "sensitive value"
        )
