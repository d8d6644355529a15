"""What a solver hands back: a distribution of values, and how close to the most likely one it is known to be.

Solvers build on the iterative Bayesian update (paper kacem2018, Definition 4.1): p ← p · G(q / pG), for the observed
shares q of the reports. It never lowers the log likelihood, costs two passes over the axis, and works for any channel.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.channels.base import MIN_EXPECTED, Channel, Floats

GAP = 1e-9
"""The gap that solvers aim at: with a million reports, the likelihood is then within a tenth of a percent."""
FALSE_ALARM = 1e-9
"""How probable it is at most that reports which came through the channel are said not to fit."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Solution:
    """Shares of the values, as some solver found them.

    `gap` bounds by how much a report is on average more likely (in logarithms) under the best distribution; `reached`
    says whether that is as little as was asked for. Both are computed from the shares, whatever the solver believes.
    """

    shares: Floats
    gap: float
    reached: bool
    steps: int
    log_likelihood: float

    @classmethod
    def at(cls, channel: Channel, observed: Floats, shares: Floats, *, gap: float, steps: int) -> Self:
        """The solution with these shares, measured against the gap that was asked for."""
        found = certified_gap(channel, observed, shares)
        return cls(
            shares=shares,
            gap=found,
            reached=found <= gap,
            steps=steps,
            log_likelihood=log_likelihood(channel, observed, shares),
        )


def uniform(channel: Channel) -> Floats:
    """Where solvers begin: every value is possible, because a share of zero would stay zero."""
    return np.full(channel.size, 1 / channel.size)


def next_shares(channel: Channel, observed: Floats, shares: Floats) -> Floats:
    """One Bayesian update of the channel, whose rounding is scaled away: a distribution again."""
    updated = channel.update(shares, observed)
    return np.asarray(updated / updated.sum())


def log_likelihood(channel: Channel, observed: Floats, shares: Floats) -> float:
    """Σ_j q_j ln (pG)_j, per report; −∞ where a report that occurred is impossible."""
    from scipy.special import xlogy  # loading it would slow down every start

    return float(xlogy(observed, np.maximum(channel.spread(shares), 0.0)).sum())


def unexplained(channel: Channel, observed: Floats, shares: Floats) -> Floats:
    """Σ_j q_j ln (q_j / (pG)_j) along the last axis: what no distribution of reports at all could explain better."""
    from scipy.special import rel_entr  # loading it would slow down every start

    return np.asarray(rel_entr(observed, channel.spread(shares)).sum(axis=-1))


def certified_gap(channel: Channel, observed: Floats, shares: Floats) -> float:
    """How far the log likelihood per report of a distribution p can be below the largest: ln max g, g = G(q / pG).

    For any distribution r, by Jensen's inequality for the logarithm,
      Σ_j q_j ln (rG)_j − Σ_j q_j ln (pG)_j = Σ_j q_j ln ((rG)_j / (pG)_j) ≤ ln Σ_j q_j (rG)_j / (pG)_j
      = ln Σ_i r_i g_i ≤ ln max_i g_i,   because Σ_j q_j (rG)_j / (pG)_j = Σ_i r_i Σ_j G_ij q_j / (pG)_j.
    It is 0 for the most likely distribution itself, where no gain is above 1.
    """
    expected = channel.spread(shares)
    if shares.min() < 0 or expected[observed > 0].min() < MIN_EXPECTED:
        return math.inf
    return max(0.0, math.log(channel.gains(shares, observed).max()))


def fits(counts: NDArray[np.int64], found: Solution) -> bool:
    """Whether N·KL(q, pG) can be chance, for the best distribution p of values.

    It is smallest for the likeliest p, so with the true one it is at least as large; a solution is off by its gap. A
    client that forgot the noise, or added less of it, shows where answers are heaped or missing. What is as smooth as
    the channel makes it cannot be told from reports of other people: a fit is no proof.
    """
    reports = int(counts.sum())
    seen = counts[counts > 0] / reports
    if not math.isfinite(found.gap):
        return True
    lost = float(seen @ np.log(seen)) - found.log_likelihood - found.gap
    return chance_at_most(reports * lost, len(counts) - 1) > FALSE_ALARM


def chance_at_most(divergence: float, free: int) -> float:
    """How probable N·KL(q, true q) of at least `divergence` is at most, for `free` + 1 different reports.

    e^(−t) (e t / d)^d for t above d, whatever the number of reports and their distribution (Agrawal, 2020). That is a
    bound, not an approximation: t is about d/2 usually, and shares of few reports make a χ² test cry wolf.
    """
    if not 0 < free < divergence:
        return 1.0
    return math.exp(free - divergence + free * math.log(divergence / free))
