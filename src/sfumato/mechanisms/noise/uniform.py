"""Exact coins and exact whole numbers from uniform words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.noise.digits import WORD, Digits
from sfumato.mechanisms.noise.source import Source


def draw_coins(chances: Digits, which: int, count: int, source: Source) -> NDArray[np.bool_]:
    """`count` independent coins that fall heads with exactly the probability `which` of a family."""
    words, first = source.words(count), np.uint64(chances.floor(which, 1))
    heads = words < first
    for coin in np.flatnonzero(words == first):
        heads[coin] = not chances.at_most(which, [int(words[coin])], source)
    return heads


def draw_below(limit: int, count: int, source: Source) -> NDArray[np.int64]:
    """`count` independent numbers, uniform on `0..limit - 1`.

    Words at and above the largest multiple of `limit` would favour small numbers and are drawn anew.
    """
    words = source.words(count).copy()
    over = 2**WORD % limit
    if over:
        while len(again := np.flatnonzero(words >= np.uint64(2**WORD - over))):
            words[again] = source.words(len(again))
    return (words % np.uint64(limit)).astype(np.int64)
