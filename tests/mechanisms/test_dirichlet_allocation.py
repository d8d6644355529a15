"""The parts of the disclosure bound: worst allocations of people, brackets of counts, and how much prior is kept."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sfumato.mechanisms.dirichlet.calibration import _exact_scale
from sfumato.mechanisms.dirichlet.disclosure import (
    SINGLE,
    Levels,
    Limit,
    _brackets,
    _kept_mass,
    _worst_sum,
    disclosure_bound,
    threshold,
)
from sfumato.mechanisms.dirichlet.tails import tail
from sfumato.reproduce.machanavajjhala2008.enumeration import compositions

from .dirichlet_oracle import kept_below

Tails = list[tuple[int, list[float]]]
NOT_FOUND = 1.02
"""The price of a person is searched to a thousandth."""


def largest_sum(n: int, levels: Tails) -> float:
    """The largest sum of tails over allocations of at most n people, place by place."""
    best = [0.0] * (n + 1)
    for places, tails in levels:
        for _ in range(places):
            best = [max(best[left - x] + tails[x] for x in range(left + 1)) for left in range(n + 1)]
    return max(best)


def relaxed(n: int, levels: Tails, brackets: np.ndarray | None = None) -> float:
    """What the package answers for the same tails."""
    brackets = _brackets(n) if brackets is None else brackets
    tails = np.array([[tails[low] for low, _ in brackets] for _, tails in levels])
    return float(_worst_sum(n, tails, brackets, np.array([places for places, _ in levels])))


@st.composite
def problems(draw: st.DrawFn) -> tuple[int, Tails]:
    """Up to 16 people, and tails of up to three levels of places."""
    n = draw(st.integers(1, SINGLE))
    small = st.floats(0.0, 1.0) | st.floats(0.0, 1e-6)
    level = st.tuples(st.integers(0, 5), st.lists(small, min_size=n + 1, max_size=n + 1))
    return n, draw(st.lists(level, min_size=1, max_size=3))


def test_the_slow_search_is_right() -> None:
    """Against all allocations one by one."""
    generator = np.random.default_rng(3)
    for n, places in product((1, 3, 5), (1, 2, 4)):
        tails = generator.random((places, n + 1)).tolist()
        found = largest_sum(n, [(1, row) for row in tails])
        every = [data for upto in range(n + 1) for data in compositions(upto, places)]
        assert found == pytest.approx(max(sum(tails[i][x] for i, x in enumerate(data)) for data in every))


@given(problems())
def test_the_worst_allocation_is_never_missed(problem: tuple[int, Tails]) -> None:
    """And overestimated by at most one place's largest tail: the gap of a problem with one constraint."""
    n, levels = problem
    truth, found = largest_sum(n, levels), relaxed(n, levels)
    top = max((max(tails) for places, tails in levels if places), default=0.0)
    assert found >= truth * (1 - 1e-12)
    assert found <= (truth + top) * NOT_FOUND + 1e-300


def test_the_relaxation_is_exact_where_tails_fall_evenly() -> None:
    """Concave tails have no gap: ten people, one each in ten of a thousand places."""
    tails = [1e-8, 1e-6, 1.1e-6, 1.15e-6, *[1.15e-6] * 7]
    assert relaxed(10, [(1000, tails)]) == pytest.approx(10 * 1e-6 + 990 * 1e-8, rel=2e-3)


def test_equal_sharing_would_miss_the_worst() -> None:
    """The broken twin: one allocation in place of all."""
    tails = [0.0, 0.01, 0.0, 0.0, 0.9]
    assert relaxed(4, [(4, tails)]) >= 0.9 > 4 * tails[1]


