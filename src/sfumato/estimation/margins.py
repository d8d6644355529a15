"""From the noisy margin of one attribute to how rows lie along its axis.

The noisy counts y_k of K steps, made to add up to n and then moved to the nearest p_k of zero or more, are believed as
far as they are no noise (the positive-part James–Stein estimate), as in `Content.beliefs_of`:
  x_k = e_k + w (p_k − e_k),  w = 1 − (K − 1) σ² / D,  D = Σ (y_k − e_k)²,
where e_k spreads n evenly over the positions. By noise alone D is (K − 1) σ², give or take √(5/K) of it, since the
fourth moment of Laplace noise is 6 σ⁴; unless D is clearly more, w is 0 and nothing is told.
"""

import numpy as np

from sfumato.estimation.consistency import histograms_with_totals
from sfumato.estimation.shape import Floats, Integers

CLEARLY = 3.0
"""Standard deviations of D above its mean under noise alone."""
LEAST = 0.001
"""The part of all rows that is spread evenly whatever the counts say, so that no position is left without any."""


def shares_of_margin(counts: Integers, widths: Integers, variance: float, total: float) -> Floats | None:
    """The share of rows in each step; `None` where noise alone could have made the counts.

    `counts` are those of steps that are so many positions wide, with noise of a known variance; `total` is the best
    that is known of their sum.
    """
    total, steps = max(total, 1.0), len(counts)
    even = total * widths / widths.sum()
    agreed = counts + (total - counts.sum()) * widths / widths.sum()
    distance, noise = float(((agreed - even) ** 2).sum()), (steps - 1) * variance
    if distance <= noise * (1 + CLEARLY * np.sqrt(5 / steps)):
        return None
    nearest = histograms_with_totals(agreed[None], np.array([total]))[0]
    believed = (1 - LEAST) * (1 - noise / distance)
    return np.asarray((even + believed * (nearest - even)) / total)
