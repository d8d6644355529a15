"""The plan of a synthesis: everything that is decided before anybody's origin is looked at.

A plan is a function of public things alone: the places, the destinations and how many people go to each, the
promise, the domain and the prior. For every destination it has a prior that keeps the promise.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.mechanisms.dirichlet import UNIT, Calibration, PriorShape, Promise
from sfumato.mechanisms.dirichlet.disclosure import Levels, shrinking_factor
from sfumato.mechanisms.dirichlet.prior import round_masses
from sfumato.methods.flows.domain import Resolution

BATCH = 1024

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class SynthesisPlan:
    """For every destination how it sees the places, the scale of its prior, and what that prior comes to.

    `shrinking`, `kept`, `min_prior`, `max_prior` and `mass` are, by destination: the factor that dropping costs, the
    smallest chance of keeping an empty place, the smallest and largest prior of a place in people, and the prior of
    all kept places together as it is expected.
    """

    promise: Promise
    shape: PriorShape
    resolutions: Sequence[Resolution]
    which: NDArray[np.int64]
    people: NDArray[np.int64]
    scales: NDArray[np.float64]
    shrinking: NDArray[np.float64]
    kept: NDArray[np.float64]
    min_prior: NDArray[np.float64]
    max_prior: NDArray[np.float64]
    mass: NDArray[np.float64]

    @classmethod
    def make(
        cls,
        promise: Promise,
        shape: PriorShape,
        resolutions: Sequence[Resolution],
        which: NDArray[np.int64],
        destinations: NDArray[np.integer],
        people: NDArray[np.int64],
        progress: Progress | None = None,
    ) -> Self:
        """Calibrate the prior of every destination; raises if there is one for which none keeps the promise."""
        calibration = Calibration(promise, shape)
        scales, extents = np.empty(len(people)), np.empty((5, len(people)))
        for resolution, batch in batches(resolutions, which, progress):
            counts = np.stack([resolution.view(int(place)).counts for place in destinations[batch]])  # proof: view
            scales[batch] = calibration.scales(people[batch], counts)
            extents[:, batch] = _extents(scales[batch], people[batch], counts, shape.weights, shape.keep)
        return cls(promise, shape, resolutions, which, people, scales, *extents)

    @property
    def terms(self) -> dict[str, float]:
        """What ε is made of at the destination where dropping costs most: the rest is for the draw itself."""
        d = int(np.argmax(self.shrinking / self.kept))
        costs = {
            "places dropped": -log(self.kept[d]),
            "prior shrunk": log(self.shrinking[d]),
            "rejection": self.promise.rejection,
        }
        return {
            "synthesis": self.promise.epsilon - sum(costs.values()),
            **{name: cost for name, cost in costs.items() if cost > 0},
        }

    @cached_property
    def from_data(self) -> float:
        """The share of all people that is expected to be drawn from the data; the rest comes from the prior."""
        return float(self.people @ (self.people / (self.people + self.mass)) / self.people.sum())


@compiled
def _extents(
    scales: np.ndarray, people: np.ndarray, counts: np.ndarray, weights: np.ndarray, keep: np.ndarray
) -> np.ndarray:
    """For each destination: shrinking, kept, min_prior, max_prior and mass, as `SynthesisPlan` has them."""
    found = np.zeros((5, len(scales)))
    found[1:3] = np.inf
    for d in range(len(scales)):
        alphas = round_masses(scales[d], weights) / UNIT
        found[0, d] = shrinking_factor(people[d], people[d], Levels(alphas, counts[d], keep))
        for level in range(len(weights)):
            if counts[d, level] > 0:
                found[1, d] = min(found[1, d], keep[level])
                found[2, d] = min(found[2, d], alphas[level])
                found[3, d] = max(found[3, d], alphas[level])
                found[4, d] += counts[d, level] * alphas[level] * keep[level]
    return found


def batches(
    resolutions: Sequence[Resolution], which: NDArray[np.int64], progress: Progress | None = None
) -> Iterator[tuple[Resolution, NDArray[np.int64]]]:
    """The destinations of each resolution, not too many at once; tells how many are done and how many there are."""
    done = 0
    for number, resolution in enumerate(resolutions):
        mine = np.flatnonzero(which == number)
        for start in range(0, len(mine), BATCH):
            yield resolution, mine[start : start + BATCH]
            done += len(mine[start : start + BATCH])
            if progress:
                progress(done, len(which))
