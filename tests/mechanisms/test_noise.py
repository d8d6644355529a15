"""Geometric and Laplace noise have exactly their laws, orders are uniform, and seeded sources do not protect.

Tables are compared with power series on whole numbers; scripted words go to every boundary.
"""

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from audit.opendp_source import OpenDPSource
from scipy.stats import chi2

from sfumato.errors import ParameterError
from sfumato.mechanisms.noise import SimulatedSource, Source, SystemSource, geometric
from sfumato.mechanisms.noise.geometric import (
    FINE,
    MIN_DIRECT,
    Cumulative,
    draw_geometric,
    draw_laplace,
    laplace_variance,
)

from .scripted import GUARD, Scripted, decayed

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


def floor_of(which: int, epsilon: Fraction, words: int, size: int | None = None) -> int:
    """⌊2^(64·words) F(which)⌋ of the geometric law, of its first `size` values alone if given."""
    bits = 64 * words + GUARD
    value = (1 << bits) - decayed(epsilon * (which + 1), bits)
    if size is not None:
        value = (value << bits) // ((1 << bits) - decayed(epsilon * size, bits))
    assert 2**20 < value % (1 << GUARD) < (1 << GUARD) - 2**20, "the reference itself is in doubt"
    return value >> GUARD


def test_the_reference_knows_the_exponential() -> None:
    for exponent in (Fraction(1, 10**6), Fraction(1, 3), Fraction(1), Fraction(45)):
        assert decayed(exponent, 200) / 2**200 == pytest.approx(math.exp(-exponent), rel=1e-14)


@pytest.mark.parametrize("epsilon", [MIN_DIRECT, Fraction(1, 100), Fraction(1, 3), Fraction(2), Fraction(40)])
def test_tables_hold_the_first_word_of_every_probability(epsilon: Fraction) -> None:
    size = math.ceil(64 * math.log(2) / float(epsilon)) + 1
    table = Cumulative(epsilon, size, False).first_words()
    assert len(table) == size
    assert all(word == floor_of(k, epsilon, 1) for k, word in enumerate(table) if size < 2_000 or k % 97 == 0)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2_000), Fraction(1, 10**6), Fraction(1, 10**12)])
def test_tables_of_the_fine_part_hold_the_first_word_of_every_probability(epsilon: Fraction) -> None:
    table = Cumulative(epsilon, FINE, True).first_words()
    assert all(table[k] == floor_of(k, epsilon, 1, FINE) for k in range(0, FINE - 1, 31))
    assert table[-1] == 2**64 - 1


@pytest.mark.parametrize("words", [1, 2, 3, 7])
def test_further_words_are_exact_too(words: int) -> None:
    for epsilon in (Fraction(1, 3), Fraction(40)):
        assert Cumulative(epsilon, 200, False).floor(1, words) == floor_of(1, epsilon, words)
    assert Cumulative(Fraction(1, 10**6), FINE, True).floor(5, words) == floor_of(5, Fraction(1, 10**6), words, FINE)


def second(which: int, epsilon: Fraction, size: int | None = None) -> int:
    return floor_of(which, epsilon, 2, size) % 2**64


def test_a_word_between_two_entries_decides_by_itself() -> None:
    epsilon = Fraction(1, 3)
    entries = [floor_of(k, epsilon, 1) for k in range(4)]
    for k, entry in enumerate(entries):
        assert draw_geometric(epsilon, 1, Scripted(entry - 1)).tolist() == [k]
        assert draw_geometric(epsilon, 1, Scripted(entry + 1)).tolist() == [k + 1]
    assert draw_geometric(epsilon, 1, Scripted(0)).tolist() == [0]


def test_a_word_on_a_boundary_is_resolved_with_further_words() -> None:
    epsilon = Fraction(1, 3)
    for k in (0, 1, 17):
        first, then = floor_of(k, epsilon, 1), second(k, epsilon)
        third = floor_of(k, epsilon, 3) % 2**64
        assert draw_geometric(epsilon, 1, Scripted(first, then - 1)).tolist() == [k]
        assert draw_geometric(epsilon, 1, Scripted(first, then + 1)).tolist() == [k + 1]
        assert draw_geometric(epsilon, 1, Scripted(first, then, third - 1)).tolist() == [k]
        assert draw_geometric(epsilon, 1, Scripted(first, then, third + 1)).tolist() == [k + 1]


def test_a_word_on_several_boundaries_is_compared_with_all_of_them() -> None:
    """At ε = 40, F(1) and F(2) both begin with the largest word."""
    epsilon, largest = Fraction(40), 2**64 - 1
    assert floor_of(1, epsilon, 1) == floor_of(2, epsilon, 1) == largest
    assert len(Cumulative(epsilon, 3, False).first_words()) == 3
    ones, twos = second(1, epsilon), second(2, epsilon)
    assert ones < twos
    assert draw_geometric(epsilon, 1, Scripted(largest, ones - 1)).tolist() == [1]
    assert draw_geometric(epsilon, 1, Scripted(largest, ones + 1)).tolist() == [2]
    assert draw_geometric(epsilon, 1, Scripted(largest, twos - 1)).tolist() == [2]


