"""OpenDP's samplers behind our own interface, for those who want their noise from that library.

They draw one number at a time and are two orders of magnitude slower; the law is the same.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.noise.source import SystemSource


class OpenDPSource(SystemSource):
    """Words from the operating system, discrete Laplace and Gaussian noise from OpenDP."""

    def laplace(self, epsilon: Fraction, count: int) -> NDArray[np.int64]:
        dp = _library()
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
        return _noise(dp.m.make_laplace(*space, scale=float(1 / epsilon)), count)

    def gaussian(self, variance: Fraction, count: int) -> NDArray[np.int64]:
        dp = _library()
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
        return _noise(dp.m.make_gaussian(*space, scale=float(variance) ** 0.5), count)


def _noise(measurement: Any, count: int) -> NDArray[np.int64]:
    return np.array(measurement([0] * count), dtype=np.int64)


def _library() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError as error:
        raise ParameterError('noise from OpenDP needs that library: pip install "sfumato[opendp]"') from error
    dp.enable_features("contrib")
    return dp
