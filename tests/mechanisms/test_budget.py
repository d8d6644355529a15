"""Budgets: nothing is drawn that is not paid for, and what paths pay adds up exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from sfumato.errors import BudgetError
from sfumato.mechanisms.budget import WHOLE, Budget, ticks
from sfumato.mechanisms.noise import SimulatedSource, Source
from sfumato.mechanisms.noise.geometric import choose, draw_laplace, laplace_variance
from sfumato.mechanisms.noise.sparse import expected_empty
from sfumato.privacy.loss import Concentrated, Loss, Pure

if TYPE_CHECKING:
    from numpy.typing import NDArray

FALSE_FAILURE = 1e-6
ONE = Pure(Fraction(1))


class Silent(Source):
    """A source that must not be asked."""

    protects = False

    def words(self, count: int) -> NDArray[np.uint64]:
        raise AssertionError("noise was drawn")


def zeros(count: int) -> NDArray[np.int64]:
    return np.zeros(count, dtype=np.int64)


SPENDING: dict[str, Any] = {
    "counts": lambda budget, cost: budget.counts(zeros(len(budget.spent)), cost),
    "choose": lambda budget, cost: budget.choose(zeros(2 * len(budget.spent)), 2 * np.arange(len(budget.spent)), cost),
    "spend": lambda budget, cost: budget.spend(cost, lambda epsilon, source: source.laplace(epsilon, 1)),
    "sparse counts": lambda budget, cost: budget.sparse_counts(zeros(0), zeros(0), 10, 3, cost),
}


@pytest.mark.parametrize("name", SPENDING)
@pytest.mark.parametrize("cost", [WHOLE + 1, 2 * WHOLE, 0, -1])
def test_nothing_is_drawn_or_charged_that_cannot_be_paid(name: str, cost: int) -> None:
    budget = Budget(ONE, Silent())
    with pytest.raises(BudgetError):
        SPENDING[name](budget, cost)
    assert budget.spent.tolist() == [0]
    with pytest.raises(AssertionError, match="noise was drawn"):
        SPENDING[name](budget, WHOLE)


@pytest.mark.parametrize("name", SPENDING)
def test_the_last_tick_can_be_spent_and_no_more(name: str) -> None:
    budget = Budget(ONE, SimulatedSource(1))
    SPENDING[name](budget, WHOLE - 1)
    assert budget.left.tolist() == [1]
    with pytest.raises(BudgetError, match=r"only 9\.09495e-13 of it is left"):
        SPENDING[name](budget, 2)
    if name != "sparse counts":  # at so small an ε the threshold would list every cell
        SPENDING[name](budget, 1)
        assert budget.left.tolist() == [0]
        with pytest.raises(BudgetError):
            SPENDING[name](budget, 1)


def test_one_path_that_cannot_pay_stops_all() -> None:
    budget = Budget(ONE, Silent()).fork(zeros(3))
    with pytest.raises(BudgetError):
        budget.counts(zeros(3), np.array([1, WHOLE + 1, 1]))
    assert budget.spent.tolist() == [0, 0, 0]


@pytest.mark.parametrize("exact", [zeros(2), np.zeros((1, 3), dtype=np.int64)[:0], np.int64(4), np.array([1.5])])
def test_counts_need_a_row_of_whole_numbers_for_each_path(exact: NDArray[np.int64]) -> None:
    """A row too many would be published without noise."""
    budget = Budget(ONE, Silent())
    with pytest.raises(BudgetError, match="a row of whole numbers for each path"):
        budget.counts(exact, 1)
    assert budget.spent.tolist() == [0]


def test_several_selections_on_a_path_must_be_said_to_be_disjoint() -> None:
    budget = Budget(ONE, Silent())
    with pytest.raises(BudgetError, match="one run of candidates for each path"):
        budget.choose(zeros(4), np.array([0, 2]), 1)
    assert budget.spent.tolist() == [0]
    open_budget = Budget(ONE, SimulatedSource(1))
    assert len(open_budget.choose(zeros(4), np.array([0, 2]), 5, disjoint=True)) == 2
    assert open_budget.spent.tolist() == [5]


def test_counts_are_not_changed_in_place() -> None:
    exact = np.array([[3, 4]])
    noisy = Budget(Pure(Fraction(1, 100)), SimulatedSource(1)).counts(exact, WHOLE)
    assert exact.tolist() == [[3, 4]]
    assert noisy.tolist() != [[3, 4]]


class Model:
    """What the paths of a budget should have spent, written down record by record."""

    def __init__(self, spent: list[Fraction]) -> None:
        self.spent = spent

    def charge(self, costs: list[int]) -> bool:
        after = [spent + Fraction(cost, WHOLE) for spent, cost in zip(self.spent, costs, strict=True)]
        if any(amount > 1 for amount in after) or any(cost <= 0 for cost in costs):
            return False
        self.spent = after
        return True


@given(st.data())
def test_paths_spend_as_their_records_do(data: st.DataObject) -> None:
    """Any sequence of charges, forks and separations, against a list of fractions."""
    budget, model = Budget(ONE, SimulatedSource(1)), Model([Fraction(0)])
    for _ in range(data.draw(st.integers(0, 12))):
        paths = len(model.spent)
        step = data.draw(st.sampled_from(["charge", "fork", "apart"]))
        if step == "charge":
            cost = st.integers(-1, WHOLE // 3)
            costs = [data.draw(cost)] * paths if data.draw(st.booleans()) else [data.draw(cost) for _ in range(paths)]
            if model.charge(costs):
                budget.counts(zeros(paths), np.array(costs, dtype=np.int64))
            else:
                with pytest.raises(BudgetError):
                    budget.counts(zeros(paths), np.array(costs, dtype=np.int64))
        elif step == "fork" and paths:
            parents = data.draw(st.lists(st.integers(0, paths - 1), max_size=6))
            closed, budget = budget, budget.fork(np.array(parents, dtype=np.int64))
            with pytest.raises(BudgetError, match="divided among parts"):
                closed.counts(zeros(paths), 1)
            model = Model([model.spent[parent] for parent in parents])
        elif step == "apart":
            chosen = np.array([data.draw(st.booleans()) for _ in range(paths)], dtype=bool)
            one, other = budget.apart(chosen)
            with pytest.raises(BudgetError, match="divided among parts already"):
                budget.fork(zeros(1))
            kept = data.draw(st.booleans())
            budget = one if kept else other
            model = Model([spent for spent, mine in zip(model.spent, chosen, strict=True) if mine == kept])
        assert [Fraction(int(spent), WHOLE) for spent in budget.spent] == model.spent
        assert [1 - Fraction(int(left), WHOLE) for left in budget.left] == model.spent


@given(st.fractions(min_value=0, max_value=2), st.integers(1, 50))
def test_ticks_of_shares_never_add_up_to_more(share: Fraction, parts: int) -> None:
    assert Fraction(ticks(share), WHOLE) <= share < Fraction(ticks(share) + 1, WHOLE)
    assert parts * ticks(Fraction(1, parts)) <= WHOLE


def test_spent_is_not_a_handle() -> None:
    budget = Budget(ONE, SimulatedSource(1))
    budget.spent[0] = -5
    assert budget.spent.tolist() == [0]


def test_paths_at_different_prices_get_their_own_noise() -> None:
    """χ² of the squares, both limits once in a million; ε = 0.2 for one path and 0.02 for the other."""
    budget = Budget(ONE, SimulatedSource(3)).fork(zeros(2))
    costs = np.array([WHOLE // 5, WHOLE // 50])
    noisy = budget.counts(np.zeros((2, 20_000), dtype=np.int64), costs).astype(float)
    found = (noisy**2).mean(axis=1)
    expected = budget.variance(costs)
    assert expected == pytest.approx([laplace_variance(0.2), laplace_variance(0.02)], rel=1e-6)
    # Squares of Laplace noise vary by √5 times their mean.
    assert np.abs(found / expected - 1).max() < 5 * math.sqrt(5 / 20_000)
    assert np.abs(found[::-1] / expected - 1).min() > 0.5


def test_prices_are_exact_fractions_of_the_total() -> None:
    total, cost = Pure(Fraction(7, 3)), 12_345
    epsilon = total.epsilon * Fraction(cost, WHOLE) * 2**20
    assert Budget(total, Silent()).spend(cost << 20, lambda share, source: share) == epsilon
    noisy = Budget(total, SimulatedSource(9)).counts(np.zeros((1, 50), dtype=np.int64), cost << 20)[0]
    assert noisy.tolist() == draw_laplace(epsilon, 50, SimulatedSource(9)).tolist()


@pytest.mark.parametrize(
    ("monotone", "sensitivity", "factor"), [(True, 1, 1), (False, 1, 2), (True, 1024, 1024), (False, 3, 6)]
)
def test_selection_pays_for_sensitivity_and_direction(monotone: bool, sensitivity: int, factor: int) -> None:
    scores, starts = np.array([4, 0, 9, 1, 5, 5] * 50), np.arange(100) * 3
    budget = Budget(Pure(Fraction(20)), SimulatedSource(5)).fork(zeros(100))
    found = budget.choose(scores, starts, WHOLE // 4, monotone=monotone, sensitivity=sensitivity)
    assert found.tolist() == choose(scores, starts, Fraction(5, factor), SimulatedSource(5)).tolist()


def test_paths_of_one_selection_pay_the_same() -> None:
    budget = Budget(ONE, Silent()).fork(zeros(2))
    with pytest.raises(BudgetError, match="must pay the same"):
        budget.choose(zeros(2), np.array([0, 1]), np.array([1, 2]))


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=100), st.integers(1, WHOLE))
def test_selection_under_rho_is_worth_what_it_costs(rho: Fraction, cost: int) -> None:
    """ε²/2 is at most the share of ρ, and close to it."""
    budget = Budget(Concentrated(rho), Silent())
    share = Fraction(cost, WHOLE)
    epsilon = budget._epsilon(share)
    assert epsilon**2 / 2 <= rho * share
    assert (epsilon + Fraction(1, WHOLE)) ** 2 / 2 > rho * share


def test_counts_under_rho_have_gaussian_noise() -> None:
    """Half of ρ = 1/50 buys σ² = 50; χ² of the sum of squares, both limits once in a million. Laplace is rejected."""
    budget = Budget(Concentrated(Fraction(1, 50)), SimulatedSource(6))
    assert float(budget.variance(WHOLE // 2)) == 50
    noisy = budget.counts(np.zeros((1, 20_000), dtype=np.int64), WHOLE // 2)[0].astype(float)
    total = float((noisy**2).sum()) / 50
    assert chi2.isf(1 - FALSE_FAILURE, df=20_000) < total < chi2.isf(FALSE_FAILURE, df=20_000)
    # The fourth moment over the squared second is 3 for Gaussian noise (± 0.17 at five deviations), 6 for Laplace.
    assert abs((noisy**4).mean() / 50**2 - 3) < 0.35


def test_draws_of_other_kinds_get_the_epsilon_that_rho_pays_for() -> None:
    """Half of ρ = 1 pays for ε = 1, for ε²/2 = 1/2; all of it for √2."""
    half = Budget(Concentrated(Fraction(1)), Silent()).spend(WHOLE // 2, lambda epsilon, source: epsilon)
    assert half == 1
    budget = Budget(Concentrated(Fraction(1)), Silent())
    assert budget.threshold(10**6, 1, WHOLE // 2) == Budget(Pure(Fraction(1)), Silent()).threshold(10**6, 1, WHOLE)
    assert budget.sparse_variance(WHOLE // 2) == float(Budget(Pure(Fraction(1)), Silent()).variance(WHOLE))
    assert budget.spend(WHOLE, lambda epsilon, source: float(epsilon)) == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize("total", [Pure(Fraction(1, 10)), Concentrated(Fraction(1, 400))])
def test_a_budget_as_epsilon_has_the_noise_of_a_count(total: Loss) -> None:
    budget = Budget(total, Silent())
    assert budget.as_epsilon == pytest.approx(0.1)
    assert math.sqrt(float(budget.variance(WHOLE))) == pytest.approx(math.sqrt(2) / 0.1, rel=1e-3)


@pytest.mark.parametrize(("domain", "most"), [(10**3, 1), (10**12, 1_000), (10, 10), (5, 50)])
def test_a_threshold_lets_few_empty_cells_through(domain: int, most: int) -> None:
    budget = Budget(ONE, Silent())
    threshold = budget.threshold(domain, most, WHOLE // 2)
    assert expected_empty(domain, threshold, Fraction(1, 2)) <= most
    assert threshold == 1 or expected_empty(domain, threshold - 1, Fraction(1, 2)) > most / 2
    assert budget.spent.tolist() == [0]


def test_what_costs_nothing_has_no_end_of_variance() -> None:
    budget = Budget(ONE, Silent())
    assert budget.variance(np.array([0, WHOLE])).tolist() == [np.inf, laplace_variance(1.0)]


def test_longer_changes_need_more_gaussian_noise_for_the_same_price() -> None:
    """The sum of squares over σ² is χ²; both limits once in a million. Plain counts are far below them."""
    numbers = np.zeros((1, 20_000), dtype=np.int64)
    budget = Budget(Concentrated(Fraction(1)), SimulatedSource(1))
    squares = float((budget.counts(numbers, WHOLE // 4, squared=100) ** 2).sum())
    low, high = (chi2.isf(tail, df=20_000) for tail in (1 - FALSE_FAILURE, FALSE_FAILURE))
    assert low < squares / (100 * float(budget.variance(WHOLE // 4))) < high
    assert not low < float((budget.counts(numbers, WHOLE // 4) ** 2).sum()) / 200 < high
    with pytest.raises(BudgetError, match="one cell at most"):
        Budget(ONE, Silent()).counts(numbers, WHOLE, squared=2)
