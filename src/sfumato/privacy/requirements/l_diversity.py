"""ℓ-diversity: no class gives a sensitive value away (Machanavajjhala et al., 2006).

Four forms. The probabilistic one bounds the adversary's confidence directly and is what `l=` means elsewhere.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.parameters import parameter
from sfumato.privacy.requirements.base import ROUNDING, Counts, Population, Requirement


@dataclass(frozen=True, kw_only=True)
class LDiversity(Requirement):
    """The most frequent sensitive value has a share of at most 1/`l`, where `l` may be a fraction.

    >>> release = sf.Mondrian(requirements=(sf.LDiversity(l=1.5),)).publish(table)
    """

    name: ClassVar[str] = "l-diversity"
    merges: ClassVar[bool] = True
    form: ClassVar[str] = "probabilistic"
    l: float = parameter(help="how diverse the sensitive values of a class are", minimum=1, example=3)

    @property
    def bounds_values(self) -> bool:
        return self.l > 1

    @property
    def smallest_class(self) -> int:
        return math.ceil(self.l - ROUNDING)

    def _holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        return np.asarray(population.commonest_secret(counts) <= counts.sum(-1) / self.l * (1 + ROUNDING))

    def _strain(self, counts: Counts, population: Population) -> NDArray[np.float64]:
        return np.asarray(population.commonest_secret(counts) / counts.sum(-1) * self.l)

    def sentence(self) -> str:
        return f"no sensitive value has more than 1/{self.l:g} of a class"


@dataclass(frozen=True, kw_only=True)
class DistinctLDiversity(LDiversity):
    """At least `l` different sensitive values in every class.

    >>> release = sf.Mondrian(requirements=(sf.DistinctLDiversity(l=3),)).publish(table)
    """

    name: ClassVar[str] = "distinct l-diversity"
    form: ClassVar[str] = "distinct"

    def _holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        return np.asarray(np.count_nonzero(population.exposed(counts), axis=-1) >= self.l)

    def _strain(self, counts: Counts, population: Population) -> NDArray[np.float64]:
        return np.asarray(self.l / np.count_nonzero(population.exposed(counts), axis=-1))

    def sentence(self) -> str:
        return f"every class has at least {self.l:g} different sensitive values"


def _entropy(p: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(-np.sum(p * np.log(p, out=np.zeros_like(p), where=p > 0), axis=-1))


@dataclass(frozen=True, kw_only=True)
class EntropyLDiversity(LDiversity):
    """The entropy of the sensitive attribute in every class is at least ln `l`.

    >>> release = sf.Mondrian(requirements=(sf.EntropyLDiversity(l=1.5),)).publish(table)
    """

    name: ClassVar[str] = "entropy l-diversity"
    form: ClassVar[str] = "entropy"

    def _holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        return np.asarray(_entropy(population.exposed(counts)) >= math.log(self.l) - ROUNDING)

    def _strain(self, counts: Counts, population: Population) -> NDArray[np.float64]:
        return np.asarray(math.log(self.l) / np.maximum(_entropy(population.exposed(counts)), ROUNDING))

    def sentence(self) -> str:
        return f"the sensitive values of a class are as mixed as {self.l:g} equally frequent ones"


@dataclass(frozen=True, kw_only=True)
class RecursiveLDiversity(LDiversity):
    """The commonest value has fewer than `c` times the rows of all values but the `l` − 1 commonest.

    (c, ℓ)-diversity: r₁ < c (r_ℓ + … + r_m) with the counts in falling order.

    >>> release = sf.Mondrian(requirements=(sf.RecursiveLDiversity(c=4, l=2),)).publish(table)
    """

    name: ClassVar[str] = "recursive (c,l)-diversity"
    form: ClassVar[str] = "recursive"
    l: int = parameter(help="how diverse the sensitive values of a class are", minimum=1, example=3)
    c: float = parameter(help="the factor by which the commonest value may outnumber the rest", above=0, example=2)

    @property
    def bounds_values(self) -> bool:
        return self.l > 1 or self.c <= 1

    def _holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        commonest, rest = self._compared(counts, population)
        return np.asarray(commonest < rest * (1 - ROUNDING))

    def _strain(self, counts: Counts, population: Population) -> NDArray[np.float64]:
        commonest, rest = self._compared(counts, population)
        return np.asarray(commonest / np.maximum(rest, ROUNDING))

    def _compared(self, counts: Counts, population: Population) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """r₁ and c (r_ℓ + … + r_m), as shares."""
        falling = -np.sort(-population.exposed(counts), axis=-1)
        return falling[..., 0], self.c * falling[..., self.l - 1 :].sum(-1)

    def sentence(self) -> str:
        return (
            f"the commonest sensitive value of a class has fewer than {self.c:g} times the rows of all values but "
            f"the {self.l - 1} commonest"
        )
