"""Channels with two probabilities: a high one near the true value, a low one everywhere else.

`RandomizedResponse` keeps the value itself or reports another; `SquareWave` reports something within `reach` of it or
something farther off (Li, Wang, Lopuhaä-Zwakenberg, Li and Škorić, 2020, in its discrete form).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.channels.base import Channel, Floats, state_epsilon
from sfumato.mechanisms.noise import Source
from sfumato.mechanisms.noise.digits import Odds, draw_below, draw_coins
from sfumato.privacy.claims import LocalDP

STEEP = 500
"""Beyond this ε the best reach is 0 on any axis, and e^ε nears the end of the floating-point range."""
FLAT = 1e-4
"""Below this ε the best reach is half the axis to four digits, and its formula loses all of its own."""


@dataclass(frozen=True, kw_only=True)
class Window(Channel):
    """Reports `i..i + 2·reach` are near the value i; each of them is e^ε times as likely as each other one."""

    @property
    def reach(self) -> int:
        """How far on either side of a value a report is near."""
        return 0

    @property
    def width(self) -> int:
        """How many reports are near a value."""
        return 2 * self.reach + 1

    @property
    def reports(self) -> int:
        return self.size + 2 * self.reach

    @property
    def claim(self) -> LocalDP:
        return LocalDP(epsilon=state_epsilon(self.exact_epsilon) if self.size > 1 else 0.0)

    @cached_property
    def chances(self) -> tuple[float, float]:
        """The probability of a report that is near, and of one that is not."""
        fade = math.exp(-self.exact_epsilon)
        near = 1 / (self.width + (self.size - 1) * fade)
        return near, near * fade

    def _draw(self, values: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        if self.size == 1:
            return values + draw_below(self.width, len(values), source)
        near = draw_coins(Odds(self.exact_epsilon, self.width, self.size - 1), 0, len(values), source)
        within = draw_below(self.width, len(values), source)
        other = draw_below(self.size - 1, len(values), source)
        return np.where(near, values + within, other + self.width * (other >= values))

    def spread(self, shares: Floats) -> Floats:
        around = [(0, 0)] * (shares.ndim - 1) + [(2 * self.reach, 2 * self.reach)]
        return self._weigh(np.pad(shares, around) if self.reach else shares)

    def gather(self, amounts: Floats) -> Floats:
        return self._weigh(amounts)

    def _weigh(self, amounts: Floats) -> Floats:
        """Each `width` amounts in a row, weighed as near, with all the others as far."""
        near, far = self.chances
        within = amounts
        if self.width > 1:
            upto = np.insert(np.cumsum(amounts, axis=-1), 0, 0.0, axis=-1)
            within = upto[..., self.width :] - upto[..., : -self.width]
        return np.asarray(far * amounts.sum(axis=-1, keepdims=True) + (near - far) * within)


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse(Window):
    """The value itself, or with some probability any other one.

    Claim: any two values make every report at most e^ε times as likely as the other.
    Assumes: one report per person, or always the same one.
    Cost: O(1) per report; O(size) to undo.
    Reference: Kairouz, Bonawitz and Ramage, 2016 (k-ary randomized response); proof in channels.proof.md.

    >>> channel = sf.local.RandomizedResponse(size=10, epsilon=1)
    >>> len(channel.perturb([0, 5, 9])), float(channel.claim.epsilon) > 0
    (3, True)
    """

    name: ClassVar[str] = "randomized-response"

    def invert(self, shares: Floats) -> Floats:
        """G = (near − far) I + far 11ᵀ, whose inverse is (I − far 11ᵀ) / (near − far)."""
        near, far = self.chances
        return np.asarray((shares - far * shares.sum(axis=-1, keepdims=True)) / (near - far))

    def contributions(self, amounts: Floats) -> Floats:
        return self.invert(amounts)


@dataclass(frozen=True, kw_only=True)
class SquareWave(Window):
    """A report from a window around the value, or with some probability from anywhere else.

    Claim: any two values make every report at most e^ε times as likely as the other.
    Assumes: one report per person, or always the same one.
    Cost: O(1) per report. There are more reports than values: estimated by likelihood, not by inversion.
    Reference: Li et al., 2020, the discrete form with the reach that carries most information; channels.proof.md.

    >>> channel = sf.local.SquareWave(size=10, epsilon=1)
    >>> len(channel.perturb([0, 5, 9])), float(channel.claim.epsilon) > 0
    (3, True)
    """

    name: ClassVar[str] = "square-wave"
    invertible: ClassVar[bool] = False

    @cached_property
    def reach(self) -> int:
        """⌊(εe^ε − e^ε + 1) / (2e^ε (e^ε − 1 − ε)) · size⌋, which is public."""
        epsilon = float(self.exact_epsilon)
        if epsilon < FLAT:
            return self.size // 2
        if epsilon > STEEP:
            return 0
        share = (epsilon + math.expm1(-epsilon)) / (2 * (math.expm1(epsilon) - epsilon))
        return math.floor(share * self.size)
