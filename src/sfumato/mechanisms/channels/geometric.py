"""Two-sided noise on an integer, clamped to the axis: geometric (discrete Laplace), and Laplace noise that is rounded.

The truncated geometric mechanism is that of paper kacem2018 (and of Ghosh, Roughgarden and Sundararajan, 2009): what
falls off an end of the axis is reported as that end. G_ij = α^|i−j| / (1 + α) in the first and the last column,
(1 − α)/(1 + α) · α^|i−j| between them. Proofs of the claims are in channels.proof.md.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.channels.base import Floats, state_epsilon
from sfumato.mechanisms.channels.kernel import Kernel, Number
from sfumato.mechanisms.noise import Source
from sfumato.mechanisms.noise.digits import draw_below
from sfumato.mechanisms.noise.geometric import draw_geometric
from sfumato.privacy.claims import LocalDP

MAX_EPSILON = 20
ROUNDINGS = 1e-14


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
    def scales(self) -> Floats:
        if self.size == 1:
            return np.ones(1)
        end, inner = geometric_scales(self.decay, self.gap)
        scales = np.full(self.size, inner)
        scales[[0, -1]] = end
        return scales

    def _draw(self, values: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        return np.asarray(np.clip(values + source.laplace(self.exact_epsilon, len(values)), 0, self.size - 1))


@dataclass(frozen=True, kw_only=True)
class RoundedLaplace(Kernel):
    """Laplace noise of scale 1/ε on an integer, rounded to the nearest integer and clamped to the axis.

    What most programs do in place of geometric noise. A value stays where it is with probability 1 − e^(−ε/2), and goes
    d ≥ 1 units to either side with probability sinh(ε/2) e^(−εd); it is drawn that way, so no continuous noise occurs.

    Claim: values that differ by d make every report at most e^(εd) times as likely; over the whole axis a little less
    than ε·(size − 1), because the first step away from an end costs ln(2e^(ε/2) − 1) only.
    Assumes: one report per person, or always the same one.
    Cost: O(1) per report; O(size) to undo.
    Reference: compared with the geometric mechanism; proof in channels.proof.md.

    >>> channel = sf.local.RoundedLaplace(size=10, epsilon=1)
    >>> len(channel.perturb([0, 5, 9])), float(channel.claim.epsilon) > 0
    (3, True)
    """

    name: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.exact_epsilon > MAX_EPSILON:
            raise ParameterError(
                f"epsilon is {float(self.exact_epsilon):g} per step; at more than {MAX_EPSILON}, rounded Laplace "
                "noise leaves values as they are; use geometric"
            )

    @cached_property
    def scales(self) -> Floats:
        """sinh(ε/2) inside, e^(ε/2)/2 at the ends: the tail beyond an end adds up to that."""
        if self.size == 1:
            return np.array([1 - self.spike])
        half = float(self.exact_epsilon / 2)
        scales = np.full(self.size, math.sinh(half))
        scales[[0, -1]] = math.exp(half) / 2
        return scales

    @cached_property
    def spike(self) -> float:
        half = float(self.exact_epsilon / 2)
        return -math.expm1(-half) - math.sinh(half)

    @property
    def claim(self) -> LocalDP:
        steps, per_step = self.size - 1, state_epsilon(self.exact_epsilon)
        if not steps:
            return LocalDP(epsilon=0.0, per_step=per_step)
        first = math.log1p(2 * math.expm1(float(self.exact_epsilon) / 2))
        # Raised by more than the few roundings can take away, so that the claim is never below what holds.
        whole = (float(self.exact_epsilon) * (steps - 1) + first) * (1 + ROUNDINGS)
        return LocalDP(epsilon=min(whole, state_epsilon(self.exact_epsilon * steps)), per_step=per_step)

    def _draw(self, values: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        count = len(values)
        moved = draw_geometric(self.exact_epsilon / 2, count, source) > 0
        distance = 1 + draw_geometric(self.exact_epsilon, count, source)
        side = 2 * draw_below(2, count, source) - 1
        return np.clip(values + moved * side * distance, 0, self.size - 1)


def geometric_scales(decay: Number, gap: Number) -> tuple[Number, Number]:
    """The factor of the first and the last column of G, and that of the columns between, from α and 1 − α."""
    end = 1 / (1 + decay)
    return end, gap * end
