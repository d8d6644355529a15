"""Which cut of each region Mondrian makes: the cheapest one that the requirements allow, judged some cuts ahead.

A cut is worth what its two parts can be cut down to. So the few best cuts of a region are made for trial, the best cuts
of their parts are sought in turn, and so on for as many cuts as are looked ahead; what comes after these is estimated
from the number of rows (see `SweepRule`). Nothing is drawn at random, and equals are told apart by axis and position.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.methods.growing.cuts import Cuts, SweepRule, choose_best
from sfumato.methods.growing.points import PointArrays, Runs
from sfumato.methods.growing.sweep import penalties, sweep_cuts
from sfumato.privacy.requirements import KAnonymity, Population, Requirement
from sfumato.privacy.requirements.base import Counts

WIDTH = 3
"""How many cuts of a region are made for trial."""
MIN_CLASSES, MAX_CLASSES = 3, 32
"""Regions that will be cut into fewer classes, or this many or more, are not looked ahead in: the estimate is exact for
the former, and as good for the latter."""


def allow(
    left: Counts, right: Counts, requirements: Sequence[Requirement], population: Population
) -> NDArray[np.bool_]:
    """Which cuts leave classes that satisfy all requirements on both sides: (cuts, values) each to (cuts,)."""
    allowed = np.ones(len(left), dtype=bool)
    for requirement in requirements:
        allowed[allowed] = requirement.holds(left[allowed], population)
        allowed[allowed] = requirement.holds(right[allowed], population)
    return allowed


@dataclass(frozen=True, eq=False)
class Search:
    """How cuts of regions are sought; histograms are (regions, values), or (regions, 0) if only sizes are required."""

    points: PointArrays
    requirements: Sequence[Requirement]
    population: Population
    rule: SweepRule
    look_ahead: int = 0

    @property
    def only_size(self) -> bool:
        """Whether classes need only be large enough, which the sweep sees to."""
        return all(isinstance(requirement, KAnonymity) for requirement in self.requirements)

    def decide(self, runs: Runs, histograms: NDArray[np.int64]) -> Cuts:
        """The cut to make of each region that can be cut."""
        cuts = self._foresee(runs, histograms, self.look_ahead)
        return _chosen(cuts, best_of_each(cuts, 1)) if self.look_ahead else cuts

    def _foresee(self, runs: Runs, histograms: NDArray[np.int64], ahead: int) -> Cuts:
        """The best cuts of each region, at the penalty per row that `ahead` more cuts can bring them to."""
        cuts = self._best(runs, histograms, WIDTH if ahead else 1)
        if not ahead:
            return cuts
        rows = count_rows(self.points, runs)
        classes = rows // self.rule.aim
        open_ended = (classes >= MIN_CLASSES) & (classes < MAX_CLASSES)
        best = np.diff(cuts.region, prepend=-1) > 0
        cuts = _chosen(cuts, np.flatnonzero(best | open_ended[cuts.region]))
        tried = np.flatnonzero(open_ended[cuts.region])
        if len(tried):
            made = _chosen(cuts, tried)
            parts = cut_runs(self.points.positions, runs, made.region, made.axis, made.position)
            reached = self._reach(parts, sides(made, histograms), ahead - 1).reshape(-1, 2).sum(axis=1)
            cuts.cost[tried] = reached / rows[made.region]
        return cuts

    def _reach(self, runs: Runs, histograms: NDArray[np.int64], ahead: int) -> NDArray[np.float64]:
        """The penalty, summed over its rows, that each region can be cut down to."""
        least, rows = penalties(self.points, runs), count_rows(self.points, runs)
        cuts = self._foresee(runs, histograms, ahead)
        np.minimum.at(least, cuts.region, cuts.cost * rows[cuts.region])
        return least

    def _best(self, runs: Runs, histograms: NDArray[np.int64], most: int) -> Cuts:
        """The cheapest allowed cuts of each region, at most so many, by region and cost."""
        if self.only_size:
            return sweep_cuts(self.points, runs, self.rule._replace(most=most))
        cuts = sweep_cuts(self.points, runs, self.rule)
        right = histograms[cuts.region] - cuts.left
        cuts = _chosen(cuts, np.flatnonzero(allow(cuts.left, right, self.requirements, self.population)))
        return _chosen(cuts, best_of_each(cuts, most))


def sides(cuts: Cuts, histograms: NDArray[np.int64]) -> NDArray[np.int64]:
    """The histograms of the left and the right side of each cut, in turn."""
    both = np.stack([cuts.left, histograms[cuts.region] - cuts.left], axis=1)
    return both.reshape(2 * len(both), both.shape[2])


def count_rows(points: PointArrays, runs: Runs) -> NDArray[np.int64]:
    """The rows of each region."""
    upto = np.concatenate([[0], np.cumsum(points.weights[runs.order])])
    return np.asarray(upto[runs.ends] - upto[runs.starts])


def _chosen(cuts: Cuts, which: NDArray[np.int64]) -> Cuts:
    return Cuts._make(array[which] for array in cuts)


@compiled
def best_of_each(cuts: Cuts, most: int) -> NDArray[np.int64]:
    """Which cuts are the cheapest of their region, at most so many, by region and cost."""
    chosen = np.empty(len(cuts.region) + most, dtype=np.int64)
    first, found = 0, 0
    while first < len(cuts.region):
        end = first
        while end < len(cuts.region) and cuts.region[end] == cuts.region[first]:
            end += 1
        found += choose_best(cuts, first, end, most, chosen[found:])
        first = end
    return chosen[:found]


@compiled
def cut_runs(
    positions: NDArray[np.int32],
    runs: Runs,
    region: NDArray[np.int64],
    axis: NDArray[np.int64],
    position: NDArray[np.int64],
) -> Runs:
    """The points of both sides of each cut, in turn, in an order of their own: cuts may share a region."""
    order = np.empty((runs.ends[region] - runs.starts[region]).sum(), dtype=np.int64)
    starts, ends = np.empty(2 * len(region), dtype=np.int64), np.empty(2 * len(region), dtype=np.int64)
    at = 0
    for cut in range(len(region)):
        members = runs.order[runs.starts[region[cut]] : runs.ends[region[cut]]]
        for side in range(2):
            starts[2 * cut + side] = at
            for point in members:
                if (positions[point, axis[cut]] >= position[cut]) == (side == 1):
                    order[at] = point
                    at += 1
            ends[2 * cut + side] = at
    return Runs(order, starts, ends)
