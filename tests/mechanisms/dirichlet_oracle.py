"""What drawing from a Dirichlet urn discloses, by enumeration: slow, and written from the definitions alone.

Laws are exact fractions over every data set and every output; likelihood ratios are compared in floating point, and in
fractions where that is too close to call. For more places than can be enumerated, `Exchangeable` sums over outputs by
generating functions, whose terms are all positive.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from math import ceil, comb, factorial, floor, log, prod
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binom

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Counts = tuple[int, ...]
Pairs = list[tuple[Counts, Counts]]
CLOSE = 1e-11
RARE = 1e-25


def growth_of(epsilon: float) -> Fraction:
    """e^ε to 60 digits."""
    with localcontext(prec=60):
        return Fraction(Decimal(epsilon).exp())


def rising(a: Fraction, m: int) -> Fraction:
    """a (a + 1) … (a + m − 1)."""
    return prod((a + j for j in range(m)), start=Fraction(1))


def compositions(total: int, places: int) -> Iterator[Counts]:
    """Every way to put `total` people into `places`."""
    if places == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, places - 1):
            yield (first, *rest)


def partitions(total: int, largest: int | None = None) -> Iterator[Counts]:
    """Every way to split `total` people into places that are all alike, largest first."""
    if total == 0:
        yield ()
    for first in range(min(total, largest or total), 0, -1):
        for rest in partitions(total - first, first):
            yield (first, *rest)


def moved(data: Counts, start: int, end: int) -> Counts:
    """The data with one person of place `start` in place `end` instead."""
    people = list(data)
    people[start] -= 1
    people[end] += 1
    return tuple(people)


def pairs_by_row(data: Counts) -> Pairs:
    """X₁, X₂ of Definition 5 when rows have names: both are the data up to the origin of the same person."""
    pairs: Pairs = []
    for start in (place for place, people in enumerate(data) if people):
        family = [moved(data, start, end) for end in range(len(data))]
        pairs += [(one, other) for one, other in product(family, repeat=2) if one != other]
    return pairs


def neighbours(data: Counts) -> set[Counts]:
    """The data, and the data with one person from elsewhere."""
    places = range(len(data))
    return {data} | {moved(data, start, end) for start, end in product(places, repeat=2) if data[start]}


def pairs_by_multiset(data: Counts) -> Pairs:
    """X₁, X₂ of Definition 5 when a table is a multiset: the two may have moved different people."""
    around = sorted(neighbours(data))
    return [
        (one, other)
        for one, other in product(around, repeat=2)
        if sum(max(0, a - b) for a, b in zip(one, other, strict=True)) == 1
    ]


VIEWS: dict[str, Callable[[Counts], Pairs]] = {"rows": pairs_by_row, "multisets": pairs_by_multiset}


@dataclass(frozen=True)
class Mechanism:
    """m draws from n people and a prior in which empty places are kept with probability `keep`."""

    n: int
    m: int
    alphas: tuple[Fraction, ...]
    keep: tuple[Fraction, ...]

    @cached_property
    def laws(self) -> Laws:
        """The law of the output for every data set."""
        outputs = list(compositions(self.m, len(self.alphas)))
        return Laws(outputs, {data: self.law(data, outputs) for data in compositions(self.n, len(self.alphas))})

    def law(self, data: Counts, outputs: list[Counts]) -> list[Fraction]:
        """The mixture of Dirichlet-multinomial laws over which of the empty places are kept."""
        kept = [
            (places, weight / rising(self.n + sum(self.alphas[i] for i in places), self.m))
            for places, weight in self.kept(data)
        ]
        return [
            self.arrangements(data, output)
            * sum(weight for places, weight in kept if places.issuperset(i for i, drawn in enumerate(output) if drawn))
            for output in outputs
        ]

    def kept(self, data: Counts) -> Iterator[tuple[set[int], Fraction]]:
        """Every set of kept places, and its probability."""
        fates = [(1,) if people or keep == 1 else (0, 1) for people, keep in zip(data, self.keep, strict=True)]
        for fate in product(*fates):
            thrown = (i for i, choice in enumerate(fates) if len(choice) == 2)
            weight = prod((self.keep[i] if fate[i] else 1 - self.keep[i] for i in thrown), start=Fraction(1))
            yield {i for i, kept in enumerate(fate) if kept}, weight

    def arrangements(self, data: Counts, output: Counts) -> Fraction:
        """m! Π rising(n_i + α_i, m_i) / m_i!."""
        ways = Fraction(factorial(self.m))
        for people, alpha, drawn in zip(data, self.alphas, output, strict=True):
            ways *= rising(people + alpha, drawn) / factorial(drawn)
        return ways

    def shrinking(self) -> Fraction:
        """The most by which one dropped place raises the probability of a draw that avoids it."""
        droppable = [alpha for alpha, keep in zip(self.alphas, self.keep, strict=True) if keep < 1]
        if not droppable:
            return Fraction(1)
        others = self.n + min(self.alphas)
        return rising(others + max(droppable), self.m) / rising(others, self.m)

    def represents(self, data: Counts, output: Counts, growth: Fraction) -> bool:
        """γ-Rep: no place is drawn more often than somebody there, or nobody, explains."""
        growth /= self.shrinking()
        for people, drawn, alpha, keep in zip(data, output, self.alphas, self.keep, strict=True):
            limit = (growth * keep - 1) * alpha if people <= 1 else (growth - 1) * (alpha + people - 1)
            if drawn > max(limit, 0):
                return False
        return True

    def good(self, data: Counts, output: Counts, growth: Fraction) -> bool:
        """γ-Good: the output represents the data or a neighbour of it."""
        return any(self.represents(near, output, growth) for near in neighbours(data))


@dataclass(frozen=True)
class Laws:
    """A law over the same outputs for every data set."""

    outputs: list[Counts]
    of: dict[Counts, list[Fraction]]

    @cached_property
    def floats(self) -> dict[Counts, np.ndarray]:
        """The laws, each probability rounded once."""
        return {data: np.array([float(p) for p in law]) for data, law in self.of.items()}

    def given(self, allowed: Callable[[Counts, Counts], bool]) -> Laws:
        """The laws given that the output is allowed for the data."""
        accepted: dict[Counts, list[Fraction]] = {}
        for data, law in self.of.items():
            left = [p if allowed(data, output) else Fraction(0) for output, p in zip(self.outputs, law, strict=True)]
            total = sum(left)
            accepted[data] = [p / total for p in left]
        return Laws(self.outputs, accepted)

    def above(self, one: Counts, other: Counts, growth: Fraction) -> np.ndarray:
        """The outputs that `one` makes more than `growth` times as likely as `other` does."""
        p, q = self.floats[one], self.floats[other] * float(growth)
        above = p > q
        for i in np.flatnonzero(np.abs(p - q) <= CLOSE * q):
            above[i] = self.of[one][i] > growth * self.of[other][i]
        return above

    def disclosing(self, data: Counts, growth: Fraction, pairs: Callable[[Counts], Pairs]) -> np.ndarray:
        """Definition 5: Disc(data, ε) as a mask over the outputs."""
        found = np.zeros(len(self.outputs), dtype=bool)
        for one, other in pairs(data):
            found |= self.above(one, other, growth)
        return found

    def disclosure(self, growth: Fraction, pairs: Callable[[Counts], Pairs]) -> float:
        """The largest probability over all data sets that the output is in the disclosure set."""
        return max(float(self.floats[data][self.disclosing(data, growth, pairs)].sum()) for data in self.of)

    def neighbouring(self) -> Iterator[tuple[Counts, Counts]]:
        """Every two data sets that differ in the origin of one person."""
        return ((one, other) for one in self.of for other in neighbours(one) if one != other)

    def divergence(self, growth: Fraction) -> float:
        """The largest P₁(T) − e^ε P₂(T) over neighbours and sets T of outputs."""
        e = float(growth)
        return max(
            float(np.maximum(self.floats[one] - e * self.floats[other], 0).sum()) for one, other in self.neighbouring()
        )

    def ratio(self) -> Fraction:
        """The largest likelihood ratio between neighbours."""
        return max(
            p / q for one, other in self.neighbouring() for p, q in zip(self.of[one], self.of[other], strict=True) if p
        )


def series(a: float, degree: int, most: float | None = None, least: int = 0) -> np.ndarray:
    """Σ rising(a, j)/j! z^j over least ≤ j ≤ most, up to a degree."""
    terms = np.cumprod(np.concatenate(([1.0], [(a + j) / (j + 1) for j in range(degree)])))
    j = np.arange(degree + 1)
    return np.where((j >= least) & (j <= (degree if most is None else most)), terms, 0.0)


def power(polynomial: np.ndarray, exponent: int) -> np.ndarray:
    """A power, cut at the degree of the polynomial."""
    result, square, size = np.eye(1, len(polynomial))[0], polynomial, len(polynomial)
    while exponent:
        if exponent & 1:
            result = np.convolve(result, square)[:size]
        square, exponent = np.convolve(square, square)[:size], exponent >> 1
    return result


@cache
def _mixture_over_kept(places: Exchangeable, occupied: int, growth: float) -> np.ndarray:
    """The mean over the number of kept empty places of their series below the limit, over the urn's."""
    n, empty = places.n, series(places.alpha, places.n, places.limit(0, growth))
    numbers, chances = places.kept(places.k - occupied)
    mixture, at = np.zeros(n + 1), power(empty, int(numbers[0]))
    for number, chance in zip(numbers, chances, strict=True):
        mixture += chance * at / series(n + places.alpha * (occupied + number), n)[n]
        at = np.convolve(at, empty)[: n + 1]
    return mixture


