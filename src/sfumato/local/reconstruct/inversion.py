"""The unbiased estimate: the reports' distribution with the channel undone, p = qG⁻¹.

Shares may be negative. Where none is, it is also the most likely distribution (paper kacem2018, Proposition 4.5):
then pG = q, and no distribution of reports makes q more likely than q itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.local.reconstruct.solution import GAP, Solution

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sfumato.privacy.channels import Channel

    Floats = NDArray[np.float64]

ROUNDING = 1e-9


def inversion(channel: Channel, observed: Floats, *, gap: float = GAP) -> Solution:
    """qG⁻¹; its gap is infinite if it is not a distribution."""
    shares = channel.invert(observed)
    return Solution.at(channel, observed, shares, gap=gap, steps=0, solver="inversion")


def is_distribution(shares: Floats) -> bool:
    """Whether shares are those of people: none negative, and one in all."""
    return bool(shares.min() >= 0 and abs(shares.sum() - 1) <= ROUNDING)
