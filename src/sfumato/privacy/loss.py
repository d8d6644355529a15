"""How much privacy a computation may cost: pure ε, (ε, δ), or ρ of concentrated differential privacy (zCDP).

All three compose by adding, also when a later cost is chosen after seeing earlier outputs, as long as the sum
never passes the total: for pure ε and (ε, δ) by multiplying ratios (adding failures), for ρ by the chain rule
of Rényi divergences (Feldman and Zrnic, 2021). Amounts are exact fractions; nothing is lost in rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from numbers import Rational
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError

MAX_AMOUNT = 10**6
"""An ε or ρ above this protects nobody; it is more likely a mistake."""
CAUTION = Fraction(1, 10**9)
"""How far a conversion stays on the safe side of what numbers of 53 bits say."""
ROUNDING = 1e-14
"""More than a sum of a few numbers loses, as a share of their sizes."""
ORDERS_BEYOND_ONE, NEARBY = np.exp(np.linspace(-14, 70, 2_101)), np.exp(np.linspace(-0.05, 0.05, 501))
"""Where a conversion looks for the best order, less one; and around the best of these."""
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


def spell_up(amount: Fraction, digits: int = 9) -> float:
    """The next larger number of so many digits, which is the same where sums were rounded otherwise."""
    if not amount:
        return 0.0
    unit = Fraction(10) ** (math.floor(math.log10(amount)) + 1 - digits)
    return float(math.ceil(amount / unit) * unit)


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
        # What `dataclasses.astuple` gives are deep copies, which take longer than all else about an account.
        return ((getattr(self, each.name), getattr(other, each.name)) for each in fields(self))


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
        """The largest ρ (rounded down) that implies this: the largest (ε − slack) / a over orders a, and at most ε."""
        if self.delta <= 0:
            raise ParameterError("delta is 0; Gaussian noise needs a delta above 0")
        epsilon, log = float(self.epsilon), -math.log(self.delta)
        best = -least_over_orders(lambda beyond: (slack(beyond, log) - epsilon) / (1 + beyond))
        plain = (epsilon / (math.sqrt(log + epsilon) + math.sqrt(log))) ** 2
        return Concentrated(Fraction(max(plain, min(best, epsilon))) * (1 - CAUTION))


@dataclass(frozen=True)
class Concentrated(Amounts):
    """ρ-zero-concentrated differential privacy."""

    rho: Fraction

    def per_row(self, rows: int) -> Concentrated:
        """What one of some rows may cost for all to cost this: ρ each are ρ · rows² together (Bun and Steinke)."""
        return Concentrated(self.rho / rows**2)

    def approximate(self, delta: Fraction) -> Approximate:
        """The (ε, δ) it implies, rounded up: the least a·ρ + slack over orders a, and at least ρ."""
        rho, log = float(self.rho), -math.log(delta)
        best = least_over_orders(lambda beyond: (1 + beyond) * rho + slack(beyond, log))
        plain = rho + 2 * math.sqrt(rho * log)
        return Approximate(Fraction(min(plain, max(best, rho))) * (1 + CAUTION), delta)


def slack(beyond: NDArray[np.float64], log: float) -> NDArray[np.float64]:
    """What orders a = 1 + `beyond` add to a·ρ: ln(1 − 1/a) + (ln(1/δ) − ln a) / (a − 1), rounded up.

    A Rényi divergence of order a of at most a·ρ implies (ε, δ) with
    ln δ = (a − 1)(a·ρ − ε) − ln(a − 1) + a·ln(1 − 1/a), for every a > 1 (Canonne, Kamath and Steinke, 2020,
    Proposition 12); solved for ε. Whichever a is looked at, what follows is true, so a search that misses the best one
    costs noise and no privacy.
    """
    terms = np.array([-np.log1p(1 / beyond), log / beyond, -np.log1p(beyond) / beyond])
    return np.asarray(terms.sum(axis=0) + np.abs(terms).sum(axis=0) * ROUNDING)


def least_over_orders(amount: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> float:
    """The least amount at orders 1 + `beyond`: among those a few percent apart, then around the best of them."""
    best = ORDERS_BEYOND_ONE[np.argmin(amount(ORDERS_BEYOND_ONE))]
    return float(amount(best * NEARBY).min())


Loss = Pure | Concentrated
"""What a budget counts in: noise is Laplace for pure ε, Gaussian for ρ."""
