"""Whether reports can have come through a channel at all: no, if even the likeliest distribution hardly explains them.

A client that forgot the noise, or added less of it, shows where answers are heaped or missing. What is as smooth as
the channel makes it cannot be told from reports of other people: a fit is no proof.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sfumato.estimation.solution import Solution

FALSE_ALARM = 1e-9
"""How probable it is at most that reports which came through the channel are said not to fit."""


def fits(counts: NDArray[np.int64], found: Solution) -> bool:
    """Whether N·KL(q, pG) can be chance, for the best distribution p of values.

    It is smallest for the likeliest p, so with the true one it is at least as large; a solution is off by its gap.
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
