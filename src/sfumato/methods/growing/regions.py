"""Regions: disjoint boxes of positions that together cover the domain, each with the points that lie in it.

Methods start from the whole domain and split regions, level by level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.methods.growing.grow import split_regions
from sfumato.methods.growing.points import FREE, Points, Ranges, Runs
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

    @staticmethod
    def whole(points: Points) -> Regions:
        """The one region that covers the domain."""
        arrays = points.arrays
        size = len(arrays.positions)
        return Regions(
            points=points,
            runs=Runs(np.arange(size), np.zeros(1, dtype=np.int64), np.array([size])),
            ranges=Ranges(
                lo=np.zeros((1, len(arrays.sizes)), dtype=np.int32),
                hi=(arrays.sizes - 1).astype(np.int32)[None, :],
                node=points.roots[None, :].copy(),
            ),
        )

    def __len__(self) -> int:
        return len(self.runs.starts)

    def __getitem__(self, chosen: NDArray[np.generic]) -> Regions:
        order, starts, ends = self.runs
        return Regions(
            self.points, Runs(order, starts[chosen], ends[chosen]), Ranges(*(side[chosen] for side in self.ranges))
        )

    @property
    def lo(self) -> NDArray[np.int32]:
        """The first position of each axis that a region covers: (regions, axes)."""
        return self.ranges.lo

    @property
    def hi(self) -> NDArray[np.int32]:
        """The last position of each axis that a region covers: (regions, axes)."""
        return self.ranges.hi

    @cached_property
    def widths(self) -> NDArray[np.int64]:
        """How many positions of each axis a region covers: (regions, axes)."""
        return self.hi.astype(np.int64) - self.lo + 1

    @property
    def boxes(self) -> Boxes:
        """The regions as published boxes, for points with missing values last."""
        return boxes_of_positions(self.lo, self.hi, self.points.table.schema.quasi)

    def members(self, region: int) -> NDArray[np.int64]:
        """The points of a region."""
        return self.runs.order[self.runs.starts[region] : self.runs.ends[region]]

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
        return (self.lo[each, axis] + (self.widths[each, axis] + 1) // 2).astype(np.int32)

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

    def split(self, axis: NDArray[np.integer], position: NDArray[np.integer]) -> tuple[Regions, NDArray[np.int64]]:
        """Every region cut on its axis at a position (−1: into its taxonomy's children), and each part's parent."""
        points = self.points
        runs, ranges, parent = split_regions(
            points.arrays.positions, self.runs, self.ranges, points.taxonomies, axis, position
        )
        return Regions(points, runs, ranges), parent


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
