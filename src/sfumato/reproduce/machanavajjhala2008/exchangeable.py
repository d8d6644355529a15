"""What drawing from a Dirichlet urn discloses where there are too many places to enumerate, all of them alike.

Sums over outputs are taken by generating functions, whose terms are all positive. The tests of the mechanism take it as
their oracle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import ceil, comb, factorial, floor, log, prod

import numpy as np
from scipy.stats import binom

from sfumato.reproduce.machanavajjhala2008.enumeration import Counts

RARE = 1e-25


def partitions(total: int, largest: int | None = None) -> Iterator[Counts]:
    """Every way to split `total` people into places that are all alike, largest first."""
    if total == 0:
        yield ()
    for first in range(min(total, largest or total), 0, -1):
        for rest in partitions(total - first, first):
            yield (first, *rest)


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
    return np.asarray(result)


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


def shrunk_epsilon(epsilon: float, keep: float, alpha: float) -> float:
    """What Theorem 5.2 charges in all when empty places are kept with at least this probability."""
    return epsilon + log(1 / keep) + ceil(alpha) * log(2)
