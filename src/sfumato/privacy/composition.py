"""What several losses come to together: added up, as ρ, or by Rényi divergences of the best order.

Losses of the same people add up as ε and δ. Where they have Rényi divergences these add up too, at every order a, and
give the less the more losses there are: n releases at ε come to about ε √(2n ln(1/δ)) in place of ε n. Of all orders
the best may be taken, as long as no cost was chosen after seeing what earlier ones bought; sums of ε and δ, and of ρ,
hold then too.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy.loss import CAUTION, ROUNDING, Approximate, Concentrated, Pure, least_over_orders, slack

NOTHING = Approximate(Fraction(0), Fraction(0))
GAIN = Fraction(1, 100)
"""By which share another way of counting has to be below the sum, to be worth a number that nobody spelled."""
NEAR_ONE = 1e-3
"""Orders less than this above one are bounded by a ε²/2: the exact formula would lose its digits there."""


@dataclass(frozen=True)
class Spend:
    """What one release counts for: ε and δ, and ρ where they follow from it.

    One that stands `apart` hides something else than the others, and is added to them as it is.
    """

    cost: Approximate
    concentrated: Concentrated | None = None
    apart: bool = False

    @cached_property
    def rho(self) -> Concentrated | None:
        """As ρ: its own, or ε²/2 of a pure ε; nothing tells that of another (ε, δ)."""
        return self.concentrated or (None if self.cost.delta else Pure(self.cost.epsilon).concentrated())


def added(spends: Iterable[Spend]) -> Approximate:
    """All of them as ε and δ, added up."""
    return sum((spend.cost for spend in spends), NOTHING)


def added_rho(spends: Iterable[Spend]) -> Concentrated | None:
    """All of them as ρ, added up, if each has one."""
    total = Concentrated(Fraction(0))
    for spend in spends:
        if spend.rho is None:
            return None
        total += spend.rho
    return total


def least_epsilon(spends: Sequence[Spend], delta: Fraction) -> Fraction | None:
    """The least ε at which all of them together are known to be (ε, δ)-differentially private; `None` if at none.

    That is Σ ε where Σ δ is within δ; or, with those that have Rényi divergences D_a of every order a taken together,
    min over a of Σ D_a + slack(a, δ), and the others' ε and δ added.
    """
    plain = added(spends)
    enough = plain.delta <= delta
    others = added(spend for spend in spends if spend.rho is None or spend.apart)
    together = [spend for spend in spends if spend.rho is not None and not spend.apart]
    if together and others.delta < delta:
        log = -math.log(delta - others.delta)
        best = least_over_orders(lambda beyond: divergence(together, beyond) + slack(beyond, log))
        least = others.epsilon + Fraction(max(best, 0.0)) * (1 + CAUTION)
        if not enough or least < plain.epsilon * (1 - GAIN):
            return least
    return plain.epsilon if enough else None


def divergence(spends: Sequence[Spend], beyond: NDArray[np.float64]) -> NDArray[np.float64]:
    """At most the Rényi divergence of orders a = 1 + `beyond` between what neighbours release, all of it together."""
    rho = sum(float(spend.concentrated.rho) for spend in spends if spend.concentrated)
    pure = [float(spend.cost.epsilon) for spend in spends if not spend.concentrated]
    total = (1 + beyond) * rho + sum((pure_divergence(epsilon, beyond) for epsilon in pure), np.zeros(len(beyond)))
    return np.asarray(total * (1 + len(spends) * ROUNDING))


def pure_divergence(epsilon: float, beyond: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest Rényi divergence of orders a = 1 + `beyond` that ε-differential privacy allows, rounded up.

    Randomized response with p = 1 / (1 + e^−ε) and q = 1 − p has it, for what is ε-differentially private can be made
    from its outcome (Kairouz, Oh and Viswanath, 2015): ln(p^a q^(1−a) + q^a p^(1−a)) / (a − 1).
    """
    log_p, log_q = -math.log1p(math.exp(-epsilon)), -epsilon - math.log1p(math.exp(-epsilon))
    order = 1 + beyond
    with np.errstate(over="ignore"):
        exponents = np.logaddexp(order * log_p - beyond * log_q, order * log_q - beyond * log_p)
    lost = ROUNDING * order * (1 + abs(log_q))
    exact = np.where(beyond < NEAR_ONE, np.inf, (exponents + lost) / beyond)
    return np.minimum(np.minimum(exact, order * epsilon**2 / 2), epsilon)
