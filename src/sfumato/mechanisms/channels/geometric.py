"""The truncated geometric mechanism (paper kacem2018; Ghosh, Roughgarden and Sundararajan, 2009).

Discrete Laplace noise on an integer, and what falls off an end of the axis reported as that end:
G_ij = α^|i−j| / (1 + α) in the first and the last column, (1 − α)/(1 + α) · α^|i−j| between them.
Proof of the claim in channels.proof.md.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.channels.kernel import Kernel, Number
from sfumato.mechanisms.noise import Source


@dataclass(frozen=True, kw_only=True)
class TruncatedGeometric(Kernel):
    """Geometric noise, clamped to the axis.

    Claim: values that differ by d make every report at most e^(εd) times as likely: local ε·(size − 1).
    Assumes: one report per person, or always the same one.
    Cost: O(1) per report; O(size) to undo.
    Reference: paper kacem2018 section 3, with its Proposition 3.1 turned the right way round.

    >>> channel = sf.local.TruncatedGeometric(size=10, epsilon=1)
    >>> len(channel.perturb([0, 5, 9])), float(channel.claim.epsilon) > 0
    (3, True)
    """

    name: ClassVar[str] = "geometric"

    @cached_property
    def scales(self) -> NDArray[np.float64]:
        if self.size == 1:
            return np.ones(1)
        end, inner = geometric_scales(self.decay, self.gap)
        scales = np.full(self.size, inner)
        scales[[0, -1]] = end
        return scales

    def _draw(self, values: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        return np.asarray(np.clip(values + source.laplace(self.exact_epsilon, len(values)), 0, self.size - 1))


def geometric_scales(decay: Number, gap: Number) -> tuple[Number, Number]:
    """The factor of the first and the last column of G, and that of the columns between, from α and 1 − α."""
    end = 1 / (1 + decay)
    return end, gap * end
