"""Exact geometric draws: P(X = k) = (1 − β) βᵏ with β = e^(−ε) or β = 1 − e^(−ε), in bulk, on integer words.

A table holds ⌊2⁶⁴ F(k)⌋ for the cumulative distribution F. A random word below an entry is below F(k) for certain
and a word above it is above; a word equal to an entry is resolved with further words against further digits of
F(k). Beyond the table the law starts anew (it has no memory), and for β near 1 the draw is a coarse and a fine
part, both by table. So every probability is exact, and pure ε stays pure.
"""

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.noise.digits import MORE_THAN_LN_2, SPARE_DIGITS, WORD, Digits, Words, decimal, sure_floor

FINE = 1024
MIN_DIRECT = Fraction(1, FINE)
"""Below this ε a table over the whole law would be long; the draw is split into a coarse and a fine part."""
MAX_LIMIT = 2**60
NEGLIGIBLE = Decimal(2) ** -(WORD + 1)
"""Where less than this is left of a law, the first word of F(k) is the last of all words."""
LEADING_BITS = 16
WORTH_LEADING = 2**LEADING_BITS
"""From this many draws on, a table over the leading bits of a word pays off."""
TABLE_DIGITS = math.ceil(WORD * math.log10(2)) + SPARE_DIGITS


@dataclass(frozen=True)
class Cumulative(Digits):
    """F(k) = (1 − β^(k+1)) / (1 − β^size) for k < size; without the divisor if not `truncated`.

    β is e^(−ε) or, if `times` is not zero, (1 − e^(−ε))^times.
    """

    epsilon: Fraction
    size: int
    truncated: bool
    times: int = 0

    def value(self, which: int) -> Decimal:
        exponent = self.exponent()
        with localcontext() as context:
            context.prec += _lost_digits(exponent)
            value = 1 - (-exponent * (which + 1)).exp()
            return value / (1 - (-exponent * self.size).exp()) if self.truncated else value

    def floor(self, which: int, words: int) -> int:
        """As for any number, but at once where F(k) is within 2^(−64·words) of 1, however many digits that is away."""
        if not self.truncated and not self.times and self.epsilon * (which + 1) >= MORE_THAN_LN_2 * WORD * words:
            return int(2 ** (WORD * words) - 1)
        return super().floor(which, words)

    def exponent(self) -> Decimal:
        """−ln β."""
        exponent = decimal(self.epsilon)
        if not self.times:
            return exponent
        with localcontext() as context:
            context.prec += math.ceil(self.epsilon / 2) + 5
            return -(1 - (-exponent).exp()).ln() * self.times

    def first_words(self) -> list[int]:
        """⌊2⁶⁴ F(k)⌋ for every k, by repeated multiplication; the last of a truncated law, which is 2⁶⁴, less one."""
        if self.size == 1 and self.times and self.epsilon > WORD + math.log(self.times):
            return [0]  # F(0) < times · e^(−ε) < 2⁻⁶⁴; its digits are worked out only if a word is zero
        with localcontext() as context:
            context.prec = TABLE_DIGITS
            exponent = self.exponent()
            context.prec += _lost_digits(exponent)
            decay = (-exponent).exp()
            scale = Decimal(2) ** WORD / (1 - decay**self.size if self.truncated else 1)
            found, power = [], Decimal(1)
            for k in range(self.size):
                power *= decay
                if power < NEGLIGIBLE or (self.truncated and k == self.size - 1):
                    found.append(2**WORD - 1)
                else:
                    whole = sure_floor((1 - power) * scale, TABLE_DIGITS)
                    found.append(self.floor(k, 1) if whole is None else whole)
        return found


def _lost_digits(exponent: Decimal) -> int:
    """How many more digits 1 − e^(−exponent) needs, being near zero, to be as exact as others."""
    return max(0, -exponent.adjusted()) + 5


@lru_cache(maxsize=512)
def _table(law: Cumulative) -> NDArray[np.uint64]:
    return np.array(law.first_words(), dtype=np.uint64)


def draw_geometric(epsilon: Fraction, count: int, source: Words) -> NDArray[np.int64]:
    """`count` independent draws of the geometric law with decay e^(−ε)."""
    if epsilon <= 0:
        raise ParameterError(f"epsilon is {float(epsilon):g}; expected a number above 0")
    if epsilon < MIN_DIRECT:
        coarse = draw_geometric(epsilon * FINE, count, source)
        return coarse * FINE + _draw(Cumulative(epsilon, FINE, True), count, source)
    return _draw_long(Cumulative(epsilon, math.ceil(WORD * math.log(2) / float(epsilon)) + 1, False), count, source)


