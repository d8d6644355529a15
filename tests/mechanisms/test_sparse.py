"""Sparse noisy counts have exactly the law of noise on every cell, without listing the domain."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, kstest

from sfumato.errors import BudgetError, ParameterError
from sfumato.mechanisms.budget import WHOLE, Budget
from sfumato.mechanisms.noise import SimulatedSource, Source, SystemSource
from sfumato.mechanisms.noise.digits import Odds
from sfumato.mechanisms.noise.geometric import FINE, Cumulative, draw_gaps
from sfumato.mechanisms.noise.sparse import draw_sparse, expected_empty
from sfumato.privacy.loss import Concentrated, Pure

from .scripted import Scripted

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Draw = Callable[[Source], tuple[NDArray[np.int64], NDArray[np.int64]]]

FALSE_FAILURE = 1e-6


def reference(epsilon: Fraction, size: int, truncated: bool, times: int, k: int, words: int) -> int:
    """⌊2^(64·words) F(k)⌋ in 600 digits."""
    with localcontext() as context:
        context.prec = 600
        exponent = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        decay = (1 - (-exponent).exp()) ** times if times else (-exponent).exp()
        value = 1 - decay ** (k + 1)
        return int((value / (1 - decay**size) if truncated else value) * Decimal(2) ** (64 * words))


@pytest.mark.parametrize(
    ("epsilon", "times"),
    [
        ("1e-9", 0),
        ("1/3", 0),
        ("5", 0),
        ("100", 0),
        ("1e-9", 1),
        ("1/3", 1),
        ("5", 1),
        ("40", 1),
        ("300", 1),
        ("8", FINE),
        ("40", FINE),
        ("40", FINE**3),
        ("300", FINE**3),
    ],
)
@pytest.mark.parametrize("truncated", [False, True])
def test_tables_hold_the_first_word_of_every_probability(epsilon: str, times: int, truncated: bool) -> None:
    size, exact = 8, Fraction(epsilon)
    law = Cumulative(exact, size, truncated, times)
    table = law.first_words()
    for k in range(size - truncated):
        assert table[k] == reference(exact, size, truncated, times, k, 1)
    for k in (0, 1):
        assert law.floor(k, 3) == reference(exact, size, truncated, times, k, 3)


def test_a_hopeless_success_needs_no_digits_until_a_word_is_zero() -> None:
    law = Cumulative(Fraction(10**6), 1, False, FINE**6)
    assert law.first_words() == [0]
    rare = Cumulative(Fraction(75), 1, False, FINE)
    assert rare.first_words() == [0] == [reference(Fraction(75), 1, False, FINE, 0, 1)]
    second = reference(Fraction(75), 1, False, FINE, 0, 2)
    assert second > 0
    assert draw_gaps(Fraction(75), FINE, 1, Scripted(0, second + 1))[0] >= FINE
    assert draw_gaps(Fraction(75), FINE, 1, Scripted(0, second - 1, 2**64 // 3))[0] == FINE // 3


@pytest.mark.parametrize(
    ("epsilon", "limit"),
    [(Fraction(1, 100), 50), (Fraction(1), 10**6), (Fraction(5), 10**9), (Fraction(8), 10**12), (Fraction(16), 10**18)],
)
def test_gaps_are_geometric(epsilon: Fraction, limit: int) -> None:
    """Kolmogorov–Smirnov on uniforms made of the gaps; fails by chance once in a million. Its twins must fail."""
    count, success = 20_000, math.exp(-float(epsilon))
    gaps = draw_gaps(epsilon, limit, count, SystemSource())
    uniform = SimulatedSource(1).uniforms(count)

    def p_value(rate: float) -> float:
        below, at = -np.expm1(gaps * math.log1p(-rate)), rate * np.exp(gaps * math.log1p(-rate))
        return float(kstest(below + uniform * at, "uniform").pvalue)

    assert (gaps[:10_000] != gaps[10_000:]).any()
    assert p_value(success) > FALSE_FAILURE
    if success < 0.9:
        assert p_value(success * 1.1) < FALSE_FAILURE
    assert p_value(success * 0.9) < FALSE_FAILURE


def test_gaps_beyond_the_limit_are_counted_exactly() -> None:
    """P(gap ≥ limit) = (1 − e^(−ε))^limit, binomial counts within five standard deviations (6e-7)."""
    count, epsilon, limit = 40_000, Fraction(9), 5_000
    beyond = (draw_gaps(epsilon, limit, count, SystemSource()) >= limit).sum()
    share = (1 - math.exp(-9)) ** limit
    assert 0.4 < share < 0.6
    assert abs(beyond - count * share) < 5 * math.sqrt(count * share * (1 - share))


def test_words_on_a_boundary_are_resolved_with_further_words() -> None:
    epsilon = Fraction(2)
    first = reference(epsilon, 1, False, 1, 0, 1)
    second = reference(epsilon, 1, False, 1, 0, 2) % 2**64
    assert draw_gaps(epsilon, 10, 1, Scripted(first, second - 1)).tolist() == [0]
    assert draw_gaps(epsilon, 10, 1, Scripted(first, second + 1)).tolist() == [1]


def test_the_thinning_probability_is_exact() -> None:
    epsilon = Fraction(1, 7)
    with localcontext() as context:
        context.prec = 200
        value = 1 / (1 + (-Decimal(1) / Decimal(7)).exp())
        expected = int(value * Decimal(2) ** 256)
    assert Odds(epsilon).floor(0, 4) == expected


def law_of_cell(count: int, threshold: int, epsilon: float, most: int) -> dict[int | None, float]:
    """The probability of every noisy count from the threshold on (those from `most` on together), `None` if dropped."""
    alpha = math.exp(-epsilon)
    point = (1 - alpha) / (1 + alpha)
    found: dict[int | None, float] = {v: point * alpha ** abs(v - count) for v in range(threshold, most)}
    found[most] = alpha ** (most - count) / (1 + alpha) if most > count else math.nan
    found[None] = 1 - sum(found.values())
    return found


CELLS, COUNTS, BLOCK, THRESHOLD, EPSILON = [1, 2], [1, 3], 4, 2, Fraction(3, 4)
MOST, REPEATS = 5, 60_000


def statistic(draw: Draw) -> tuple[float, int]:
    """Pearson's statistic of the outcomes of many blocks of four cells against the dense law; rare ones joined."""
    held = dict(zip(CELLS, COUNTS, strict=True))
    laws = [law_of_cell(held.get(cell, 0), THRESHOLD, float(EPSILON), MOST) for cell in range(BLOCK)]
    expected = {
        outcome: REPEATS * math.prod(law[value] for law, value in zip(laws, outcome, strict=True))
        for outcome in itertools.product(*laws)
    }
    assert sum(expected.values()) == pytest.approx(REPEATS)
    cells, counts = draw(SimulatedSource(7))
    blocks: list[list[int | None]] = [[None] * BLOCK for _ in range(REPEATS)]
    for cell, count in zip(cells.tolist(), counts.tolist(), strict=True):
        blocks[cell // BLOCK][cell % BLOCK] = min(count, MOST)
    found = Counter(map(tuple, blocks))
    common = [outcome for outcome, times in expected.items() if times >= 10]
    rest = REPEATS - sum(expected[outcome] for outcome in common)
    total = sum((found[outcome] - expected[outcome]) ** 2 / expected[outcome] for outcome in common)
    total += (REPEATS - sum(found[outcome] for outcome in common) - rest) ** 2 / rest
    return total, len(common)


def occupied_cells() -> NDArray[np.int64]:
    return (np.arange(REPEATS)[:, None] * BLOCK + np.array(CELLS)).reshape(-1)


def sparse(source: Source, epsilon: Fraction = EPSILON) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return draw_sparse(occupied_cells(), np.array(COUNTS * REPEATS), BLOCK * REPEATS, THRESHOLD, epsilon, source)


def test_outcomes_have_the_law_of_noise_on_every_cell() -> None:
    """χ² over all combinations of four cells; the seed is fixed, the limit is the once-in-a-million quantile."""
    total, freedom = statistic(sparse)
    assert freedom > 50
    assert total < chi2.isf(FALSE_FAILURE, df=freedom)


def all_kept(source: Source, monkeypatch: pytest.MonkeyPatch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    heads = "sfumato.mechanisms.noise.sparse.draw_coins"
    monkeypatch.setattr(heads, lambda chances, which, count, source: np.ones(count, dtype=bool))
    return sparse(source)


def onto_occupied(source: Source, monkeypatch: pytest.MonkeyPatch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Empty cells numbered as if no cell among them were occupied; an occupied cell hit keeps the last count."""
    nothing = np.zeros(0, dtype=np.int64)
    cells, counts = draw_sparse(nothing, nothing, BLOCK * REPEATS // 2, THRESHOLD, EPSILON, source)
    occupied = occupied_cells()
    noisy = np.array(COUNTS * REPEATS) + source.laplace(EPSILON, len(occupied))
    kept = noisy >= THRESHOLD
    return np.concatenate([cells, occupied[kept]]), np.concatenate([counts, noisy[kept]])


def with_less_noise(source: Source, monkeypatch: pytest.MonkeyPatch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return sparse(source, EPSILON * Fraction(21, 20))


@pytest.mark.parametrize("twin", [all_kept, onto_occupied, with_less_noise])
def test_broken_twins_are_rejected(twin: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    total, freedom = statistic(lambda source: twin(source, monkeypatch))
    assert total > chi2.isf(FALSE_FAILURE, df=freedom)


@given(
    st.integers(1, 40),
    st.data(),
    st.integers(1, 3),
    st.sampled_from([Fraction(1, 3), Fraction(2), Fraction(50)]),
    st.integers(0, 10**6),
)
def test_cells_are_distinct_inside_and_in_order(
    domain: int, data: st.DataObject, threshold: int, epsilon: Fraction, seed: int
) -> None:
    occupied = sorted(data.draw(st.sets(st.integers(0, domain - 1))))
    counts = [data.draw(st.integers(1, 9)) for _ in occupied]
    cells, noisy = draw_sparse(
        np.array(occupied, dtype=np.int64),
        np.array(counts, dtype=np.int64),
        domain,
        threshold,
        epsilon,
        SimulatedSource(seed),
    )
    assert (np.diff(cells) > 0).all()
    assert len(cells) == len(noisy)
    assert (noisy >= threshold).all()
    if len(cells):
        assert 0 <= cells[0] <= cells[-1] < domain
    if epsilon == 50:
        kept = [(cell, count) for cell, count in zip(occupied, counts, strict=True) if count >= threshold]
        assert list(zip(cells.tolist(), noisy.tolist(), strict=True)) == kept


def test_a_huge_domain_is_not_listed() -> None:
    """10¹⁸ cells, about 2,000 expected; empties are spread over the domain. Five standard deviations each (6e-7)."""
    domain, threshold, epsilon = 10**18, 170, Fraction(1, 5)
    occupied = np.array([0, 5, domain // 2, domain - 1])
    cells, counts = draw_sparse(occupied, np.full(4, 1_000), domain, threshold, epsilon, SystemSource())
    expected = expected_empty(domain, threshold, epsilon)
    assert 500 < expected < 5_000
    assert abs(len(cells) - 4 - expected) < 5 * math.sqrt(expected)
    assert set(occupied.tolist()) <= set(cells.tolist())
    empty = counts[~np.isin(cells, occupied)] - threshold
    alpha = math.exp(-0.2)
    mean, spread = alpha / (1 - alpha), math.sqrt(alpha) / (1 - alpha)
    assert abs(empty.mean() - mean) < 5 * spread / math.sqrt(len(empty))
    assert kstest(cells / domain, "uniform").pvalue > FALSE_FAILURE


def test_nothing_but_noise_is_needed() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    cells, counts = draw_sparse(nothing, nothing, 10**18, 400, Fraction(1), SystemSource())
    assert len(cells) == len(counts) == 0
    full = np.arange(5)
    cells, counts = draw_sparse(full, np.full(5, 7), 5, 1, Fraction(60), SystemSource())
    assert cells.tolist() == full.tolist()
    assert counts.tolist() == [7] * 5


@pytest.mark.parametrize(
    ("cells", "domain", "threshold", "message"),
    [
        ([0], 0, 1, "at least 1 and at most 10"),
        ([0], 10**19, 1, "at least 1 and at most 10"),
        ([0], 5, 0, "the threshold is 0"),
        ([5], 5, 1, "every cell of the domain"),
        ([1, 1], 5, 1, "once each"),
        ([2, 1], 5, 1, "every cell of the domain|once each"),
        ([0], 10**18, 1, "more than 100,000,000"),
    ],
)
def test_unusable_input_is_refused(cells: list[int], domain: int, threshold: int, message: str) -> None:
    counts = np.ones(len(cells), dtype=np.int64)
    with pytest.raises(ParameterError, match=message):
        draw_sparse(np.array(cells), counts, domain, threshold, Fraction(1), SystemSource())


def test_a_budget_pays_for_sparse_counts() -> None:
    budget = Budget(Pure(Fraction(100)), SimulatedSource(1))
    cells, counts = np.array([3, 9]), np.array([4, 1])
    found = budget.sparse_counts(cells, counts, 10**6, 2, WHOLE // 2)
    assert [array.tolist() for array in found] == [[3], [4]]
    assert budget.spent.tolist() == [WHOLE // 2]
    with pytest.raises(BudgetError):
        budget.sparse_counts(cells, counts, 10**6, 2, WHOLE)
    half = Budget(Concentrated(Fraction(10_000)), SimulatedSource(1))
    again = half.sparse_counts(cells, counts, 10**6, 2, WHOLE // 2)
    assert [array.tolist() for array in again] == [[3], [4]]
    assert half.spent.tolist() == [WHOLE // 2]


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(30)])
@pytest.mark.parametrize("domain", [5, 10**6, 10**18])
def test_the_threshold_keeps_empty_cells_few_and_is_no_larger_than_needed(epsilon: Fraction, domain: int) -> None:
    budget = Budget(Pure(2 * epsilon), SimulatedSource(1))
    threshold = budget.threshold(domain, 1_000, WHOLE // 2)
    assert threshold >= 1
    assert expected_empty(domain, threshold, epsilon) <= 1_000
    assert threshold == 1 or domain * math.exp(-float(epsilon) * (threshold - 1)) > 1_000
    assert Budget(Concentrated(epsilon**2), SimulatedSource(1)).threshold(domain, 1_000, WHOLE // 2) == threshold
