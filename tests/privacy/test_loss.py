"""Losses add up exactly, and every conversion between them errs on the safe side."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from sfumato.errors import ParameterError
from sfumato.privacy.loss import MAX_AMOUNT, Approximate, Concentrated, Pure, exact

amounts = st.fractions(min_value=Fraction(1, 10**12), max_value=Fraction(1000))
shares = st.fractions(min_value=Fraction(1, 10**6), max_value=Fraction(1))


@pytest.mark.parametrize(
    ("given_number", "expected"),
    [
        (0.1, Fraction(1, 10)),
        (1, Fraction(1)),
        ("0.3", Fraction(3, 10)),
        (1e-7, Fraction(1, 10**7)),
        (Fraction(1, 3), Fraction(1, 3)),
        (2.5e5, Fraction(250_000)),
        (MAX_AMOUNT, Fraction(MAX_AMOUNT)),
        (np.float64(0.7), Fraction(7, 10)),
    ],
)
def test_a_number_means_what_it_spells(given_number: Any, expected: Fraction) -> None:
    assert exact(given_number) == expected


@pytest.mark.parametrize(
    "wrong", [0, -1, 0.0, math.nan, math.inf, -math.inf, "x", "1/0", True, None, MAX_AMOUNT + 1, [1], 1j]
)
def test_other_numbers_are_refused_by_name(wrong: Any) -> None:
    with pytest.raises(ParameterError, match=r"rho is .*; expected a number above 0"):
        exact(wrong, "rho")


@given(st.lists(amounts, min_size=1, max_size=30))
def test_sums_are_exact(parts: list[Fraction]) -> None:
    pure, concentrated = Pure(parts[0]), Concentrated(parts[0])
    approximate = Approximate(parts[0], parts[0] / 10**6)
    for part in parts[1:]:
        pure, concentrated = pure + Pure(part), concentrated + Concentrated(part)
        approximate += Approximate(part, part / 10**6)
    assert pure.epsilon == concentrated.rho == approximate.epsilon == sum(parts)
    assert approximate.delta == sum(parts) / 10**6


@given(amounts, amounts)
def test_a_larger_loss_covers_a_smaller_one(one: Fraction, other: Fraction) -> None:
    assert Pure(one).covers(Pure(other)) == Concentrated(one).covers(Concentrated(other)) == (other <= one)
    pairs = [(one, other), (other, one)]
    for epsilon, delta in pairs:
        assert Approximate(epsilon, delta).covers(Approximate(one, other)) == (one <= epsilon and other <= delta)
    assert Pure(one).approximate() == Approximate(one, Fraction(0))


def decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def implied(rho: Fraction, delta: Fraction) -> Decimal:
    """The least ε of the tight conversion in a hundred digits, by golden sections of ln(a − 1); at least ρ."""
    with localcontext() as context:
        context.prec = 100
        amount, log = decimal(rho), -decimal(delta).ln()

        def epsilon(place: Decimal) -> Decimal:
            order = 1 + place.exp()
            return order * amount + (1 - 1 / order).ln() + (log - order.ln()) / (order - 1)

        start = min((Decimal(place) for place in range(-14, 71)), key=epsilon)
        low, high, golden = start - 1, start + 1, (Decimal(5).sqrt() - 1) / 2
        for _ in range(60):
            left, right = high - golden * (high - low), low + golden * (high - low)
            low, high = (low, right) if epsilon(left) <= epsilon(right) else (left, high)
        return max(epsilon((low + high) / 2), amount)


deltas = st.integers(1, 30).flatmap(lambda digits: st.sampled_from([Fraction(1, 10**digits), Fraction(3, 10**digits)]))


@given(st.integers(-15, 5), st.fractions(min_value=1, max_value=10), deltas)
def test_epsilon_from_rho_is_never_too_small(magnitude: int, factor: Fraction, delta: Fraction) -> None:
    rho = factor * Fraction(10) ** magnitude
    found = Concentrated(rho).approximate(delta)
    assert found.delta == delta
    assert decimal(found.epsilon) >= implied(rho, delta)
    assert decimal(found.epsilon) <= implied(rho, delta) * (1 + Decimal("1e-5"))
    assert found.epsilon <= (rho + 2 * Fraction(math.sqrt(-rho * math.log(delta)))) * (1 + Fraction(1, 10**8))


@given(st.integers(-15, 5), st.fractions(min_value=1, max_value=10), deltas)
def test_rho_from_epsilon_is_never_too_large(magnitude: int, factor: Fraction, delta: Fraction) -> None:
    epsilon = factor * Fraction(10) ** magnitude
    rho = Approximate(epsilon, delta).concentrated().rho
    assert rho > 0
    assert implied(rho, delta) <= decimal(epsilon)
    if delta <= epsilon:  # Elsewhere δ alone pays for nearly everything, and rounding costs more.
        used = implied(rho, delta) / decimal(epsilon)
        assert rho >= epsilon * (1 - Fraction(1, 10**8)) or used >= 1 - Decimal("1e-5")


@given(amounts, amounts, deltas)
def test_conversions_keep_the_order(one: Fraction, other: Fraction, delta: Fraction) -> None:
    less, more = sorted((one, other))
    if less < more * (1 - Fraction(1, 10**6)):
        assert Concentrated(less).approximate(delta).epsilon < Concentrated(more).approximate(delta).epsilon
        assert Approximate(less, delta).concentrated().rho < Approximate(more, delta).concentrated().rho
    assert Pure(less).concentrated().rho <= Pure(more).concentrated().rho


def profile(epsilon: float, mu: float) -> float:
    """δ(ε) of the Gaussian mechanism whose two means lie μ standard deviations apart."""
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


def integrated(epsilon: float, mu: float) -> float:
    """The same by integrating max(0, p − e^ε·q); p exceeds e^ε·q from μ/2 + ε/μ on."""
    start = mu / 2 + epsilon / mu
    return float(
        quad(lambda x: norm.pdf(x - mu) - math.exp(epsilon) * norm.pdf(x), start, start + 20 + 20 * mu, epsabs=1e-14)[0]
    )


def test_the_profile_is_its_integral() -> None:
    for epsilon, mu in ((0.5, 0.3), (1.0, 1.0), (3.0, 0.8)):
        assert profile(epsilon, mu) == pytest.approx(integrated(epsilon, mu), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("rho", [Fraction(1, 50), Fraction(1, 5), Fraction(4)])
@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 10**6)])
def test_gaussian_noise_keeps_what_rho_is_converted_to(rho: Fraction, delta: Fraction) -> None:
    """Noise of variance 1/2ρ has δ(ε) ≤ δ at the converted ε; at a third of that ε it has not: the rule is not idle."""
    mu = math.sqrt(2 * float(rho))
    epsilon = float(Concentrated(rho).approximate(delta).epsilon)
    assert integrated(epsilon, mu) <= float(delta)
    assert integrated(epsilon / 3, mu) > float(delta)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_pure_privacy_is_concentrated_privacy(epsilon: float) -> None:
    """Rényi's divergence of randomized response, the worst of all, is at most a·ε²/2 at every order a."""
    rho = float(Pure(exact(epsilon)).concentrated().rho)
    assert rho == pytest.approx(epsilon**2 / 2)
    yes = 1 / (1 + math.exp(-epsilon))
    worst = 0.0
    for order in (1.001, 1.5, 2, 5, 30):
        moment = yes**order * (1 - yes) ** (1 - order) + (1 - yes) ** order * yes ** (1 - order)
        worst = max(worst, math.log(moment) / (order - 1) / order)
    assert worst <= rho
    assert worst > rho / 2


def test_gaussian_noise_needs_a_delta() -> None:
    with pytest.raises(ParameterError, match="delta is 0"):
        Approximate(Fraction(1), Fraction(0)).concentrated()
