"""The order in which values are detached from people is uniform, and seeded sources do not protect."""

from collections import Counter
from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chi2

from sfumato.privacy.noise import SimulatedSource, Source, SystemSource

DRAWS = 24_000
FALSE_FAILURE = 1e-6
ORDERS = list(permutations(range(4)))


def statistic(draw: Callable[[], tuple[int, ...]], draws: int = DRAWS) -> float:
    """Pearson's statistic of the 4! orders against the uniform law: 23 degrees of freedom."""
    found = Counter(draw() for _ in range(draws))
    assert set(found) <= set(ORDERS)
    expected = draws / len(ORDERS)
    return sum((found[order] - expected) ** 2 / expected for order in ORDERS)


LIMIT = float(chi2.isf(FALSE_FAILURE, df=len(ORDERS) - 1))


def test_the_limit_is_the_exact_quantile() -> None:
    assert chi2.sf(LIMIT, df=23) == pytest.approx(FALSE_FAILURE, rel=1e-9)


def test_orders_are_uniform() -> None:
    """Fails by chance once in a million runs, up to the chi-square approximation at 1,000 expected draws."""
    source = SystemSource()
    assert statistic(lambda: tuple(source.permutation(4).tolist())) < LIMIT


class Biased(Source):
    """Words of which every eighth order has its first two sorted."""

    protects = False

    def __init__(self) -> None:
        self.inner = SimulatedSource(5)

    def words(self, count: int) -> np.ndarray:  # type: ignore[type-arg]
        words = self.inner.words(count).copy()
        if words[-1] % 8 == 0:
            words[:2].sort()
        return words


def test_a_biased_twin_is_rejected() -> None:
    source = Biased()
    assert statistic(lambda: tuple(source.permutation(4).tolist())) > LIMIT


class Naive(Source):
    """Words of one bit, ties left to the sort: what redrawing on equal words prevents."""

    protects = False

    def words(self, count: int) -> np.ndarray:  # type: ignore[type-arg]
        return SystemSource().words(count) & np.uint64(1)


def test_sorting_words_with_ties_would_be_rejected() -> None:
    source = Naive()
    assert statistic(lambda: tuple(np.argsort(source.words(4), kind="stable").tolist())) > LIMIT


class Coarse(Source):
    """Words of three bits: ties are frequent, and must be drawn anew."""

    protects = False

    def words(self, count: int) -> np.ndarray:  # type: ignore[type-arg]
        return SystemSource().words(count) & np.uint64(7)


def test_equal_words_are_drawn_anew() -> None:
    """The false-failure probability is as above."""
    source = Coarse()
    assert statistic(lambda: tuple(source.permutation(4).tolist())) < LIMIT


@pytest.mark.parametrize("count", [0, 1, 2, 3, 100, 10_000])
@pytest.mark.parametrize("source", [SystemSource(), SimulatedSource(1)])
def test_a_permutation_holds_every_number_once(source: Source, count: int) -> None:
    assert sorted(source.permutation(count).tolist()) == list(range(count))


def test_words_use_all_their_bits() -> None:
    """A bit that is never set, or always, among 200 words has probability 128 · 2⁻²⁰⁰."""
    for source in (SystemSource(), SimulatedSource(3)):
        words = source.words(200)
        assert words.dtype == np.uint64
        assert np.bitwise_or.reduce(words) == np.uint64(2**64 - 1)
        assert np.bitwise_and.reduce(words) == 0


def test_only_the_system_protects() -> None:
    assert SystemSource.protects
    assert not SimulatedSource.protects
    assert SystemSource().words(4).tolist() != SystemSource().words(4).tolist()
    assert SimulatedSource(9).permutation(50).tolist() == SimulatedSource(9).permutation(50).tolist()
    assert SimulatedSource(9).permutation(50).tolist() != SimulatedSource(10).permutation(50).tolist()
