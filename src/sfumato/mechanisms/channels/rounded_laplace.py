"""Laplace noise of scale 1/ε on an integer, rounded to the nearest integer and clamped to the axis.

What most programs do in place of geometric noise. A value stays where it is with probability 1 − e^(−ε/2), and goes
d ≥ 1 units to either side with probability sinh(ε/2) e^(−εd); it is drawn that way, so no continuous noise occurs.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.channels.base import state_epsilon
from sfumato.mechanisms.channels.kernel import Kernel
from sfumato.mechanisms.noise import Source
from sfumato.mechanisms.noise.digits import draw_below
from sfumato.mechanisms.noise.geometric import draw_geometric
from sfumato.privacy.claims import LocalDP

MAX_EPSILON = 20
ROUNDINGS = 1e-14


@dataclass(frozen=True, kw_only=True)
class RoundedLaplace(Kernel):
    """Laplace noise, rounded and clamped.

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
    def scales(self) -> NDArray[np.float64]:
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
