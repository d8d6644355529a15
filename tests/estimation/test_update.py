"""The iterative Bayesian update and its certificate, against written-out matrices."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.estimation.likelihood import likelihood
from sfumato.estimation.solution import certified_gap, log_likelihood, next_shares
from sfumato.estimation.updates import em
from sfumato.mechanisms.channels import Channel, make_channel

from .oracle import Floats, dense_likelihood, dense_update, problems

Problem = tuple[Channel, Floats]


def random_shares(channel: Channel, seed: int) -> Floats:
    return np.random.default_rng(seed).dirichlet(np.ones(channel.size))


@given(problems(), st.integers(0, 1_000))
def test_an_update_is_the_one_of_the_matrix(problem: Problem, seed: int) -> None:
    channel, observed = problem
    shares = random_shares(channel, seed)
    updated = next_shares(channel, observed, shares)
    np.testing.assert_allclose(updated, dense_update(channel.matrix(), observed, shares), rtol=1e-9, atol=1e-14)
    before, after = (log_likelihood(channel, observed, p) for p in (shares, updated))
    assert before == pytest.approx(dense_likelihood(channel.matrix(), observed, shares), rel=1e-9)
    assert after >= before - 1e-12


@given(problems(), st.integers(0, 1_000))
def test_no_distribution_is_more_likely_than_the_certificate_allows(problem: Problem, seed: int) -> None:
    channel, observed = problem
    shares, best = random_shares(channel, seed), likelihood(channel, observed, gap=1e-11)
    lost = best.log_likelihood - log_likelihood(channel, observed, shares)
    assert lost <= certified_gap(channel, observed, shares) + 1e-11
    others = np.random.default_rng(seed + 1).dirichlet(np.ones(channel.size), size=20)
    assert max(log_likelihood(channel, observed, other) for other in others) <= best.log_likelihood + best.gap + 1e-12


def test_a_smaller_certificate_would_be_wrong() -> None:
    """For one kind of report the bound is reached exactly, so nothing below it is a bound; nor is the mean gain."""
    channel, observed, shares = make_channel("geometric", 5, 0.5), np.eye(5)[1], np.full(5, 0.2)
    lost = log_likelihood(channel, observed, np.eye(5)[1]) - log_likelihood(channel, observed, shares)
    assert certified_gap(channel, observed, shares) == pytest.approx(lost, rel=1e-12)
    assert certified_gap(channel, observed, shares) * 0.99 < lost
    assert math.log(channel.gains(shares, observed) @ shares) == pytest.approx(0.0, abs=1e-12)
    assert lost > 0.3


@pytest.mark.parametrize("name", ["geometric", "laplace", "randomized-response", "square-wave"])
def test_point_masses_are_fixed_points_so_fixed_points_are_not_unique(name: str) -> None:
    """Lemma 4.3 of kacem2018 says that the most likely distribution is the only one: it is not."""
    channel = make_channel(name, 6, 1.0)
    observed = np.random.default_rng(3).dirichlet(np.ones(channel.reports))
    for mass in np.eye(6):
        np.testing.assert_allclose(next_shares(channel, observed, mass), mass, atol=1e-15)
        assert certified_gap(channel, observed, mass) > 0.01
    best = likelihood(channel, observed)
    np.testing.assert_allclose(next_shares(channel, observed, best.shares), best.shares, atol=1e-8)


@given(problems(names=("geometric",), most=30))
def test_geometric_shares_are_most_likely_zero_where_nobody_reported(problem: Problem) -> None:
    """Where q_i = 0, row i of Tg = sq/w gives g_i = (g_{i−1} + g_{i+1}) α/(1 + α²) < 1 at the optimum."""
    channel, observed = problem
    best = likelihood(channel, observed, gap=1e-12)
    assert best.shares[observed == 0].sum() < 1e-6


def test_starting_from_the_reports_can_miss_the_maximum_of_rounded_laplace() -> None:
    """Nobody reports 2, which is where everybody most likely is; from a share of zero there is no way back."""
    channel, observed = make_channel("laplace", 5, 0.1), np.array([0, 0.5, 0, 0.5, 0])
    shares = observed
    for _ in range(2_000):
        shares = next_shares(channel, observed, shares)
    np.testing.assert_allclose(shares, observed, atol=1e-12)
    best = em(channel, observed, gap=1e-6)
    assert best.reached
    assert best.shares[2] > 0.99
    assert best.log_likelihood > log_likelihood(channel, observed, shares) + 0.005
    assert certified_gap(channel, observed, shares) > 0.005


def test_reports_that_cannot_be_are_neither_divided_by_nor_called_likely() -> None:
    channel = make_channel("geometric", 1_000, 3.0)
    observed, shares = np.zeros(1_000), np.zeros(1_000)
    observed[0] = shares[-1] = 1.0
    assert channel.spread(shares)[0] == 0
    assert log_likelihood(channel, observed, shares) == -math.inf
    assert certified_gap(channel, observed, shares) == math.inf
    assert np.isfinite(channel.gains(shares, observed)).all()
    assert certified_gap(channel, observed, np.where(np.arange(1_000) == 5, -1e-3, 1e-3)) == math.inf
