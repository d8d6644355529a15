"""k-anonymity: nobody stands in a class of fewer than k people (Samarati and Sweeney, 1998)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy.requirements.base import ROUNDING, Counts, Population, Requirement, expect, is_whole


@dataclass(frozen=True, kw_only=True)
class KAnonymity(Requirement):
    """Every class has at least `k` rows."""

    name: ClassVar[str] = "k-anonymity"
    k: int

    def __post_init__(self) -> None:
        expect(is_whole(self.k) and self.k >= 1, f"k is {self.k!r}; expected a whole number of at least 1")

    @property
    def smallest_class(self) -> int:
        return self.k

    def holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        return np.asarray(counts.sum(-1) >= self.k - ROUNDING)

    def sentence(self) -> str:
        return f"each person is in a class of at least {self.k}"
