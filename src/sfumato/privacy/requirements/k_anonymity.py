"""k-anonymity: nobody stands in a class of fewer than k people (Samarati and Sweeney, 1998)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.parameters import parameter
from sfumato.privacy.requirements.base import ROUNDING, Counts, Population, Requirement


@dataclass(frozen=True, kw_only=True)
class KAnonymity(Requirement):
    """Every class has at least `k` rows.

    >>> release = sf.Mondrian(requirements=(sf.KAnonymity(k=5),)).publish(table)
    """

    name: ClassVar[str] = "k-anonymity"
    merges: ClassVar[bool] = True
    name_in_buckets: ClassVar[str] = "size of buckets"
    k: int = parameter(help="at least this many people in a class", minimum=1, example=10)

    @property
    def bounds_values(self) -> bool:
        return False

    @property
    def smallest_class(self) -> int:
        return self.k

    def _holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        return np.asarray(counts.sum(-1) >= self.k - ROUNDING)

    def sentence(self) -> str:
        return f"each person is in a class of at least {self.k}"

    def sentence_in_buckets(self) -> str:
        return f"every bucket has at least {self.k} people"
