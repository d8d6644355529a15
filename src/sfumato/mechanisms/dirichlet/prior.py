"""Priors in levels: every place of a level has the same prior mass and the same chance of being kept."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.errors import ParameterError

UNIT = 2**30
"""The mass of one worker in an urn; prior masses are whole multiples of 1/UNIT."""
MIN_KEEP = 2.0**-11
"""Probabilities below this have bits that a coin of one 64-bit word does not."""
MAX_MASS = 2.0**62
"""What an urn may hold in all."""


@compiled
def round_masses(scale: float, weights: np.ndarray) -> np.ndarray:
    """Prior masses in whole units: the calibration judges, and the urn holds, exactly these."""
    return np.minimum(np.maximum(np.ceil(scale * weights * UNIT), 1.0), MAX_MASS).astype(np.int64)


@dataclass(frozen=True, eq=False)
class PriorShape:
    """The shape of a prior: for each level the mass of a place beside that of other levels, and how it is kept.

    `keep` is the probability with which a place where nobody lives stays in the domain (1: always).
    """

    weights: NDArray[np.float64]
    keep: NDArray[np.float64]

    def __init__(
        self,
        weights: Sequence[float] | NDArray[np.float64] = (1.0,),
        keep: Sequence[float] | NDArray[np.float64] | None = None,
    ) -> None:
        object.__setattr__(self, "weights", np.asarray(weights, dtype=np.float64))
        object.__setattr__(self, "keep", np.ones(len(self.weights)) if keep is None else np.asarray(keep, float))
        if not (np.isfinite(self.weights).all() and (self.weights > 0).all()):
            raise ParameterError("a prior needs a weight above 0 for every place")
        if len(self.keep) != len(self.weights) or not ((self.keep >= MIN_KEEP) & (self.keep <= 1)).all():
            raise ParameterError(f"the probability of keeping an empty place is from {MIN_KEEP:g} to 1")

    @property
    def levels(self) -> int:
        """How many levels the prior has."""
        return len(self.weights)

    @property
    def drops(self) -> bool:
        """Whether some empty place may be dropped."""
        return bool((self.keep < 1).any())

    def masses(self, scale: float) -> NDArray[np.int64]:
        """The mass of a place of each level in whole units, for the prior of this scale."""
        return round_masses(scale, self.weights)
