"""Regions: disjoint boxes of positions that together cover the domain, each with the points that lie in it.

Methods under differential privacy start from the whole domain and divide regions, level by level. Missing values
take the last position of their axis, so that every axis is a plain range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.release.boxes import Boxes
from sfumato.schema import Axis
from sfumato.schema.taxonomy import Node

MOST_CUTS = 255
"""Wide axes are cut at this many even steps; dividing again refines them."""
FREE = -1
"""In place of a taxonomy node: the axis may be cut anywhere."""


@dataclass(frozen=True, eq=False)
class Ground:
    """What all regions of a table share: positions of the points, and the flattened taxonomies of the axes.

    The children of node i begin at the positions `child_lo[child_start[i]:child_start[i + 1]]`; `child_node` names
    them, −2 for single values.
    """

    table: Table
    positions: NDArray[np.int32]  # (points, axes)
    sizes: NDArray[np.int64]  # positions of each axis
    roots: NDArray[np.int32]  # the node that covers each axis, FREE where there is none
    child_start: NDArray[np.int64]
    child_lo: NDArray[np.int32]
    child_node: NDArray[np.int32]

    @staticmethod
    def of(table: Table, *, taxonomies: bool) -> Ground:
        """The ground of a table; without `taxonomies` every axis may be cut anywhere."""
        axes = table.schema.quasi
        nodes: list[tuple[list[int], list[int]]] = []
        roots = [
            _flattened(axis, nodes) if taxonomies and axis.kind == "categorical" and axis.positions > 1 else FREE
            for axis in axes
        ]
        lengths = np.array([len(starts) for starts, _ in nodes], dtype=np.int64)
        return Ground(
            table=table,
            positions=positions_of(table),
            sizes=np.array([axis.positions for axis in axes], dtype=np.int64),
            roots=np.array(roots, dtype=np.int32),
            child_start=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            child_lo=np.array([lo for starts, _ in nodes for lo in starts], dtype=np.int32),
            child_node=np.array([node for _, below in nodes for node in below], dtype=np.int32),
        )


def positions_of(table: Table) -> NDArray[np.int32]:
    """The points of a table as positions: (points, axes)."""
    sizes = np.array([axis.size for axis in table.schema.quasi], dtype=np.int32)
    return np.ascontiguousarray(np.where(table.points < 0, sizes, table.points))


def boxes_of_positions(lo: NDArray[np.integer], hi: NDArray[np.integer], axes: Sequence[Axis]) -> Boxes:
    """Boxes from ranges of positions, the last position of a nullable axis being its missing value."""
    sizes = np.array([axis.size for axis in axes])
    missing = hi >= sizes
    only_missing = lo >= sizes
    low = np.where(only_missing, 0, lo).astype(np.int32)
    high = np.where(only_missing, -1, np.minimum(hi, sizes - 1)).astype(np.int32)
    return Boxes(low, high, missing)


LEAF = -2


def _flattened(axis: Axis, nodes: list[tuple[list[int], list[int]]]) -> int:
    """Append the inner nodes of an axis; the missing value of a nullable axis stands beside the taxonomy's root."""
    root = axis.taxonomy
    if axis.nullable:
        root = Node(root.label, 0, axis.size, (root, Node("", axis.size, axis.size)))
    return _append(root, nodes)


def _append(node: Node, nodes: list[tuple[list[int], list[int]]]) -> int:
    while len(node.children) == 1:
        node = node.children[0]
    if node.is_leaf:
        return LEAF
    number = len(nodes)
    nodes.append(([], []))
    nodes[number] = ([child.lo for child in node.children], [_append(child, nodes) for child in node.children])
    return number


