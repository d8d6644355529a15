"""Random words that a test dictates, and the powers of e that tell which ones lie on a boundary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.mechanisms.noise import Source

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

GUARD = 256


class Scripted(Source):
    """Words from a list, then an error."""

    protects = False

    def __init__(self, *words: int) -> None:
        self.waiting = list(words)

    def words(self, count: int) -> NDArray[np.uint64]:
        taken, self.waiting = self.waiting[:count], self.waiting[count:]
        assert len(taken) == count, "more words were drawn than expected"
        return np.array(taken, dtype=np.uint64)


def decayed(exponent: Fraction, bits: int) -> int:
    """⌊2^bits · e^(−exponent)⌋ by the power series on whole numbers, halved until it converges fast."""
    halvings = max(0, exponent.numerator.bit_length() - exponent.denominator.bit_length() + 8)
    one = 1 << (bits + 2 * GUARD)
    term, total, number = one, 0, 0
    while term:
        total += term if number % 2 == 0 else -term
        number += 1
        term = term * exponent.numerator // (exponent.denominator * number << halvings)
    for _ in range(halvings):
        total = total * total // one
    return total >> (2 * GUARD)