def draw_gaps(epsilon: Fraction, limit: int, count: int, source: Words) -> NDArray[np.int64]:
    """`count` independent numbers of failures before a success of probability e^(−ε).

    All numbers of `limit` (at most 2⁶⁰) and more are alike: which of them is returned means nothing.
    """
    if epsilon <= 0 or not 0 < limit <= MAX_LIMIT:
        raise ParameterError(f"epsilon is {float(epsilon):g} and the limit {limit}; expected above 0, at most 2^60")
    rate = -math.log1p(-math.exp(-epsilon))
    times = 1
    while rate * times < MIN_DIRECT and times < limit:
        times *= FINE
    if rate * times < MIN_DIRECT:
        drawn = times * _draw(Cumulative(epsilon, 1, False, times), count, source)
    else:
        size = math.ceil(WORD * math.log(2) / (rate * times)) + 1
        coarse = _draw_long(Cumulative(epsilon, size, False, times), count, source)
        drawn = np.minimum(coarse, limit // times + 1) * times
    near = np.flatnonzero(drawn < limit)
    while times > 1 and len(near):
        times //= FINE
        drawn[near] += times * _draw(Cumulative(epsilon, FINE, True, times), len(near), source)
    return drawn


def _draw_long(law: Cumulative, count: int, source: Words) -> NDArray[np.int64]:
    """Draws of a law that starts anew beyond its table."""
    drawn = _draw(law, count, source)
    beyond = np.flatnonzero(drawn == law.size)
    while len(beyond):
        again = _draw(law, len(beyond), source)
        drawn[beyond] += again
        beyond = beyond[again == law.size]
    return drawn


def _draw(law: Cumulative, count: int, source: Words) -> NDArray[np.int64]:
    """How many of the F(k) lie at or below a uniform number, for `count` uniform numbers."""
    words = source.words(count)
    if count < WORTH_LEADING:
        return _look_up(law, words, source)
    passed = np.take(_leading(law), words >> np.uint64(WORD - LEADING_BITS))
    open_ = np.flatnonzero(passed < 0)
    passed[open_] = _look_up(law, words[open_], source)
    return passed


def _look_up(law: Cumulative, words: NDArray[np.uint64], source: Words) -> NDArray[np.int64]:
    table = _table(law)
    passed = np.searchsorted(table, words, side="left").astype(np.int64)
    unclear = np.flatnonzero(table[np.minimum(passed, law.size - 1)] == words)
    for draw in unclear:
        passed[draw] = _resolve(law, int(passed[draw]), int(words[draw]), source)
    return passed


@lru_cache(maxsize=16)
def _leading(law: Cumulative) -> NDArray[np.int64]:
    """What a word's leading bits alone decide: how many entries it passes, or −1 where some entry starts like it."""
    table, shift = _table(law), np.uint64(WORD - LEADING_BITS)
    lowest = np.arange(2**LEADING_BITS, dtype=np.uint64) << shift
    passed = np.searchsorted(table, lowest, side="left").astype(np.int64)
    passed[(table >> shift).astype(np.int64)] = -1
    return passed


def _resolve(law: Cumulative, first: int, word: int, source: Words) -> int:
    """Compare a uniform number that starts with `word` with every F(k) from `first` on that may do so too."""
    drawn, k = [word], first
    most = law.size - 1 if law.truncated else law.size
    while k < most and law.at_most(k, drawn, source):
        k += 1
    return k


def draw_laplace(epsilon: Fraction, count: int, source: Words) -> NDArray[np.int64]:
    """`count` independent draws of discrete Laplace noise: P(X = x) = (1 − α)/(1 + α) · α^|x| with α = e^(−ε).

    The difference of two geometric draws. Added to a count that one person changes by at most 1, it is
    ε-differentially private (Ghosh, Roughgarden and Sundararajan, 2009).
    """
    both = draw_geometric(epsilon, 2 * count, source)
    return both[:count] - both[count:]


def laplace_variance(epsilon: float) -> float:
    """2α / (1 − α)²."""
    return 2 * math.exp(-epsilon) / math.expm1(-epsilon) ** 2


def choose(scores: NDArray[np.int64], starts: NDArray[np.int64], epsilon: Fraction, source: Words) -> NDArray[np.int64]:
    """Private selection: the index of the chosen candidate of each run, which begins at `starts[i]` and is not empty.

    Every candidate's score gets independent geometric noise of decay e^(−ε), and the largest sum wins, the first of
    equals. This is ε-differentially private when one person changes all scores in the same direction by at most 1
    (monotone scores), and 2ε otherwise. Proof: fix the noise of all candidates but j. Then j wins exactly when its
    noise Z reaches a threshold T = max_i (score_i + Z_i + [i before j]) − score_j. One person moves the maximum and
    score_j by between 0 and 1 in the same direction, hence T by at most 1 either way (by at most 2 if not monotone).
    P(Z ≥ t) = e^(−ε max(t, 0)) for integers t, so the probability changes by a factor of at most e^ε (e^2ε). ∎
    It is the discrete twin of permute-and-flip (McKenna and Sheldon, 2020), never worse than the exponential mechanism.
    """
    noisy = scores + draw_geometric(epsilon, len(scores), source)
    best = np.maximum.reduceat(noisy, starts)
    winners = np.flatnonzero(noisy == np.repeat(best, np.diff(starts, append=len(scores))))
    return winners[np.searchsorted(winners, starts)]
