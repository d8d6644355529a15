"""Strict multidimensional partitioning: cut the points level by level while the requirements allow it.

A level's cuts are proposed in one sweep, checked against all requirements at once, and the cheapest allowed cut of
each region is made.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.errors import UnsatisfiableError
from sfumato.methods.growing.points import Points, Runs
from sfumato.methods.growing.regions import Regions, merge_regions
from sfumato.methods.growing.sweep import Cuts, SweepRule, sweep_cuts
from sfumato.privacy.requirements import KAnonymity, Population, Requirement

Cut = Literal["ncp", "median"]
POINTS_AT_ONCE = 2**19


def partition(table: Table, requirements: Sequence[Requirement], cut: Cut) -> NDArray[np.int64]:
    """The class of each point of the table; classes are numbered in the order of their smallest point."""
    population = Population(table.overall, table.schema.sensitive)
    _check_root(table, requirements, population)
    only_size = all(isinstance(requirement, KAnonymity) for requirement in requirements)
    min_rows = max((requirement.smallest_class for requirement in requirements), default=1)
    rule = SweepRule(min_rows=min_rows, by_median=cut == "median", only_best=only_size)
    regions = Regions.whole(Points.of(table, missing_first=True))
    histograms = table.overall[None, : 0 if only_size else None]
    finished = []
    while len(regions):
        cuts = _decide(regions, histograms, rule, requirements, population)
        uncut = np.ones(len(regions), dtype=bool)
        uncut[cuts.region] = False
        finished.append(regions[uncut])
        sides = np.stack([cuts.left, histograms[cuts.region] - cuts.left], axis=1)
        histograms = sides.reshape(2 * len(sides), sides.shape[2])
        regions, _ = regions[cuts.region].split(cuts.axis, cuts.position)
    return _number(merge_regions(finished))


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


def _decide(
    regions: Regions,
    histograms: NDArray[np.int64],
    rule: SweepRule,
    requirements: Sequence[Requirement],
    population: Population,
) -> Cuts:
    """The cheapest allowed cut of each region that can be cut."""
    parts = []
    for batch in _batches(regions.runs.ends - regions.runs.starts):
        order, starts, ends = regions.runs
        cuts = sweep_cuts(regions.points.arrays, Runs(order, starts[batch], ends[batch]), rule)
        if not rule.only_best:
            right = histograms[batch][cuts.region] - cuts.left
            allowed = np.ones(len(cuts.region), dtype=bool)
            for requirement in requirements:
                allowed[allowed] = requirement.holds(cuts.left[allowed], population)
                allowed[allowed] = requirement.holds(right[allowed], population)
            kept = np.flatnonzero(allowed)
            keys = (cuts.position, cuts.axis, np.round(cuts.cost, 9), cuts.region)
            ranked = kept[np.lexsort([key[kept] for key in keys])]
            first = ranked[np.unique(cuts.region[ranked], return_index=True)[1]]
            cuts = Cuts._make(array[first] for array in cuts)
        parts.append(cuts._replace(region=cuts.region + batch.start))
    return Cuts(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _batches(sizes: NDArray[np.int64]) -> list[slice]:
    """Runs of nodes with about `POINTS_AT_ONCE` points together."""
    run = np.cumsum(sizes) // POINTS_AT_ONCE
    edges = [0, *(np.flatnonzero(np.diff(run)) + 1).tolist(), len(sizes)]
    return [slice(start, end) for start, end in pairwise(edges)]


def _number(classes: Regions) -> NDArray[np.int64]:
    """The class of each point, numbered by smallest point: points rise, so this is the order of the boxes."""
    owners = classes.owners()
    smallest = np.empty(len(classes), dtype=np.int64)
    smallest[owners[::-1]] = np.arange(len(owners))[::-1]
    return np.argsort(np.argsort(smallest))[owners]
