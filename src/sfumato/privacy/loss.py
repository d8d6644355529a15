"""How much privacy a computation may cost: pure ε, (ε, δ), or ρ of concentrated differential privacy (zCDP).

All three compose by adding, also when a later cost is chosen after seeing earlier outputs, as long as the sum
never passes the total: for pure ε and (ε, δ) by multiplying ratios (adding failures), for ρ by the chain rule
of Rényi divergences (Feldman and Zrnic, 2021). Amounts are exact fractions; nothing is lost in rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from fractions import Fraction
from numbers import Rational
from typing import Self

from sfumato.errors import ParameterError

MAX_AMOUNT = 10**6
"""An ε or ρ above this protects nobody; it is more likely a mistake."""
MAX_CHARACTERS = 60
"""Characters of a number; of either part of a fraction."""


def exact(number: float | int | Fraction | str, name: str = "epsilon") -> Fraction:
    """The number as it is spelled: 0.1 means one tenth, not the nearest binary fraction."""
    if isinstance(number, bool) or not isinstance(number, int | float | Rational | str):
        raise ParameterError(f"{name} is {number!r}; expected a number above 0")
    try:
        found = Fraction(number) if isinstance(number, Fraction | int) else _parse(str(number))
    except (ValueError, ZeroDivisionError) as error:
        raise ParameterError(f"{name} is {repr(number)[:MAX_CHARACTERS]}; expected a number above 0") from error
    if not 0 < found <= MAX_AMOUNT:
        raise ParameterError(
            f"{name} is {str(number)[:MAX_CHARACTERS]}; expected a number above 0 and at most {MAX_AMOUNT:,}"
        )
    return found


def spell(amount: Fraction) -> float:
    """The amount as a number that is spelled; the next larger one where no number is spelled exactly so."""
    number = float(amount)
    return number if Fraction(str(number)) >= amount else math.nextafter(number, math.inf)


def _parse(text: str) -> Fraction:
    """A decimal number or a fraction, if it is short; to write out an exponent of millions would take minutes."""
    numerator, _, denominator = text.partition("/")
    above, below = abs(float(numerator)), abs(float(denominator or "1"))
    if max(len(numerator), len(denominator)) > MAX_CHARACTERS or not max(above, below) < math.inf:
        raise ValueError(text)
    if not below:
        raise ZeroDivisionError(text)
    return Fraction(text) if above else Fraction(0)


@dataclass(frozen=True)
class Amounts:
    """Amounts that add up, one by one, and cover others when none of them is smaller."""

    def __add__(self, other: Self) -> Self:
        return type(self)(*(mine + theirs for mine, theirs in self._pairs(other)))

    def covers(self, other: Self) -> bool:
        """Whether whoever promises the other promises this one too."""
        return all(theirs <= mine for mine, theirs in self._pairs(other))

    def _pairs(self, other: Self) -> Iterator[tuple[Fraction, Fraction]]:
        return zip(astuple(self), astuple(other), strict=True)


@dataclass(frozen=True)
class Pure(Amounts):
    """ε-differential privacy: no output becomes more than e^ε times as likely through one person."""

    epsilon: Fraction

    def per_row(self, rows: int) -> Pure:
        """What one of some rows may cost for all to cost this: ε each are ε · rows together (group privacy)."""
        return Pure(self.epsilon / rows)

    def concentrated(self) -> Concentrated:
        """ε-differential privacy implies ε²/2-zCDP."""
        return Concentrated(self.epsilon**2 / 2)

    def approximate(self) -> Approximate:
        """The same loss with δ = 0."""
        return Approximate(self.epsilon, Fraction(0))


@dataclass(frozen=True)
class Approximate(Amounts):
    """(ε, δ)-differential privacy."""

    epsilon: Fraction
    delta: Fraction

    def concentrated(self) -> Concentrated:
        """The largest ρ (rounded down) that implies this: ρ + 2·√(ρ·ln(1/δ)) ≤ ε."""
        if self.delta <= 0:
            raise ParameterError("delta is 0; Gaussian noise needs a delta above 0")
        log = -math.log(self.delta)
        root = float(self.epsilon) / (math.sqrt(log + float(self.epsilon)) + math.sqrt(log))
        return Concentrated(Fraction(root**2) * (1 - Fraction(1, 10**12)))


@dataclass(frozen=True)
class Concentrated(Amounts):
    """ρ-zero-concentrated differential privacy."""

    rho: Fraction

    def per_row(self, rows: int) -> Concentrated:
        """What one of some rows may cost for all to cost this: ρ each are ρ · rows² together (Bun and Steinke)."""
        return Concentrated(self.rho / rows**2)

    def approximate(self, delta: Fraction) -> Approximate:
        """The (ε, δ) it implies: ε = ρ + 2·√(ρ·ln(1/δ)), rounded up (Bun and Steinke, 2016)."""
        rho = float(self.rho)
        epsilon = rho + 2 * math.sqrt(-rho * math.log(delta))
        return Approximate(Fraction(epsilon) * (1 + Fraction(1, 10**12)), delta)


Loss = Pure | Concentrated
"""What a budget counts in: noise is Laplace for pure ε, Gaussian for ρ."""
