"""Regions: disjoint boxes of positions that together cover the domain, each with the points that lie in it.

Methods start from the whole domain and split regions, level by level.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled_if_many
from sfumato.data import Table
from sfumato.methods.growing.points import FREE, Points, Ranges, Runs, Taxonomies
from sfumato.methods.growing.scan import score_cuts
from sfumato.methods.positions import boxes_of_positions
from sfumato.release.boxes import Boxes

MAX_CUTS = 255
"""Wide axes are cut at this many even steps; splitting again refines them."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Cuts of regions with their scores; those of region i begin at `starts[i]`."""

    scores: NDArray[np.int64]
    axis: NDArray[np.int32]
    position: NDArray[np.int32]
    starts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Regions:
    """The points of every region, and the ranges of positions it covers with the node that each makes up."""

    points: Points
    runs: Runs
    ranges: Ranges

    @classmethod
    def whole(cls, points: Points) -> Self:
        """The one region that covers the domain."""
        size, last = len(points.arrays.positions), (points.arrays.sizes - 1).astype(np.int32)[None, :]
        runs = Runs(np.arange(size), np.zeros(1, dtype=np.int64), np.array([size]))
        return cls(points, runs, Ranges(lo=np.zeros_like(last), hi=last, node=points.roots[None, :].copy()))

    def __len__(self) -> int:
        return len(self.runs.starts)

    def __getitem__(self, chosen: NDArray[np.generic]) -> Self:
        order, starts, ends = self.runs
        runs, ranges = Runs(order, starts[chosen], ends[chosen]), Ranges(*(side[chosen] for side in self.ranges))
        return replace(self, runs=runs, ranges=ranges)

    @cached_property
    def widths(self) -> NDArray[np.int64]:
        """How many positions of each axis a region covers: (regions, axes)."""
        return self.ranges.hi.astype(np.int64) - self.ranges.lo + 1

    @property
    def boxes(self) -> Boxes:
        """The regions as published boxes, for points with missing values last."""
        return boxes_of_positions(self.ranges.lo, self.ranges.hi, self.points.table.schema.quasi)

    def counts(self) -> NDArray[np.int64]:
        """The exact number of rows in each region."""
        cumulative = np.concatenate([[0], np.cumsum(self.points.table.weights[self.runs.order])])
        return np.asarray(cumulative[self.runs.ends] - cumulative[self.runs.starts])

    def owners(self) -> NDArray[np.int64]:
        """The region of each point, −1 where it lies in none of them."""
        lengths = self.runs.ends - self.runs.starts
        member = np.repeat(self.runs.starts - (np.cumsum(lengths) - lengths), lengths)
        found = np.full(len(self.runs.order), -1, dtype=np.int64)
        found[self.runs.order[member + np.arange(len(member))]] = np.repeat(np.arange(len(self)), lengths)
        return found

    def histograms(self) -> NDArray[np.int64]:
        """The exact rows of each region by sensitive value: (regions, values)."""
        return count_by_class(self.points.table, self.owners(), len(self))

    def widest_axes(self) -> NDArray[np.int32]:
        """The axis of each region that covers the largest share of its domain; the first of equals."""
        share = np.where(self.widths > 1, self.widths / self.points.arrays.sizes, 0)
        return np.asarray(share.argmax(axis=1).astype(np.int32))

    def middles(self, axis: NDArray[np.int32]) -> NDArray[np.int32]:
        """Where the upper half of each region's axis begins."""
        each = np.arange(len(self))
        return (self.ranges.lo[each, axis] + (self.widths[each, axis] + 1) // 2).astype(np.int32)

    def count_cuts(self, max_cuts: int = MAX_CUTS) -> NDArray[np.int64]:
        """How many cuts each axis offers, −1 for that into the children of a taxonomy's node: (regions, axes)."""
        node = self.ranges.node
        free = np.where(node == FREE, np.minimum(self.widths - 1, max_cuts), 0)
        return np.where(node >= 0, -1, free).astype(np.int64)

    def score_cuts(self, cuts: NDArray[np.int64], kind: int) -> Candidates:
        """The score of every cut, of which each axis has as many as `cuts` says."""
        points, per_region = self.points, np.abs(cuts).sum(axis=1)
        found = score_cuts(points.arrays, self.runs, self.ranges, points.taxonomies, cuts, kind, int(per_region.sum()))
        return Candidates(*found, (np.cumsum(per_region) - per_region).astype(np.int64))

    def split(self, axis: NDArray[np.integer], position: NDArray[np.integer]) -> tuple[Self, NDArray[np.int64]]:
        """Every region cut on its axis at a position (−1: into its taxonomy's children), and each part's parent."""
        positions, taxonomies = self.points.arrays.positions, self.points.taxonomies
        runs, ranges, parent = split_regions(positions, self.runs, self.ranges, taxonomies, axis, position)
        return replace(self, runs=runs, ranges=ranges), parent


def merge_regions(parts: Sequence[Regions]) -> Regions:
    """All regions of several lists that grew from the same whole."""
    starts, ends = (np.concatenate([part.runs[side] for part in parts]) for side in (1, 2))
    ranges = Ranges(*(np.concatenate(sides) for sides in zip(*(part.ranges for part in parts), strict=True)))
    return Regions(parts[0].points, Runs(parts[0].runs.order, starts, ends), ranges)


def count_by_class(table: Table, class_of: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """Rows of each class of points by sensitive value: (classes, values); points of no class (−1) are left out."""
    number = class_of[table.cell_point]
    inside = number >= 0
    flat = number[inside] * table.values + table.cell_value[inside]
    counts = np.bincount(flat, table.cell_weight[inside], classes * table.values)
    return counts.astype(np.int64).reshape(classes, table.values)


@compiled_if_many
def sort_into_parts(
    positions: NDArray[np.int32], members: NDArray[np.int64], axis: int, part_lo: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Reorder points, in place, by the part of an axis in which they lie; where the points of each part end.

    Part i begins at the position `part_lo[i]`.
    """
    unsorted = members.copy()
    ends = np.zeros(len(part_lo) + 1, dtype=np.int64)
    part_of = np.empty(len(members), dtype=np.int64)
    for number, point in enumerate(unsorted):
        part_of[number] = np.searchsorted(part_lo, positions[point, axis], side="right") - 1
        ends[part_of[number] + 1] += 1
    for part in range(len(part_lo)):
        ends[part + 1] += ends[part]
    for number, point in enumerate(unsorted):
        members[ends[part_of[number]]] = point
        ends[part_of[number]] += 1
    return ends[:-1]


@compiled_if_many
def split_regions(
    positions: NDArray[np.int32],
    runs: Runs,
    ranges: Ranges,
    taxonomies: Taxonomies,
    axis: NDArray[np.integer],
    position: NDArray[np.integer],
) -> tuple[Runs, Ranges, NDArray[np.int64]]:
    """As `Regions.split` says, over arrays."""
    child_start, child_lo, child_node = taxonomies
    children = np.full(len(axis), 2)
    for region in range(len(axis)):
        if position[region] < 0:
            node = ranges.node[region, axis[region]]
            children[region] = child_start[node + 1] - child_start[node]
    parent = np.repeat(np.arange(len(axis)), children)
    lo, hi, nodes = ranges.lo[parent], ranges.hi[parent], ranges.node[parent]
    starts, ends = np.empty(len(parent), dtype=np.int64), np.empty(len(parent), dtype=np.int64)
    first = 0
    for region in range(len(axis)):
        along, last = axis[region], first + children[region]
        child = child_start[nodes[first, along]] if position[region] < 0 else 0
        for part in range(first, last):
            if position[region] < 0:
                lo[part, along], nodes[part, along] = child_lo[child], child_node[child]
                child += 1
            else:
                nodes[part, along] = FREE
                lo[part, along] = lo[part, along] if part == first else position[region]
            if part > first:
                hi[part - 1, along] = lo[part, along] - 1
        begin = runs.starts[region]
        members = runs.order[begin : runs.ends[region]]
        starts[first] = begin
        ends[first:last] = begin + sort_into_parts(positions, members, along, lo[first:last, along].copy())
        starts[first + 1 : last] = ends[first : last - 1]
        first = last
    return Runs(runs.order, starts, ends), Ranges(lo, hi, nodes), parent
