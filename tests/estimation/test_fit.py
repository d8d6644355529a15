"""Reports that did not come through the channel are found; those that did are left alone, and how surely is proven."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import xlogy
from scipy.stats import binom

from sfumato.estimation import solution
from sfumato.estimation.estimate import estimate
from sfumato.estimation.solution import Solution, chance_at_most
from sfumato.mechanisms.channels import CHANNELS, make_channel

from .oracle import Floats, drawn, two_humps


def heaped(size: int) -> Floats:
    at = np.arange(size)
    shares = 1 + 20.0 * (at % 10 == 0)
    return np.asarray(shares / shares.sum())


def sparse(size: int) -> Floats:
    return np.asarray(np.where(np.arange(size) % 17 == 3, 1.0, 0.0) / np.ceil((size - 3) / 17))


@pytest.mark.parametrize("reports", [7, 60])
@pytest.mark.parametrize("chance", [0.5, 0.1, 1e-3])
def test_the_bound_holds_for_two_kinds_of_reports_to_the_last_digit(reports: int, chance: float) -> None:
    """Every outcome added up; a divergence twice as large, the broken twin, is more often reached than allowed."""
    first = np.arange(reports + 1)
    lost = xlogy(first, first / reports / chance) + xlogy(reports - first, (1 - first / reports) / (1 - chance))
    exact = np.array([binom.pmf(first[lost >= limit - 1e-12], reports, chance).sum() for limit in lost])
    allowed, twin = (np.array([chance_at_most(factor * limit, 1) for limit in lost]) for factor in (1, 2))
    assert (exact <= allowed * (1 + 1e-9)).all()
    assert (exact > twin).any()


@pytest.mark.parametrize("name", list(CHANNELS))
@pytest.mark.parametrize(
    ("size", "epsilon", "reports"), [(5, 0.3, 50), (100, 0.3, 10_000), (100, 3.0, 300), (80, 1.0, 40)]
)
@pytest.mark.parametrize("shares", [two_humps, heaped, sparse])
def test_reports_that_came_through_the_channel_fit(
    name: str, size: int, epsilon: float, reports: int, shares: Any
) -> None:
    """Not one in ten is called a misfit where one in two might be, so one in a billion is safe."""
    channel = make_channel(name, size, epsilon)
    for seed in range(10):
        counts = drawn(channel, shares(size), reports, seed)
        found = estimate(counts, channel)
        assert found.fits
        expected = channel.spread(found.shares) * reports
        assert chance_at_most(xlogy(counts, counts / expected).sum(), channel.reports - 1) > 0.5


@pytest.mark.parametrize("name", list(CHANNELS))
@pytest.mark.parametrize("solver", ["likelihood", "inversion", "em", "smooth"])
def test_answers_without_noise_do_not_fit(name: str, solver: Any) -> None:
    channel = make_channel(name, 30, 0.3)
    alone = np.zeros(channel.reports, dtype=np.int64)
    alone[3] = 10_000
    assert not estimate(alone, channel, solver=solver, steps=10).document()["fits"]
    answers = np.zeros(channel.reports, dtype=np.int64)
    answers[:30] = np.random.default_rng(1).multinomial(10_000, heaped(30))
    assert not estimate(answers, channel, solver=solver, steps=10).document()["fits"]


def test_less_noise_than_was_said_is_found_and_more_cannot_be() -> None:
    said, less, more = (make_channel("geometric", 100, epsilon) for epsilon in (0.2, 2.0, 0.1))
    assert not estimate(drawn(less, heaped(100), 10_000, 1), said).fits
    assert estimate(drawn(more, heaped(100), 10_000, 1), said).fits


def test_a_solution_that_is_not_near_the_likeliest_raises_no_alarm() -> None:
    """What is left of its gap may explain the reports."""
    channel = make_channel("geometric", 20, 0.5)
    counts = drawn(channel, two_humps(20), 10**5, 1)
    observed = counts / 10**5
    wrong = Solution.at(channel, observed, np.eye(20)[0] * 0.9 + 0.005, gap=1e-9, steps=0)
    assert wrong.gap > 0.1
    assert solution.fits(counts, wrong)
    assert solution.fits(counts, Solution.at(channel, observed, np.eye(20)[0] * 2 - 0.05, gap=1e-9, steps=0))


@pytest.mark.parametrize(("free", "limit"), [(1, 24.940), (10, 45.979), (120, 204.965), (1_000, 1_217.628)])
def test_how_far_off_reports_must_be(free: int, limit: float) -> None:
    assert chance_at_most(limit * 1.0001, free) < solution.FALSE_ALARM < chance_at_most(limit * 0.9999, free)
    assert chance_at_most(free, free) == chance_at_most(-1.0, free) == chance_at_most(5.0, 0) == 1
