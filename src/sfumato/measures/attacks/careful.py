"""How a careful reader takes a release: as far as its stated noise leaves something to believe, and no further.

A reader comes with an expectation of everybody, be it what is true of all or what some model says, looks the person
up, and corrects the expectation by what the release says of the group that the person is in. Everybody's
quasi-identifiers are known to the reader, and so is how noisy the release is; nobody's sensitive value is.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.measures.attacks.naive_bayes import axis_margin
from sfumato.privacy.distances import shares
from sfumato.release import Release

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

SPREADS = np.concatenate([[0.0], np.geomspace(1e-5, 1.0, 41)])
"""How far groups may differ from what is expected of them: squared distances of distributions that are tried."""
CLEARLY = 3.0
"""Groups differ if that explains them better by this much log likelihood; a signal is one beyond this many errors."""
RANGES = 16
"""Of an axis, with about as many rows each."""
TINY = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class Reader:
    """Who looks people up in a release: the groups that hold each point, each with its share of the point's rows."""

    release: Release
    people: Floats
    """How many people there are at each point."""
    point: Counts
    group: Counts
    share: Floats

    @classmethod
    def of(cls, release: Release, points: Codes, people: Floats) -> "Reader":
        from sfumato.release.kernels import holding_pairs

        point, box = holding_pairs(points, release.boxes.arrays)
        group = release.group_of[box]
        counted = release.distributions.sum(axis=1) > 0
        weight = np.where(counted[group], np.maximum(release.weights[box], 0), 0)
        total = np.bincount(point, weight, len(points))
        share = np.divide(weight, total[point], out=np.zeros_like(weight), where=weight > 0)
        found = share > 0
        return cls(release=release, people=people, point=point[found], group=group[found], share=share[found])

    def believed(self, expected: Floats) -> tuple[Floats, Floats]:
        """What is expected of the people of each group, and what is believed of them: (groups, values)."""
        inside = self.people[self.point] * self.share
        people = np.bincount(self.group, inside, len(self.release.histograms)).astype(np.float64)
        centre = np.zeros(self.release.histograms.shape)
        np.add.at(centre, self.group, inside[:, None] * expected[self.point])
        centre = np.divide(centre, people[:, None], out=centre, where=people[:, None] > 0)
        return centre, believe(self.release, centre, people)

    def read(self, expected: Floats) -> Floats:
        """What to believe at each point, coming with some expectation: (points, values).

        Of a group that is expected to have the mean distribution e of its people and is believed to have d, each
        person's expectation is multiplied by d/e. Whoever is in no group is expected to be like the suppressed rows,
        where there are any, and is else left as expected.
        """
        centre, believed = self.believed(expected)
        ratio = np.divide(believed, centre, out=np.zeros_like(centre), where=centre > TINY)
        posterior = expected[self.point] * ratio[self.group]
        hopeless = posterior.sum(axis=1) <= TINY
        posterior[hopeless] = believed[self.group[hopeless]]
        beliefs = np.zeros_like(expected)
        np.add.at(beliefs, self.point, shares(posterior) * self.share[:, None])
        nowhere = np.bincount(self.point, minlength=len(expected)) == 0
        suppressed = self.release.suppressed
        beliefs[nowhere] = expected[nowhere] if suppressed is None else shares(suppressed)
        return beliefs


def believe(release: Release, centre: Floats, people: Floats) -> Floats:
    """The distribution of each group for somebody who expects `centre` of its people: (groups, values).

    Without noise it is the published one. Where values were randomized, Bayes' rule gives it. Where counts are noisy,
    the squared distance D of the published distribution from the expected one is made of noise, ν, and of how far
    groups differ from what is expected, t, the same for all: that which explains all groups best, if each D / (t + ν)
    is a χ² over its degrees of freedom. Then t / (t + ν) of the distance is believed. More rows than there are people
    are noise themselves, and do not make ν smaller.
    """
    if release.channel is not None:
        return shares(release.channel.update(centre, shares(np.maximum(release.histograms, 0))))
    if release.deviation is None:
        return release.distributions
    weight = np.minimum(np.maximum(release.histograms, 0).sum(axis=1), people)
    away = release.distributions - centre
    freedom = max(centre.shape[1] - 1, 1)
    counts = _noisy_counts(release)
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = np.where(weight > 0, counts * (release.deviation / weight) ** 2, np.inf)
    told = (noise < freedom) & (centre.sum(axis=1) > 0)
    distance, noise = (away[told] ** 2).sum(axis=1), noise[told]
    followed = np.zeros(len(told))
    if _spread(distance, noise * (centre.shape[1] / counts[told]), freedom):
        spread = _spread(distance, noise, freedom)
        followed[told] = spread / (spread + noise)
    return np.asarray(centre + followed[:, None] * away)


def _noisy_counts(release: Release) -> NDArray[np.int64]:
    """How many numbers of each group have noise: where no count may be below zero, those above it, and their total."""
    if release.layout == "rows":
        return np.full(len(release.histograms), release.histograms.shape[1])
    return np.asarray(np.count_nonzero(release.histograms, axis=1)) + 1


def _spread(distance: Floats, noise: Floats, freedom: int) -> float:
    """The t of greatest likelihood Σ −f/2 (ln(t + ν) + D/(t + ν)), or zero if that is hardly less likely."""
    if not len(distance):
        return 0.0
    total = SPREADS[:, None] + np.maximum(noise, TINY)
    likelihood = -freedom / 2 * (np.log(total) + distance / total).sum(axis=1)
    best = int(likelihood.argmax())
    return float(SPREADS[best]) if likelihood[best] > likelihood[0] + CLEARLY else 0.0


def nothing_but_noise(release: Release) -> bool:
    """Whether chance alone explains how each quasi-identifier and the secret go together in generated rows."""
    if release.deviation is None or release.layout != "rows":
        return False
    return not any(_goes_with_secret(release, position) for position in range(len(release.schema.quasi)))


def _goes_with_secret(release: Release, position: int) -> bool:
    """Whether rows by value differ between ranges of one axis by more than chance.

    They are compared with those expected if nothing went together, e. Chance moves them by √e in drawing, and by what
    is stated of noise: Σ (rows − e)² / (e + 1 + stated²) has to exceed its degrees of freedom by more than CLEARLY of
    its standard deviations.
    """
    axis = release.schema.quasi[position]
    margin = axis_margin(release, position, np.arange(-1 if axis.nullable else 0, axis.size, dtype=np.int32))
    rows = margin.sum(axis=1)
    if not rows.any():
        return False
    _, part = np.unique(((np.cumsum(rows) - rows) * RANGES / rows.sum()).astype(np.int64), return_inverse=True)
    counts = np.zeros((part.max() + 1, margin.shape[1]))
    np.add.at(counts, part, margin)
    expected = counts.sum(axis=1, keepdims=True) * shares(counts.sum(axis=0))
    distance = ((counts - expected) ** 2 / (expected + 1 + (stated_noise(release) or 0.0) ** 2)).sum()
    freedom = (len(counts) - 1) * (np.count_nonzero(counts.any(axis=0)) - 1)
    return bool(distance > freedom + CLEARLY * math.sqrt(2 * freedom))


def stated_noise(release: Release) -> float | None:
    """The deviation of a count behind generated rows, as the release states it: √2 · columns / ε.

    Each column has to be counted at least once, and what is spent on one count is missing for the others.
    """
    cost = release.claim.cost
    epsilon = cost.epsilon if cost else release.provenance.parameters.get("epsilon")
    return math.sqrt(2) * len(release.schema.axes) / float(epsilon) if epsilon else None
