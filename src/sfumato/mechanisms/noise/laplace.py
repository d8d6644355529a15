"""Discrete Laplace noise: the difference of two geometric draws, exact on integers.

P(X = x) = (1 − α)/(1 + α) · α^|x| with α = e^(−ε): added to a count that one person changes by at most 1, it
is ε-differentially private (Ghosh, Roughgarden and Sundararajan, 2009).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.noise.digits import Words
from sfumato.mechanisms.noise.geometric import draw_geometric


def draw_laplace(epsilon: Fraction, count: int, source: Words) -> NDArray[np.int64]:
    """`count` independent draws that protect integers of sensitivity 1 with `epsilon`."""
    both = draw_geometric(epsilon, 2 * count, source)
    return both[:count] - both[count:]


def laplace_variance(epsilon: float) -> float:
    """2α / (1 − α)²."""
    return 2 * math.exp(-epsilon) / math.expm1(-epsilon) ** 2
