"""The most likely distribution, by the fastest solver that a channel has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.local.reconstruct.closed_forms import filling
from sfumato.local.reconstruct.equations import equations
from sfumato.local.reconstruct.newton import newton
from sfumato.local.reconstruct.solution import GAP, Solution
from sfumato.local.reconstruct.updates import squarem
from sfumato.privacy.channels import RandomizedResponse

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sfumato.privacy.channels import Channel

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
