"""The most likely distribution, by the fastest solver that a channel has: a closed form, or an interior-point method.

The latter takes about ten steps. Maximize Σ q_j ln w_j − Σ p_i over p ≥ 0 and w = pG (the best p sums to 1). With duals
y of w and z of p, the optimum is where w = pG, Gy + z = 1, y_j w_j = q_j and p_i z_i = 0. The first two are linear, so
they hold from the start on, and only the products are driven to their targets, by predictor and corrector (Mehrotra,
1992).
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from sfumato.estimation.equations import Equations, Solve, equations
from sfumato.estimation.solution import GAP, Solution, next_shares, uniform
from sfumato.estimation.updates import squarem
from sfumato.mechanisms.channels.base import MIN_EXPECTED, Channel, Floats
from sfumato.mechanisms.channels.window import RandomizedResponse

PATIENCE = 15
"""So many steps without a smaller gap mean that floating point allows no smaller one."""
MARGIN = 0.995
"""How much of the way to the boundary a step may go."""


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


def newton(channel: Channel, observed: Floats, linear: Equations, *, gap: float = GAP, steps: int = 100) -> Solution:
    """The most likely distribution of values behind the observed shares of reports, by the channel's equations."""
    point = Point.first(channel, observed)
    best, taken = point, 0
    # A step that floating point cannot carry out shows as an infinite gap, and the best point so far stands.
    with np.errstate(all="ignore"):
        while best.gap > gap and math.isfinite(point.gap) and taken < steps and taken - best.step < PATIENCE:
            try:
                solve = linear.factor(point.duals / point.expected, point.slacks / point.shares)
            except np.linalg.LinAlgError:
                break
            point = point.move(solve)
            taken += 1
            if point.gap < best.gap:
                best = point
    return Solution.at(channel, observed, best.shares / best.shares.sum(), gap=gap, steps=taken)


class Direction(NamedTuple):
    """Where a step goes: p, y and z, and what pG changes by."""

    shares: Floats
    duals: Floats
    slacks: Floats
    expected: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Point:
    """Shares p, w = pG, and duals y and z, all positive (y is 0 where q is)."""

    channel: Channel
    observed: Floats
    shares: Floats
    duals: Floats
    slacks: Floats
    step: int = 0

    @classmethod
    def first(cls, channel: Channel, observed: Floats) -> Self:
        """Halfway between the uniform distribution and its update, with duals that are half of what is feasible."""
        start = uniform(channel)
        shares = (start + next_shares(channel, observed, start)) / 2
        duals = observed / np.maximum(channel.spread(shares), MIN_EXPECTED)
        gathered = channel.gather(duals)
        half = 2 * gathered.max()
        return cls(channel=channel, observed=observed, shares=shares, duals=duals / half, slacks=1 - gathered / half)

    @cached_property
    def expected(self) -> Floats:
        return np.maximum(self.channel.spread(self.shares), MIN_EXPECTED)

    @cached_property
    def gap(self) -> float:
        """The certified gap of the shares scaled to sum to 1; infinite once they are no numbers."""
        most = float(self.channel.gather(self.observed / self.expected).max() * self.shares.sum())
        return math.log(most) if 0 < most < math.inf else math.inf

    def move(self, solve: Solve) -> Self:
        """The next point: a step that looks how far the products can fall, then one that takes its curvature along."""
        nothing = np.zeros_like(self.shares)
        ahead = self._direction(solve, self.observed, nothing)
        wide, high = self._room(ahead)
        product = self.shares @ self.slacks
        left = (self.shares + wide * ahead.shares) @ (self.slacks + high * ahead.slacks)
        centre = (left / product) ** 3 * product / len(nothing)
        step = self._direction(
            solve, self.observed - ahead.duals * ahead.expected, centre - ahead.shares * ahead.slacks
        )
        wide, high = self._room(step, MARGIN)
        return replace(
            self,
            shares=self.shares + wide * step.shares,
            duals=self.duals + high * step.duals,
            slacks=self.slacks + high * step.slacks,
            step=self.step + 1,
        )

    def _direction(self, solve: Solve, products: Floats, barriers: Floats) -> Direction:
        """Towards y w = products and p z = barriers, as far as that is linear."""
        expected = self.expected
        shares = solve(products / expected, barriers / self.shares)
        spread = self.channel.spread(shares)
        duals = (products - self.duals * spread) / expected - self.duals
        return Direction(shares=shares, duals=duals, slacks=-self.channel.gather(duals), expected=spread)

    def _room(self, ahead: Direction, margin: float = 1.0) -> tuple[float, float]:
        """How much of a step keeps shares positive, and how much keeps duals and slacks positive; at most all of it."""
        shares = _steepest(self.shares, ahead.shares)
        duals = max(_steepest(self.duals, ahead.duals), _steepest(self.slacks, ahead.slacks))
        return margin / max(shares, margin), margin / max(duals, margin)


def _steepest(amounts: Floats, changes: Floats) -> float:
    """By how much of itself the amount falls that falls most."""
    return float(np.divide(-changes, amounts, out=np.zeros_like(amounts), where=amounts > 0).max())
