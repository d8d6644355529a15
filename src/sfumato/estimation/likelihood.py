"""The most likely distribution, by the fastest solver that a channel has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.estimation.closed_forms import filling
from sfumato.estimation.equations import equations
from sfumato.estimation.newton import newton
from sfumato.estimation.solution import GAP, Solution
from sfumato.estimation.updates import squarem
from sfumato.mechanisms.channels import Channel, RandomizedResponse

Floats = NDArray[np.float64]


def likelihood(channel: Channel, observed: Floats, *, gap: float = GAP, steps: int | None = None) -> Solution:
    """The most likely distribution of values behind the observed shares of reports."""
    if isinstance(channel, RandomizedResponse):
        return filling(channel, observed, gap=gap)
    limit = {} if steps is None else {"steps": steps}
    linear = equations(channel)
    if linear is None:
        return squarem(channel, observed, gap=gap, **limit)
    return newton(channel, observed, linear, gap=gap, **limit)
