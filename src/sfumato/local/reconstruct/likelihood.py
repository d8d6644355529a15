"""The most likely distribution, by the fastest solver that a channel has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.local.reconstruct.equations import LONGEST_DENSE
from sfumato.local.reconstruct.filling import filling
from sfumato.local.reconstruct.newton import STEPS as NEWTON_STEPS
from sfumato.local.reconstruct.newton import newton
from sfumato.local.reconstruct.solution import GAP, Solution
from sfumato.local.reconstruct.squarem import STEPS as SQUAREM_STEPS
from sfumato.local.reconstruct.squarem import squarem
from sfumato.privacy.channels import RandomizedResponse
from sfumato.privacy.channels.kernel import Kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sfumato.privacy.channels import Channel

    Floats = NDArray[np.float64]


def likelihood(channel: Channel, observed: Floats, *, gap: float = GAP, steps: int | None = None) -> Solution:
    """The most likely distribution of values behind the observed shares of reports."""
    if isinstance(channel, RandomizedResponse):
        return filling(channel, observed, gap=gap)
    if isinstance(channel, Kernel) or channel.size <= LONGEST_DENSE:
        return newton(channel, observed, gap=gap, steps=NEWTON_STEPS if steps is None else steps)
    return squarem(channel, observed, gap=gap, steps=SQUAREM_STEPS if steps is None else steps)
