"""Expectation maximization, extrapolated (SQUAREM: Varadhan and Roland, 2008): for channels without fast equations.

Two updates show where the next ones would go; a longer stride that way is kept only if it is at least as likely as
the two updates alone, so the log likelihood never falls.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sfumato.local.reconstruct.solution import GAP, Solution, check_start
from sfumato.local.reconstruct.update import certified_gap, log_likelihood, update

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.privacy.channels import Channel

    Floats = NDArray[np.float64]

STEPS = 30_000
DEEPEST_FALL = 0.01
"""A stride lowers no share to less than this part of itself, because from zero none comes back."""


def squarem(
    channel: Channel, observed: Floats, *, gap: float = GAP, steps: int = STEPS, start: Floats | None = None
) -> Solution:
    """Strides of three updates each, until the gap is reached or there were so many updates."""
    shares, taken = check_start(channel, start), 0
    while taken + 3 <= steps and certified_gap(channel, observed, shares) > gap:
        shares = stride(channel, observed, shares)
        taken += 3
    return Solution.at(channel, observed, shares, gap=gap, steps=taken, solver="squarem")


def stride(channel: Channel, observed: Floats, shares: Floats) -> Floats:
    """At least two updates, at most as far as they point."""
    once = update(channel, observed, shares)
    twice = update(channel, observed, once)
    change = once - shares
    bend = twice - once - change
    curvature = math.sqrt(bend @ bend)
    if not curvature:
        return twice
    length = max(1.0, math.sqrt(change @ change) / curvature)
    ahead = np.maximum(shares + 2 * length * change + length**2 * bend, DEEPEST_FALL * twice)
    further = update(channel, observed, ahead / ahead.sum())
    better = log_likelihood(channel, observed, further) >= log_likelihood(channel, observed, twice)
    return further if better else twice