def test_beyond_the_table_the_law_starts_anew() -> None:
    epsilon, largest = Fraction(40), 2**64 - 1
    third = floor_of(2, epsilon, 3) % 2**64
    beyond, inside = (largest, largest, third + 1), (largest, largest, third - 1)
    zero = floor_of(0, epsilon, 1) - 1
    assert draw_geometric(epsilon, 1, Scripted(*inside)).tolist() == [2]
    assert draw_geometric(epsilon, 1, Scripted(*beyond, zero)).tolist() == [3]
    assert draw_geometric(epsilon, 1, Scripted(*beyond, largest, second(1, epsilon) - 1)).tolist() == [4]
    assert draw_geometric(epsilon, 1, Scripted(*beyond, *beyond, zero)).tolist() == [6]


def test_a_small_epsilon_is_a_coarse_and_a_fine_part() -> None:
    """k = 1024·i + j; i is geometric with 1024·ε and j with ε among 1,024 values: P(i)·P(j) = P(k)."""
    epsilon = Fraction(1, 4_096)
    coarse = [floor_of(i, epsilon * FINE, 1) for i in range(3)]
    fine = [floor_of(j, epsilon, 1, FINE) for j in range(FINE - 1)]
    assert draw_geometric(epsilon, 1, Scripted(coarse[1] + 1, fine[499] + 1)).tolist() == [2 * FINE + 500]
    assert draw_geometric(epsilon, 2, Scripted(0, coarse[0] + 1, 0, 2**64 - 2)).tolist() == [0, 2 * FINE - 1]
    for i, j in ((0, 5), (1, 0), (2, 1_000)):
        upper = (coarse[i] - (coarse[i - 1] if i else 0)) / 2**64
        lower = (fine[j] - (fine[j - 1] if j else 0)) / 2**64
        expected = -math.expm1(-float(epsilon)) * math.exp(-float(epsilon) * (FINE * i + j))
        assert upper * lower == pytest.approx(expected, rel=1e-12)


def test_the_last_value_of_the_fine_part_needs_no_further_words() -> None:
    """Its cumulative probability is one: no word lies beyond."""
    epsilon = Fraction(1, 4_096)
    assert draw_geometric(epsilon, 1, Scripted(0, 2**64 - 1)).tolist() == [FINE - 1]


def pearson(drawn: np.ndarray, law: Callable[[int], float], least: float = 10) -> tuple[float, int]:  # type: ignore[type-arg]
    """Pearson's statistic of whole numbers against a law, values that are expected less than `least` times joined."""
    values, counts = np.unique(drawn, return_counts=True)
    found = dict(zip(values.tolist(), counts.tolist(), strict=True))
    middle = int(np.median(drawn))
    reach = range(middle - 60_000, middle + 60_000) if len(values) > 5_000 else range(-6_000, 6_000)
    expected = {x: len(drawn) * law(x) for x in reach}
    expected = {x: number for x, number in expected.items() if number >= least}
    rest = len(drawn) - sum(expected.values())
    others = len(drawn) - sum(found.get(x, 0) for x in expected)
    total = sum((found.get(x, 0) - number) ** 2 / number for x, number in expected.items())
    return total + (others - rest) ** 2 / rest, len(expected)


def plausible(total: float, freedom: int) -> bool:
    """Whether a statistic is below the limit that the right law passes once in a million times."""
    return bool(total < chi2.isf(FALSE_FAILURE, df=freedom))


def laplace_law(epsilon: float) -> Callable[[int], float]:
    alpha = math.exp(-epsilon)
    return lambda x: (1 - alpha) / (1 + alpha) * alpha ** abs(x)


@pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(1, 2), Fraction(1), Fraction(3)])
def test_laplace_draws_have_their_law(epsilon: Fraction) -> None:
    """χ² with a fixed seed; once in a million seeds would fail. Noise of 0.7 and 1.3 times the scale is rejected."""
    drawn = draw_laplace(epsilon, 40_000, SimulatedSource(21))
    for factor, right in ((1.0, True), (0.7, False), (1.3, False)):
        total, freedom = pearson(drawn, laplace_law(float(epsilon) / factor))
        assert plausible(total, freedom) is right


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_geometric_draws_have_their_law(epsilon: Fraction) -> None:
    drawn = draw_geometric(epsilon, 40_000, SimulatedSource(22))

    def law(rate: float) -> Callable[[int], float]:
        return lambda k: -math.expm1(-rate) * math.exp(-rate * k) if k >= 0 else 0.0

    for factor, right in ((1.0, True), (0.7, False), (1.3, False)):
        total, freedom = pearson(drawn, law(float(epsilon) / factor))
        assert plausible(total, freedom) is right


