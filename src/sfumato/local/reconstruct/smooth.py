"""Expectation maximization with smoothing: after each update a share is averaged with its neighbours (1, 2, 1)/4.

This is EMS (Silverman, Jones, Wilson and Nychka, 1990; for local reports Li et al., 2020): a choice for smooth
distributions under strong noise, not the most likely distribution. Its solution says how far from that it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.local.reconstruct.solution import GAP, Solution, check_start
from sfumato.local.reconstruct.update import update

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.privacy.channels import Channel

    Floats = NDArray[np.float64]

STEPS = 10_000
STANDSTILL = 1e-10
"""Steps end where one moves less than this part of the people."""


def smooth(
    channel: Channel, observed: Floats, *, gap: float = GAP, steps: int = STEPS, start: Floats | None = None
) -> Solution:
    """Smoothed updates until they come to rest, or until there were so many."""
    shares, taken = check_start(channel, start), 0
    for taken in range(1, steps + 1):  # noqa: B007 the number of steps is part of the solution
        before, shares = shares, smoothed(update(channel, observed, shares))
        if np.abs(shares - before).sum() < 2 * STANDSTILL:
            break
    return Solution.at(channel, observed, shares, gap=gap, steps=taken, solver="smooth")


def smoothed(shares: Floats) -> Floats:
    """Every share averaged with its neighbours; what would leave an end of the axis stays there."""
    padded = np.concatenate([shares[:1], shares, shares[-1:]])
    return np.asarray((padded[:-2] + 2 * shares + padded[2:]) / 4)
