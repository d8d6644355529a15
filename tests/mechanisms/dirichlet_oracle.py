"""Tails of beta-binomial counts and of the mass that is kept, from their definitions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb
from typing import TYPE_CHECKING

from scipy.stats import binom

from sfumato.reproduce.machanavajjhala2008.enumeration import rising

if TYPE_CHECKING:
    from collections.abc import Sequence


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
