"""How far people travel, in original and synthetic flows: averages by destination, and the whole distribution.

These are the comparisons of machanavajjhala2008 section VI: average commute distance against the number of workers
of a destination, for all commutes and for short ones. People from outside have no distance and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.flows import Flows
from sfumato.data.places import KILOMETRES

SIZES = (1, 5, 10, 20, 50, 100, 200)
"""Where the classes of the number of workers begin."""
BINS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 200)
"""Where the bins of the distance begin, in the unit of the evaluation; fixed beforehand, whatever the data."""


class Travel:
    """The pairs of some flows that have a distance, of at most `within` kilometres: destination, distance, people."""

    def __init__(self, flows: Flows, unit: str, within: float = np.inf) -> None:
        known = flows.inside & (np.nan_to_num(flows.kilometres) <= within)
        self.destination = flows.destination_of_pair[known]
        self.distance: NDArray[np.float64] = flows.kilometres[known] / KILOMETRES[unit]
        self.people = flows.counts[known]

    def averages(self, destinations: NDArray[np.integer], below: float = np.inf) -> Averages:
        """Average distance of each of the destinations, which are rising, over commutes shorter than `below`."""
        counted = self.distance < below
        which = np.searchsorted(destinations, self.destination[counted])
        size, people, distance = len(destinations), self.people[counted], self.distance[counted]
        commutes = np.bincount(which, weights=people, minlength=size)
        total = np.bincount(which, weights=people * distance, minlength=size)
        average = np.divide(total, commutes, out=np.full(size, np.nan), where=commutes > 0)
        return Averages(commutes.astype(np.int64), average)

    def histogram(self) -> NDArray[np.int64]:
        """People by bin of the distance."""
        bins = np.searchsorted(BINS, self.distance, side="right") - 1
        return np.bincount(bins, weights=self.people, minlength=len(BINS)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Averages:
    """The commutes counted at each destination, and their average distance: not a number where there are none."""

    people: NDArray[np.int64]
    distance: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Compared:
    """Original and synthetic averages of the same destinations."""

    original: Averages
    synthetic: Averages

    @property
    def sides(self) -> tuple[Averages, Averages]:
        return self.original, self.synthetic

    @property
    def both(self) -> NDArray[np.bool_]:
        """The destinations that have an average on both sides: the ones that are compared."""
        return (self.original.people > 0) & (self.synthetic.people > 0)

    @property
    def lost(self) -> NDArray[np.bool_]:
        """The destinations that have such commutes in the original and none in the synthetic flows."""
        return (self.original.people > 0) & ~(self.synthetic.people > 0)

    def errors(self) -> NDArray[np.float64]:
        """Synthetic minus original average of every compared destination."""
        return (self.synthetic.distance - self.original.distance)[self.both]


def mean_error(compared: Compared, people: NDArray[np.int64]) -> tuple[float, float]:
    """Mean absolute error and bias over the destinations that have such commutes originally.

    The few that the synthetic flows left without any are taken to be like the compared ones of their size: small
    destinations, where errors are large, drop out more often, and leaving them out would flatter noisier flows.
    """
    size = np.searchsorted(SIZES, people, side="right") - 1
    there = np.bincount(size[compared.original.people > 0], minlength=len(SIZES))
    found = np.bincount(size[compared.both], minlength=len(SIZES))
    if not found.any():
        return np.nan, np.nan
    weight = np.where(found > 0, there / np.maximum(found, 1), 0.0)[size[compared.both]]
    errors = compared.errors()
    return float(np.average(np.abs(errors), weights=weight)), float(np.average(errors, weights=weight))


def class_label(position: int) -> str:
    """A class of the number of workers in words: 1–4, 5–9, …, 200+."""
    return f"{SIZES[position]}+" if position == len(SIZES) - 1 else f"{SIZES[position]}–{SIZES[position + 1] - 1}"


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
    both, errors = compared.both, compared.errors()
    size = np.searchsorted(SIZES, people[both], side="right") - 1
    found = np.bincount(size, minlength=len(SIZES))

    def mean(values: NDArray[np.floating | np.integer]) -> list[float | None]:
        added = np.bincount(size, weights=values, minlength=len(SIZES))
        return [float(one / n) if n else None for one, n in zip(added, found, strict=True)]

    means = {
        "people": mean(people[both]),
        "original": mean(compared.original.distance[both]),
        "synthetic": mean(compared.synthetic.distance[both]),
        "error": mean(np.abs(errors)),
        "bias": mean(errors),
    }
    return [
        SizeClass(size=class_label(i), destinations=int(n), **{name: values[i] for name, values in means.items()})
        for i, n in enumerate(found)
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
