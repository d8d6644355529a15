"""δ-disclosure or semantic privacy (Brickell and Shmatikov, 2008): bounded odds for every value."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.parameters import parameter
from sfumato.privacy.odds import spell_factor
from sfumato.privacy.requirements.base import ROUNDING, Counts, Population, Requirement


@dataclass(frozen=True, kw_only=True)
class DeltaDisclosure(Requirement):
    """|ln(p_s / q_s)| ≤ `delta` for every sensitive value s of the published table; a value absent from a class fails.

    >>> release = sf.Mondrian(requirements=(sf.DeltaDisclosure(delta=3),)).publish(table)
    """

    name: ClassVar[str] = "delta-disclosure"
    merges: ClassVar[bool] = True
    delta: float = parameter(help="the largest log ratio of a share to that among all published", minimum=0, example=1)

    def _holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        return np.asarray(_largest_ratio(counts, population) <= self.delta + ROUNDING)

    def _strain(self, counts: Counts, population: Population) -> NDArray[np.float64]:
        return _largest_ratio(counts, population) / max(self.delta, ROUNDING)

    def sentence(self) -> str:
        return (
            f"no sensitive value is more than {spell_factor(self.delta)} times as frequent or as rare in a class as "
            "among all who are published"
        )


def _largest_ratio(counts: Counts, population: Population) -> NDArray[np.float64]:
    """max |ln(p_s / q_s)| over the sensitive values s of the table."""
    occurring = population.counts > 0
    with np.errstate(divide="ignore"):
        ratio = np.log(population.exposed(counts)[..., occurring]) - np.log(population.shares[occurring])
    return np.asarray(np.abs(ratio).max(-1))
