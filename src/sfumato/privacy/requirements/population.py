"""Sizes of classes in other units than rows: people of the population by survey weights, and households.

k-map by weighted counts follows Sweeney (2001): a class of a sample hides a person among all people of the population
who are like its rows, and their number is estimated by the sum of the weights.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.parameters import parameter
from sfumato.privacy.requirements.base import ROUNDING, Counts, Population, Requirement
from sfumato.schema.weight import Unit


@dataclass(frozen=True, kw_only=True)
class KMap(Requirement):
    """Every class stands for at least `k_map` people of the population, by the sum of its weights.

    >>> columns = {**table.schema.spec()["columns"], "weight": {"role": "weight"}}
    >>> rows = {**sf.residents(400).to_dict(), "weight": [25] * 400}
    >>> release = sf.Mondrian(requirements=(sf.KMap(k_map=250),)).publish(sf.read(rows, schema={"columns": columns}))
    """

    name: ClassVar[str] = "k-map"
    name_in_buckets: ClassVar[str] = "weight of buckets"
    unit: ClassVar[Unit] = "weights"
    k_map: int = parameter(
        help="at least this many people of the population for whom a class stands, by its weights",
        minimum=1,
        example=100,
    )

    @property
    def bounds_values(self) -> bool:
        return False

    def holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        return np.asarray(counts.sum(-1) >= self.k_map * (1 - ROUNDING))

    _holds = holds

    def sentence(self) -> str:
        return f"each class stands for at least {self.k_map} people of the population, by its weights"


@dataclass(frozen=True, kw_only=True)
class KHouseholds(Requirement):
    """Every class has people of at least `k_households` different households; those without one count as one.

    >>> columns = {**table.schema.spec()["columns"], "home": {"role": "household"}}
    >>> rows = {**sf.residents(400).to_dict(), "home": [row // 3 for row in range(400)]}
    >>> table = sf.read(rows, schema={"columns": columns})
    >>> release = sf.Mondrian(requirements=(sf.KHouseholds(k_households=5),)).publish(table)
    """

    name: ClassVar[str] = "k-households"
    name_in_buckets: ClassVar[str] = "households in buckets"
    unit: ClassVar[Unit] = "households"
    k_households: int = parameter(help="at least this many households in a class", minimum=1, example=5)

    @property
    def bounds_values(self) -> bool:
        return False

    @property
    def smallest_class(self) -> int:
        return self.k_households

    def holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        return np.asarray(counts.sum(-1) >= self.k_households)

    _holds = holds

    def sentence(self) -> str:
        return f"each class has people of at least {self.k_households} different households"
