"""Undoing local noise in a release: from counts of published values to estimates of the true ones.

Where sensitive values were randomized, everything is counted as published, and what comes out is passed through here:
counts in regions for those who ask, beliefs about people for those who look them up.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from sfumato.estimation.solution import unexplained, uniform
from sfumato.estimation.unbiased import unbiased_shares
from sfumato.estimation.updates import update_rows
from sfumato.mechanisms.channels.base import Channel, Floats
from sfumato.privacy.distances import shares

Prior = Callable[[Floats], Floats]
"""What to expect of a person, from counts of other rows of the group."""

MAX_UPDATES = 300
HALVINGS = 30
PRIOR_WEIGHTS = (0.5, 4.0, 32.0, 256.0)
"""How many rows the belief that a group is like everybody may weigh."""
WEIGHTED_UPDATES = 30
HELD_OUT_ROWS = 3_000


@dataclass(frozen=True, eq=False)
class ChannelEstimator:
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
        return np.asarray(self._explain(self.published[None], uniform(self.channel)[None])[0])

    def counts(self, published: Floats) -> Floats:
        """The estimated counts of true values in each region: (regions, values).

        A region is taken to be like everybody, as far as its published values do not contradict that; one more update
        makes use of the rest of what they say.
        """
        counts = np.maximum(published, 0)
        found = self.channel.update(self._nearest(counts), shares(counts))
        return np.asarray(found * counts.sum(axis=1, keepdims=True))

    def beliefs(self, published: Floats) -> Floats:
        """What to believe about a person in each group of rows that look alike: (groups, values).

        The other rows of the group say what to expect of the person, and then the person's own row says more: Bayes'
        rule, exact for a person who is alone. There are several ways to expect something from other rows. The one
        that predicts held-out rows of the release best is used, for all groups alike.
        """
        groups = np.maximum(published, 0)
        rows = groups.sum(axis=1, keepdims=True)
        others = groups * np.maximum(rows - 1, 0) / np.maximum(rows, 1)
        expected = self._best_prior(groups)(others)
        return shares(self.channel.update(expected, shares(groups)))

    def _best_prior(self, groups: Floats) -> Prior:
        """The prior under which held-out rows have the largest mean log probability.

        Another one than that everybody is alike must be better by more than two standard errors.
        """
        priors: list[Prior] = [self._alike, self._nearest]
        priors += [partial(self._weighted, weight=weight) for weight in PRIOR_WEIGHTS]
        several = groups[groups.sum(axis=1) >= 2]
        if not len(several):
            return self._alike
        upto = np.cumsum(several)
        places = np.searchsorted(upto, (np.arange(HELD_OUT_ROWS) + 0.5) / HELD_OUT_ROWS * upto[-1], side="right")
        group, value = np.divmod(places, self.channel.size)
        others, row = several[group], np.arange(HELD_OUT_ROWS)
        others[row, value] = np.maximum(others[row, value] - 1, 0)
        logs = np.log([self.channel.spread(prior(others))[row, value] for prior in priors])
        better = logs - logs[0]
        sure = better.mean(axis=1) > 2 * better.std(axis=1) / np.sqrt(HELD_OUT_ROWS)
        return priors[int(np.argmax(np.where(sure, better.mean(axis=1), 0.0)))]

    def _alike(self, counts: Floats) -> Floats:
        """Everybody's distribution."""
        return np.tile(self.overall, (len(counts), 1))

    def _nearest(self, counts: Floats) -> Floats:
        """Everybody's distribution, changed as little as explains the counts."""
        return self._explain(counts, self._alike(counts))

    def _weighted(self, counts: Floats, weight: float) -> Floats:
        """Updates towards the likeliest distribution, of which everybody's is a part that weighs so many rows."""
        found, reported, rows = self._alike(counts), shares(counts), counts.sum(axis=1, keepdims=True)
        for _ in range(WEIGHTED_UPDATES):
            found = (rows * self.channel.update(found, reported) + weight * self.overall) / (rows + weight)
        return found

    def _explain(self, counts: Floats, start: Floats) -> Floats:
        """Bayesian updates until a distribution explains the counts as well as the truth would.

        Twice the log likelihood ratio of the best explanation and the truth is on average the number of values less
        one. Here it is at most 2N Σ q ln(q / pG), since nothing explains more than everything, and at most
        2N ln max g with g = G(q / pG), by which an update multiplies p.
        """
        seen = np.flatnonzero(counts.sum(axis=1) > 0)
        reported, enough = shares(counts[seen]), (self.channel.size - 1) / (2 * counts[seen].sum(axis=1))

        def explains(rows: NDArray[np.intp], found: Floats, gains: Floats) -> NDArray[np.bool_]:
            missing = unexplained(self.channel, reported[rows], found)
            return np.asarray(np.minimum(missing, np.log(gains.max(axis=1))) <= enough[rows])

        found, slow, _ = update_rows(self.channel, reported, start[seen], explains, MAX_UPDATES)
        if len(slow):
            found[slow] = self._halve(found[slow], reported[slow], enough[slow])
        start[seen] = found
        return start

    def _halve(self, found: Floats, reported: Floats, enough: Floats) -> Floats:
        """Where updates are slow: towards the distribution that explains the counts exactly, negative shares cut off.

        The likelihood is concave on the way there, so halving finds the first point that explains enough; where even
        the end does not, whichever end explains more is taken.
        """
        missing = partial(unexplained, self.channel, reported)
        exact = shares(np.maximum(unbiased_shares(self.channel, reported), 0))
        low, high = np.zeros((len(found), 1)), np.ones((len(found), 1))
        high[missing(exact) > missing(found)] = 0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            explains = (missing(found + middle * (exact - found)) <= enough)[:, None]
            high, low = np.where(explains, middle, high), np.where(explains, low, middle)
        return found + high * (exact - found)
