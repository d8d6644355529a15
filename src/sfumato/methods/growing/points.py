"""What is scanned: the points of a table as positions, the rows at each, and the flattened taxonomies of the axes.

Every axis is a plain range of positions, with the missing value at one end of it: last for the private trees, first
for Mondrian, whose cuts keep missing values with the smallest codes.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.methods.positions import positions_of
from sfumato.schema import Axis
from sfumato.schema.taxonomy import Node

FREE, LEAF = -1, -2
"""In place of a taxonomy's node: the axis may be cut anywhere; a single value, which cannot be cut."""
MAX_LISTED = 2**17
"""A taxonomy of more values is not listed node by node; such an axis may be cut anywhere in its order."""


class PointArrays(NamedTuple):
    """The points as compiled loops take them; the cells of point i begin at `cell_start[i]`."""

    positions: NDArray[np.int32]  # (points, axes)
    sizes: NDArray[np.int64]  # positions of each axis
    missing: NDArray[np.int32]  # the position of each axis's missing value, −1 where there is none
    weights: NDArray[np.int64]  # rows at each point
    cell_start: NDArray[np.int64]
    cell_value: NDArray[np.int32]
    cell_weight: NDArray[np.int64]
    values: int


class Taxonomies(NamedTuple):
    """The inner nodes of all taxonomies: the children of node i begin at `child_lo[child_start[i]:child_start[i + 1]]`.

    `child_node` names the children in turn, LEAF for single values.
    """

    child_start: NDArray[np.int64]
    child_lo: NDArray[np.int32]
    child_node: NDArray[np.int32]


class Runs(NamedTuple):
    """The points of each region: those of region i are `order[starts[i]:ends[i]]`."""

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]


def runs_of(class_of: NDArray[np.int64]) -> Runs:
    """The points of each class, those of no class (−1) left out."""
    order = np.argsort(class_of, kind="stable")
    numbers = np.arange(class_of.max() + 1)
    return Runs(order, *(np.searchsorted(class_of[order], numbers, side=side) for side in ("left", "right")))


class Ranges(NamedTuple):
    """The positions that each region covers of every axis, and the node they make up: each (regions, axes)."""

    lo: NDArray[np.int32]
    hi: NDArray[np.int32]
    node: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Points:
    """What all regions of a table share; `roots` has the node that covers each axis, FREE where there is none."""

    table: Table
    arrays: PointArrays
    roots: NDArray[np.int32]
    taxonomies: Taxonomies

    @classmethod
    def of(cls, table: Table, *, taxonomies: bool = False, missing_first: bool = False) -> Self:
        """The points of a table; without `taxonomies` every axis may be cut anywhere."""
        axes = table.schema.quasi
        nodes: list[tuple[list[int], list[int]]] = []
        roots = [_append(root_of(axis), nodes) if taxonomies and _is_listed(axis) else FREE for axis in axes]
        nullable = np.array([axis.nullable for axis in axes])
        arrays = PointArrays(
            positions=table.points + nullable.astype(np.int32) if missing_first else positions_of(table),
            sizes=np.array([axis.positions for axis in axes], dtype=np.int64),
            missing=np.where(nullable, 0 if missing_first else [axis.size for axis in axes], -1).astype(np.int32),
            weights=table.weights,
            cell_start=table.cell_start,
            cell_value=table.cell_value,
            cell_weight=table.cell_weight,
            values=table.values,
        )
        flattened = Taxonomies(
            child_start=np.cumsum([0, *(len(starts) for starts, _ in nodes)], dtype=np.int64),
            child_lo=np.array([lo for starts, _ in nodes for lo in starts], dtype=np.int32),
            child_node=np.array([node for _, below in nodes for node in below], dtype=np.int32),
        )
        return cls(table, arrays, np.array(roots, dtype=np.int32), flattened)


def _is_listed(axis: Axis) -> bool:
    """Whether the taxonomy of an axis says where to cut it."""
    return not axis.spaced and 1 < axis.positions <= MAX_LISTED


def root_of(axis: Axis) -> Node:
    """The node that covers an axis; its missing value stands beside the root of the taxonomy."""
    root = axis.taxonomy
    return Node(root.label, 0, axis.size, (root, Node("", axis.size, axis.size))) if axis.nullable else root


def skip_single_children(node: Node) -> Node:
    """The node itself, or the first one below it with more or fewer than one child."""
    while len(node.children) == 1:
        node = node.children[0]
    return node


def _append(node: Node, nodes: list[tuple[list[int], list[int]]]) -> int:
    """Append the inner nodes from this one down; its own number."""
    node = skip_single_children(node)
    if node.is_leaf:
        return LEAF
    number = len(nodes)
    nodes.append(([], []))
    nodes[number] = ([child.lo for child in node.children], [_append(child, nodes) for child in node.children])
    return number
