"""Mondrian where cells do not fit into memory: the top of the tree from rounded cells, the rest region by region.

Cells rounded down are points of the same axes, so the top is cut by the same rule and under the same requirements. A
cut between rounded points is one between the true ones, with the same rows on both sides. Regions with few enough cells
are cut on where their cells are. Both sides of every cut satisfy all requirements, so all classes do.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.data.large import Classes, LargeTable, Rounded
from sfumato.errors import DataError
from sfumato.methods.growing.points import Points, Runs
from sfumato.methods.partition.decide import Cut, check_root, partition, sweep_rule
from sfumato.methods.partition.grow import cut_in_place, decide
from sfumato.methods.partition.search import Search
from sfumato.privacy.requirements import Population, Requirement

CELLS_AT_ONCE = 2**20
"""Regions with more cells are cut if they can be: so many are in the memory of one task."""


@dataclass(frozen=True, kw_only=True)
class Grower:
    """Puts the points of a region into classes; requirements compare these with the whole population."""

    requirements: Sequence[Requirement]
    population: Population
    cut: Cut
    look_ahead: int

    def __call__(self, region: Table) -> NDArray[np.int64]:
        return partition(region, self.requirements, self.cut, look_ahead=self.look_ahead, population=self.population)


def grow_regions(table: LargeTable, requirements: Sequence[Requirement], cut: Cut, look_ahead: int) -> Classes:
    """The classes of a table of which no more than rounded cells fits into memory."""
    population, rounded = Population(table.overall, table.schema.sensitive), table.far.rounded()
    check_root(rounded.table, requirements, population)
    points = Points.of(rounded.table, missing_first=True).arrays
    search = Search(points, requirements, population, sweep_rule(requirements, cut), by_purity=cut == "purity")
    grower = Grower(requirements=tuple(requirements), population=population, cut=cut, look_ahead=look_ahead)
    return table.far.grow(rounded, regions_of(search, rounded, table), grower)


def regions_of(search: Search, rounded: Rounded, table: LargeTable) -> NDArray[np.int64]:
    """The region of each rounded point: cut level by level until none has more cells than a task should take.

    One that can only be cut between finer points goes to a task as it is, unless it is as much too large as the table.
    """
    order = np.arange(len(rounded.cells))
    large = Runs(order, np.zeros(1, dtype=np.int64), np.array([len(order)]))
    region_of, found = np.empty(len(order), dtype=np.int64), 0
    while len(large.starts):
        cuts = decide(search, large)
        uncut = np.delete(np.arange(len(large.starts)), cuts.region)
        if _count_cells(rounded, large)[uncut].max(initial=0) > table.far.most:
            raise DataError(table.refusal)
        parts = cut_in_place(search.points.positions, large, cuts)
        few = _count_cells(rounded, parts) <= CELLS_AT_ONCE
        starts, ends = (np.concatenate([large[side][uncut], parts[side][few]]) for side in (1, 2))
        for start, end in zip(starts, ends, strict=True):
            region_of[order[start:end]] = found
            found += 1
        large = Runs(order, parts.starts[~few], parts.ends[~few])
    return region_of


def _count_cells(rounded: Rounded, runs: Runs) -> NDArray[np.int64]:
    upto = np.concatenate([[0], np.cumsum(rounded.cells[runs.order])])
    return np.asarray(upto[runs.ends] - upto[runs.starts])
