"""How a careful reader takes a release: as far as its stated noise leaves something to believe, and no further.

A reader comes with an expectation of everybody, be it what is true of all or what some model says, looks the person
up, and corrects the expectation by what the release says of the group that the person is in. Everybody's
quasi-identifiers are known to the reader, and so is how noisy the release is; nobody's sensitive value is.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.measures.attacks.naive_bayes import axis_margin
from sfumato.privacy.distances import shares
from sfumato.release import Release
from sfumato.streams import stream

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

CLEARLY = 6.0
"""A signal is one beyond this many standard deviations of noise alone."""
MADE_UP = 3
"""How many releases of noise alone tell how much of it is usual."""
RANGES = (2, 4, 16)
"""Into how many ranges with about as many rows an axis is cut: few show what noise would hide in many."""
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
        point, box = release.look_up(points)
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
    the squared distance D of the published distribution from the expected one is partly noise, ν, and 1 − ν/D of it is
    believed, where that is above zero (the positive-part James–Stein estimate). More rows than there are people are
    noise themselves, and do not make ν smaller.
    """
    if release.channel is not None:
        return shares(release.channel.update(centre, shares(np.maximum(release.histograms, 0))))
    if release.deviation is None:
        return release.distributions
    weight = np.minimum(np.maximum(release.histograms, 0).sum(axis=1), people)
    away = release.distributions - centre
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = _noisy_counts(release) * (release.deviation / weight) ** 2
        followed = 1 - noise / (away**2).sum(axis=1)
    followed = np.where(np.isfinite(followed), np.maximum(followed, 0), 0)
    return np.asarray(centre + followed[:, None] * away)


def _noisy_counts(release: Release) -> NDArray[np.int64]:
    """How many numbers of each group have noise: where no count may be below zero, those above it, and their total."""
    if release.layout == "rows":
        return np.full(len(release.histograms), release.histograms.shape[1])
    return np.asarray(np.count_nonzero(release.histograms, axis=1)) + 1


def nothing_but_noise(release: Release) -> bool:
    """Whether chance alone explains how each quasi-identifier and the secret go together in a noisy release."""
    if release.deviation is None:
        return False
    made_up = _of_noise_alone(release) if release.layout == "counts" else []
    return not any(_goes_with_secret(release, made_up, position) for position in range(len(release.schema.quasi)))


def _of_noise_alone(release: Release) -> list[Release]:
    """Releases whose groups all have the overall distribution but for the stated noise, made into counts alike."""
    from sfumato.estimation.consistency import histograms_with_totals

    totals = np.maximum(release.histograms, 0).sum(axis=1)
    expected, random = totals[:, None] * shares(np.maximum(release.overall, 0)), stream("noise alone", 1)
    scale = np.asarray(release.deviation)[:, None] / math.sqrt(2)
    noisy = (expected + random.laplace(size=expected.shape) * scale for _ in range(MADE_UP))
    return [replace(release, histograms=histograms_with_totals(each, totals)) for each in noisy]


def _goes_with_secret(release: Release, made_up: list[Release], position: int) -> bool:
    """Whether rows by value differ between some ranges of one axis by more than chance.

    Their distance from what is expected if nothing went together has to exceed its f degrees of freedom, which is what
    noise comes to that is published as it is, and that of noise alone which was made into counts without negative ones:
    that by more than CLEARLY of its standard deviations, √(5/f) of it for Laplace noise.
    """
    axis = release.schema.quasi[position]
    codes = np.arange(-1 if axis.nullable else 0, axis.size, dtype=np.int32)
    noise = _noise_of_margin(release, position, codes)
    margin, *by_chance = (axis_margin(each, position, codes) for each in (release, *made_up))
    for ranges in RANGES:
        distance, freedom = _distance(margin, noise, ranges)
        usual = float(np.mean([_distance(each, noise, ranges)[0] for each in by_chance])) if by_chance else freedom
        if distance > max(freedom, usual * (1 + CLEARLY * math.sqrt(5 / max(freedom, 1)))):
            return True
    return False


def _distance(margin: Floats, noise: Floats, ranges: int) -> tuple[float, int]:
    """How far rows by value are from being the same in so many ranges with about as many rows; degrees of freedom.

    With e rows expected, chance moves them by √e in drawing, and by their noise of variance ν:
    Σ (rows − e)² / (e + 1 + ν).
    """
    rows = margin.sum(axis=1)
    if not rows.any():
        return 0.0, 0
    _, part = np.unique(((np.cumsum(rows) - rows) * ranges / rows.sum()).astype(np.int64), return_inverse=True)
    counts, variance = np.zeros((part.max() + 1, margin.shape[1])), np.bincount(part, noise)
    np.add.at(counts, part, margin)
    expected = counts.sum(axis=1, keepdims=True) * shares(counts.sum(axis=0))
    distance = ((counts - expected) ** 2 / (expected + 1 + variance[:, None])).sum()
    return float(distance), (len(counts) - 1) * (int(np.count_nonzero(counts.any(axis=0))) - 1)


def _noise_of_margin(release: Release, position: int, codes: Codes) -> Floats:
    """At most the variance of the noise in the rows at each code with one value: (codes,).

    A part p of the rows of a box has p² of the variance of its noise; with p in its place, those of codes add up to at
    least those of ranges. Of generated rows only ε tells: that is the noise of as many counts as there are ranges.
    """
    if release.layout != "counts" or release.deviation is None:
        return np.full(len(codes), (stated_noise(release) or 0.0) ** 2 * max(RANGES) / len(codes))
    values = release.histograms.shape[1]
    variances = values * np.square(release.deviation)[release.group_of]
    as_rows = replace(release, weights=variances, histograms=np.ones_like(release.histograms))
    return np.asarray(axis_margin(as_rows, position, codes)[:, 0])


def stated_noise(release: Release) -> float | None:
    """The deviation of a count behind generated rows, as the release states it: √2 · columns / ε.

    Each column has to be counted at least once, and what is spent on one count is missing for the others.
    """
    cost = release.claim.cost
    epsilon = cost.epsilon if cost else release.provenance.parameters.get("epsilon")
    return math.sqrt(2) * len(release.schema.axes) / float(epsilon) if epsilon else None
