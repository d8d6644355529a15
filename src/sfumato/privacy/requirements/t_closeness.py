"""t-closeness: no class is far from all that is published (Li, Li and Venkatasubramanian, 2007)."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.parameters import parameter
from sfumato.privacy.distances import Distance, distance
from sfumato.privacy.requirements.base import ROUNDING, Counts, Population, Requirement


@dataclass(frozen=True, kw_only=True)
class TCloseness(Requirement):
    """The distance between the sensitive attribute in a class and in the published table is at most `t`.

    `distance` is the earth mover's distance with the named ground distance between values (`equal`: 1,
    `ordered`: steps apart, `hierarchical`: height of the common ancestor), or `jensen-shannon`.

    >>> release = sf.Mondrian(requirements=(sf.TCloseness(t=0.3),)).publish(table)
    """

    name: ClassVar[str] = "t-closeness"
    merges: ClassVar[bool] = True
    t: float = parameter(
        help="how far the sensitive values of a class may be from all published", minimum=0, example=0.2
    )
    distance: Distance = parameter(
        default="equal", help="earth mover's with this ground distance, or Jensen-Shannon; equal by default"
    )

    @property
    def bounds_values(self) -> bool:
        return self.t < (math.log(2) if self.distance == "jensen-shannon" else 1)

    def _holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        return self._apart(counts, population) <= self.t + ROUNDING

    def _strain(self, counts: Counts, population: Population) -> NDArray[np.float64]:
        return self._apart(counts, population) / max(self.t, ROUNDING)

    def _apart(self, counts: Counts, population: Population) -> NDArray[np.float64]:
        return distance(population.exposed(counts), population.shares, population.axis, self.distance)

    def sentence(self) -> str:
        return (
            f"the sensitive attribute of every class is within {self.t:g} ({self.distance} distance) of that of all "
            "who are published"
        )
