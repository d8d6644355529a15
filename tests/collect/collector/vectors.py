"""Dictated words and what they must lead to: the same report in Python and in the browser.

`python tests/local/collector/vectors.py` writes vectors.json anew, with what Python makes of the words; a test
compares the file with Python, another one the browser with the file.
"""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.mechanisms.channels import TruncatedGeometric
from sfumato.mechanisms.noise import Source, geometric
from sfumato.mechanisms.noise.geometric import FINE, MIN_DIRECT, Cumulative, draw_geometric

if TYPE_CHECKING:
    from numpy.typing import NDArray

FILE = Path(__file__).with_name("vectors.json")
SEED = 20_260_101
ONES = 2**64 - 1
AXES = (
    (100, "1/10"),
    (100, "1/2"),
    (2, "1/2"),
    (1, "1"),
    (50, "1"),
    (121, "3"),
    (1000, "1/100"),
    (5000, "1/5000"),
    (100_000, "1/5000000"),
    (100, "25"),
    (10, "700"),
    (10, "1000000"),
    (300, "1/1024"),
    (300, "1023/1048576"),
    (100, "30000000000000004/100000000000000000"),
    (90, "44361/1000"),
)
RANDOM_CASES = 24


class Dictated(Source):
    """Words from a list, then from a seed; remembers all that were taken."""

    protects = False

    def __init__(self, words: list[int], chance: random.Random) -> None:
        self.waiting, self.taken, self._chance = list(words), [], chance

    def words(self, count: int) -> NDArray[np.uint64]:
        for _ in range(count):
            self.taken.append(self.waiting.pop(0) if self.waiting else self._chance.getrandbits(64))
        return np.array(self.taken[-count:], dtype=np.uint64)


@dataclass(frozen=True)
class Axis:
    """An axis with its noise."""

    size: int
    epsilon: str

    @lru_cache(maxsize=64)  # noqa: B019 - a frozen value
    def tables(self) -> list[list[int]]:
        """The tables of a draw, coarsest first."""
        epsilon, found = Fraction(self.epsilon), []
        while epsilon < MIN_DIRECT:
            found.append(geometric._table(Cumulative(epsilon, FINE, True)).tolist())
            epsilon *= FINE
        return [geometric._table(_long_law(epsilon)).tolist(), *reversed(found)]

    def reported(self, code: int, words: list[int], chance: random.Random) -> tuple[int, list[int]]:
        """What Python reports, and all words that this took."""
        source = Dictated(words, chance)
        channel = TruncatedGeometric(size=self.size, epsilon=Fraction(self.epsilon))
        return int(channel.perturb(np.array([code]), source)[0]), source.taken


def _long_law(epsilon: Fraction) -> Cumulative:
    """The law that a draw looks up: caught on its way, so that its size is the program's own."""
    caught: list[Cumulative] = []
    whole = geometric._draw_long
    geometric._draw_long = lambda law, count, source: caught.append(law) or whole(law, count, source)
    try:
        draw_geometric(epsilon, 1, Dictated([0], random.Random(0)))
    finally:
        geometric._draw_long = whole
    return caught[0]


def dictated(axis: Axis, chance: random.Random) -> list[list[int]]:
    """First words of draws: ordinary, extreme, on an entry, beside one, and on an entry and its next digits."""
    table = axis.tables()[0]
    law = _long_law(_coarsest(axis))
    some = sorted({0, 1, len(table) // 2, len(table) - 2, len(table) - 1} & set(range(len(table))))
    found = [[chance.getrandbits(64) for _ in range(2)] for _ in range(RANDOM_CASES)]
    if law.epsilon > 1000:
        return [*found, [0, 0], [ONES - 1, 1]]  # half a million digits would settle words of ones
    found += [[0, 0], [ONES, 0], [0, ONES], [ONES, ONES], [ONES, ONES, 0, 0], [ONES, ONES, ONES, ONES, 1, 2]]
    for k in some:
        entry = table[k]
        digits = law.floor(k, 2) % 2**64 if law.epsilon * (k + 1) < 90 else ONES
        found += [[entry, chance.getrandbits(64)], [chance.getrandbits(64), entry], [entry, entry]]
        found += [[entry, 0, 0], [entry, 0, ONES], [entry, entry, 0, ONES], [entry, entry, ONES, ONES - 1]]
        found += [[entry, entry, digits, digits, 0, ONES], [0, entry, digits, ONES]]
        found += [[max(entry - 1, 0), min(entry + 1, ONES)], [min(entry + 1, ONES), max(entry - 1, 0)]]
    if len(axis.tables()) > 1:
        fine = axis.tables()[-1]
        middle = [0] * 2 * (len(axis.tables()) - 1)
        for k in (0, 511, 1022, 1023):
            found += [[*middle, fine[k], 0], [*middle, fine[k], fine[k], 0, ONES], [*middle, 0, fine[k], ONES]]
        found += [[*middle, ONES, ONES], [*middle, ONES, 0], [*middle, 0, ONES]]
    return found


def _coarsest(axis: Axis) -> Fraction:
    epsilon = Fraction(axis.epsilon)
    while epsilon < MIN_DIRECT:
        epsilon *= FINE
    return epsilon


def vectors() -> list[dict[str, Any]]:
    """For every axis a digest of its tables, and cases of [code, words taken, report]."""
    found = []
    for size, epsilon in AXES:
        axis, chance = Axis(size, epsilon), random.Random(f"{SEED} {size} {epsilon}")
        cases = []
        for words in dictated(axis, chance):
            code = chance.choice([0, size - 1, size // 2, size // 2, chance.randrange(size)])
            report, taken = axis.reported(code, words, chance)
            cases.append([code, [f"{word:x}" for word in taken], report])
        tables = [[len(table), digest(table)] for table in axis.tables()]
        found.append({"size": size, "epsilon": epsilon, "tables": tables, "cases": cases})
    return found


def digest(table: list[int]) -> str:
    """SHA-256 of a table, sixteen digits for each entry."""
    return hashlib.sha256("".join(f"{word:016x}" for word in table).encode()).hexdigest()


def encoded(found: list[dict[str, Any]]) -> str:
    """One case on each line."""
    return json.dumps(found).replace("{", "\n{").replace("[[", "[\n[").replace("], [", "],\n[") + "\n"


if __name__ == "__main__":
    FILE.write_text(encoded(vectors()), encoding="utf-8")