@dataclass(frozen=True, eq=False)
class Regions:
    """Boxes of positions, the node each covers on every axis, and its run of points in `order`."""

    ground: Ground
    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    lo: NDArray[np.int32]  # (regions, axes)
    hi: NDArray[np.int32]
    node: NDArray[np.int32]

    @staticmethod
    def whole(ground: Ground) -> Regions:
        """The one region that covers the domain."""
        return Regions(
            ground=ground,
            order=np.arange(len(ground.positions)),
            starts=np.zeros(1, dtype=np.int64),
            ends=np.array([len(ground.positions)]),
            lo=np.zeros((1, len(ground.sizes)), dtype=np.int32),
            hi=(ground.sizes - 1).astype(np.int32)[None, :],
            node=ground.roots[None, :].copy(),
        )

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, chosen: NDArray[np.generic]) -> Regions:
        return Regions(
            self.ground,
            self.order,
            self.starts[chosen],
            self.ends[chosen],
            self.lo[chosen],
            self.hi[chosen],
            self.node[chosen],
        )

    @cached_property
    def widths(self) -> NDArray[np.int64]:
        """How many positions of each axis a region covers: (regions, axes)."""
        return self.hi.astype(np.int64) - self.lo + 1

    @property
    def boxes(self) -> Boxes:
        """The regions as published boxes."""
        return boxes_of_positions(self.lo, self.hi, self.ground.table.schema.quasi)

    def counts(self) -> NDArray[np.int64]:
        """The exact number of rows in each region."""
        cumulative = np.concatenate([[0], np.cumsum(self.ground.table.weights[self.order])])
        return np.asarray(cumulative[self.ends] - cumulative[self.starts])

    def histograms(self) -> NDArray[np.int64]:
        """The exact rows of each region by sensitive value: (regions, values)."""
        table = self.ground.table
        region_of = np.full(len(table.points), -1, dtype=np.int64)
        lengths = self.ends - self.starts
        member = np.repeat(self.starts - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
        region_of[self.order[member + np.arange(len(member))]] = np.repeat(np.arange(len(self)), lengths)
        region = region_of[table.cell_point]
        inside = region >= 0
        flat = region[inside] * table.values + table.cell_value[inside]
        counts = np.bincount(flat, table.cell_weight[inside], len(self) * table.values)
        return counts.astype(np.int64).reshape(-1, table.values)

    def offers(self, most_cuts: int = MOST_CUTS) -> NDArray[np.int64]:
        """How many cuts each axis offers, −1 for that into the children of a taxonomy's node: (regions, axes)."""
        free = np.where(self.node == FREE, np.minimum(self.widths - 1, most_cuts), 0)
        return np.where(self.node >= 0, -1, free).astype(np.int64)

    def scores(self, offers: NDArray[np.int64], kind: int) -> Candidates:
        """The score of every offered cut."""
        from sfumato.methods.trees.dividing import score_cuts

        ground, table = self.ground, self.ground.table
        per_region = np.abs(offers).sum(axis=1)
        scores, axis, position = score_cuts(
            ground.positions,
            table.weights,
            table.cell_start,
            table.cell_value,
            table.cell_weight,
            table.values,
            self.order,
            self.starts,
            self.ends,
            self.lo,
            self.hi,
            self.node,
            offers,
            ground.child_start,
            ground.child_lo,
            ground.sizes,
            kind,
            int(per_region.sum()),
        )
        return Candidates(scores, axis, position, np.concatenate([[0], np.cumsum(per_region)[:-1]]).astype(np.int64))

    def divided(self, axis: NDArray[np.int32], position: NDArray[np.int32]) -> tuple[Regions, NDArray[np.int64]]:
        """Every region cut on its axis at a position (−1: into its taxonomy's children), and each part's parent."""
        from sfumato.methods.trees.dividing import sort_into_parts

        ground, rows = self.ground, np.arange(len(self))
        node = self.node[rows, axis]
        by_node = position < 0
        known = np.where(by_node, node, 0)
        children = (
            np.where(by_node, ground.child_start[known + 1] - ground.child_start[known], 2)
            if len(ground.child_lo)
            else np.full(len(self), 2)
        )
        parent = np.repeat(rows, children)
        first = np.concatenate([[0], np.cumsum(children)]).astype(np.int64)
        number = np.arange(len(parent)) - first[parent]
        part_lo = np.where(number == 0, self.lo[parent, axis[parent]], position[parent])
        part_node = np.full(len(parent), FREE, dtype=np.int32)
        child = np.flatnonzero(by_node[parent])
        at = ground.child_start[node[parent[child]]] + number[child]
        part_lo[child], part_node[child] = ground.child_lo[at], ground.child_node[at]
        last = np.append(number[1:] == 0, True)
        part_hi = np.where(last, self.hi[parent, axis[parent]], np.append(part_lo[1:], 0) - 1)
        starts, ends = sort_into_parts(
            ground.positions, self.order, self.starts, self.ends, axis, first, part_lo.astype(np.int32)
        )
        lo, hi, nodes = self.lo[parent], self.hi[parent], self.node[parent]
        each = np.arange(len(parent))
        lo[each, axis[parent]], hi[each, axis[parent]], nodes[each, axis[parent]] = part_lo, part_hi, part_node
        return Regions(ground, self.order, starts, ends, lo, hi, nodes), parent


@dataclass(frozen=True, eq=False)
class Candidates:
    """Cuts of regions with their scores; those of region i begin at `starts[i]`."""

    scores: NDArray[np.int64]
    axis: NDArray[np.int32]
    position: NDArray[np.int32]
    starts: NDArray[np.int64]


def joined(parts: Sequence[Regions]) -> Regions:
    """All regions of several lists that grew from the same whole."""
    return Regions(
        parts[0].ground,
        parts[0].order,
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("starts", "ends", "lo", "hi", "node")),
    )
