"""Which cuts of each region Mondrian may make, and which of them are the cheapest.

A cut costs the penalty that it leaves, or how mixed it leaves the sensitive values. A side that is near the limit of
what the requirements allow can hardly be cut on, and counts for more where later cuts matter. Nothing is drawn at
random, and equals are told apart by axis and position. Where there are many, sensitive values are counted for few cuts
at a time, the cheapest of each region first, until no other can be better.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled_if_many
from sfumato.methods.growing.cuts import TIE, Cuts, SweepRule, choose_best, worth_trying
from sfumato.methods.growing.points import PointArrays, Runs
from sfumato.methods.growing.sweep import sweep_cuts
from sfumato.methods.partition.units import UnitArrays, count_sides_in
from sfumato.privacy.requirements import KAnonymity, Population, Requirement
from sfumato.privacy.requirements.base import ROUNDING, Counts

LITTLE = 1e-6
"""How much the penalty counts beside the purity of the parts: where several cuts separate values equally well."""
FAR = 62
"""No table is cut into two to this power of classes."""
LOOK = 4
"""At first so many cuts of a region are looked at, for each that is sought, and then so many times as many again."""
CELLS_AT_ONCE = 2**22
"""How many counts of sensitive values are made together, on either side of cuts."""


class Limits(NamedTuple):
    """The rows of each region, the least in a class, and how many cuts of a region are sought."""

    rows: NDArray[np.int64]
    min_rows: int
    most: int


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
    """How cuts of regions are sought.

    A cut that brings its sides to the limit of what is allowed costs 1 + `caution` times as much. With `by_purity`
    it costs what it leaves of mixed sensitive values.
    """

    points: PointArrays
    requirements: Sequence[Requirement]
    population: Population
    rule: SweepRule
    caution: float = 0.0
    by_purity: bool = False
    units: UnitArrays | None = None
    """What requirements count that do not count rows."""

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

    def best(self, runs: Runs, most: int = 1) -> Cuts:
        """The cheapest allowed cuts of each region, at most so many, by region and cost."""
        if self.only_size:
            return sweep_cuts(self.points, runs, self.rule._replace(most=most))
        proposed, rows = sweep_cuts(self.points, runs, self.rule), count_rows(self.points, runs)
        limits = Limits(rows, self.rule.min_rows, most)
        if self.by_purity or len(proposed.cost) * self.points.values <= CELLS_AT_ONCE:
            cuts = proposed._replace(cost=self._costs_of(runs, proposed))
        else:
            cuts = self._look_at_cheapest(runs, proposed, limits)
        return chosen(cuts, best_of_each(cuts, limits))

    def _look_at_cheapest(self, runs: Runs, proposed: Cuts, limits: Limits) -> Cuts:
        """The cuts with the costs of those that were looked at; the best of each region are among these."""
        cuts, at_once = proposed._replace(cost=np.full(len(proposed.cost), np.inf)), LOOK * limits.most
        ranked, starts = rank_by_cost(proposed, len(limits.rows))
        seen, ends, left = starts[:-1].copy(), starts[1:], np.flatnonzero(np.diff(starts))
        while len(left):
            some = _cheapest(ranked, seen[left], ends[left], at_once)
            cuts.cost[some] = self._costs_of(runs, chosen(proposed, some))
            seen[left] = np.minimum(seen[left] + at_once, ends[left])
            left = left[~are_found(left, cuts, starts, seen, proposed.cost[ranked], limits)]
            at_once *= LOOK
        return cuts

    def _costs_of(self, runs: Runs, cuts: Cuts) -> NDArray[np.float64]:
        """What cuts cost, infinite where they leave what is not allowed."""
        found, step = cuts.cost.copy(), max(CELLS_AT_ONCE // max(self.points.values, 1), 1)
        for start in range(0, len(found), step):
            some = slice(start, start + step)
            left, right = count_sides(self.points, runs, cuts.region[some], cuts.axis[some], cuts.position[some])
            allowed = self._allow(left, right, runs, chosen(cuts, np.arange(len(cuts.cost))[some]))
            left, right, cost = left[allowed], right[allowed], found[some][allowed]
            if self.by_purity:
                cost = mixture(left, right) + cost * LITTLE
            elif self.caution:
                cost = cost * (1 + self.caution * self._strain(left, right))
            found[some] = np.inf
            found[some][allowed] = cost
        return found

    def _allow(self, left: Counts, right: Counts, runs: Runs, cuts: Cuts) -> NDArray[np.bool_]:
        """Which cuts leave what is allowed on both sides; rows on these are counted already."""
        by_rows = [requirement for requirement in self.requirements if requirement.unit == "rows"]
        allowed = allow(left, right, by_rows, self.population)
        for requirement in self.requirements:
            if self.units and requirement.unit != "rows":
                sides = count_sides_in(requirement.unit, self.units, self.points, runs, cuts)
                allowed &= allow(*sides, [requirement], self.population)
        return allowed

    def _strain(self, left: Counts, right: Counts) -> NDArray[np.float64]:
        """How much of what is allowed the rows of both sides use up on average: 0 as the whole table, 1 all of it."""
        rows = left.sum(axis=1), right.sum(axis=1)
        return np.asarray((rows[0] * self._used(left) + rows[1] * self._used(right)) / (rows[0] + rows[1]))

    def _used(self, counts: Counts) -> NDArray[np.float64]:
        used = np.zeros(len(counts))
        for requirement in self.requirements:
            if requirement.unit != "rows":
                continue
            whole = float(requirement.strain(self.population.counts[None, :], self.population)[0])
            beyond = requirement.strain(counts, self.population) - whole
            used = np.maximum(used, beyond / max(1 - whole, ROUNDING))
        return np.minimum(used, 1)


def mixture(left: Counts, right: Counts) -> NDArray[np.float64]:
    """How mixed the sensitive values are on both sides of each cut: 1 − (√Σ left² + √Σ right²) / rows."""
    pure = np.linalg.norm(left, axis=1) + np.linalg.norm(right, axis=1)
    return np.asarray(1 - pure / (left.sum(axis=1) + right.sum(axis=1)))


def count_rows(points: PointArrays, runs: Runs) -> NDArray[np.int64]:
    """The rows of each region."""
    upto = np.concatenate([[0], np.cumsum(points.weights[runs.order])])
    return np.asarray(upto[runs.ends] - upto[runs.starts])


def chosen(cuts: Cuts, which: NDArray[np.int64]) -> Cuts:
    """Some of the cuts."""
    return Cuts._make(array[which] for array in cuts)


def _cheapest(
    ranked: NDArray[np.int64], seen: NDArray[np.int64], ends: NDArray[np.int64], at_once: int
) -> NDArray[np.int64]:
    """The next few cuts of some regions by cost, in the order in which they were proposed."""
    sizes = np.minimum(ends - seen, at_once)
    places = np.repeat(seen - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
    return np.sort(ranked[places])


@compiled_if_many
def rank_by_cost(cuts: Cuts, regions: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cuts of each region from the cheapest on, region by region; where those of each begin, and the last end."""
    ranked, starts = np.empty(len(cuts.region), dtype=np.int64), np.zeros(regions + 1, dtype=np.int64)
    for region in cuts.region:
        starts[region + 1] += 1
    starts[:] = np.cumsum(starts)
    for region in range(regions):
        first, end = starts[region], starts[region + 1]
        ranked[first:end] = first + np.argsort(cuts.cost[first:end], kind="mergesort")
    return ranked, starts


