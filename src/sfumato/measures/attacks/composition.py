"""The adversary with several releases of overlapping people (Ganta, Kasiviswanathan and Smith, KDD 2008).

Each release alone may leave many values possible for somebody; a value must fit all of them, so that together they
can leave one.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.measures.measurement import Measure
from sfumato.privacy.claims import NoGuarantee
from sfumato.privacy.distances import shares
from sfumato.release import Boxes, Release
from sfumato.release.kernels import holding_pairs

HIGHEST_BELIEF = Measure("highest_belief", "Highest belief", "privacy", "lower", "share").describe(
    "How sure looking people up makes an adversary of the sensitive value of the person it tells most about."
)


def composed_beliefs(
    releases: Sequence[Release], points: NDArray[np.int32], prior: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What all releases together let believe about somebody at each point who is in all that know it: (points, values).

    With q the prior and b the belief that each release alone gives: q · Π b/q, renormalized. That is exact if, but for
    the person looked up, the people of the classes differ between releases, and their values are independent draws
    from q: the chance of a class with histogram h, given that the person has the value s, is then proportional to
    h(s)/q(s). A value that a class does not hold is ruled out, so the sets of values that remain intersect.

    Where classes of two releases share more people, part of what they say is said twice, and the adversary is surer
    than is right: the highest belief then bounds what anybody may come to believe, not how often that is true.

    A release that has nobody at a point says nothing about it. Of releases with the same content one counts. Noisy
    counts give what remains of them to believe, and rule out no more than that. Where nothing fits all releases,
    nobody there is in all of them, and the mean of what each says is taken.
    """
    known = prior > 0
    log_prior = np.log(np.where(known, prior, 1))
    score = np.tile(np.where(known, log_prior, -np.inf), (len(points), 1))
    said = np.zeros_like(score)
    for release in distinct(releases):
        beliefs = release.posteriors(points, prior)
        there = np.unique(holding_pairs(points, release.boxes.arrays)[0]) if release.suppressed is None else slice(None)
        with np.errstate(divide="ignore"):
            score[there] += np.log(beliefs[there]) - log_prior
        said[there] += beliefs[there]
    impossible = ~np.isfinite(score).any(axis=1)
    score[impossible] = 0
    fitting = np.exp(score - score.max(axis=1, keepdims=True))
    return shares(np.where(impossible[:, None], said, fitting))


def distinct(releases: Sequence[Release]) -> list[Release]:
    """The releases without those that say what another one does."""
    return list({_content(release): release for release in releases}.values())


def _content(release: Release) -> bytes:
    """What a release says about people, in an order of its own, however its groups are numbered."""
    group = release.group_of
    noise = np.zeros(len(group)) if release.deviation is None else release.deviation[group]
    more = np.column_stack([release.weights, noise, release.histograms[group]])
    boxes = np.hstack([np.where(release.boxes.lo > release.boxes.hi, 0, release.boxes.lo), release.boxes.hi])
    rows = np.hstack([boxes, release.boxes.missing, np.round(more, 9) + 0.0])
    channel = "" if release.channel is None else str(release.channel.spec())
    suppressed = b"" if release.suppressed is None else release.suppressed.tobytes()
    inside = b"".join(spread.cuts.tobytes() + spread.below.tobytes() for spread in release.spreads or ())
    return rows[np.lexsort(rows.T)].tobytes() + suppressed + channel.encode() + inside


def together(releases: Sequence[Release], points: NDArray[np.int32], prior: NDArray[np.float64]) -> Release:
    """A release that says alone at each point what all releases say together, for attacks that look people up."""
    return dataclasses.replace(
        releases[0],
        boxes=Boxes.of_points(points),
        weights=np.ones(len(points)),
        group_of=np.arange(len(points)),
        histograms=composed_beliefs(releases, points, prior),
        claim=NoGuarantee(reason="several releases taken together"),
        layout="rows",
        kept=None,
        suppressed=None,
        deviation=None,
        channel=None,
        spreads=None,
    )
