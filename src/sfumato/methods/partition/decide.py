"""Strict multidimensional partitioning: cut the points level by level while the requirements allow it.

The table is cut twice: greedily, each time by the cut that leaves the least penalty, and with a look ahead. The
partition with the lower penalty is the one that is published, so looking ahead never costs certainty.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.errors import UnsatisfiableError
from sfumato.methods.growing.cuts import Cuts, SweepRule
from sfumato.methods.growing.points import Points, Runs
from sfumato.methods.growing.regions import Regions, merge_regions
from sfumato.methods.growing.sweep import penalties
from sfumato.methods.partition.search import WIDTH, Search, sides
from sfumato.privacy.requirements import KAnonymity, Population, Requirement

Cut = Literal["ncp", "median"]
POINTS_AT_ONCE = 2**19
SMALLEST = 0.6
"""A class that nothing can be cut from has between one and two times the rows of the smallest one there could be."""


def partition(table: Table, requirements: Sequence[Requirement], cut: Cut, *, look_ahead: int = 0) -> NDArray[np.int64]:
    """The class of each point of the table; classes are numbered in the order of their smallest point."""
    population = Population(table.overall, table.schema.sensitive)
    _check_root(table, requirements, population)
    points = Points.of(table, missing_first=True)
    search = Search(points.arrays, requirements, population, sweep_rule(requirements, cut))
    classes = _grow(points, search)
    if look_ahead and cut == "ncp":
        classes = min(classes, _grow(points, _looking_ahead(search, classes, look_ahead)), key=_penalty)
    return _number(classes)


def sweep_rule(requirements: Sequence[Requirement], cut: Cut) -> SweepRule:
    """Which cuts are proposed."""
    return SweepRule(min_rows=smallest_class(requirements), by_median=cut == "median", most=0)


def smallest_class(requirements: Sequence[Requirement]) -> int:
    """No class with fewer rows can satisfy the requirements."""
    return max((requirement.smallest_class for requirement in requirements), default=1)


def _looking_ahead(search: Search, greedy: Regions, look_ahead: int) -> Search:
    """The search that looks ahead, at classes of the size that greedy cuts show to be in reach.

    On d axes a box that becomes L classes is cut into L^(1/d) on each of them. One axis more allows for cuts that would
    leave too few rows: narrowing[L] = L^−(1/(d + 1)). Where sensitive values decide whether a class can be cut, its
    rows do not tell how often, and nothing is estimated.
    """
    if not search.only_size:
        aim = max(search.rule.min_rows, _typical_size(greedy))
        return replace(search, rule=search.rule._replace(aim=aim), look_ahead=look_ahead)
    aim = search.rule.min_rows
    classes = np.maximum(np.arange(search.points.weights.sum() // aim + 1), 1)
    narrowing = classes ** (-1 / (np.count_nonzero(search.points.sizes > 1) + 1))
    return replace(search, rule=search.rule._replace(aim=aim, narrowing=narrowing), look_ahead=look_ahead)


def _typical_size(classes: Regions) -> int:
    """The rows of the class of the median row, as if it were one of the smallest there could be."""
    sizes = np.sort(classes.counts())
    return int(sizes[np.searchsorted(2 * np.cumsum(sizes), sizes.sum())] * SMALLEST)


def _penalty(classes: Regions) -> float:
    return float(penalties(classes.points.arrays, classes.runs).sum())


def _grow(points: Points, search: Search) -> Regions:
    """The classes that are left when no region can be cut any more."""
    regions, histograms = Regions.whole(points), points.table.overall[None, : 0 if search.only_size else None]
    finished = []
    while len(regions):
        cuts = _decide(regions, histograms, search)
        uncut = np.ones(len(regions), dtype=bool)
        uncut[cuts.region] = False
        finished.append(regions[uncut])
        histograms = sides(cuts, histograms)
        regions, _ = regions[cuts.region].split(cuts.axis, cuts.position)
    return merge_regions(finished)


def _check_root(table: Table, requirements: Sequence[Requirement], population: Population) -> None:
    for requirement in requirements:
        if not requirement.holds(table.overall[None, :], population)[0]:
            commonest = int(table.overall.argmax())
            label = table.schema.sensitive.labels[commonest]
            why = f" (the commonest sensitive value {label!r} has {table.overall[commonest] / table.n:.1%} of them)"
            raise UnsatisfiableError(
                f"no release of this table can satisfy {requirement}: its {table.n} rows taken together already "
                f"fail it{'' if isinstance(requirement, KAnonymity) else why}"
            )


def _decide(regions: Regions, histograms: NDArray[np.int64], search: Search) -> Cuts:
    """The cut to make of each region that can be cut."""
    order, starts, ends = regions.runs
    parts = []
    for batch in _batches(ends - starts, POINTS_AT_ONCE // WIDTH**search.look_ahead):
        cuts = search.decide(Runs(order, starts[batch], ends[batch]), histograms[batch])
        parts.append(cuts._replace(region=cuts.region + batch.start))
    return Cuts(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _batches(sizes: NDArray[np.int64], most: int) -> list[slice]:
    """Runs of regions with about so many points together."""
    run = np.cumsum(sizes) // max(most, 1)
    edges = [0, *(np.flatnonzero(np.diff(run)) + 1).tolist(), len(sizes)]
    return [slice(start, end) for start, end in pairwise(edges)]


def _number(classes: Regions) -> NDArray[np.int64]:
    """The class of each point, numbered by smallest point: points rise, so this is the order of the boxes."""
    owners = classes.owners()
    smallest = np.empty(len(classes), dtype=np.int64)
    smallest[owners[::-1]] = np.arange(len(owners))[::-1]
    return np.argsort(np.argsort(smallest))[owners]
