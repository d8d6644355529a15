"""Dominance: a release is efficient if no other is at least as good in both measures and better in one."""

import numpy as np
from numpy.typing import NDArray

ROUNDING = 1e-12
"""Differences below this are floating-point noise, not an advantage."""


def efficient(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which points no other dominates, where lower is better in both; points with a NaN never are."""
    mask = np.zeros(len(first), dtype=bool)
    usable = ~(np.isnan(first) | np.isnan(second))
    x, y = first[usable], second[usable]
    no_worse = (x[:, None] <= x + ROUNDING) & (y[:, None] <= y + ROUNDING)
    better = (x[:, None] < x - ROUNDING) | (y[:, None] < y - ROUNDING)
    mask[usable] = ~(no_worse & better).any(axis=0)
    return mask
