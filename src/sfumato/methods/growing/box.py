"""The tight box around some points, and the certainty penalty of those who are published as that box."""

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled_if_many
from sfumato.methods.growing.points import PointArrays, Runs
from sfumato.methods.growing.scan import Integer

EMPTY = np.array([[2**31 - 1], [-1], [0]], dtype=np.int32)
"""A box that holds nothing yet."""
Box = NDArray[np.int32]
"""The lowest and highest position of each axis among some points, and 1 for a missing value: (3, axes)."""


@compiled_if_many
def extend(
    box: Box, positions: NDArray[np.int32], missing: NDArray[np.int32], axes: NDArray[np.int64], point: np.int64
) -> None:
    """Make a box hold one more point, on some axes."""
    for axis in axes:
        position = positions[point, axis]
        if position == missing[axis]:
            box[2, axis] = 1
        else:
            box[0, axis] = min(box[0, axis], position)
            box[1, axis] = max(box[1, axis], position)


@compiled_if_many
def varies(box: Box, axis: Integer) -> bool:
    """Whether a box has more than one position of an axis, a missing value among them."""
    return bool(box[1, axis] >= 0 and (box[0, axis] != box[1, axis] or box[2, axis] > 0))


@compiled_if_many
def cost_of(box: Box, axes: NDArray[np.int64], scale: NDArray[np.float64]) -> float:
    """The normalized certainty penalty of one row in a box that is a point on all other axes: Σ (width − 1) · scale."""
    total = 0.0
    for axis in axes:
        if box[1, axis] >= 0:
            total += (box[1, axis] - box[0, axis] + box[2, axis]) * scale[axis]
    return total


@compiled_if_many
def penalties(points: PointArrays, runs: Runs) -> NDArray[np.float64]:
    """The normalized certainty penalty of each region as one class, summed over its rows."""
    scale = 1 / np.maximum(points.sizes - 1, 1)
    box, found, axes = np.empty((3, len(scale)), np.int32), np.empty(len(runs.starts)), np.arange(len(scale))
    for region in range(len(runs.starts)):
        box[:] = EMPTY
        rows = 0
        for point in runs.order[runs.starts[region] : runs.ends[region]]:
            rows += points.weights[point]
            extend(box, points.positions, points.missing, axes, point)
        found[region] = rows * cost_of(box, axes, scale)
    return found
