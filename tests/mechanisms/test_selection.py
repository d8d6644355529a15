"""Private selection: the law of the winner against exact enumeration, run by run, with broken twins."""

from __future__ import annotations

import itertools
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
from sfumato.mechanisms.noise.exponential import PROPOSALS, _below, choose_by_weight
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


def weights_of(scores: list[int], epsilon: float) -> list[float]:
    """e^(ε score), adding up to one."""
    weights = np.exp(epsilon * (np.array(scores) - max(scores)))
    return list(weights / weights.sum())


@pytest.mark.parametrize("epsilon", [Fraction(1, 5), Fraction(1), Fraction(3)])
def test_choices_by_weight_have_their_law(epsilon: Fraction) -> None:
    """χ² with a fixed seed; once in a million seeds would fail. Other weights, and noisy scores, are rejected."""
    starts = np.arange(REPEATS) * len(SCORES)
    found = choose_by_weight(np.tile(np.array(SCORES), REPEATS), starts, epsilon, SimulatedSource(34)) - starts
    limit = chi2.isf(FALSE_FAILURE, df=len(SCORES) - 1)
    assert statistic(found, weights_of(SCORES, float(epsilon))) < limit
    for factor in (0.7, 1.3):
        assert statistic(found, weights_of(SCORES, float(epsilon) * factor)) > limit
    assert statistic(drawn(SCORES, epsilon, SimulatedSource(34)), weights_of(SCORES, float(epsilon))) > limit


def test_one_long_run_is_chosen_from_by_weight() -> None:
    """The best of many, e times as likely as each other: more proposals than are drawn at a time."""
    scores, starts = np.zeros(3 * PROPOSALS, dtype=np.int64), np.zeros(1, dtype=np.int64)
    scores[777] = 20
    found = [int(choose_by_weight(scores, starts, Fraction(1), SimulatedSource(seed))[0]) for seed in range(20)]
    assert found == [777] * 20
    few = [int(choose_by_weight(scores[:9], starts, Fraction(50), SimulatedSource(seed))[0]) for seed in range(90)]
    assert set(few) == set(range(9))


@given(st.lists(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=6), min_size=1, max_size=8))
def test_without_noise_one_of_the_best_of_every_run_is_chosen(runs: list[list[int]]) -> None:
    scores = np.array([score for run in runs for score in run])
    starts = np.cumsum([0, *(len(run) for run in runs[:-1])])
    found = choose_by_weight(scores, starts, Fraction(100), SimulatedSource(1))
    assert [run[winner - start] for run, start, winner in zip(runs, starts, found, strict=True)] == list(map(max, runs))


@given(st.lists(st.integers(1, 2**62), min_size=1, max_size=40))
def test_proposals_lie_below_their_limits(limits: list[int]) -> None:
    found = _below(np.array(limits), SimulatedSource(3))
    assert all(0 <= number < limit for number, limit in zip(found.tolist(), limits, strict=True))


class Scripted(Source):
    """Words from a list."""

    protects = False

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def words(self, count: int) -> np.ndarray:  # type: ignore[type-arg]
        return np.array([self.left.pop(0) for _ in range(count)], dtype=np.uint64)


def test_words_beyond_the_last_multiple_are_drawn_again() -> None:
    """2⁶⁴ = 3 · 6148914691236517205 + 1, so the last word would make 0 likelier than 1 and 2."""
    last = 2**64 - 1
    assert _below(np.array([3]), Scripted(last - 1)).tolist() == [2]
    assert _below(np.array([3]), Scripted(last, last, 7)).tolist() == [1]
    assert _below(np.array([1]), Scripted(last)).tolist() == [0]


@pytest.mark.parametrize("monotone", [True, False])
def test_choices_by_weight_cost_an_eighth_of_the_squared_range(monotone: bool) -> None:
    """Rényi divergences of all neighbours of three scores, at many orders, within a c²/8, and near it for some."""
    epsilon, orders = 0.7, np.array([1.01, 1.5, 2, 4, 16])
    span = epsilon if monotone else 2 * epsilon
    worst = 0.0
    for scores in itertools.product(range(3), repeat=3):
        for change in itertools.product((0, 1) if monotone else (-1, 0, 1), repeat=3):
            one, other = (np.array(weights_of(list(each), epsilon)) for each in (scores, np.add(scores, change)))
            for order in orders:
                divergence = math.log(float((other**order * one ** (1 - order)).sum())) / (order - 1)
                worst = max(worst, divergence / order)
    assert 0.9 * span**2 / 8 < worst <= span**2 / 8 + 1e-12
