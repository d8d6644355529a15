"""Which cuts of each region Mondrian may make, and which of them are the cheapest.

A cut costs the penalty that it leaves, or how mixed it leaves the sensitive values. A side that is near the limit of
what the requirements allow can hardly be cut on, and counts for more where later cuts matter. Nothing is drawn at
random, and equals are told apart by axis and position.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled_if_many
from sfumato.methods.growing.cuts import Cuts, SweepRule, choose_best, worth_trying
from sfumato.methods.growing.points import PointArrays, Runs
from sfumato.methods.growing.sweep import sweep_cuts
from sfumato.privacy.requirements import KAnonymity, Population, Requirement
from sfumato.privacy.requirements.base import ROUNDING, Counts

LITTLE = 1e-6
"""How much the penalty counts beside the purity of the parts: where several cuts separate values equally well."""
FAR = 62
"""No table is cut into two to this power of classes."""


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
    """How cuts of regions are sought; histograms are (regions, values), or (regions, 0) if only sizes are required.

    A cut that brings its sides to the limit of what is allowed costs 1 + `caution` times as much. With `by_purity`
    it costs what it leaves of mixed sensitive values.
    """

    points: PointArrays
    requirements: Sequence[Requirement]
    population: Population
    rule: SweepRule
    caution: float = 0.0
    by_purity: bool = False

    @cached_property
    def only_size(self) -> bool:
        """Whether classes need only be large enough, which the sweep sees to, and values have no say."""
        return not self.by_purity and all(isinstance(requirement, KAnonymity) for requirement in self.requirements)

    def within(self, steps: int) -> Self:
        """The search when at most so many cuts in a row are left: a side of the next one has one less."""
        return replace(self, rule=self.rule._replace(narrowing=self.rule.narrowing[: 2 ** min(steps - 1, FAR) + 1]))

    def classes_of(self, runs: Runs, steps: int) -> NDArray[np.int64]:
        """How many classes each region is likely to become with at most so many cuts in a row."""
        return np.asarray(np.minimum(count_rows(self.points, runs) // self.rule.aim, 2 ** min(steps, FAR)))

    def best(self, runs: Runs, histograms: NDArray[np.int64], most: int = 1) -> Cuts:
        """The cheapest allowed cuts of each region, at most so many, by region and cost."""
        if self.only_size:
            return sweep_cuts(self.points, runs, self.rule._replace(most=most))
        cuts = sweep_cuts(self.points, runs, self.rule)
        right = histograms[cuts.region] - cuts.left
        allowed = np.flatnonzero(allow(cuts.left, right, self.requirements, self.population))
        cuts, right = chosen(cuts, allowed), right[allowed]
        if self.by_purity:
            cuts = cuts._replace(cost=mixture(cuts.left, right) + cuts.cost * LITTLE)
        elif self.caution:
            cuts = cuts._replace(cost=cuts.cost * (1 + self.caution * self._strain(cuts.left, right)))
        return chosen(cuts, best_of_each(cuts, histograms.sum(axis=1), self.rule.min_rows, most))

    def _strain(self, left: Counts, right: Counts) -> NDArray[np.float64]:
        """How much of what is allowed the rows of both sides use up on average: 0 as the whole table, 1 all of it."""
        rows = left.sum(axis=1), right.sum(axis=1)
        return np.asarray((rows[0] * self._used(left) + rows[1] * self._used(right)) / (rows[0] + rows[1]))

    def _used(self, counts: Counts) -> NDArray[np.float64]:
        used = np.zeros(len(counts))
        for requirement in self.requirements:
            whole = float(requirement.strain(self.population.counts[None, :], self.population)[0])
            beyond = requirement.strain(counts, self.population) - whole
            used = np.maximum(used, beyond / max(1 - whole, ROUNDING))
        return np.minimum(used, 1)


def mixture(left: Counts, right: Counts) -> NDArray[np.float64]:
    """How mixed the sensitive values are on both sides of each cut: 1 − (√Σ left² + √Σ right²) / rows."""
    pure = np.linalg.norm(left, axis=1) + np.linalg.norm(right, axis=1)
    return np.asarray(1 - pure / (left.sum(axis=1) + right.sum(axis=1)))


def sides(cuts: Cuts, histograms: NDArray[np.int64]) -> NDArray[np.int64]:
    """The histograms of the left and the right side of each cut, in turn."""
    both = np.stack([cuts.left, histograms[cuts.region] - cuts.left], axis=1)
    return both.reshape(2 * len(both), both.shape[2])


def count_rows(points: PointArrays, runs: Runs) -> NDArray[np.int64]:
    """The rows of each region."""
    upto = np.concatenate([[0], np.cumsum(points.weights[runs.order])])
    return np.asarray(upto[runs.ends] - upto[runs.starts])


def chosen(cuts: Cuts, which: NDArray[np.int64]) -> Cuts:
    """Some of the cuts."""
    return Cuts._make(array[which] for array in cuts)


@compiled_if_many
def best_of_each(cuts: Cuts, rows: NDArray[np.int64], min_rows: int, most: int) -> NDArray[np.int64]:
    """Which cuts are the cheapest of their region, as many as are worth trying, by region and cost."""
    best = np.empty(len(cuts.region) + most, dtype=np.int64)
    first, found = 0, 0
    while first < len(cuts.region):
        region, end = cuts.region[first], first
        while end < len(cuts.region) and cuts.region[end] == region:
            end += 1
        found += choose_best(cuts, first, end, worth_trying(rows[region], min_rows, most), best[found:])
        first = end
    return best[:found]


@compiled_if_many
def cut_runs(positions: NDArray[np.int32], runs: Runs, cuts: Cuts) -> Runs:
    """The points of both sides of each cut, in turn, in an order of their own: cuts may share a region."""
    region, axis, position = cuts.region, cuts.axis, cuts.position
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
