"""Exact coins and whole numbers: uniform numbers compared with probabilities, one 64-bit word at a time.

A probability is known by its binary digits, as many as anyone asks for. A uniform number is known by the words
drawn so far. Where the words agree, further words decide: so an event has exactly its probability, never a
rounded one.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

WORD = 64
MORE_THAN_LN_2 = Fraction(6932, 10_000)
SPARE_DIGITS = 25
UNSURE_DIGITS = 10
"""More than rounding can spoil in a number computed by a few thousand operations."""


class Words(Protocol):
    """Where uniform words come from."""

    @abstractmethod
    def words(self, count: int) -> NDArray[np.uint64]:
        """Independent uniform 64-bit words."""


def decimal(number: Fraction) -> Decimal:
    """The number in the precision of the current context."""
    return Decimal(number.numerator) / Decimal(number.denominator)


def sure_floor(number: Decimal, precision: int) -> int | None:
    """⌊number⌋ for a positive number computed in `precision` digits, `None` if rounding may have spoiled it."""
    whole, error = int(number), number.scaleb(UNSURE_DIGITS - precision)
    return whole if error < number - whole < 1 - error else None


class Digits(ABC):
    """A family of irrational numbers in (0, 1), each known to any precision."""

    @abstractmethod
    def value(self, which: int) -> Decimal:
        """The number `which` in the precision of the current context, up to a few units in the last place."""

    def floor(self, which: int, words: int) -> int:
        """⌊2^(64·words) × number⌋, with more and more digits until the floor is beyond doubt."""
        spare = SPARE_DIGITS
        while True:
            with localcontext() as context:
                context.prec = math.ceil(WORD * words * math.log10(2)) + spare
                whole = sure_floor(self.value(which) * Decimal(2) ** (WORD * words), context.prec)
            if whole is not None:
                return whole
            spare *= 2

    def at_most(self, which: int, drawn: list[int], source: Words) -> bool:
        """Whether the number is at most a uniform one that starts with the words `drawn`; draws more if it must."""
        place = 0
        while True:
            if place == len(drawn):
                drawn.append(int(source.words(1)[0]))
            word = self.floor(which, place + 1) % 2**WORD
            if word != drawn[place]:
                return bool(word < drawn[place])
            place += 1


@dataclass(frozen=True)
class Odds(Digits):
    """width · e^ε / (width · e^ε + others): one of `width` things happens, each e^ε times as likely as any other."""

    epsilon: Fraction
    width: int = 1
    others: int = 1

    def value(self, which: int) -> Decimal:
        return 1 / (1 + (-decimal(self.epsilon)).exp() * self.others / self.width)

    def floor(self, which: int, words: int) -> int:
        """As for any number, but at once where it is within 2^(−64·words) of 1, however many digits that is away."""
        if self.epsilon >= MORE_THAN_LN_2 * (WORD * words + self.others.bit_length()):
            return int(2 ** (WORD * words) - 1)
        return super().floor(which, words)


def draw_coins(chances: Digits, which: int, count: int, source: Words) -> NDArray[np.bool_]:
    """`count` independent coins that fall heads with exactly the probability `which` of a family."""
    words, first = source.words(count), np.uint64(chances.floor(which, 1))
    heads = words < first
    for coin in np.flatnonzero(words == first):
        heads[coin] = not chances.at_most(which, [int(words[coin])], source)
    return heads


def draw_below(limit: int, count: int, source: Words) -> NDArray[np.int64]:
    """`count` independent numbers, uniform on `0..limit - 1`.

    Words at and above the largest multiple of `limit` would favour small numbers and are drawn anew.
    """
    words = source.words(count).copy()
    over = 2**WORD % limit
    if over:
        while len(again := np.flatnonzero(words >= np.uint64(2**WORD - over))):
            words[again] = source.words(len(again))
    return (words % np.uint64(limit)).astype(np.int64)
