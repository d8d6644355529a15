"""Undoing local noise: from counts of published values to estimates of the true ones.

Where sensitive values were randomized, everything is counted as published, and what comes out is passed through here.
The recipient of a release and its adversary use the same estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sfumato.privacy.distances import shares

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.privacy.channels import Channel

    Floats = NDArray[np.float64]

MOST_UPDATES = 300


@dataclass(frozen=True, eq=False)
class Undoing:
    """Estimates of true values from published ones, given the channel and all published counts together.

    Who knows how the true values of everybody are distributed says so in `known`.
    """

    channel: Channel
    published: Floats
    known: Floats | None = None

    @cached_property
    def overall(self) -> Floats:
        """The distribution of true values among everybody: the flattest that the published ones do not contradict."""
        if self.known is not None:
            return self.known
        uniform = np.full((1, self.channel.size), 1 / self.channel.size)
        return np.asarray(self._explaining(self.published[None], uniform)[0])

    def counts(self, published: Floats) -> Floats:
        """The estimated counts of true values in each group of rows: (groups, values).

        A group is believed to be like everybody, as far as its published values do not contradict that. From there,
        one Bayesian update makes use of what its very rows report: for a single row this is the posterior given its
        report, for a large group it stays with the group's own distribution.
        """
        counts = np.maximum(published, 0)
        belief = self._explaining(counts, np.tile(self.overall, (len(counts), 1)))
        return np.asarray(self.channel.update(belief, shares(counts)) * counts.sum(axis=1, keepdims=True))

    def _explaining(self, counts: Floats, start: Floats) -> Floats:
        """Bayesian updates of each start until it explains its counts as well as the truth would on average.

        Twice the log likelihood ratio of the best explanation and the truth is on average the number of values less
        one. Here it is at most 2N Σ q ln(q / pG), since nothing explains more than everything, and at most
        2N ln max g with g = G(q / pG), by which an update multiplies p.
        """
        found, reported, rows = start.copy(), shares(counts), counts.sum(axis=1)
        left = np.flatnonzero(rows > 0)
        for _ in range(MOST_UPDATES):
            seen, gains = reported[left], self.channel.gains(found[left], reported[left])
            ratio = np.divide(seen, self.channel.spread(found[left]), where=seen > 0, out=np.ones_like(seen))
            unexplained = np.minimum((seen * np.log(ratio)).sum(axis=1), np.log(gains.max(axis=1)))
            contradicted = 2 * rows[left] * unexplained > self.channel.size - 1
            left, gains = left[contradicted], gains[contradicted]
            if not len(left):
                break
            found[left] *= gains
        return found
