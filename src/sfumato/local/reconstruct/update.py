"""One step of the iterative Bayesian update, and how far its result is from the most likely distribution.

An update is the expectation maximization step of paper kacem2018, Definition 4.1: p ← p · G(q / pG), for the observed
shares q of the reports. It never lowers the log likelihood, costs two passes over the axis, and works for any channel.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sfumato.privacy.channels.base import SMALLEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.privacy.channels import Channel

    Floats = NDArray[np.float64]


def update(channel: Channel, observed: Floats, shares: Floats) -> Floats:
    """p · G(q / pG), which sums to 1 again."""
    updated = channel.update(shares, observed)
    return np.asarray(updated / updated.sum())


def log_likelihood(channel: Channel, observed: Floats, shares: Floats) -> float:
    """Σ_j q_j ln (pG)_j, per report; −∞ where a report that occurred is impossible."""
    seen = observed > 0
    expected = channel.spread(shares)[seen]
    return float(observed[seen] @ np.log(expected)) if expected.min() > 0 else -math.inf


def certified_gap(channel: Channel, observed: Floats, shares: Floats) -> float:
    """How far the log likelihood per report of a distribution p can be below the largest: ln max g, g = G(q / pG).

    For any distribution r, by Jensen's inequality for the logarithm,
      Σ_j q_j ln (rG)_j − Σ_j q_j ln (pG)_j = Σ_j q_j ln ((rG)_j / (pG)_j) ≤ ln Σ_j q_j (rG)_j / (pG)_j
      = ln Σ_i r_i g_i ≤ ln max_i g_i,   because Σ_j q_j (rG)_j / (pG)_j = Σ_i r_i Σ_j G_ij q_j / (pG)_j.
    It is 0 for the most likely distribution itself, where no gain is above 1.
    """
    expected = channel.spread(shares)
    if shares.min() < 0 or expected[observed > 0].min() < SMALLEST:
        return math.inf
    return max(0.0, math.log(channel.gains(shares, observed).max()))