@pytest.mark.parametrize("epsilon", [Fraction(1, 3_000), Fraction(1, 10**7)])
def test_draws_of_a_small_epsilon_have_their_law(epsilon: Fraction) -> None:
    """χ² over forty bins of about equal probability; noise of 0.7 and 1.3 times the scale is rejected."""
    drawn = draw_geometric(epsilon, 40_000, SimulatedSource(23))
    for factor, right in ((1.0, True), (0.7, False), (1.3, False)):
        rate = float(epsilon) / factor
        edges = [math.ceil(-math.log1p(-share / 40) / rate) for share in range(40)]
        shares = -np.diff([*(math.exp(-rate * edge) for edge in edges), 0.0])
        counts = np.diff([*np.searchsorted(np.sort(drawn), edges), len(drawn)])
        total = float(((counts - len(drawn) * shares) ** 2 / (len(drawn) * shares)).sum())
        assert plausible(total, 39) is right


def test_draws_are_independent_of_each_other() -> None:
    """The correlation of neighbouring draws, five standard deviations (6e-7)."""
    drawn = draw_laplace(Fraction(1), 40_000, SimulatedSource(24)).astype(float)
    for shift in (1, 20_000):
        assert abs(np.corrcoef(drawn[:-shift], drawn[shift:])[0, 1]) < 5 / math.sqrt(40_000 - shift)


def two_samples(one: np.ndarray, other: np.ndarray) -> tuple[float, int]:  # type: ignore[type-arg]
    """Pearson's statistic of two samples of the same size, values that both have less than 20 times joined."""
    values = np.unique(np.concatenate([one, other]))
    counts = np.array([[(sample == value).sum() for value in values] for sample in (one, other)])
    rare = counts.sum(axis=0) < 20
    counts = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    counts = counts[:, counts.sum(axis=0) > 0]
    return float(((counts[0] - counts[1]) ** 2 / counts.sum(axis=0)).sum()), counts.shape[1] - 1


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_opendp_draws_the_same_laplace_law(epsilon: Fraction) -> None:
    """OpenDP cannot be seeded: fails by chance once in a million runs. Noise of 0.7 and 1.3 times the scale differs."""
    theirs = OpenDPSource().laplace(epsilon, 6_000)
    for factor, right in ((Fraction(1), True), (Fraction(7, 10), False), (Fraction(13, 10), False)):
        total, freedom = two_samples(SimulatedSource(25).laplace(epsilon / factor, 6_000), theirs)
        assert plausible(total, freedom) is right


def test_opendp_draws_the_same_gaussian_law() -> None:
    """As above."""
    theirs = OpenDPSource().gaussian(Fraction(9), 6_000)
    for factor, right in ((Fraction(1), True), (Fraction(49, 100), False), (Fraction(169, 100), False)):
        total, freedom = two_samples(SimulatedSource(26).gaussian(9 * factor, 6_000), theirs)
        assert plausible(total, freedom) is right
    assert OpenDPSource.protects


def test_the_variance_is_that_of_the_law() -> None:
    for epsilon in (0.05, 0.7, 3.0):
        law = laplace_law(epsilon)
        assert laplace_variance(epsilon) == pytest.approx(sum(x * x * law(x) for x in range(-2_000, 2_001)))


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(-1)])
def test_no_noise_is_no_noise(epsilon: Fraction) -> None:
    with pytest.raises(ParameterError, match="expected a number above 0"):
        draw_geometric(epsilon, 1, SimulatedSource(1))


def test_nothing_is_drawn_for_nothing() -> None:
    assert draw_laplace(Fraction(1), 0, Scripted()).tolist() == []
    assert draw_laplace(Fraction(1, 10**6), 0, Scripted()).tolist() == []


@pytest.mark.parametrize("epsilon", [Fraction(3), Fraction(1, 2), Fraction(1, 50), MIN_DIRECT, Fraction(1, 5_000)])
def test_many_draws_at_once_are_those_of_a_plain_search(epsilon: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the leading bits of a word decide is what the whole word decides."""
    count = geometric.WORTH_LEADING + 5_000
    quick = draw_geometric(epsilon, count, SimulatedSource(8))
    monkeypatch.setattr(geometric, "WORTH_LEADING", count + 1)
    assert (quick == draw_geometric(epsilon, count, SimulatedSource(8))).all()


def test_words_that_start_like_an_entry_are_searched_for() -> None:
    law = Cumulative(Fraction(1, 2), 90, False)
    decided = geometric._leading(law)
    entries = law.first_words()
    assert (decided < 0).sum() == len({entry >> 48 for entry in entries})
    for entry in entries:
        assert decided[entry >> 48] == -1
    for leading in np.flatnonzero(decided >= 0)[::500]:
        assert decided[leading] == sum(entry < int(leading) << 48 for entry in entries)


@pytest.mark.parametrize("words", [1, 3])
def test_a_number_next_to_one_needs_no_long_digits(words: int) -> None:
    """1 − e^(−10⁶) has 434,294 nines; its first words are all ones, and those of 1 − e^(−60) are not."""
    assert Cumulative(Fraction(10**6), 1, False).floor(0, words) == 2 ** (64 * words) - 1
    near, bits = Cumulative(Fraction(60), 1, False), 64 * words
    assert near.floor(0, words) == 2**bits - 1 - decayed(Fraction(60), bits)