@pytest.mark.parametrize("n", [0, 1, 2, 15, 16, 17, 18, 19, 20, 40, 170, 999, 12_345, 10**6, 10**9])
def test_brackets_cover_every_number_of_workers(n: int) -> None:
    brackets = _brackets(n)
    assert brackets[0, 0] == 0
    assert brackets[-1, 1] == n
    assert (brackets[1:, 0] == brackets[:-1, 1] + 1).all()
    assert (brackets[:, 0] <= brackets[:, 1]).all()
    assert (brackets[:, 1] - brackets[:, 0] <= brackets[:, 0] // 10).all()
    assert all(low == high for low, high in brackets if low <= SINGLE)
    assert len(brackets) <= SINGLE + 2 + int(12 * math.log1p(n))


def test_brackets_cover_every_small_number() -> None:
    for n in range(2_000):
        lows, highs = _brackets(n).T
        assert lows[0] == 0
        assert highs[-1] == n
        assert (lows[1:] == highs[:-1] + 1).all()


def mass_kept(alphas: list[float], counts: list[int], keep: list[float], failing: float) -> float:
    return float(_kept_mass(Levels(np.array(alphas), np.array(counts), np.array(keep)), failing))


def test_less_than_the_kept_mass_is_as_rare_as_promised() -> None:
    """By the binomial law; and the bound is not idle: it is at least half of the quantile where that is large."""
    keeps, failings = (0.003, 0.0378, 0.5, 0.97), (0.1, 1e-4, 1e-9)
    for k, keep, alpha, failing in product((1, 7, 300, 120_690), keeps, (0.04, 3.0), failings):
        mass = mass_kept([alpha], [k], [keep], failing)
        assert binom.cdf(math.ceil(mass / alpha * (1 - 1e-12)) - 1, k, keep) <= failing, (k, keep, alpha, failing)
        quantile = float(binom.ppf(failing, k, keep))
        if quantile >= 60:
            assert mass >= quantile * alpha / 2


def test_less_than_the_kept_mass_of_several_levels_is_as_rare_as_promised() -> None:
    cases = [
        ([0.5, 2.0], [12, 9], [0.3, 0.6]),
        ([0.1, 1.0, 4.0], [20, 5, 3], [0.5, 0.9, 0.25]),
        ([3.0, 0.01], [2, 30], [0.5, 0.1]),
    ]
    for (alphas, counts, keep), failing in product(cases, (0.3, 0.02, 1e-5)):
        mass = mass_kept(alphas, counts, keep, failing)
        assert kept_below(mass * (1 - 1e-12), alphas, counts, keep) <= failing


def test_places_that_are_always_kept_count_in_full() -> None:
    assert mass_kept([0.5, 2.0], [10, 3], [1.0, 1.0], 1e-6) == 11.0
    assert mass_kept([0.5, 2.0], [10, 3], [0.001, 1.0], 1e-6) == pytest.approx(6.0, abs=1e-3)
    assert mass_kept([0.5], [10], [0.999999], 0.5) <= 5.0


def test_the_mean_would_be_too_much() -> None:
    """The broken twin: calibrating on what is kept on average."""
    k, keep = 300, 0.0378
    assert binom.cdf(math.ceil(k * keep) - 1, k, keep) > 0.1


@pytest.mark.parametrize(
    ("n", "k", "alpha", "keep", "epsilon"),
    [(10_000, 2, 2_648.0, 1.0, 0.1), (12, 5_000, 0.0524, 0.0378, 8.57), (60, 50, 1.7, 1.0, 2.0)],
)
def test_machine_code_is_that_of_the_sources(n: int, k: int, alpha: float, keep: float, epsilon: float) -> None:
    """Code kept on disk knows of changes in its own file only, and would go on with the tails of an older one.

    Where this fails and nothing else is wrong, the compiled files beside the sources are out of date: remove them.
    """
    levels = Levels(np.array([alpha]), np.array([k]), np.array([keep]))
    for everybody in (True, False):
        limit = Limit(math.exp(epsilon), 1e-5, everybody)
        bound = (n, n, levels, limit)
        assert disclosure_bound(*bound) == pytest.approx(disclosure_bound.py_func(*bound), rel=1e-14)  # type: ignore[attr-defined]
        scale = (n, levels._replace(alphas=np.ones(1)), limit)
        assert _exact_scale(*scale) == pytest.approx(_exact_scale.py_func(*scale), rel=1e-9)  # type: ignore[attr-defined]


def test_brackets_only_make_the_bound_larger() -> None:
    """Many people: the bound in brackets against every number of workers one by one."""
    n, growth, alpha, k = 60, math.exp(2.0), 1.7, 50
    singles = np.array([(x, x) for x in range(n + 1)])
    tails = [tail(n, x + alpha, n - x + alpha * (k - 1), threshold(x, alpha, 1.0, growth, 1.0)) for x in range(n + 1)]
    one_by_one = relaxed(n, [(k, tails)], singles)
    bound = disclosure_bound(n, n, Levels(np.array([alpha]), np.array([k]), np.ones(1)), Limit(growth, 1e-5, True))
    assert one_by_one * (1 - 1e-3) <= bound
    assert largest_sum(n, [(k, tails)]) <= bound * (1 + 1e-12)
