"""Expectation maximization: the iterative Bayesian update, repeated.

Each step gains likelihood, but ever less of it: at ε = 0.1, a hundred values and a million reports, a gap of 1e−9
takes millions of steps. A number of steps that is given stops it early, and the solution says what gap is left.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sfumato.compiled import compiled
from sfumato.local.reconstruct.solution import GAP, Solution, check_start
from sfumato.privacy.channels.kernel import Kernel, gains_into

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.privacy.channels import Channel

    Floats = NDArray[np.float64]

STEPS = 1_000_000
LARGEST_GAP = 700.0
MARGIN = 1e-3


def em(
    channel: Channel, observed: Floats, *, gap: float = GAP, steps: int = STEPS, start: Floats | None = None
) -> Solution:
    """Updates until the gap is reached, or until there were so many steps."""
    shares = check_start(channel, start)
    # A little less, because the solution's gap is rounded once more.
    most = math.exp(min(gap, LARGEST_GAP) * (1 - MARGIN))
    if isinstance(channel, Kernel):
        shares, taken = kernel_steps(observed, shares, channel.decay, channel.scales, channel.spike, most, steps)
    else:
        shares, taken = _steps(channel, observed, shares, most, steps)
    return Solution.at(channel, observed, shares, gap=gap, steps=taken, solver="em")


def _steps(channel: Channel, observed: Floats, shares: Floats, most: float, steps: int) -> tuple[Floats, int]:
    """Updates until no gain is above `most`."""
    for taken in range(steps):
        gain = channel.gains(shares, observed)
        if gain.max() <= most:
            return shares, taken
        shares = shares * gain
        shares /= shares.sum()
    return shares, steps


@compiled
def kernel_steps(
    observed: np.ndarray,
    start: np.ndarray,
    decay: float,
    scales: np.ndarray,
    spike: float,
    most: float,
    steps: int,
) -> tuple[np.ndarray, int]:
    """The same for a kernel channel, in one loop."""
    shares = start.copy()
    gain, room = np.empty_like(start), np.empty_like(start)
    for taken in range(steps):
        gains_into(gain, room, shares, observed, scales, decay, spike)
        if gain.max() <= most:
            return shares, taken
        shares *= gain
        shares /= shares.sum()
    return shares, steps
