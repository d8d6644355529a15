"""The randomness that protects people, drawn from the operating system and never seeded.

Experiments and tests pass a `SimulatedSource`; whatever is made with it promises nothing.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Source(ABC):
    """Where random words come from."""

    protects: bool

    @abstractmethod
    def words(self, count: int) -> NDArray[np.uint64]:
        """Independent uniform 64-bit words."""

    def permutation(self, count: int) -> NDArray[np.int64]:
        """A uniform ordering of `0..count-1`: sorted by random words, drawn anew if two are equal."""
        while True:
            words = self.words(count)
            order = np.argsort(words, kind="stable")
            if count < 2 or (np.diff(words[order]) != 0).all():
                return order


class SystemSource(Source):
    """The operating system's generator."""

    protects = True

    def words(self, count: int) -> NDArray[np.uint64]:
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


class SimulatedSource(Source):
    """A seeded generator for experiments."""

    protects = False

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def words(self, count: int) -> NDArray[np.uint64]:
        return self._generator.integers(0, 2**64, size=count, dtype=np.uint64)
