"""The most likely distribution, by the fastest solver that a channel has."""

import math

import numpy as np
from numpy.typing import NDArray

from sfumato.estimation.equations import equations
from sfumato.estimation.newton import newton
from sfumato.estimation.solution import GAP, Solution
from sfumato.estimation.updates import squarem
from sfumato.mechanisms.channels import Channel, RandomizedResponse

Floats = NDArray[np.float64]


def likelihood(channel: Channel, observed: Floats, *, gap: float = GAP, steps: int | None = None) -> Solution:
    """The most likely distribution of values behind the observed shares of reports."""
    if isinstance(channel, RandomizedResponse):
        return fill_water(channel, observed, gap=gap)
    limit = {} if steps is None else {"steps": steps}
    linear = equations(channel)
    if linear is None:
        return squarem(channel, observed, gap=gap, **limit)
    return newton(channel, observed, linear, gap=gap, **limit)


def fill_water(channel: RandomizedResponse, observed: Floats, *, gap: float = GAP) -> Solution:
    """The most likely distribution: water is filled up to a level, and the largest q_j stay above it.

    (pG)_j = far + (near − far) p_j, so Σ q_j ln (p_j + c) is to be maximized, with c = far/(near − far) = 1/(e^ε − 1).
    The best shares are p_j = max(0, q_j / λ − c). With the k largest q_j above the level, their p_j sum to 1, so
    p_j = (q_j − c Σ (q_i − q_j)) / Σ q_i over those k; written so, no digits are lost however small ε is.
    """
    fade, rest = math.exp(-channel.exact_epsilon), -math.expm1(-channel.exact_epsilon)
    falling = np.sort(observed)[::-1]
    # Σ (q_i − q_k) over the k largest, for every k.
    excess = np.concatenate([[0.0], np.cumsum(np.arange(1, channel.size) * -np.diff(falling))])
    last = int(np.flatnonzero(rest * falling > fade * excess)[-1])
    over = observed - falling[last]
    shares = np.where(over >= 0, rest * observed + fade * ((last + 1) * over - excess[last]), 0.0)
    return Solution.at(channel, observed, shares / shares.sum(), gap=gap, steps=1)
