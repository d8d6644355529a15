"""OpenDP's samplers behind our own interface: the oracle of the noise tests, and what the benchmarks compare with."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import opendp.prelude as dp
from numpy.typing import NDArray

from sfumato.mechanisms.noise import SystemSource

dp.enable_features("contrib")


class OpenDPSource(SystemSource):
    """Words from the operating system, discrete Laplace and Gaussian noise from OpenDP."""

    def laplace(self, epsilon: Fraction, count: int) -> NDArray[np.int64]:
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
        return _noise(dp.m.make_laplace(*space, scale=float(1 / epsilon)), count)

    def gaussian(self, variance: Fraction, count: int) -> NDArray[np.int64]:
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
        return _noise(dp.m.make_gaussian(*space, scale=float(variance) ** 0.5), count)


def _noise(measurement: Any, count: int) -> NDArray[np.int64]:
    return np.array(measurement([0] * count), dtype=np.int64)
