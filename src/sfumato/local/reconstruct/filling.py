"""The most likely distribution under randomized response, in closed form.

(pG)_j = far + (near − far) p_j, so Σ q_j ln (p_j + c) is to be maximized, with c = far/(near − far) = 1/(e^ε − 1).
The best shares are p_j = max(0, q_j / λ − c): water is filled up to a level, and the largest q_j stay above it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sfumato.local.reconstruct.solution import GAP, Solution

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.privacy.channels import RandomizedResponse

    Floats = NDArray[np.float64]


def filling(channel: RandomizedResponse, observed: Floats, *, gap: float = GAP) -> Solution:
    """The most likely distribution of values behind the observed shares of reports."""
    fade = float(-channel.exact_epsilon)
    offset = math.exp(fade) / -math.expm1(fade)
    falling = np.sort(observed)[::-1]
    # With the k largest shares of reports above the level, 1 = Σ (q_j / λ − c) over those k.
    levels = np.cumsum(falling) / (1 + offset * np.arange(1, channel.size + 1))
    above = int(np.flatnonzero(falling > offset * levels)[-1])
    shares = np.maximum(0.0, observed / levels[above] - offset)
    return Solution.at(channel, observed, shares / shares.sum(), gap=gap, steps=1, solver="filling")
