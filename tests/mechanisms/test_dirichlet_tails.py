"""Tails of beta-binomial counts are never too small, and too large by rounding only.

Every expected value is an exact fraction or a sum of 40 digits.
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom

from sfumato.mechanisms.dirichlet import tails
from sfumato.mechanisms.dirichlet.calibration import pure_alpha
from sfumato.mechanisms.dirichlet.tails import tail
from sfumato.reproduce.machanavajjhala2008.enumeration import rising

from .dirichlet_oracle import exact_tail

SMALLEST = 2.0**-1022
ROUNDING = 3e-9


def is_tight(found: float, truth: Fraction) -> bool:
    """Not below the truth, and above it by rounding only (below the smallest normal number nothing is said)."""
    if truth < SMALLEST:
        return found < 2 * SMALLEST
    return truth <= Fraction(found) * (1 if found < 1 else 1 + Fraction(1, 2**52)) and found <= truth * (1 + ROUNDING)


def deep_tail(m: int, a: float, b: float, above: int) -> Fraction:
    """The tail to 40 digits, from the probability of 0 upwards."""
    with localcontext(prec=40):
        more, less = Decimal(a), Decimal(b)
        term, total = Decimal(1), Decimal(0)
        for j in range(m):
            term *= (less + j) / (more + less + j)
        for j in range(m + 1):
            total += term if j > above else 0
            term *= (m - j) * (more + j) / ((j + 1) * (less + max(m - j - 1, 0)))
        return Fraction(total)


def test_two_oracles_agree() -> None:
    exact = exact_tail(30, Fraction(5, 4), Fraction(7, 2), 11)
    assert float(deep_tail(30, 1.25, 3.5, 11)) == pytest.approx(float(exact), rel=1e-15)


@pytest.mark.parametrize("a", [0.001, 0.04, 0.5, 1.0, 1.04, 3.7, 12.0])
def test_small_tails_are_exact(a: float) -> None:
    for m, b in product((1, 2, 5, 13), (0.002, 0.3, 0.999, 1.0, 1.5, 40.0, 4700.0)):
        for above in range(m):
            assert is_tight(tail(m, a, b, above), exact_tail(m, Fraction(a), Fraction(b), above)), (m, a, b, above)


def test_scipy_agrees_where_it_does_not_cancel() -> None:
    for m, a, b, above in ((10, 1.04, 4800.0, 3), (40, 2.5, 7.5, 20), (200, 30.0, 70.0, 90)):
        terms = betabinom.pmf(np.arange(above + 1, m + 1), m, a, b)
        assert tail(m, a, b, above) == pytest.approx(terms.sum(), rel=1e-8)


def test_far_tails_keep_their_digits() -> None:
    far = [(60, 0.04, 5e4, 50), (120, 0.01, 1e3, 110), (100, 1.04, 4e5, 45), (400, 2.0, 8e3, 250)]
    for m, a, b, above in far:
        truth = exact_tail(m, Fraction(a), Fraction(b), above)
        assert is_tight(tail(m, a, b, above), truth)
    assert min(float(exact_tail(m, Fraction(a), Fraction(b), above)) for m, a, b, above in far) < 1e-180


def test_the_distribution_function_would_cancel() -> None:
    """The broken twin: one minus the distribution function has no digit left."""
    truth = exact_tail(60, Fraction(0.04), Fraction(5e4), 50)
    below = sum(betabinom.pmf(np.arange(51), 60, 0.04, 5e4))
    assert not is_tight(max(0.0, 1.0 - float(below)), truth)


@pytest.mark.parametrize("b", [1e-6, 0.01, 0.5, 0.99])
def test_a_second_mode_at_the_end_is_counted(b: float) -> None:
    """With b < 1 the last terms are the largest: stopping early would lose most of the tail."""
    for m, a, above in product((20, 60), (0.02, 0.6, 5.0), (0, 7, 18)):
        assert is_tight(tail(m, a, b, above), exact_tail(m, Fraction(a), Fraction(b), above)), (m, a, b, above)


def test_masses_of_millions_take_the_series() -> None:
    for m, a, b, above in ((30, 4100.0, 5000.0, 20), (30, 2.0, 8.2e6, 5), (12, 1e9, 3e9, 6), (25, 5e6, 0.5, 24)):
        assert a + b > tails.STIRLING
        assert is_tight(tail(m, a, b, above), exact_tail(m, Fraction(a), Fraction(b), above)), (m, a, b, above)


def test_rising_products_are_exact_to_rounding() -> None:
    for x, d in product((0.04, 7.5, 4095.5, 4096.0, 4096.25, 1e5, 1e9), (1, 3, 50)):
        exact = rising(Fraction(x), d)
        logarithm = math.log(exact.numerator) - math.log(exact.denominator)
        assert tails.rising(x, float(d)) == pytest.approx(logarithm, rel=1e-12)


@pytest.mark.parametrize(
    ("m", "a", "b", "above"),
    [(5_000, 5_000.1, 1.0, 50), (10_000, 12_648.0, 2_648.0, 1_330), (2_000, 2_000.5, 30.0, 5), (3_000, 900.0, 0.4, 2)],
)
def test_a_tail_that_starts_far_below_the_mode_is_nearly_one(m: int, a: float, b: float, above: int) -> None:
    """The first term is too small for a float, the sum is not."""
    assert float(betabinom.logpmf(above + 1, m, a, b)) < -745
    assert is_tight(tail(m, a, b, above), deep_tail(m, a, b, above))
    assert tail(m, a, b, above) > 0.99


@pytest.mark.parametrize(
    ("m", "a", "b", "above"),
    [
        (3_000, 40.5, 9_000.0, 60),
        (3_000, 1.04, 8_000.0, 20),
        (20_000, 20.5, 3_000.0, 400),
        (20_000, 1.04, 25_000.0, 12),
        (100_000, 1.5, 100_000.0, 60),
        (300_000, 2.04, 390_000.0, 33),
    ],
)
def test_long_tails_stay_upper_bounds(m: int, a: float, b: float, above: int) -> None:
    truth = deep_tail(m, a, b, above)
    found = Fraction(tail(m, a, b, above))
    assert truth <= found <= truth * (1 + Fraction(1, 10**7))


@given(st.integers(1, 25), st.floats(1e-6, 50.0), st.floats(1e-6, 200.0), st.integers(-2, 26))
def test_any_tail_is_tight(m: int, a: float, b: float, above: int) -> None:
    truth = exact_tail(m, Fraction(a), Fraction(b), above) if above >= 0 else Fraction(1)
    assert is_tight(tail(m, a, b, above), truth)


def test_the_edges() -> None:
    assert tail(5, 1.0, 2.0, -1) == 1.0
    assert tail(5, 1.0, 2.0, 5) == 0.0
    assert tail(5, 0.0, 2.0, 0) == 0.0
    assert tail(5, 1.0, 0.0, 4) == 1.0


def test_the_worst_case_of_twenty_people_is_as_published() -> None:
    """m = n = 20, ε = 7, two places: about e^−24.9."""
    alpha = pure_alpha(7.0, 20)
    found = math.log(tail(20, 1 + alpha, 19 + alpha, 19))
    mass = Fraction(alpha)
    exact = rising(1 + mass, 20) / rising(20 + 2 * mass, 20)
    assert found == pytest.approx(math.log(exact), abs=1e-8)
    assert round(found, 1) == -24.9
