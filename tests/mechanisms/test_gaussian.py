"""Discrete Gaussian noise: exact acceptance, the right law, and the divergence that its price promises."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import chi2

from sfumato.errors import ParameterError
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.mechanisms.noise.gaussian import UNSURE, Acceptance, _accept, draw_gaussian

from .scripted import Scripted, decayed

if TYPE_CHECKING:
    from numpy.typing import NDArray

FALSE_FAILURE = 1e-6
VARIANCES = [Fraction(1, 4), Fraction(1), Fraction(9, 2), Fraction(100), Fraction(12_345, 7)]


def exponent(y: int, variance: Fraction) -> Fraction:
    """(y − σ²/t)² / 2σ² with t = ⌊σ⌋ + 1."""
    scale = math.isqrt(math.floor(variance)) + 1
    return (y - variance / scale) ** 2 / (2 * variance)


@pytest.mark.parametrize("variance", VARIANCES)
def test_acceptance_is_known_to_the_last_word(variance: Fraction) -> None:
    law = Acceptance(variance)
    for y in (0, 1, 2, 9, 40):
        if not law.certain(y):
            assert law.floor(y, 1) == decayed(exponent(y, variance), 64)
            assert law.floor(y, 3) == decayed(exponent(y, variance), 64 * 3)


@pytest.mark.parametrize("variance", [Fraction(1, 10**4), Fraction(1, 10**7), Fraction(1, 10**30)])
def test_noise_of_any_smallness_is_drawn(variance: Fraction) -> None:
    """Where e^(−x) is beyond the smallest decimal number, its digits used to be asked for without end."""
    law = Acceptance(variance)
    assert [law.floor(y, words) for y in (1, 9, 10**6) for words in (1, 2)] == [0] * 6
    assert not draw_gaussian(variance, 2_000, SimulatedSource(1)).any()


@pytest.mark.parametrize("variance", VARIANCES)
def test_accepted_proposals_are_gaussian(variance: Fraction) -> None:
    """Laplace(t) times acceptance is the same multiple of e^(−y²/2σ²) for every y."""
    scale = math.isqrt(math.floor(variance)) + 1
    for y in range(1, 30):
        logs = [-Fraction(k, scale) - exponent(k, variance) + Fraction(k * k) / (2 * variance) for k in (0, y)]
        assert logs[0] == logs[1]


def test_a_certain_proposal_is_always_accepted() -> None:
    """σ² = 4, t = 3: no y. σ² = 6, t = 3: y = 2 has probability one."""
    law = Acceptance(Fraction(6))
    assert law.scale == 3
    assert law.certain(2)
    assert not any(Acceptance(Fraction(4)).certain(y) for y in range(9))
    sizes = np.array([2, 2, 2])
    assert _accept(law, sizes, Scripted(0, 2**63, 2**64 - 1)).all()


def test_a_word_on_the_boundary_is_resolved_with_further_words() -> None:
    variance, y = Fraction(9, 2), 4
    law = Acceptance(variance)
    first, second = decayed(exponent(y, variance), 64), decayed(exponent(y, variance), 64 * 2) % 2**64
    third = decayed(exponent(y, variance), 64 * 3) % 2**64
    size = np.array([y])
    assert _accept(law, size, Scripted(first - 1)).tolist() == [True]
    assert _accept(law, size, Scripted(first + 1)).tolist() == [False]
    assert _accept(law, size, Scripted(first, second - 1)).tolist() == [True]
    assert _accept(law, size, Scripted(first, second + 1)).tolist() == [False]
    assert _accept(law, size, Scripted(first, second, third - 1)).tolist() == [True]
    assert _accept(law, size, Scripted(first, second, third + 1)).tolist() == [False]


@pytest.mark.parametrize("variance", [*VARIANCES, Fraction(10**10, 3), Fraction(2**110), Fraction(1, 10**7)])
def test_a_comparison_in_53_bits_decides_as_all_digits_do(variance: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of 53 bits are off by far less than is left to further digits, up to 64σ away."""
    law, scale = Acceptance(variance), float(variance) ** 0.5
    sizes = np.unique((np.linspace(0, 64, 200) ** 2 / 64 * scale).astype(np.int64))
    exact = [1.0 if law.certain(int(y)) else law.floor(int(y), 1) * 2.0**-64 for y in sizes]
    assert np.abs(law.nearly(sizes) - exact).max() < UNSURE / 2**6
    drawn = draw_gaussian(variance, 300, SimulatedSource(3))
    monkeypatch.setattr("sfumato.mechanisms.noise.gaussian.UNSURE", 1.0)
    assert draw_gaussian(variance, 300, SimulatedSource(3)).tolist() == drawn.tolist()


