"""Positions: every axis as a plain range, its missing value, where there is one, taking a position of its own."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.release.boxes import Boxes
from sfumato.schema import Axis

MAX_STEPS = 256
"""Steps in which a wide axis is counted."""


def positions_of(table: Table) -> NDArray[np.int32]:
    """The points of a table as positions, missing values last: (points, axes)."""
    sizes = np.array([axis.size for axis in table.schema.quasi], dtype=np.int32)
    return np.ascontiguousarray(np.where(table.points < 0, sizes, table.points))


def boxes_of_positions(lo: NDArray[np.integer], hi: NDArray[np.integer], axes: Sequence[Axis]) -> Boxes:
    """Boxes from ranges of positions, the last position of a nullable axis being its missing value."""
    sizes = np.array([axis.size for axis in axes])
    only_missing = lo >= sizes
    low = np.where(only_missing, 0, lo).astype(np.int32)
    high = np.where(only_missing, -1, np.minimum(hi, sizes - 1)).astype(np.int32)
    return Boxes(low, high, hi >= sizes)


def boxes_of_steps(
    lo: NDArray[np.int64], hi: NDArray[np.int64], starts: Sequence[NDArray[np.int64]], axes: Sequence[Axis]
) -> Boxes:
    """Boxes from ranges of steps; those of each axis begin at its `starts`."""
    ends = [np.append(begin[1:], axis.positions) - 1 for begin, axis in zip(starts, axes, strict=True)]
    first, last = (
        np.column_stack([edge[step] for edge, step in zip(edges, steps.T, strict=True)])
        for edges, steps in ((starts, lo), (ends, hi))
    )
    return boxes_of_positions(first, last, axes)


def even_starts(axis: Axis, max_steps: int = MAX_STEPS) -> NDArray[np.int64]:
    """Where the public steps of an axis begin: at most `max_steps` even ones, the missing value on its own."""
    steps = min(axis.size, max_steps)
    starts = np.arange(steps, dtype=np.int64) * axis.size // steps
    return np.append(starts, axis.size) if axis.nullable else starts


def steps_of(starts: NDArray[np.integer], positions: NDArray[np.integer]) -> NDArray[np.int64]:
    """The step in which each position lies."""
    return np.searchsorted(starts, positions, side="right") - 1


def steps_of_points(table: Table, starts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The step of every axis in which each point of a table lies: (points, axes)."""
    columns = positions_of(table).T
    return np.column_stack([steps_of(begin, column) for begin, column in zip(starts, columns, strict=True)])
