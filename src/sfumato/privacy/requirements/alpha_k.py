"""(α, k)-anonymity (Wong et al., 2006): classes of k, and no sensitive value above a share of α."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy.requirements.base import ROUNDING, Counts, Population, Requirement, expect, is_number, is_whole


@dataclass(frozen=True, kw_only=True)
class AlphaK(Requirement):
    """At least `k` rows, of which no sensitive value takes more than `alpha`."""

    name: ClassVar[str] = "(alpha,k)-anonymity"
    alpha: float
    k: int

    def __post_init__(self) -> None:
        share = is_number(self.alpha) and 0 < self.alpha <= 1
        expect(share, f"alpha is {self.alpha!r}; expected a share above 0 and at most 1")
        expect(is_whole(self.k) and self.k >= 1, f"k is {self.k!r}; expected a whole number of at least 1")

    @property
    def smallest_class(self) -> int:
        return self.k

    def holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        total = counts.sum(-1)
        return np.asarray((total >= self.k - ROUNDING) & (counts.max(-1) <= self.alpha * total * (1 + ROUNDING)))

    def sentence(self) -> str:
        return (
            f"each person is in a class of at least {self.k}, and at most a share of {self.alpha:g} of a class "
            "have the same sensitive value"
        )
