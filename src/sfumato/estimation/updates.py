"""The Bayesian update repeated: for many distributions at once, and as a solver, plain, extrapolated or smoothed.

Plain updates are expectation maximization. Each step gains likelihood, but ever less of it: at ε = 0.1, a hundred
values and a million reports, a gap of 1e−9 takes millions of steps. A number of steps that is given stops any solver
early, and the solution says what gap is left.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.estimation.solution import GAP, Solution, certified_gap, log_likelihood, next_shares, uniform
from sfumato.mechanisms.channels.base import Channel, Floats
from sfumato.mechanisms.channels.kernel import Kernel, Weights, gains_into

Done = Callable[[NDArray[np.intp], Floats, Floats], NDArray[np.bool_]]

MAX_GAP = 700.0
MARGIN = 1e-3
MIN_FALL = 0.01
"""A stride lowers no share to less than this part of itself, because from zero none comes back."""
STANDSTILL = 1e-10
"""Smoothed steps end where one moves less than this part of the people."""


def em(channel: Channel, observed: Floats, *, gap: float = GAP, steps: int = 1_000_000) -> Solution:
    """Updates until the gap is reached, or until there were so many steps."""
    shares = uniform(channel)
    # A little less, because the solution's gap is rounded once more.
    most = math.exp(min(gap, MAX_GAP) * (1 - MARGIN))
    if isinstance(channel, Kernel):
        shares, taken = kernel_steps(observed, shares, channel.weights, most, steps)
    else:
        found, _, taken = update_rows(
            channel, observed[None], shares[None], lambda _, __, gains: gains.max(axis=1) <= most, steps
        )
        shares = found[0]
    return Solution.at(channel, observed, shares, gap=gap, steps=taken)


def update_rows(
    channel: Channel, observed: Floats, start: Floats, done: Done, steps: int
) -> tuple[Floats, NDArray[np.intp], int]:
    """Updates of each row of distributions until it is done, or until there were so many steps.

    `done` is told which rows are left, their shares and the gains of their next update. What comes back are all rows,
    which of them are not done, and how many steps were taken.
    """
    found, left = start.copy(), np.arange(len(start))
    for taken in range(steps):
        gains = channel.gains(found[left], observed[left])
        going = ~done(left, found[left], gains)
        left, gains = left[going], gains[going]
        if not len(left):
            return found, left, taken
        updated = found[left] * gains
        found[left] = updated / updated.sum(axis=1, keepdims=True)
    return found, left, steps


@compiled
def kernel_steps(
    observed: np.ndarray, start: np.ndarray, weights: Weights, most: float, steps: int
) -> tuple[np.ndarray, int]:
    """The same for a kernel channel, in one loop."""
    shares = start.copy()
    gain, room = np.empty_like(start), np.empty_like(start)
    for taken in range(steps):
        gains_into(gain, room, shares, observed, weights)
        if gain.max() <= most:
            return shares, taken
        shares *= gain
        shares /= shares.sum()
    return shares, steps


def squarem(channel: Channel, observed: Floats, *, gap: float = GAP, steps: int = 30_000) -> Solution:
    """Strides of three updates each (Varadhan and Roland, 2008), until the gap is reached or there were so many."""
    shares, taken = uniform(channel), 0
    while taken + 3 <= steps and certified_gap(channel, observed, shares) > gap:
        shares = stride(channel, observed, shares)
        taken += 3
    return Solution.at(channel, observed, shares, gap=gap, steps=taken)


def stride(channel: Channel, observed: Floats, shares: Floats) -> Floats:
    """Two updates show where the next ones would go: as far that way as is at least as likely as the two alone."""
    once = next_shares(channel, observed, shares)
    twice = next_shares(channel, observed, once)
    change = once - shares
    bend = twice - once - change
    curvature = math.sqrt(bend @ bend)
    if not curvature:
        return twice
    length = max(1.0, math.sqrt(change @ change) / curvature)
    ahead = np.maximum(shares + 2 * length * change + length**2 * bend, MIN_FALL * twice)
    further = next_shares(channel, observed, ahead / ahead.sum())
    better = log_likelihood(channel, observed, further) >= log_likelihood(channel, observed, twice)
    return further if better else twice


def smooth(channel: Channel, observed: Floats, *, gap: float = GAP, steps: int = 10_000) -> Solution:
    """Smoothed updates until they come to rest, or until there were so many.

    This is EMS (Silverman, Jones, Wilson and Nychka, 1990; for local reports Li et al., 2020): a choice for smooth
    distributions under strong noise, not the most likely distribution. Its solution says how far from that it is.
    """
    shares, taken = uniform(channel), 0
    for taken in range(1, steps + 1):  # noqa: B007 the number of steps is part of the solution
        before, shares = shares, average_neighbours(next_shares(channel, observed, shares))
        if np.abs(shares - before).sum() < 2 * STANDSTILL:
            break
    return Solution.at(channel, observed, shares, gap=gap, steps=taken)


def average_neighbours(shares: Floats) -> Floats:
    """Every share averaged with its neighbours, (1, 2, 1)/4; what would leave an end of the axis stays there."""
    padded = np.concatenate([shares[:1], shares, shares[-1:]])
    return np.asarray((padded[:-2] + 2 * shares + padded[2:]) / 4)