def gaussian_law(variance: float) -> dict[int, float]:
    reach = math.ceil(12 * math.sqrt(variance)) + 3
    weights = {x: math.exp(-x * x / (2 * variance)) for x in range(-reach, reach + 1)}
    total = math.fsum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


def plausible(drawn: NDArray[np.int64], law: dict[int, float]) -> bool:
    """Pearson's test; the right law fails it once in a million times."""
    expected = {x: len(drawn) * share for x, share in law.items() if len(drawn) * share >= 10}
    counts = {x: int((drawn == x).sum()) for x in expected}
    total = sum((counts[x] - number) ** 2 / number for x, number in expected.items())
    rest, others = len(drawn) - sum(expected.values()), len(drawn) - sum(counts.values())
    total += (others - rest) ** 2 / rest if rest > 1 else 0.0
    return bool(total < chi2.isf(FALSE_FAILURE, df=len(expected) - (rest <= 1)))


@pytest.mark.parametrize("variance", VARIANCES[:4])
def test_draws_have_their_law(variance: Fraction) -> None:
    """With a fixed seed. Noise of 0.7 and 1.3 times the scale is rejected."""
    drawn = draw_gaussian(variance, 30_000, SimulatedSource(41))
    assert len(drawn) == 30_000
    assert plausible(drawn, gaussian_law(float(variance)))
    for factor in (0.7, 1.3):
        assert not plausible(drawn, gaussian_law(float(variance) * factor**2))


@pytest.mark.parametrize("variance", [Fraction(10**6), Fraction(10**10, 3)])
def test_wide_noise_has_its_variance(variance: Fraction) -> None:
    """The sum of squares over σ² is χ² up to a part in σ; both limits once in a million."""
    drawn = draw_gaussian(variance, 20_000, SimulatedSource(42)).astype(float)
    total = float((drawn**2).sum() / float(variance))
    assert chi2.isf(1 - FALSE_FAILURE, df=20_000) < total < chi2.isf(FALSE_FAILURE, df=20_000)
    assert not chi2.isf(1 - FALSE_FAILURE, df=20_000) < total * 0.49 < chi2.isf(FALSE_FAILURE, df=20_000)


@pytest.mark.parametrize("variance", [0.3, 1.0, 20.0])
def test_the_divergence_of_neighbours_is_what_is_paid(variance: float) -> None:
    """Rényi's divergence of order a between neighbouring counts is at most a/2σ² for every a: ρ = 1/2σ²."""
    law = gaussian_law(variance)
    for order in (1.01, 2.0, 8.0):
        total = math.fsum(
            math.exp(order * math.log(share) + (1 - order) * math.log(law[x - 1]))
            for x, share in law.items()
            if x - 1 in law and law[x - 1] > 0 and share > 0
        )
        divergence = math.log(total) / (order - 1)
        assert divergence <= order / (2 * variance) * (1 + 1e-6)
        assert divergence > 0.4 * order / (2 * variance) or variance < 1


def test_no_variance_is_refused() -> None:
    with pytest.raises(ParameterError, match="variance"):
        draw_gaussian(Fraction(0), 1, SimulatedSource(1))


def test_nothing_is_drawn_for_nothing() -> None:
    assert draw_gaussian(Fraction(1), 0, Scripted()).tolist() == []
