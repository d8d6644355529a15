"""How far people travel, in original and synthetic flows: averages by destination, and the whole distribution.

These are the comparisons of machanavajjhala2008 section VI: average commute distance against the number of workers
of a destination, for all commutes and for short ones. People from outside have no distance and are left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sfumato.data.flows import Flows
from sfumato.data.places import KILOMETRES

SIZES = (1, 5, 10, 20, 50, 100, 200)
"""Where the classes of the number of workers begin."""
SIZE_LABELS = (*(f"{low}–{end - 1}" for low, end in pairwise(SIZES)), f"{SIZES[-1]}+")
BINS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 200)
"""Where the bins of the distance begin, in the unit of the evaluation; fixed beforehand, whatever the data."""


class Travel:
    """The pairs of some flows that have a distance, of at most `within` kilometres: destination, distance, people."""

    def __init__(self, flows: Flows, unit: str, within: float = np.inf) -> None:
        known = flows.inside & (np.nan_to_num(flows.kilometres) <= within)
        self.destination = flows.destination_of_pair[known]
        self.distance: NDArray[np.float64] = flows.kilometres[known] / KILOMETRES[unit]
        self.people = flows.counts[known]

    def histogram(self) -> NDArray[np.int64]:
        """People by bin of the distance."""
        bins = np.searchsorted(BINS, self.distance, side="right") - 1
        return np.bincount(bins, weights=self.people, minlength=len(BINS)).astype(np.int64)


class Compared:
    """Commutes shorter than `below` to each of the destinations, which are rising, and their average distance.

    Both are (2, destinations), the original first; where there are no such commutes, the average is not a number.
    """

    def __init__(self, sides: Iterable[Travel], destinations: NDArray[np.integer], below: float) -> None:
        size = len(destinations)
        self.people, self.distance = np.zeros((2, size), dtype=np.int64), np.full((2, size), np.nan)
        for side, people, distance in zip(sides, self.people, self.distance, strict=True):
            counted = side.distance < below
            which = np.searchsorted(destinations, side.destination[counted])
            people[:] = np.bincount(which, weights=side.people[counted], minlength=size)
            total = np.bincount(which, weights=(side.people * side.distance)[counted], minlength=size)
            np.divide(total, people, out=distance, where=people > 0)
        there = self.people > 0
        self.both: NDArray[np.bool_] = there[0] & there[1]
        """The destinations that have an average on both sides: the ones that are compared."""
        self.lost: NDArray[np.bool_] = there[0] & ~there[1]
        self.errors: NDArray[np.float64] = (self.distance[1] - self.distance[0])[self.both]
        """Synthetic minus original average of every compared destination."""


def mean_error(name: str, compared: Compared, people: NDArray[np.int64]) -> dict[str, float]:
    """Mean absolute error and bias over the destinations that have such commutes originally.

    The few that the synthetic flows left without any are taken to be like the compared ones of their size: small
    destinations, where errors are large, drop out more often, and leaving them out would flatter noisier flows.
    """
    size = np.searchsorted(SIZES, people, side="right") - 1
    there = np.bincount(size[compared.people[0] > 0], minlength=len(SIZES))
    found = np.bincount(size[compared.both], minlength=len(SIZES))
    if not found.any():
        return {f"{name}_error": np.nan, f"{name}_bias": np.nan}
    weight = np.where(found > 0, there / np.maximum(found, 1), 0.0)[size[compared.both]]
    errors = compared.errors
    return {
        f"{name}_error": float(np.average(np.abs(errors), weights=weight)),
        f"{name}_bias": float(np.average(errors, weights=weight)),
    }


@dataclass(frozen=True, kw_only=True)
class SizeClass:
    """Destinations with so many workers: how many are compared, their mean averages, error and bias."""

    size: str
    destinations: int
    people: float | None
    original: float | None
    synthetic: float | None
    error: float | None
    bias: float | None


def by_size(compared: Compared, people: NDArray[np.int64]) -> list[SizeClass]:
    """Destinations by their number of workers."""
    both, errors = compared.both, compared.errors
    size = np.searchsorted(SIZES, people[both], side="right") - 1
    found = np.bincount(size, minlength=len(SIZES))

    def mean(values: NDArray[np.floating | np.integer]) -> list[float | None]:
        added = np.bincount(size, weights=values, minlength=len(SIZES))
        return [float(one / n) if n else None for one, n in zip(added, found, strict=True)]

    means = {
        "people": mean(people[both]),
        "original": mean(compared.distance[0, both]),
        "synthetic": mean(compared.distance[1, both]),
        "error": mean(np.abs(errors)),
        "bias": mean(errors),
    }
    return [
        SizeClass(size=label, destinations=int(found[i]), **{name: values[i] for name, values in means.items()})
        for i, label in enumerate(SIZE_LABELS)
    ]


def total_variation(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """½ Σ |p − q| of two histograms: the share of people who would have to change bins."""
    if not one.any() or not other.any():
        return np.nan
    return float(np.abs(one / one.sum() - other / other.sum()).sum() / 2)


def wasserstein(one: Travel, other: Travel) -> float:
    """∫ |F − G|, with F and G the shares of people who travel no further: the mean change of distance needed."""
    ours, theirs = float(one.people.sum()), float(other.people.sum())
    if not ours or not theirs:
        return np.nan
    # Shares over a common denominator are whole numbers, so that equal distributions are at distance exactly 0.
    weights = np.concatenate((one.people * theirs, -other.people * ours))
    distance = np.concatenate((one.distance, other.distance))
    order = np.argsort(distance)
    ahead = np.abs(np.cumsum(weights[order]))[:-1]
    return float(ahead @ np.diff(distance[order]) / (ours * theirs))
