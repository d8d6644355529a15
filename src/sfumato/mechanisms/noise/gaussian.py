"""Discrete Gaussian noise by exact rejection: P(X = x) proportional to e^(−x²/2σ²).

A discrete Laplace draw Y of scale t = ⌊σ⌋ + 1 is accepted with probability e^(−(|Y| − σ²/t)²/2σ²) (Canonne,
Kamath and Steinke, 2020). That probability is compared with a uniform number; where numbers of 53 bits leave any doubt,
word by word, so acceptance is exact. Added to a count of sensitivity 1 it costs ρ = 1/2σ² of concentrated differential
privacy.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.noise.digits import MORE_THAN_LN_2, WORD, Digits, Words, decimal
from sfumato.mechanisms.noise.geometric import draw_laplace

SURPLUS = 1.5
"""About 1.3 proposals are needed for each accepted one."""
UNSURE = 2.0**-30
"""Far more than 53 bits are off by: 60σ away the chance is below 2^(−2000), nearer they lose less than 2^(−36)."""


@dataclass(frozen=True)
class Acceptance(Digits):
    """e^(−(y − σ²/t)²/2σ²) for y = |Y|, where that is not exactly one."""

    variance: Fraction

    @property
    def scale(self) -> int:
        """t = ⌊σ⌋ + 1."""
        return math.isqrt(self.variance.numerator // self.variance.denominator) + 1

    def certain(self, which: int) -> bool:
        """Whether the probability is one."""
        return which == self.variance / self.scale

    def value(self, which: int) -> Decimal:
        return (-decimal(self._exponent(which))).exp()

    def floor(self, which: int, words: int) -> int:
        """As for any number, but at once where it is below 2^(−64·words), however many digits that is away."""
        return 0 if self._exponent(which) >= MORE_THAN_LN_2 * WORD * words else super().floor(which, words)

    def _exponent(self, which: int) -> Fraction:
        return (which - self.variance / self.scale) ** 2 / (2 * self.variance)

    def nearly(self, size: NDArray[np.int64]) -> NDArray[np.float64]:
        """The probabilities for some |Y|, up to rounding."""
        away = size - float(self.variance / self.scale)
        return np.asarray(np.exp(-(away**2) / (2 * float(self.variance))))


def draw_gaussian(variance: Fraction, count: int, source: Words) -> NDArray[np.int64]:
    """`count` independent draws with σ² = `variance`."""
    if variance <= 0:
        raise ParameterError(f"the variance is {float(variance):g}; expected a number above 0")
    law = Acceptance(variance)
    found: list[NDArray[np.int64]] = []
    lacking = count
    while lacking > 0:
        proposed = draw_laplace(Fraction(1, law.scale), math.ceil(SURPLUS * lacking) + 8, source)
        found.append(proposed[_accept(law, np.abs(proposed), source)][:lacking])
        lacking -= len(found[-1])
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


def _accept(law: Acceptance, size: NDArray[np.int64], source: Words) -> NDArray[np.bool_]:
    words = source.words(len(size))
    ahead = law.nearly(size) - words * 2.0**-WORD
    accepted = ahead > 0
    for draw in np.flatnonzero(np.abs(ahead) <= UNSURE):
        y = int(size[draw])
        accepted[draw] = law.certain(y) or not law.at_most(y, [int(words[draw])], source)
    return accepted
