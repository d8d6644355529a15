"""The levels to which a column can be generalized as a whole, and what every value is at each of them.

At level h of a taxonomy every value stands for the highest node above it that is at most h edges high, so level 0 is
the values themselves and the height of the tree is everything; branches of different lengths reach their upper nodes
at the same level. A missing value stands beside the root and joins the others one level further up.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.data.keys import pack
from sfumato.methods.growing.points import root_of
from sfumato.methods.positions import positions_of
from sfumato.schema import Axis

Integers = NDArray[np.int64]
Vector = tuple[int, ...]
"""A level of each axis, by its place among those that are listed."""


class Levels(NamedTuple):
    """What the values of one axis that occur become: positions `lo..hi`, each (levels, values).

    Levels that differ in none of these values are listed once, as the lowest of them: `numbers` are those of the
    taxonomy, of which `height` is the highest. `group` numbers the nodes of each level, and `value_of` says which of
    the values each point has.
    """

    numbers: Integers
    height: int
    lo: Integers
    hi: Integers
    group: Integers
    value_of: Integers


def levels_of(table: Table) -> list[Levels]:
    """The levels of every quasi-identifier of a table."""
    axes = table.schema.quasi
    return [_levels(axis, positions) for axis, positions in zip(axes, positions_of(table).T, strict=True)]


def _levels(axis: Axis, positions: NDArray[np.int32]) -> Levels:
    occurring, value_of = np.unique(positions, return_inverse=True)
    lo, hi = nodes_above(axis, occurring.astype(np.int64))
    changed = ((lo[1:] != lo[:-1]) | (hi[1:] != hi[:-1])).any(axis=1)
    numbers = np.flatnonzero(np.append(True, changed))
    lo, hi = lo[numbers], hi[numbers]
    group = np.cumsum(np.diff(lo, axis=1, prepend=lo[:, :1]) > 0, axis=1, dtype=np.int64)
    return Levels(numbers, root_of(axis).height, lo, hi, group, value_of.reshape(-1).astype(np.int64))


def nodes_above(axis: Axis, occurring: Integers) -> tuple[Integers, Integers]:
    """The first and the last position of the node that each value is in at each level: (levels, values) each.

    `occurring` rises; nodes without any of them are not looked at.
    """
    root = root_of(axis)
    lo = np.empty((root.height + 1, len(occurring)), dtype=np.int64)
    hi, waiting = np.empty_like(lo), [(root, root.height + 1, 0, len(occurring))]
    while waiting:
        node, above, first, end = waiting.pop()
        lo[node.height : above, first:end], hi[node.height : above, first:end] = node.lo, node.hi
        if node.children:
            starts = np.array([child.lo for child in node.children])
            edges = first + np.searchsorted(occurring[first:end], np.append(starts, node.hi + 1))
            waiting += [
                (child, node.height, edges[number], edges[number + 1])
                for number, child in enumerate(node.children)
                if edges[number] < edges[number + 1]
            ]
    return lo, hi


class Grouping(NamedTuple):
    """The classes of a vector of levels: a point and the rows of each, and where values count, those of each value."""

    points: Integers
    rows: Integers
    cell_class: Integers
    cell_value: Integers
    cell_rows: Integers


def classes_of(points: Integers, vector: Vector, levels: Sequence[Levels]) -> Integers:
    """A key for the class of each of some points, which rises as the nodes of its levels do."""
    columns = [known.group[level][known.value_of[points]] for known, level in zip(levels, vector, strict=True)]
    return pack(columns, [int(known.group[level][-1]) + 1 for known, level in zip(levels, vector, strict=True)])


def merge(finer: Grouping, vector: Vector, levels: Sequence[Levels], values: int) -> Grouping:
    """The classes of a vector made of those of a finer one, in the order of their keys."""
    _, first, class_of = np.unique(classes_of(finer.points, vector, levels), return_index=True, return_inverse=True)
    class_of = class_of.reshape(-1)
    rows = np.bincount(class_of, finer.rows, len(first)).astype(np.int64)
    if not len(finer.cell_class):
        return Grouping(finer.points[first], rows, *finer[2:])
    cells, place = np.unique(class_of[finer.cell_class] * values + finer.cell_value, return_inverse=True)
    of_cells = np.bincount(place.reshape(-1), finer.cell_rows, len(cells)).astype(np.int64)
    return Grouping(finer.points[first], rows, cells // values, cells % values, of_cells)
