"""The published points nearest to people, where quasi-identifiers were changed and an exact look-up says little."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.release.boxes import Boxes
from sfumato.schema import Axis


def nearest_pairs(
    points: NDArray[np.int32], boxes: Boxes, axes: Sequence[Axis]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each point with the published one nearest to it, the first of those equally near: points, and boxes.

    Distances are Euclidean, each axis taken as a share of its positions, with the missing value behind the others.
    """
    from scipy.spatial import cKDTree  # loading it takes long

    sizes = np.array([axis.size for axis in axes])
    scale = np.array([max(axis.positions - 1, 1) for axis in axes])
    published = np.where(boxes.missing, sizes, boxes.lo) / scale
    distinct, first = np.unique(published, axis=0, return_index=True)
    if not len(distinct):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    _, found = cKDTree(distinct).query(np.where(points < 0, sizes, points) / scale)
    return np.arange(len(points)), first[found]
