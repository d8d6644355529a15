"""All solvers find the same maximum, a general optimizer finds no other, and each says honestly how far it got."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from sfumato.estimation.equations import Banded, Dense, equations
from sfumato.estimation.likelihood import fill_water, likelihood
from sfumato.estimation.likelihood import newton as newton_with
from sfumato.estimation.solution import Solution, certified_gap
from sfumato.estimation.unbiased import inversion
from sfumato.estimation.updates import average_neighbours, em, kernel_steps, smooth, squarem, stride, update_rows
from sfumato.mechanisms.channels import Channel, RandomizedResponse, make_channel
from sfumato.mechanisms.channels.kernel import Kernel

from .oracle import Floats, dense_likelihood, dense_update, drawn, optimum, problems, two_humps

Problem = tuple[Channel, Floats]


def newton(channel: Channel, observed: Floats, **options: Any) -> Solution:
    linear = equations(channel)
    assert linear is not None
    return newton_with(channel, observed, linear, **options)


def is_distribution(shares: Floats) -> bool:
    return bool(shares.min() >= 0 and abs(shares.sum() - 1) <= 1e-9)


@given(problems())
def test_the_maximum_is_certified_on_every_channel(problem: Problem) -> None:
    channel, observed = problem
    best = likelihood(channel, observed)
    assert best.reached
    assert best.gap <= 1e-9
    assert best.steps <= 40
    assert is_distribution(best.shares)
    assert best.gap == certified_gap(channel, observed, best.shares)
    assert best.log_likelihood == pytest.approx(
        dense_likelihood(channel.matrix(), observed, best.shares), rel=1e-9, abs=1e-12
    )


@settings(max_examples=40)
@given(problems(most=6))
def test_a_general_optimizer_finds_nothing_better(problem: Problem) -> None:
    channel, observed = problem
    best = likelihood(channel, observed).log_likelihood
    assert best - 1e-5 <= optimum(channel.matrix(), observed) <= best + 1e-9


@pytest.mark.parametrize("name", ["geometric", "laplace", "randomized-response", "square-wave"])
@pytest.mark.parametrize("epsilon", [2.0, 4.0])
def test_newton_em_and_squarem_agree(name: str, epsilon: float) -> None:
    channel = make_channel(name, 12, epsilon)
    observed = drawn(channel, two_humps(12), 20_000, 1) / 20_000
    found = [newton(channel, observed), squarem(channel, observed), em(channel, observed, gap=1e-8, steps=200_000)]
    if isinstance(channel, RandomizedResponse):
        found.append(fill_water(channel, observed))
    dense = np.full(12, 1 / 12)
    for _ in range(found[2].steps):
        dense = dense_update(channel.matrix(), observed, dense)
    np.testing.assert_allclose(found[2].shares, dense, atol=1e-8)
    assert all(solution.reached for solution in found)
    for solution in found[1:]:
        np.testing.assert_allclose(solution.shares, found[0].shares, atol=2e-3)
        assert solution.log_likelihood == pytest.approx(found[0].log_likelihood, abs=2e-8)


@pytest.mark.parametrize("name", ["geometric", "laplace"])
def test_the_compiled_loop_takes_the_same_steps(name: str) -> None:
    channel = make_channel(name, 30, 0.3)
    assert isinstance(channel, Kernel)
    observed, start = drawn(channel, two_humps(30), 1_000, 2) / 1_000, np.full(30, 1 / 30)
    plain, left, taken = update_rows(
        channel, observed[None], start[None], lambda _, __, gains: gains.max(axis=1) <= 1 + 1e-4, 500
    )
    assert len(left) == (taken == 500)
    compiled = kernel_steps(observed, start, channel.weights, 1 + 1e-4, 500)
    assert compiled[1] == taken
    np.testing.assert_allclose(compiled[0], plain[0], rtol=1e-9)


@given(problems())
def test_a_stride_never_loses_likelihood(problem: Problem) -> None:
    channel, observed = problem
    shares, matrix = np.full(channel.size, 1 / channel.size), channel.matrix()
    for _ in range(8):
        before, shares = shares, stride(channel, observed, shares)
        assert dense_likelihood(matrix, observed, shares) >= dense_likelihood(matrix, observed, before) - 1e-12


def test_a_stride_leaves_every_value_possible() -> None:
    channel = make_channel("geometric", 30, 0.5)
    observed, shares = drawn(channel, two_humps(30), 1_000, 1) / 1_000, np.full(30, 1 / 30)
    for _ in range(40):
        shares = stride(channel, observed, shares)
    assert shares.min() > 0
    assert shares.min() < 1e-6


def test_strides_get_further_than_as_many_updates() -> None:
    channel = make_channel("geometric", 50, 0.5)
    observed = drawn(channel, two_humps(50), 10**6, 3) / 10**6
    assert squarem(channel, observed, steps=900).gap < em(channel, observed, steps=900).gap / 10


def test_newton_needs_few_steps_where_em_needs_hundreds_of_thousands() -> None:
    channel = make_channel("geometric", 100, 0.1)
    observed = drawn(channel, two_humps(100), 10**6, 1) / 10**6
    best, early = newton(channel, observed), em(channel, observed, steps=20_000)
    assert best.reached
    assert best.steps <= 20
    assert not early.reached
    assert early.steps == 20_000
    assert early.gap > 1e-7
    assert best.log_likelihood - early.gap <= early.log_likelihood < best.log_likelihood


@pytest.mark.parametrize("name", ["geometric", "laplace"])
@pytest.mark.parametrize("epsilon", [0.001, 0.1, 3.0, 20.0])
@pytest.mark.parametrize(("size", "reports"), [(10_000, 10**6), (10_000, 1_000), (1_000, 1), (2, 50), (1, 7)])
def test_newton_reaches_the_gap_on_any_axis(name: str, epsilon: float, size: int, reports: int) -> None:
    channel = make_channel(name, size, epsilon)
    found = newton(channel, drawn(channel, two_humps(size), reports, 4) / reports)
    assert found.reached
    assert found.steps <= 40
    assert is_distribution(found.shares)


@pytest.mark.parametrize("place", [0, 2_500, 4_999])
def test_five_thousand_values_at_epsilon_three_stay_finite(place: int) -> None:
    channel = make_channel("geometric", 5_000, 3.0)
    observed = np.zeros(5_000)
    observed[place] = 1.0
    for solution in (newton(channel, observed), em(channel, observed, steps=50), smooth(channel, observed, steps=50)):
        assert np.isfinite(solution.shares).all()
        assert np.isfinite(solution.gap)
        assert solution.shares.sum() == pytest.approx(1)
    best = newton(channel, observed)
    assert best.reached
    assert best.shares[place] == pytest.approx(1, abs=1e-6)


def test_a_gap_that_floating_point_does_not_allow_is_not_called_reached() -> None:
    channel = make_channel("geometric", 300, 0.01)
    found = newton(channel, drawn(channel, two_humps(300), 10**6, 5) / 10**6, gap=0.0)
    assert found.reached == (found.gap <= 0)
    assert found.gap < 1e-11
    stopped = newton(channel, drawn(channel, two_humps(300), 10**6, 5) / 10**6, steps=2)
    assert (stopped.steps, stopped.reached) == (2, False)


def test_a_channel_without_fast_equations_is_solved_by_strides() -> None:
    channel = make_channel("square-wave", 600, 1.0)
    observed = drawn(channel, two_humps(600), 100, 1) / 100
    assert equations(channel) is None
    np.testing.assert_array_equal(
        likelihood(channel, observed, steps=30).shares, squarem(channel, observed, steps=30).shares
    )
    assert isinstance(equations(make_channel("square-wave", 500, 1.0)), Dense)
    assert isinstance(equations(make_channel("geometric", 600, 1.0)), Banded)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**12), 1e-9, 0.01, 3.0, 700.0])
def test_the_level_is_found_however_small_epsilon_is(epsilon: float | Fraction) -> None:
    channel = make_channel("randomized-response", 5, epsilon)
    assert isinstance(channel, RandomizedResponse)
    np.testing.assert_allclose(fill_water(channel, np.full(5, 0.2)).shares, np.full(5, 0.2))
    tied = fill_water(channel, np.array([0.3, 0.3, 0.2, 0.2, 0.0])).shares
    assert tied[0] == tied[1] >= tied[2] == tied[3] >= tied[4] == 0
    assert tied.sum() == pytest.approx(1)
    alone = fill_water(channel, np.array([0.0, 1.0, 0.0, 0.0, 0.0]))
    np.testing.assert_array_equal(alone.shares, [0, 1, 0, 0, 0])
    assert alone.reached
    if epsilon < 0.1:
        np.testing.assert_array_equal(tied, [0.5, 0.5, 0, 0, 0])


@given(problems(names=("geometric", "laplace", "randomized-response")))
def test_an_inversion_that_is_a_distribution_is_the_maximum(problem: Problem) -> None:
    """Proposition 4.5 of kacem2018; an inversion that is not one has no gap."""
    channel, observed = problem
    found = inversion(channel, observed)
    np.testing.assert_allclose(found.shares @ channel.matrix(), observed, atol=1e-9)
    if is_distribution(found.shares):
        assert found.gap < 1e-9
        assert found.log_likelihood == pytest.approx(likelihood(channel, observed).log_likelihood, abs=1e-8)
    elif found.shares.min() < 0:
        assert not found.reached
        assert found.gap == np.inf


def test_proposition_4_5_on_a_case_where_the_inversion_is_a_distribution() -> None:
    channel = make_channel("geometric", 10, 1.0)
    observed = channel.spread(two_humps(10))
    found = inversion(channel, observed)
    assert is_distribution(found.shares)
    assert found.reached
    np.testing.assert_allclose(newton(channel, observed, gap=1e-13).shares, found.shares, atol=1e-6)
    np.testing.assert_allclose(found.shares, two_humps(10), atol=1e-12)


def test_errors_fall_with_the_square_root_of_the_number_of_reports() -> None:
    """A hundred times the reports, a tenth of the error; what is not deconvolved stays as wrong as it was."""
    channel, true = make_channel("geometric", 20, 1.0), two_humps(20)

    def errors(reports: int) -> tuple[float, float]:
        far = []
        for seed in range(12):
            observed = drawn(channel, true, reports, seed) / reports
            far.append([np.abs(p - true).sum() / 2 for p in (likelihood(channel, observed).shares, observed)])
        best, raw = np.mean(far, axis=0)
        return float(best), float(raw)

    (few, few_raw), (many, many_raw) = errors(10**5), errors(10**7)
    assert 7 < few / many < 14
    assert few_raw / many_raw < 1.1


def test_smoothing_keeps_people_and_averages_neighbours() -> None:
    np.testing.assert_allclose(average_neighbours(np.array([0.0, 0.0, 1.0, 0.0])), [0.0, 0.25, 0.5, 0.25])
    np.testing.assert_allclose(average_neighbours(np.array([1.0, 0.0, 0.0])), [0.75, 0.25, 0.0])
    np.testing.assert_allclose(average_neighbours(np.array([1.0])), [1.0])
    assert average_neighbours(two_humps(9)).sum() == pytest.approx(1)


def test_smoothing_is_a_choice_that_the_solution_admits() -> None:
    """Under strong noise it is much closer to a smooth truth than the most likely distribution, and less likely."""
    channel, true = make_channel("geometric", 100, 0.1), two_humps(100)
    observed = drawn(channel, true, 10**5, 6) / 10**5
    rough, gentle = likelihood(channel, observed), smooth(channel, observed)
    assert not gentle.reached
    assert gentle.gap > 1e-6
    assert gentle.steps < 10_000
    assert gentle.log_likelihood < rough.log_likelihood
    assert np.abs(gentle.shares - true).sum() < np.abs(rough.shares - true).sum() / 3
    assert smooth(channel, observed, steps=7).steps == 7
