"""Which of several points no other is as good as in both of two figures and better in one: the efficient ones."""

import numpy as np
from numpy.typing import NDArray

ROUNDING = 1e-12
"""Differences below this are floating-point noise, not an advantage."""


def efficient(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which points no other is as good as in both and better in one, where lower is better; never one with a NaN."""
    no_worse = (first[:, None] <= first + ROUNDING) & (second[:, None] <= second + ROUNDING)
    better = (first[:, None] < first - ROUNDING) | (second[:, None] < second - ROUNDING)
    dominated = (no_worse & better).any(axis=0)
    return ~(dominated | np.isnan(first) | np.isnan(second))
