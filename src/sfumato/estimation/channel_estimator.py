"""Undoing local noise: from counts of published values to estimates of the true ones.

Where sensitive values were randomized, everything is counted as published, and what comes out is passed through here:
counts in regions for those who ask, beliefs about people for those who look them up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.channels import Channel
from sfumato.privacy.distances import shares

Floats = NDArray[np.float64]
Way = Callable[[Floats], Floats]

MOST_UPDATES = 300
HALVINGS = 30
WEIGHTS = (0.5, 4.0, 32.0, 256.0)
"""How many rows the belief that a group is like everybody may weigh."""
WEIGHED_UPDATES = 30
TRIED_ROWS = 3_000


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
        """The estimated counts of true values in each region: (regions, values).

        A region is taken to be like everybody, as far as its published values do not contradict that; one more update
        makes use of the rest of what they say.
        """
        counts = np.maximum(published, 0)
        found = self.channel.update(self._explaining(counts), shares(counts))
        return np.asarray(found * counts.sum(axis=1, keepdims=True))

    def beliefs(self, published: Floats) -> Floats:
        """What to believe about a person in each group of rows that look alike: (groups, values).

        The other rows of the group say what to expect of the person, and then the person's own row says more: Bayes'
        rule, exact for a person who is alone. There are several ways to expect something from other rows. The one
        that foretells left-out rows of the release best is used, for all groups alike.
        """
        groups = np.maximum(published, 0)
        rows = groups.sum(axis=1, keepdims=True)
        others = groups * np.maximum(rows - 1, 0) / np.maximum(rows, 1)
        expected = self._best_way(groups)(others)
        return shares(self.channel.update(expected, shares(groups)))

    def _best_way(self, groups: Floats) -> Way:
        """How to expect something of a row from others: the mean log probability of left-out rows decides.

        Another way than to take everybody for alike must be better by more than two standard errors.
        """
        ways: list[Way] = [self._alike, self._explaining]
        ways += [partial(self._weighed, weight=weight) for weight in WEIGHTS]
        several = groups[groups.sum(axis=1) >= 2]
        if not len(several):
            return self._alike
        upto = np.cumsum(several)
        tried = np.searchsorted(upto, (np.arange(TRIED_ROWS) + 0.5) / TRIED_ROWS * upto[-1], side="right")
        group, value = np.divmod(tried, self.channel.size)
        others, row = several[group], np.arange(TRIED_ROWS)
        others[row, value] = np.maximum(others[row, value] - 1, 0)
        logs = np.log([self.channel.spread(way(others))[row, value] for way in ways])
        better = logs - logs[0]
        sure = better.mean(axis=1) > 2 * better.std(axis=1) / np.sqrt(TRIED_ROWS)
        return ways[int(np.argmax(np.where(sure, better.mean(axis=1), 0.0)))]

    def _alike(self, counts: Floats) -> Floats:
        return np.tile(self.overall, (len(counts), 1))

    def _weighed(self, counts: Floats, weight: float) -> Floats:
        """Updates towards the likeliest distribution, of which everybody's is a part that weighs so many rows."""
        found, reported, rows = self._alike(counts), shares(counts), counts.sum(axis=1, keepdims=True)
        for _ in range(WEIGHED_UPDATES):
            found = (rows * self.channel.update(found, reported) + weight * self.overall) / (rows + weight)
        return found

    def _explaining(self, counts: Floats, start: Floats | None = None) -> Floats:
        """Bayesian updates of everybody's distribution until it explains the counts as well as the truth would.

        Twice the log likelihood ratio of the best explanation and the truth is on average the number of values less
        one. Here it is at most 2N Σ q ln(q / pG), since nothing explains more than everything, and at most
        2N ln max g with g = G(q / pG), by which an update multiplies p.
        """
        found = self._alike(counts) if start is None else start
        reported, rows = shares(counts), counts.sum(axis=1)
        left = np.flatnonzero(rows > 0)
        for _ in range(MOST_UPDATES):
            gains = self.channel.gains(found[left], reported[left])
            least = np.minimum(self._unexplained(found[left], reported[left]), np.log(gains.max(axis=1)))
            contradicted = 2 * rows[left] * least > self.channel.size - 1
            left, gains = left[contradicted], gains[contradicted]
            if not len(left):
                return found
            found[left] *= gains
        found[left] = self._nearer(found[left], reported[left], (self.channel.size - 1) / (2 * rows[left]))
        return found

    def _unexplained(self, shares: Floats, reported: Floats) -> Floats:
        """Σ q ln(q / pG) for each row."""
        ratio = np.divide(reported, self.channel.spread(shares), where=reported > 0, out=np.ones_like(reported))
        return np.asarray((reported * np.log(ratio)).sum(axis=1))

    def _nearer(self, found: Floats, reported: Floats, enough: Floats) -> Floats:
        """Where updates are slow: towards the distribution that explains the counts exactly, negative shares cut off.

        The likelihood is concave on the way there, so halving finds the first point that explains enough; where even
        the end does not, whichever end explains more is taken.
        """
        exact = shares(np.maximum(self.channel.invert(reported), 0))
        low, high = np.zeros((len(found), 1)), np.ones((len(found), 1))
        high[self._unexplained(exact, reported) > self._unexplained(found, reported)] = 0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            explains = self._unexplained(found + middle * (exact - found), reported) <= enough
            high = np.where(explains[:, None], middle, high)
            low = np.where(explains[:, None], low, middle)
        return found + high * (exact - found)
