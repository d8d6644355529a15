"""What ε means in odds: attained by mechanisms small enough to try every guess, and never exceeded by any other."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sfumato.privacy.claims import ApproximateDP, Conditional, LocalDP, ProbabilisticDP, PureDP, Syntactic
from sfumato.privacy.loss import Approximate
from sfumato.privacy.odds import (
    best_guess,
    exception,
    largest_belief,
    odds_factor,
    replacing,
    spell_factor,
    spell_share,
)
from sfumato.privacy.requirements import KAnonymity

Distribution = NDArray[np.float64]
EPSILONS = (0.05, 0.5, 1.0, 3.0, 8.0)
ROUNDING = 1e-12


def loss(epsilon: float, delta: float = 0.0) -> Approximate:
    return Approximate(Fraction(epsilon), Fraction(delta))


def randomized_response(epsilon: float, delta: float = 0.0) -> tuple[Distribution, Distribution]:
    """Tells the truth outright with probability δ, else true with odds e^ε: what is published under P and under Q."""
    right = (1 - delta) * exp(epsilon) / (1 + exp(epsilon))
    wrong = 1 - delta - right
    return np.array([delta, 0, right, wrong]), np.array([0, delta, wrong, right])


def every_guess(p: Distribution, q: Distribution) -> float:
    """The best success of all sets of outputs on which to say P, after a fair coin."""
    sets = itertools.product((False, True), repeat=len(p))
    return max(p[list(chosen)].sum() + 1 - q[list(chosen)].sum() for chosen in map(np.array, sets)) / 2


def worst_delta(p: Distribution, q: Distribution, epsilon: float) -> float:
    """The δ of a pair of distributions at ε: the larger of Σ max(0, P − e^ε Q) and the same exchanged."""
    return float(max(np.maximum(p - exp(epsilon) * q, 0).sum(), np.maximum(q - exp(epsilon) * p, 0).sum()))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", [0.0, 0.01, 0.4])
def test_randomized_response_attains_the_best_guess(epsilon: float, delta: float) -> None:
    p, q = randomized_response(epsilon, delta)
    assert worst_delta(p, q, epsilon) == pytest.approx(delta, abs=1e-12)
    assert every_guess(p, q) == pytest.approx(best_guess(loss(epsilon, delta)), abs=1e-12)
    assert every_guess(p, q) > best_guess(loss(0.9 * epsilon, delta))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("prior", [0.5, 0.1, 0.01, 0.999])
def test_randomized_response_attains_the_largest_belief(epsilon: float, prior: float) -> None:
    p, q = (distribution[2:] for distribution in randomized_response(epsilon))
    believed = prior * p / (prior * p + (1 - prior) * q)
    assert believed.max() == pytest.approx(largest_belief(prior, odds_factor(loss(epsilon))), abs=1e-12)
    assert believed.max() > largest_belief(prior, odds_factor(loss(0.9 * epsilon)))


distributions = st.lists(st.floats(1e-3, 1), min_size=5, max_size=5).map(lambda some: np.array(some) / sum(some))


@given(distributions, distributions, st.floats(0, 5))
def test_no_mechanism_exceeds_the_bounds(p: Distribution, q: Distribution, epsilon: float) -> None:
    delta = worst_delta(p, q, epsilon)
    spent = loss(epsilon, delta)
    assert every_guess(p, q) <= best_guess(spent) + ROUNDING
    beyond = p / q > odds_factor(spent) * (1 + ROUNDING)
    assert p[beyond].sum() <= exception(spent) + ROUNDING
    assert q[beyond].sum() <= exception(spent) + ROUNDING


@given(distributions, distributions, st.floats(0.05, 0.95))
def test_no_pure_mechanism_exceeds_the_belief(p: Distribution, q: Distribution, prior: float) -> None:
    epsilon = float(np.abs(np.log(p / q)).max())
    believed = prior * p / (prior * p + (1 - prior) * q)
    assert believed.max() <= largest_belief(prior, odds_factor(loss(epsilon))) + ROUNDING


def test_delta_excuses_less_than_ratios_alone_would() -> None:
    """The twin: odds may grow beyond e^ε far more often than 2δ, so the factor of a δ is 2 e^ε."""
    p, q = np.array([0.5, 0.5]), np.array([0.45, 0.55])
    delta = worst_delta(p, q, 0.1)
    assert 0 < delta < 0.01
    assert p[p / q > exp(0.1)].sum() == 0.5 > exception(loss(0.1, delta))
    assert odds_factor(loss(0.1, delta)) == pytest.approx(2 * exp(0.1))
    assert odds_factor(loss(0.1, delta), probabilistic=True) == pytest.approx(exp(0.1))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_to_replace_a_row_is_two_steps(epsilon: float) -> None:
    """Geometric noise on −1, 0 and 1, cut off at the ends: 0 is without the person, the others are two rows."""
    a = exp(-epsilon)
    p = np.array([1 / (1 + a), a * (1 - a) / (1 + a), a**2 / (1 + a)])
    without = np.array([a / (1 + a), (1 - a) / (1 + a), a / (1 + a)])
    for distribution in (p, without):
        assert distribution.sum() == pytest.approx(1)
    assert np.abs(np.log(p / without)).max() == pytest.approx(epsilon)
    assert np.abs(np.log(p / p[::-1])).max() == pytest.approx(2 * epsilon)
    assert best_guess(loss(epsilon)) < every_guess(p, p[::-1]) <= best_guess(replacing(loss(epsilon)))


@given(distributions, distributions, distributions, st.floats(0, 2))
def test_two_steps_cover_every_pair(p: Distribution, without: Distribution, q: Distribution, epsilon: float) -> None:
    delta = max(worst_delta(p, without, epsilon), worst_delta(q, without, epsilon))
    both = replacing(loss(epsilon, delta))
    assert worst_delta(p, q, float(both.epsilon)) <= float(both.delta) + ROUNDING


def test_shares_are_rounded_up() -> None:
    assert [spell_share(share) for share in (0.5, 0.01, exp(1) / (1 + exp(1)), 0.02671, 1.0)] == [
        "50%",
        "1%",
        "73.2%",
        "2.68%",
        "100%",
    ]
    assert spell_share(1 - 1e-9) == "100%"


@given(st.floats(1e-9, 13.8))
def test_a_factor_is_rounded_up_and_by_little(epsilon: float) -> None:
    spelled = float(spell_factor(epsilon).replace(",", ""))
    assert exp(epsilon) * (1 - 1e-12) <= spelled
    assert spelled - 1 <= 1.11 * (exp(epsilon) - 1)


def test_factors_as_people_read_them() -> None:
    assert [spell_factor(epsilon) for epsilon in (0.0, 0.001, 0.5, 3.0, 10.0, 20.0)] == [
        "1",
        "1.0011",
        "1.65",
        "20.1",
        "22,100",
        "e^20, more than a million",
    ]
    assert best_guess(loss(2000)) == 1.0


def test_a_claim_says_what_its_noise_allows() -> None:
    belief, presence, row = PureDP(epsilon=1).in_words()
    assert "whether one person is in the table, and holds something about it for 50%, 10% or 1% likely" in belief
    assert belief.endswith("can come to hold it for at most 73.2%, 23.2% or 2.68% likely.")
    assert (
        presence
        == "Had a coin decided whether somebody is in the table, no guess would be right more than 73.2% of the time."
    )
    assert (
        row
        == "Had a coin decided which of two rows is somebody's, no guess would be right more than 88.1% of the time."
    )
    conditional = Conditional(given=PureDP(epsilon=1), looked="a frontier").in_words()
    assert conditional[0] == f"Had its setting been fixed beforehand: w{belief[1:]}"
    assert Syntactic(requirements=(KAnonymity(k=5),)).in_words() == ()


def test_claims_speak_of_what_they_hide() -> None:
    local = LocalDP(epsilon=log(3)).in_words()
    assert len(local) == 2
    assert (
        "which of two values is behind somebody's report, no guess would be right more than 75% of the time" in local[1]
    )
    flows = ProbabilisticDP(epsilon=log(9), failing=0.01, neighbours="replace-origin").in_words()
    assert "where one person comes from" in flows[0]
    assert "at most 90%, 50% or 8.34% likely, but for a probability of 0.01." in flows[0]
    assert "which of two places somebody comes from, no guess would be right more than 90.1% of the time" in flows[1]
    approximate = ApproximateDP(epsilon=log(9), failing=0.01, neighbours="replace-one").in_words()
    assert "at most 94.8%, 66.7% or 15.4% likely, but for a probability of 0.02." in approximate[0]
