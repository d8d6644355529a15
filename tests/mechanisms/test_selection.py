"""Private selection: the law of the winner against exact enumeration, run by run, with broken twins."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from audit.enumeration import winning
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from sfumato.mechanisms.noise import SimulatedSource, Source
from sfumato.mechanisms.noise.geometric import choose, draw_geometric

FALSE_FAILURE = 1e-6
REPEATS = 20_000
SCORES = [2, 0, 3, 3, 1]


def rational_law(scores: list[int], epsilon: float) -> list[float]:
    """The law at the nearest of finely spaced rational decays; its error is far below what draws can show."""
    return [float(share) for share in winning(scores, Fraction(math.exp(-epsilon)).limit_denominator(10**6))]


def statistic(winners: np.ndarray, law: list[float]) -> float:  # type: ignore[type-arg]
    found = Counter(winners.tolist())
    return sum((found[j] - len(winners) * share) ** 2 / (len(winners) * share) for j, share in enumerate(law))


def drawn(scores: list[int], epsilon: Fraction, source: Source, repeats: int = REPEATS) -> np.ndarray:  # type: ignore[type-arg]
    """Which candidate wins, in many runs at once."""
    starts = np.arange(repeats) * len(scores)
    return choose(np.tile(np.array(scores), repeats), starts, epsilon, source) - starts


@pytest.mark.parametrize("epsilon", [Fraction(1, 5), Fraction(1), Fraction(3)])
def test_winners_have_the_enumerated_law(epsilon: Fraction) -> None:
    """χ² with a fixed seed; once in a million seeds would fail. Noise of 0.7 and 1.3 times the scale is rejected."""
    winners = drawn(SCORES, epsilon, SimulatedSource(31))
    limit = chi2.isf(FALSE_FAILURE, df=len(SCORES) - 1)
    assert statistic(winners, rational_law(SCORES, float(epsilon))) < limit
    for factor in (0.7, 1.3):
        assert statistic(winners, rational_law(SCORES, float(epsilon) / factor)) > limit


def test_the_last_of_equals_would_be_another_law() -> None:
    epsilon, limit = Fraction(1), chi2.isf(FALSE_FAILURE, df=len(SCORES) - 1)
    noisy = np.array(SCORES) + draw_geometric(epsilon, REPEATS * len(SCORES), SimulatedSource(32)).reshape(REPEATS, -1)
    first, last = noisy.argmax(axis=1), len(SCORES) - 1 - noisy[:, ::-1].argmax(axis=1)
    assert statistic(first, rational_law(SCORES, 1.0)) < limit
    assert statistic(last, rational_law(SCORES, 1.0)) > limit


def test_two_sided_noise_would_be_another_law() -> None:
    """Report-noisy-max with Laplace noise spreads wider; a reader who expects it here should not be satisfied."""
    noisy = np.array(SCORES) + SimulatedSource(33).laplace(Fraction(1), REPEATS * len(SCORES)).reshape(REPEATS, -1)
    assert statistic(noisy.argmax(axis=1), rational_law(SCORES, 1.0)) > chi2.isf(FALSE_FAILURE, df=len(SCORES) - 1)


@given(st.lists(st.lists(st.integers(-9, 9), min_size=1, max_size=6), min_size=1, max_size=8), st.integers(0, 99))
def test_every_run_has_a_winner_of_its_own(runs: list[list[int]], seed: int) -> None:
    """As if each run were drawn by itself with its own part of the noise."""
    scores = np.array([score for run in runs for score in run])
    starts = np.cumsum([0, *(len(run) for run in runs[:-1])])
    found = choose(scores, starts, Fraction(1, 2), SimulatedSource(seed))
    noise = draw_geometric(Fraction(1, 2), len(scores), SimulatedSource(seed))
    for start, run, winner in zip(starts, runs, found, strict=True):
        sums = (np.array(run) + noise[start : start + len(run)]).tolist()
        assert winner - start == sums.index(max(sums))


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=30))
def test_without_noise_the_first_of_the_best_wins(scores: list[int]) -> None:
    found = choose(np.array(scores), np.array([0]), Fraction(100), SimulatedSource(1))
    assert found.tolist() == [scores.index(max(scores))]


def test_the_enumerated_law_is_that_of_independent_noise() -> None:
    """Enumeration itself, against the sum over all noise up to 60 for three candidates."""
    alpha, scores = Fraction(1, 2), (1, 0, 1)
    found = [Fraction(0)] * 3
    for a in range(60):
        for b in range(60):
            reached = max(scores[0] + a, scores[1] + b)
            point = (1 - alpha) ** 2 * alpha ** (a + b)
            third = alpha ** max(reached + 1 - scores[2], 0)
            found[2] += point * third
            found[0 if scores[0] + a == reached else 1] += point * (1 - third)
    assert [float(share) for share in winning(scores, alpha)] == pytest.approx([float(share) for share in found])
