"""What a solver hands back: a distribution of values, and how close to the most likely one it is known to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from sfumato.errors import ParameterError
from sfumato.local.reconstruct.update import certified_gap, log_likelihood

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.privacy.channels import Channel

    Floats = NDArray[np.float64]

GAP = 1e-9
"""The gap that solvers aim at: with a million reports, the likelihood is then within a tenth of a percent."""
LEAST_START = 1e-200


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
    solver: str
    log_likelihood: float

    @classmethod
    def at(cls, channel: Channel, observed: Floats, shares: Floats, *, gap: float, steps: int, solver: str) -> Self:
        """The solution with these shares, measured against the gap that was asked for."""
        found = certified_gap(channel, observed, shares)
        return cls(
            shares=shares,
            gap=found,
            reached=found <= gap,
            steps=steps,
            solver=solver,
            log_likelihood=log_likelihood(channel, observed, shares),
        )


def check_start(channel: Channel, start: Floats | None) -> Floats:
    """A distribution to start from: every value is possible, because a share of zero would stay zero."""
    if start is None:
        return np.full(channel.size, 1 / channel.size)
    shares = np.asarray(start, dtype=np.float64)
    if shares.shape != (channel.size,) or not (np.isfinite(shares).all() and shares.min() > 0):
        raise ParameterError(f"a start needs a share above 0 for each of the {channel.size} values; zeros stay zero")
    return np.asarray(np.maximum(shares / shares.sum(), LEAST_START))
