"""What a channel is: how likely each report is for each true value, and how to draw one.

Values are `0..size - 1`, reports `0..reports - 1`. A channel is the matrix G of P(report j | value i); none is ever
written out, because every product with it takes one pass. Products run along the last axis of what they are given.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.noise import Source, SystemSource
from sfumato.privacy.claims import Claim, LocalDP
from sfumato.privacy.loss import exact

Floats = NDArray[np.float64]

MAX_SIZE = 2**31 - 1
MIN_EPSILON = Fraction(1, 10**12)
MIN_EXPECTED = 1e-290
"""Expected shares of reports are taken to be at least this, so that no quotient leaves the floating-point range."""


def state_epsilon(epsilon: Fraction) -> float:
    """ε as a claim states it: the nearest number that, as it is spelled, is not below."""
    nearest = float(epsilon)
    return nearest if Fraction(str(nearest)) >= epsilon else math.nextafter(nearest, math.inf)


@dataclass(frozen=True, kw_only=True)
class Channel(ABC):
    """Noise that a person adds to their own value before it leaves their device.

    `epsilon` is as the mechanism counts it: per unit of distance, or for the whole axis.
    """

    name: ClassVar[str]
    invertible: ClassVar[bool] = True
    """Whether there are as many reports as values, so that `invert` and `contributions` undo the channel."""
    size: int
    epsilon: float | Fraction

    def __post_init__(self) -> None:
        if isinstance(self.size, bool) or not isinstance(self.size, int) or not 0 < self.size <= MAX_SIZE:
            raise ParameterError(f"the number of values is {self.size!r}; expected from 1 to {MAX_SIZE:,}")
        if self.exact_epsilon < MIN_EPSILON:
            raise ParameterError(f"epsilon is {float(self.exact_epsilon):g}; below 1e-12 reports say nothing")

    @cached_property
    def exact_epsilon(self) -> Fraction:
        """ε as it is spelled."""
        return exact(self.epsilon)

    @property
    def reports(self) -> int:
        """How many different reports there are."""
        return self.size

    @property
    @abstractmethod
    def claim(self) -> LocalDP:
        """What a report promises to the person who sends it."""

    def violations(self, claim: Claim) -> list[str]:
        """A sentence for each promise of a claim that the channel does not keep."""
        return claim.exceeds(self.claim.epsilon, self.claim.per_step)

    def perturb(self, values: NDArray[np.integer], source: Source | None = None) -> NDArray[np.int64]:
        """An independent report for each value, drawn from the operating system unless a source is given.

        How much is drawn and computed does not depend on the values.
        """
        codes = np.asarray(values, dtype=np.int64)
        if len(codes) and not (codes.min() >= 0 and codes.max() < self.size):
            wrong = int(codes[(codes < 0) | (codes >= self.size)][0])
            raise ParameterError(f"the value {wrong} is not on the axis; expected from 0 to {self.size - 1}")
        return self._draw(codes, source or SystemSource())

    @abstractmethod
    def _draw(self, values: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """An independent report for each value, all of which are on the axis."""

    @abstractmethod
    def spread(self, shares: Floats) -> Floats:
        """pG: how reports are distributed when values are distributed like `shares`; in one pass."""

    @abstractmethod
    def gather(self, amounts: Floats) -> Floats:
        """Gv: the expected amount for each value when a report j is worth `amounts[j]`; in one pass."""

    def gains(self, shares: Floats, reported: Floats) -> Floats:
        """g = G(q / pG): by what factor a Bayesian update with `reported` multiplies each of `shares`."""
        return self.gather(reported / np.maximum(self.spread(shares), MIN_EXPECTED))

    def update(self, shares: Floats, reported: Floats) -> Floats:
        """One Bayesian update: p_i Σ_j q_j G_ij / (pG)_j, what `reported` makes of the belief `shares`."""
        return shares * self.gains(shares, reported)

    def invert(self, shares: Floats) -> Floats:
        """qG⁻¹ along the last axis: the distribution of values that explains that of the reports exactly.

        It sums to what `shares` sum to, but need not be positive.
        """
        raise ParameterError(f"{self.name} has more reports than values and no inverse; use another estimate")

    def contributions(self, amounts: Floats) -> Floats:
        """G⁻¹f: what each report contributes to the unbiased estimate of a mean of `amounts` over the values."""
        raise ParameterError(f"{self.name} has more reports than values and no inverse; use another estimate")

    def matrix(self) -> Floats:
        """G written out, for small axes: (values, reports)."""
        return self.spread(np.eye(self.size))

    def spec(self) -> dict[str, Any]:
        """The channel as files spell it."""
        return {"mechanism": self.name, "size": self.size, "epsilon": str(self.exact_epsilon)}
