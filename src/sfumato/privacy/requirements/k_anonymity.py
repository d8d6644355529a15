"""k-anonymity: nobody stands in a class of fewer than k people (Samarati and Sweeney, 1998)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sfumato.privacy.requirements.base import Population, Requirement, expect

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class KAnonymity(Requirement):
    """Every class has at least `k` rows."""

    name: ClassVar[str] = "k-anonymity"
    k: int

    def __post_init__(self) -> None:
        whole = isinstance(self.k, int | np.integer) and not isinstance(self.k, bool)
        expect(whole and self.k >= 1, f"k is {self.k!r}; expected a whole number of at least 1")

    @property
    def smallest_class(self) -> int:
        return self.k

    def holds(self, counts: NDArray[np.int64], population: Population) -> NDArray[np.bool_]:  # noqa: ARG002
        return np.asarray(counts.sum(-1) >= self.k)

    def sentence(self) -> str:
        return f"each person shares a class with at least {self.k - 1} others"
