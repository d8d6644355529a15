"""t-closeness: no class is far from the whole table (Li, Li and Venkatasubramanian, 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy.distances import Distance, distance, shares
from sfumato.privacy.requirements.base import ROUNDING, Counts, Population, Requirement, expect, is_number


@dataclass(frozen=True, kw_only=True)
class TCloseness(Requirement):
    """The distance between the sensitive attribute in a class and in the table is at most `t`.

    `distance` is the earth mover's distance with the named ground distance between values (`equal`: 1,
    `ordered`: steps apart, `hierarchical`: height of the common ancestor), or `jensen-shannon`.
    """

    name: ClassVar[str] = "t-closeness"
    t: float
    distance: Distance = "equal"

    def __post_init__(self) -> None:
        expect(is_number(self.t) and self.t >= 0, f"t is {self.t!r}; expected a number of at least 0")
        kinds = get_args(Distance)
        expect(self.distance in kinds, f"distance is {self.distance!r}; expected one of {', '.join(kinds)}")

    def holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        apart = distance(shares(counts), population.shares, population.axis, self.distance)
        return apart <= self.t + ROUNDING

    def sentence(self) -> str:
        return (
            f"the sensitive attribute of every class is within {self.t:g} ({self.distance} distance) of the whole "
            "table's"
        )
