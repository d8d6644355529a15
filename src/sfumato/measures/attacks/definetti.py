"""The deFinetti adversary on buckets (Kifer, Attacks on privacy and deFinetti's theorem, SIGMOD 2009).

Buckets are not independent of each other: what goes with a sensitive value in one of them goes with it in others. The
adversary learns from all buckets how each quasi-identifier goes with the sensitive attribute, tells by that who in a
bucket has which of its values, and learns again from what that tells.
"""

import dataclasses

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.errors import ReleaseError
from sfumato.measures.attacks.assignments import MAX_STATES, marginals
from sfumato.release import Release

SMOOTHING = 1.0
"""Added to every count of a quasi-identifier's value beside a sensitive value."""
TOLERANCE = 0.01
"""Beliefs have settled when this share of the average person's belief moves between values, or less."""
MAX_ROUNDS = 8
"""Later rounds learn from the adversary's own guesses: on Adult and on census data four to eight guess most right."""


def applies(release: Release) -> bool:
    """Whether the release gives everybody's exact quasi-identifiers, and true sensitive values by bucket."""
    return release.layout == "buckets" and not release.noisy


def definetti_beliefs(
    release: Release, points: NDArray[np.int32], *, max_rounds: int = MAX_ROUNDS, max_states: int = MAX_STATES
) -> NDArray[np.float64]:
    """What the adversary believes at each point after at most so many rounds: (points, values).

    A round takes the rows of every value x of every axis by sensitive value s, c(x, s), under the beliefs of the
    round before, at first the histograms of the buckets. Then an assignment of the values of a bucket to its people
    weighs Π over people and axes of c(x, s) + 1, and the beliefs are its marginals. (As each bucket gives every value
    as often as it holds it, dividing by the count of s, or multiplying by its share, would change nothing.)

    Somebody whose quasi-identifiers stand in several buckets is in each with the share of its rows that have them.
    """
    if not applies(release):
        raise ReleaseError("the deFinetti adversary attacks buckets; this release has none")
    holding, people = _codes_of(release), np.rint(release.weights).astype(np.int64)
    order = np.argsort(release.group_of, kind="stable")
    starts = np.searchsorted(release.group_of[order], np.arange(len(release.histograms) + 1))
    counts = np.rint(release.histograms).astype(np.int64)
    beliefs = release.distributions[release.group_of]
    for _ in range(max_rounds):
        together = holding.T @ (people[:, None] * beliefs)
        likelihood = holding @ np.log(together + SMOOTHING)
        before, beliefs = beliefs, marginals(likelihood, people, order, starts, counts, max_states)
        if np.average(np.abs(beliefs - before).sum(axis=1) / 2, weights=people) <= TOLERANCE:
            break
    return _believed(release, beliefs).posteriors(points)


def _codes_of(release: Release) -> csr_array:
    """Which codes of all axes each box has: (boxes, codes of all axes)."""
    codes = np.where(release.boxes.missing, -1, release.boxes.lo)
    columns, first = [], 0
    for axis in codes.T:
        known, place = np.unique(axis, return_inverse=True)
        columns.append(place.reshape(-1) + first)
        first += len(known)
    column = np.stack(columns, axis=1).reshape(-1)
    row_ends = np.arange(len(codes) + 1) * codes.shape[1]
    return csr_array((np.ones(len(column)), column, row_ends), shape=(len(codes), first))


def _believed(release: Release, beliefs: NDArray[np.float64]) -> Release:
    """The release as if every box had a histogram of its own."""
    expected = beliefs * release.weights[:, None]
    return dataclasses.replace(release, histograms=expected, group_of=np.arange(len(beliefs)))
