"""Sampled rows: the columns of a table that they imitate, how many there are, and the release of them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.data.keys import pack
from sfumato.methods.base import DPMethod
from sfumato.methods.models.binning import Attribute
from sfumato.methods.positions import positions_of
from sfumato.release.boxes import Boxes
from sfumato.release.content import sampling_deviation
from sfumato.release.release import Release

MAX_ROWS = 10**7
"""Rows sampled, however many the noisy count speaks of."""


def row_columns(table: Table) -> tuple[list[NDArray[np.integer]], list[int]]:
    """The positions of every attribute by cell, the sensitive one last, and which attributes can vary at all."""
    columns = [*positions_of(table)[table.cell_point].T, table.cell_value]
    return columns, [number for number, axis in enumerate(table.schema.axes) if axis.positions > 1]


def rows_to_sample(attributes: Sequence[Attribute]) -> int:
    """As many rows as the noisy counts speak of."""
    return min(max(1, round(float(attributes[0].counts.sum()))), MAX_ROWS)


def release_of_rows(method: DPMethod, table: Table, varying: Sequence[int], sampled: NDArray[np.int64]) -> Release:
    """The sampled rows, columns of the varying attributes, by distinct point; counts vary as those of any sample."""
    found = np.zeros((len(sampled), len(table.schema.axes)), dtype=np.int64)
    found[:, varying] = sampled
    sizes = np.array([axis.size for axis in table.schema.quasi])
    points = np.where(found[:, :-1] >= sizes, -1, found[:, :-1]).astype(np.int32)
    _, first, group = np.unique(pack(list(points.T), sizes.tolist()), return_index=True, return_inverse=True)
    flat = group.reshape(-1) * table.values + found[:, -1]
    counts = np.bincount(flat, minlength=len(first) * table.values)
    histograms = counts.reshape(-1, table.values).astype(np.float64)
    boxes = Boxes.of_points(points[first])
    return method.make_release(table, boxes, histograms, deviation=sampling_deviation(histograms))