@compiled_if_many
def are_found(
    regions: NDArray[np.int64],
    cuts: Cuts,
    starts: NDArray[np.int64],
    seen: NDArray[np.int64],
    ranked_costs: NDArray[np.float64],
    limits: Limits,
) -> NDArray[np.bool_]:
    """Of which regions the best cuts are known: all were looked at, or the next one is too dear to change anything.

    No cut costs less than when it was proposed. Equals are told apart in turn, so that dearer ones by a few times `TIE`
    could have a say.
    """
    found, best = np.zeros(len(regions), dtype=np.bool_), np.empty(max(limits.most, 1), dtype=np.int64)
    for number, region in enumerate(regions):
        first, end = starts[region], starts[region + 1]
        wanted = worth_trying(limits.rows[region], limits.min_rows, limits.most)
        found[number] = seen[region] == end
        if not found[number] and choose_best(cuts, first, end, wanted, best) == wanted:
            dearest = cuts.cost[best[:wanted]].max()
            found[number] = ranked_costs[seen[region]] > dearest + 4 * TIE
    return found


@compiled_if_many
def count_values(points: PointArrays, members: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of some points by sensitive value."""
    counts = np.zeros(points.values, dtype=np.int64)
    for point in members:
        for cell in range(points.cell_start[point], points.cell_start[point + 1]):
            counts[points.cell_value[cell]] += points.cell_weight[cell]
    return counts


@compiled_if_many
def count_sides(
    points: PointArrays, runs: Runs, region: NDArray[np.int64], axis: NDArray[np.int64], position: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows on either side of cuts by sensitive value, (cuts, values) each; cuts come by region, axis and position."""
    left = np.zeros((len(region), points.values), dtype=np.int64)
    right, first = np.empty_like(left), 0
    whole = np.empty(points.values, dtype=np.int64)
    while first < len(region):
        members = runs.order[runs.starts[region[first]] : runs.ends[region[first]]]
        if first == 0 or region[first] != region[first - 1]:
            whole = count_values(points, members)
        end = first + 1
        while end < len(region) and region[end] == region[first] and axis[end] == axis[first]:
            end += 1
        for point in members:
            at, cut, above = points.positions[point, axis[first]], first, end
            while cut < above:
                middle = (cut + above) // 2
                if position[middle] > at:
                    above = middle
                else:
                    cut = middle + 1
            if cut < end:
                for cell in range(points.cell_start[point], points.cell_start[point + 1]):
                    left[cut, points.cell_value[cell]] += points.cell_weight[cell]
        for cut in range(first, end):
            for value in range(points.values):
                if cut > first:
                    left[cut, value] += left[cut - 1, value]
                right[cut, value] = whole[value] - left[cut, value]
        first = end
    return left, right


@compiled_if_many
def best_of_each(cuts: Cuts, limits: Limits) -> NDArray[np.int64]:
    """Which cuts are the cheapest of their region, as many as are worth trying, by region and cost."""
    rows, min_rows, most = limits
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
