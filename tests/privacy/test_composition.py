"""Losses together: bounds against exact failure probabilities of what costs just so much, and twins that are caught."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from sfumato.errors import BudgetError, ParameterError
from sfumato.methods import Synthesis
from sfumato.privacy import composition
from sfumato.privacy.composition import Spend, added_rho, least_epsilon, pure_divergence
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.loss import Approximate, Concentrated, spell_up

SMALL = Fraction(1, 10**6)


def pure(epsilon: float) -> Spend:
    return Spend(Approximate(Fraction(str(epsilon)), Fraction(0)))


def gaussian(rho: float, delta: Fraction = Fraction(1, 10**9)) -> Spend:
    concentrated = Concentrated(Fraction(str(rho)))
    return Spend(concentrated.approximate(delta), concentrated)


def failing(epsilon: float, answers: Sequence[float], rho: float = 0.0) -> float:
    """The exact δ of randomized responses at these ε, and of Gaussian noise of total cost ρ, together at ε.

    The privacy loss of a response is ±ε, with odds e^ε; that of Gaussian noise is normal with mean ρ and variance 2ρ.
    δ = E max(0, 1 − e^(ε − loss)).
    """
    losses, weights = np.zeros(1), np.ones(1)
    for one in answers:
        right = 1 / (1 + math.exp(-one))
        losses = np.concatenate([losses + one, losses - one])
        weights = np.concatenate([weights * right, weights * (1 - right)])
        losses, place = np.unique(np.round(losses, 12), return_inverse=True)
        weights = np.bincount(place, weights)
    if not rho:
        return float((weights * np.maximum(0, -np.expm1(epsilon - losses))).sum())
    spread, apart = math.sqrt(2 * rho), epsilon - losses
    above = norm.sf((apart - rho) / spread) - np.exp(apart) * norm.sf((apart + rho) / spread)
    return float((weights * above).sum())


def epsilon_of(spends: Sequence[Spend], delta: Fraction) -> float:
    found = least_epsilon(spends, delta)
    assert found is not None
    return float(found)


@pytest.mark.parametrize(
    ("answers", "rho"),
    [
        ([0.1] * 40, 0.0),
        ([0.5] * 12, 0.0),
        ([1.0, 0.3, 0.1, 0.1, 0.1], 0.02),
        ([0.2] * 10, 0.01),
        ([], 0.05),
        ([2.0], 0.001),
    ],
)
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
def test_what_is_told_holds_for_what_costs_most(answers: list[float], rho: float, delta: float) -> None:
    """At the ε that is told, the worst there is keeps δ; at three quarters of it, it does not."""
    spends = [pure(one) for one in answers] + ([gaussian(rho)] if rho else [])
    epsilon = epsilon_of(spends, Fraction(str(delta)))
    assert failing(epsilon, answers, rho) <= delta * (1 + 1e-9)
    if rho or len(answers) > 10:
        assert failing(epsilon * 0.75, answers, rho) > delta


def test_a_twin_with_half_the_divergence_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = composition.divergence
    monkeypatch.setattr(composition, "divergence", lambda spends, beyond: whole(spends, beyond) / 2)
    epsilon = epsilon_of([pure(0.1)] * 40, SMALL)
    assert failing(epsilon, [0.1] * 40) > float(SMALL)


@given(st.floats(1e-3, 20), st.floats(1e-2, 60))
def test_the_divergence_of_pure_epsilon_is_that_of_randomized_response(epsilon: float, beyond: float) -> None:
    order, right = 1 + beyond, 1 / (1 + math.exp(-epsilon))
    wrong = math.exp(-epsilon) / (1 + math.exp(-epsilon))
    logs = [order * math.log(one) - beyond * math.log(other) for one, other in ((right, wrong), (wrong, right))]
    exact = np.logaddexp(*logs) / beyond
    found = float(pure_divergence(epsilon, np.array([beyond]))[0])
    assert exact <= found * (1 + 1e-12) + 1e-12
    assert found <= min(epsilon, exact * (1 + 1e-9) + 1e-9)


def test_many_small_releases_come_to_less_than_their_sum() -> None:
    """Closed form of advanced composition: ε √(2n ln(1/δ)) + n ε (e^ε − 1) is no less."""
    for number, epsilon in ((100, 0.1), (400, 0.1), (1000, 0.01)):
        told = epsilon_of([pure(epsilon)] * number, SMALL)
        advanced = epsilon * math.sqrt(2 * number * math.log(1e6)) + number * epsilon * math.expm1(epsilon)
        assert told < advanced
        assert told < number * epsilon


def test_few_large_ones_are_added_up() -> None:
    assert least_epsilon([pure(1), pure(2)], SMALL) == 3
    assert least_epsilon([pure(1), pure(2)], Fraction(0)) == 3
    assert least_epsilon([], SMALL) == 0


def test_what_has_no_rho_is_added_to_the_others() -> None:
    other = Spend(Approximate(Fraction(1), SMALL / 2))
    gaussians = [gaussian(0.01)] * 10
    assert added_rho([other, *gaussians]) is None
    found = least_epsilon([other, *gaussians], SMALL)
    assert found == pytest.approx(1 + epsilon_of(gaussians, SMALL / 2))
    assert least_epsilon([other], SMALL / 4) is None
    assert least_epsilon([other, pure(1)], SMALL / 4) is None


def test_rho_adds_up() -> None:
    total = added_rho([pure(1), gaussian(0.25)])
    assert total == Concentrated(Fraction(3, 4))


@pytest.fixture
def ledger(tmp_path: object) -> Ledger:
    return Ledger(f"{tmp_path}/ledger.sqlite")


def reserve(ledger: Ledger, release: str, method: Synthesis) -> None:
    claim = method.claim
    assert claim.cost is not None
    rho = claim.concentrated.rho if claim.concentrated else None
    ledger.reserve(
        data_set="people", release=release, epsilon=claim.cost.epsilon, delta=claim.cost.delta, rho=rho, method="m"
    )


def test_a_cap_with_a_delta_bears_more_gaussian_releases_than_their_sum(ledger: Ledger) -> None:
    """(0.5, 1e-9) twenty times adds up to 10; together they come to less than 2.2."""
    ledger.cap("people", 2.2, 2e-8)
    for number in range(20):
        reserve(ledger, str(number), Synthesis(epsilon=0.5, delta=1e-9))
    account = ledger.account("people")
    assert isinstance(account.cap, Approximate)
    assert account.spent.epsilon == 10
    assert 2 < account.together.epsilon < 2.2
    assert account.left == Approximate(account.cap.epsilon - account.together.epsilon, Fraction(0))
    with pytest.raises(BudgetError, match=r"comes to more than the cap of ε = 2\.2, δ = 2e-08 with what was spent"):
        reserve(ledger, "more", Synthesis(epsilon=0.5, delta=1e-9))


def test_a_cap_of_rho_adds_up_rho(ledger: Ledger) -> None:
    ledger.cap("people", rho=0.5)
    reserve(ledger, "pure", Synthesis(epsilon=0.5))
    reserve(ledger, "gaussian", Synthesis(rho=0.3))
    assert ledger.account("people").left == Concentrated(Fraction(3, 40))
    with pytest.raises(BudgetError, match=r"ρ = 0\.1 is asked for, but 0\.075 is left of the cap of 0\.5"):
        reserve(ledger, "too much", Synthesis(rho=0.1))
    with pytest.raises(BudgetError, match=r"without a ρ does not count under the cap of ρ = 0\.5"):
        ledger.reserve(data_set="people", release="other", epsilon=0.01, delta=1e-9, method="m")
    reserve(ledger, "rest", Synthesis(rho=0.075))
    with pytest.raises(ParameterError, match="give one of both"):
        ledger.cap("people", 1, rho=1)


def test_what_is_replaced_is_added_as_it_is(ledger: Ledger) -> None:
    """Forty at ε = 0.1 that hide sensitive values count 2 in all, whatever δ the cap has; ρ counts them too."""
    for number in range(40):
        ledger.reserve(
            data_set="people", release=str(number), epsilon=0.1, neighbours="replace-sensitive", hides="ill", method="m"
        )
    ledger.cap("people", 3, 1e-3)
    account = ledger.account("people")
    assert account.together.epsilon == account.spent.epsilon == 2
    assert account.rho == Concentrated(40 * Fraction(1, 20) ** 2 / 2)


def test_a_loss_that_comes_to_nothing_is_told() -> None:
    """Where δ is larger than all that is told apart, ε is 0."""
    assert least_epsilon([pure(0.01)], Fraction(1, 100)) == 0
    assert spell_up(Fraction(0)) == 0
