"""Channels on exact numbers: rows sum to one, inverses invert, and the promised ratios are reached and never passed."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.mechanisms.channels import CHANNELS, Channel, TruncatedGeometric, make_channel, parse_channel
from sfumato.mechanisms.channels.geometric import geometric_scales
from sfumato.mechanisms.channels.kernel import kernel_inverse
from sfumato.mechanisms.channels.window import SquareWave, Window

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SIZES = [1, 2, 3, 7, 40]
EPSILONS = [Fraction(1, 100), Fraction(1, 2), Fraction(1), Fraction(3)]
Matrix = list[list[Fraction]]


def exact_geometric(decay: Fraction, size: int) -> Matrix:
    """G of the truncated geometric mechanism for a rational α, from the factors that the channel uses."""
    if size == 1:
        return [[Fraction(1)]]
    end, inner = geometric_scales(decay, 1 - decay)
    scales = [end, *[inner] * (size - 2), end]
    return [[scale * decay ** abs(i - j) for j, scale in enumerate(scales)] for i in range(size)]


def exact_inverse(decay: Fraction, size: int) -> Matrix:
    """G⁻¹ = diag(1/s) T, from the three numbers that the channel uses."""
    if size == 1:
        return [[Fraction(1)]]
    end, inner = geometric_scales(decay, 1 - decay)
    corner, middle, beside = kernel_inverse(decay, 1 - decay)
    found = [[Fraction(0)] * size for _ in range(size)]
    for i in range(size):
        scale = end if i in (0, size - 1) else inner
        found[i][i] = (corner if i in (0, size - 1) else middle) / scale
        for j in (i - 1, i + 1):
            if 0 <= j < size:
                found[i][j] = beside / scale
    return found


def product(left: Matrix, right: Matrix) -> Matrix:
    columns = list(zip(*right, strict=True))
    return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in left]


def worst(matrix: Matrix, decay: Fraction) -> Fraction:
    """The largest G_ij / (α^(−|i−h|) G_hj) over i ≠ h and j: 1 where d-privacy is tight."""
    size = len(matrix)
    return max(
        matrix[i][j] / matrix[h][j] * decay ** abs(i - h)
        for i in range(size)
        for h in range(size)
        if h != i
        for j in range(size)
    )


@pytest.mark.parametrize("size", [1, 2, 3, 6, 11])
@pytest.mark.parametrize("decay", [Fraction(1, 7), Fraction(1, 2), Fraction(99, 100)])
def test_the_geometric_channel_is_exact_on_fractions(size: int, decay: Fraction) -> None:
    matrix = exact_geometric(decay, size)
    assert all(sum(row) == 1 for row in matrix)
    identity = [[Fraction(i == j) for j in range(size)] for i in range(size)]
    assert product(matrix, exact_inverse(decay, size)) == identity
    assert all(sum(row) == 1 for row in exact_inverse(decay, size))
    if size > 1:
        assert worst(matrix, decay) == 1


def test_the_inequality_as_the_paper_prints_it_fails() -> None:
    decay = Fraction(1, 2)
    matrix = exact_geometric(decay, 3)
    assert matrix[1][1] > decay * matrix[0][1]


def test_a_channel_with_untruncated_end_columns_would_be_noticed() -> None:
    decay = Fraction(1, 2)
    _, inner = geometric_scales(decay, 1 - decay)
    assert all(sum(inner * decay ** abs(i - j) for j in range(4)) < 1 for i in range(4))


@pytest.mark.parametrize("size", [2, 3, 6, 11])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_channel_that_is_used_is_the_exact_one(size: int, epsilon: Fraction) -> None:
    decay = Fraction(math.exp(-epsilon))
    exact = np.array(exact_geometric(decay, size), dtype=float)
    assert TruncatedGeometric(size=size, epsilon=epsilon).matrix() == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_channel_keeps_its_claim_and_no_better_one(name: str, size: int, epsilon: Fraction) -> None:
    channel = make_channel(name, size, epsilon)
    matrix = channel.matrix()
    assert matrix.shape == (size, channel.reports)
    assert matrix.min() > 0
    assert matrix.sum(axis=1) == pytest.approx(1, abs=1e-12)
    losses = np.log(matrix)
    assert np.ptp(losses, axis=0).max() == pytest.approx(channel.claim.epsilon, abs=1e-9)
    if channel.claim.per_step is not None and size > 2:
        assert np.abs(np.diff(losses, axis=0)).max() == pytest.approx(channel.claim.per_step, abs=1e-9)


@pytest.mark.parametrize("name", CHANNELS)
@given(st.integers(1, 30), st.fractions(Fraction(1, 50), 6), st.integers(0, 2**32))
def test_products_and_inverses_are_those_of_the_matrix(name: str, size: int, epsilon: Fraction, seed: int) -> None:
    channel, generator = make_channel(name, size, epsilon), np.random.default_rng(seed)
    matrix = channel.matrix()
    amounts = generator.normal(size=channel.reports)
    assert channel.gather(amounts) == pytest.approx(matrix @ amounts, abs=1e-9)
    shares = generator.dirichlet(np.ones(size))
    assert channel.spread(shares) == pytest.approx(shares @ matrix, abs=1e-12)
    if channel.invertible:
        reported = generator.dirichlet(np.ones(size), size=3)
        condition = np.linalg.cond(matrix)
        assert channel.invert(reported) @ matrix == pytest.approx(reported, abs=1e-13 * condition)
        assert matrix @ channel.contributions(amounts) == pytest.approx(amounts, abs=1e-13 * condition)
    else:
        with pytest.raises(ParameterError, match="no inverse"):
            channel.invert(shares)
        with pytest.raises(ParameterError, match="no inverse"):
            channel.contributions(shares)


@pytest.mark.parametrize("name", CHANNELS)
def test_one_bayesian_update_is_bayes_rule(name: str) -> None:
    channel = make_channel(name, 5, 0.7)
    belief, matrix = np.array([0.4, 0.3, 0.2, 0.1, 0.0]), channel.matrix()
    reported = np.zeros(channel.reports)
    reported[2] = 1
    expected = belief * matrix[:, 2] / (belief @ matrix[:, 2])
    assert channel.update(belief, reported) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("epsilon", [3, 50, 900])
def test_nothing_overflows_or_vanishes_on_a_long_axis(epsilon: int) -> None:
    """ε·n is up to 4.5 million, where e^(−εn) is far below the smallest number."""
    channel = TruncatedGeometric(size=5_000, epsilon=epsilon)
    shares = np.zeros(channel.size)
    shares[[0, 17, 4_999]] = 0.5, 0.25, 0.25
    reported = channel.spread(shares)
    assert reported.sum() == pytest.approx(1, abs=1e-12)
    assert channel.invert(reported) == pytest.approx(shares, abs=1e-12)
    assert np.isfinite(channel.contributions(np.arange(5_000.0))).all()
    assert channel.claim.epsilon == epsilon * 4_999


def test_a_tiny_epsilon_keeps_its_digits() -> None:
    channel = TruncatedGeometric(size=4, epsilon=Fraction(1, 10**6))
    assert channel.spread(np.full(4, 0.25)).sum() == pytest.approx(1, abs=1e-12)
    assert channel.matrix()[1, 1] == pytest.approx(math.tanh(5e-7), rel=1e-12)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**5), Fraction(1, 2), Fraction(1), Fraction(4), Fraction(600)])
def test_the_reach_of_a_square_wave_is_the_published_one(epsilon: Fraction) -> None:
    """⌊(εe^ε − e^ε + 1) / (2e^ε (e^ε − 1 − ε)) · size⌋, here on fractions of a long power series."""
    power = sum((epsilon**k / math.factorial(k) for k in range(40)), Fraction(0)) if epsilon <= 4 else Fraction(10**260)
    share = (epsilon * power - power + 1) / (2 * power * (power - 1 - epsilon))
    channel = SquareWave(size=101, epsilon=epsilon)
    assert channel.reach == math.floor(share * 101)
    assert channel.reports == 101 + 2 * channel.reach


def with_ratio(window: Window, factor: float) -> NDArray[np.float64]:
    """The matrix of a window channel whose high probability is off by a factor."""
    matrix = window.matrix()
    return np.where(matrix == matrix.max(), matrix * factor, matrix)


def test_a_window_with_a_higher_chance_would_be_noticed() -> None:
    channel = SquareWave(size=6, epsilon=1)
    assert np.ptp(np.log(with_ratio(channel, 1.01)), axis=0).max() > channel.claim.epsilon + 0.009


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_channel("gauss", 3, 1), "'gauss' is not a known mechanism"),
        (lambda: make_channel("geometric", 0, 1), "number of values is 0"),
        (lambda: make_channel("geometric", True, 1), "number of values is True"),
        (lambda: make_channel("geometric", 3, 0), "epsilon is 0"),
        (lambda: make_channel("geometric", 3, -1), "epsilon is -1"),
        (lambda: make_channel("geometric", 3, math.nan), "epsilon is nan"),
        (lambda: make_channel("laplace", 3, 21), "more than 20"),
        (lambda: parse_channel({"mechanism": "geometric"}), "the channel is incomplete"),
        (lambda: parse_channel({"mechanism": "geometric", "size": "3", "epsilon": "1"}), "number of values is '3'"),
        (lambda: parse_channel({"mechanism": "geometric", "size": 3, "epsilon": "1/0"}), "epsilon is '1/0'"),
        (lambda: parse_channel({"mechanism": "geometric", "size": 3, "epsilon": True}), "epsilon is True"),
        (lambda: parse_channel({"mechanism": "geometric", "size": 3, "epsilon": math.inf}), "epsilon is inf"),
        (lambda: parse_channel({"mechanism": "geometric", "size": 3, "epsilon": "1e-400000000"}), "epsilon is 1e-4000"),
        (lambda: parse_channel({"mechanism": "geometric", "size": 3, "epsilon": "1e400000000"}), "epsilon is '1e4000"),
        (lambda: parse_channel({"mechanism": "geometric", "size": 3, "epsilon": "9" * 5_000}), "epsilon is '9999"),
        (lambda: parse_channel({"mechanism": [], "size": 3, "epsilon": "1"}), r"\[\] is not a known mechanism"),
        (lambda: make_channel("randomized-response", 3, 1e-20), "below 1e-12 reports say nothing"),
    ],
)
def test_impossible_channels_are_refused(make: Callable[[], Channel], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()


@pytest.mark.parametrize("name", CHANNELS)
def test_a_channel_is_spelled_and_read_back(name: str) -> None:
    channel = make_channel(name, 12, 0.1)
    assert parse_channel(channel.spec()) == make_channel(name, 12, Fraction(1, 10))
    assert channel.spec()["epsilon"] == "1/10"


@pytest.mark.parametrize("name", CHANNELS)
@given(st.integers(1, 200), st.fractions(Fraction(1, 1000), 20))
def test_no_claim_is_rounded_down(name: str, size: int, epsilon: Fraction) -> None:
    """A third is not 0.3333333333333333, which is below it."""
    claim = make_channel(name, size, epsilon).claim
    if name == "laplace" and size > 1:
        with localcontext(prec=50):
            decimal = Decimal(epsilon.numerator) / epsilon.denominator
            assert Decimal(str(claim.epsilon)) >= decimal * (size - 2) + (2 * (decimal / 2).exp() - 1).ln()
    else:
        steps = size - 1 if name in ("geometric", "laplace") else min(size - 1, 1)
        assert Fraction(str(claim.epsilon)) >= epsilon * steps
    if claim.per_step is not None:
        assert Fraction(str(claim.per_step)) >= epsilon
    assert claim.epsilon <= float(epsilon) * (size - 1) * (1 + 1e-12)
