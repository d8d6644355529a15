"""Where random words come from: the operating system, or a seed for experiments.

Experiments and tests pass a `SimulatedSource`; whatever is made with it promises nothing.
"""

import os
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.noise.digits import Words
from sfumato.mechanisms.noise.gaussian import draw_gaussian
from sfumato.mechanisms.noise.geometric import draw_laplace
from sfumato.streams import stream


class Source(Words):
    """Random words, and the noise that is made of them."""

    protects: bool

    def permutation(self, count: int) -> NDArray[np.int64]:
        """A uniform ordering of `0..count-1`: sorted by random words, drawn anew if two are equal."""
        while True:
            words = self.words(count)
            order = np.argsort(words, kind="stable")
            if count < 2 or (np.diff(words[order]) != 0).all():
                return order

    def uniforms(self, count: int) -> NDArray[np.float64]:
        """Numbers in [0, 1) with 53 bits, for what needs no exactness: sampling from counts that are noisy already."""
        return (self.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def laplace(self, epsilon: Fraction, count: int) -> NDArray[np.int64]:
        """Discrete Laplace noise for integers of sensitivity 1."""
        return draw_laplace(epsilon, count, self)

    def gaussian(self, variance: Fraction, count: int) -> NDArray[np.int64]:
        """Discrete Gaussian noise."""
        return draw_gaussian(variance, count, self)


class SystemSource(Source):
    """The operating system's generator."""

    protects = True

    def words(self, count: int) -> NDArray[np.uint64]:
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


class SimulatedSource(Source):
    """A seeded generator for experiments."""

    protects = False

    def __init__(self, seed: int) -> None:
        self._generator = stream("noise", seed)

    def words(self, count: int) -> NDArray[np.uint64]:
        return self._generator.integers(0, 2**64, size=count, dtype=np.uint64)
