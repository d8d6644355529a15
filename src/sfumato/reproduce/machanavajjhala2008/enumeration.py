"""What drawing from a Dirichlet urn discloses, by enumeration: slow, and written from the definitions alone.

Laws are exact fractions over every data set and every output; likelihood ratios are compared in floating point, and in
fractions where that is too close to call. The tests of the mechanism take it as their oracle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import factorial, prod

import numpy as np

Counts = tuple[int, ...]
Pairs = list[tuple[Counts, Counts]]
CLOSE = 1e-11


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
            (places, weight / rising(self.n + sum((self.alphas[i] for i in places), start=Fraction(0)), self.m))
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
            if drawn and drawn > limit:
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