@dataclass(frozen=True)
class Exchangeable:
    """n people, n draws, and k places that are all alike: mass α, kept with probability `keep` where empty."""

    n: int
    k: int
    alpha: float
    keep: float = 1.0

    def kept(self, empty: int) -> tuple[np.ndarray, np.ndarray]:
        """How many of the empty places may be kept, and with what probability."""
        if self.keep == 1:
            return np.array([empty]), np.ones(1)
        middle, spread = empty * self.keep, 14 * (empty * self.keep) ** 0.5 + 60
        numbers = np.arange(max(0, floor(middle - spread)), min(empty, floor(middle + spread)) + 1)
        chances = binom.pmf(numbers, empty, self.keep)
        assert chances.sum() > 1 - 1e-12
        return numbers[chances > RARE], chances[chances > RARE]

    def limit(self, people: int, growth: float) -> float:
        """How often a place may be drawn without disclosing."""
        if self.keep < 1:
            growth /= prod(1 + self.alpha / (self.n + self.alpha + j) for j in range(self.n))
        if people <= 1:
            return max(0.0, (growth * self.keep - 1) * self.alpha)
        return (growth - 1) * (self.alpha + people - 1)

    def unrepresentative(self, data: Counts, growth: float) -> float:
        """The probability that some place is drawn more often than its limit: at least that of disclosure."""
        n = self.n
        occupied = np.eye(1, n + 1)[0]
        for people, places in Counter(data).items():
            one = series(people + self.alpha, n, self.limit(people, growth))
            occupied = np.convolve(occupied, power(one, places))[: n + 1]
        return 1 - float(occupied @ _mixture_over_kept(self, len(data), growth)[::-1])

    def exceeding(self, people: int, growth: float) -> float:
        """The probability that a place with so many people is drawn above its limit, all others being in one place."""
        n, others = self.n, int(people < self.n)
        place, total = series(people + self.alpha, n, self.limit(people, growth)), 0.0
        numbers, chances = self.kept(self.k - 1 - others)
        for number, chance in zip(numbers, chances, strict=True):
            rest = n - people + self.alpha * (others + number)
            total += chance * float(place @ series(rest, n)[::-1]) / series(people + self.alpha + rest, n)[n]
        return 1 - total

    def inverse_mass(self, surely: int, perhaps: int) -> float:
        """The mean of 1/rising(n + mass of the kept places, n), of which some are kept surely and others perhaps."""
        numbers, chances = self.kept(perhaps)
        masses = self.n + self.alpha * (surely + numbers)
        return float(chances @ np.exp(-sum(np.log(masses + j) for j in range(self.n))))

    def disclosure_in_one_place(self, growth: float) -> float:
        """P(Disc) by Definition 5 when all people come from one place.

        An output is told by how often that place is drawn, how many others are drawn at all, and the most often drawn
        of these. Its likelihoods are those of the person at home, at the most often drawn, and at one never drawn.
        """
        n, alpha, total = self.n, self.alpha, 0.0
        home, empty = series(n + alpha, n), series(alpha, n, least=1)
        for others in range(n + 1):
            with_others = self.inverse_mass(1 + others, self.k - 1 - others)
            with_one_more = self.inverse_mass(2 + others, self.k - 2 - others)
            chance = comb(self.k - 1, others) * self.keep**others * with_others * factorial(n)
            upto = [power(np.where(np.arange(n + 1) <= most, empty, 0.0), others) for most in range(n + 1)]
            for most, at_home in product(range(n + 1), range(n + 1)):
                exactly = upto[most] - upto[most - 1] if most else upto[0]
                likelihoods = (
                    with_others * (n - 1 + alpha + at_home) / (n - 1 + alpha),
                    with_others * (alpha + most) / alpha / self.keep if others else with_others,
                    with_one_more,
                )
                if max(likelihoods) > growth * min(likelihoods):
                    total += chance * home[at_home] * exactly[n - at_home]
        return total


def exact_tail(m: int, a: Fraction, b: Fraction, above: int) -> Fraction:
    """P(count > above) for a beta-binomial count of m draws."""
    terms = (comb(m, j) * rising(a, j) * rising(b, m - j) for j in range(above + 1, m + 1))
    return sum(terms, start=Fraction(0)) / rising(a + b, m)


def kept_below(mass: float, alphas: Sequence[float], counts: Sequence[int], keep: Sequence[float]) -> float:
    """P(the kept places have less than this mass), every place thrown its own coin."""
    law = {0.0: 1.0}
    for alpha, count, chance in zip(alphas, counts, keep, strict=True):
        joint: Counter[float] = Counter()
        for (have, p), number in product(law.items(), range(count + 1)):
            joint[have + alpha * number] += p * float(binom.pmf(number, count, chance))
        law = joint
    return sum(p for have, p in law.items() if have < mass)


def shrunk_epsilon(epsilon: float, keep: float, alpha: float) -> float:
    """What Theorem 5.2 charges in all when empty places are kept with at least this probability."""
    return epsilon + log(1 / keep) + ceil(alpha) * log(2)
