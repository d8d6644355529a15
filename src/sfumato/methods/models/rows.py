"""Sampled rows: the columns of a table that they imitate, and the release of them."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.data.keys import pack
from sfumato.mechanisms.budget import Budget
from sfumato.methods.base import DPMethod
from sfumato.methods.positions import positions_of
from sfumato.release.boxes import Boxes
from sfumato.release.content import sampling_deviation
from sfumato.release.release import Release
from sfumato.schema import Axis

MAX_ROWS = 10**7
"""Rows sampled, however many the noisy count speaks of."""


@dataclass(frozen=True, eq=False)
class Columns:
    """The attributes of a table that can vary at all, the sensitive one last, by cell."""

    axes: Sequence[Axis]
    positions: Sequence[NDArray[np.integer]]
    weights: NDArray[np.int64]  # rows in each cell

    @classmethod
    def of(cls, table: Table) -> Self:
        columns = zip(table.schema.axes, [*positions_of(table)[table.cell_point].T, table.cell_value], strict=True)
        axes, positions = zip(*((axis, column) for axis, column in columns if axis.positions > 1), strict=True)
        return cls(axes, positions, table.cell_weight)


@dataclass(frozen=True, kw_only=True)
class SampledRows(DPMethod):
    """A method that publishes rows sampled from a noisy model."""

    @abstractmethod
    def _sample(self, columns: Columns, budget: Budget) -> NDArray[np.int64]:
        """Rows of positions, with the attributes of `columns`."""

    def _release(self, table: Table, budget: Budget) -> Release:
        """The sampled rows by distinct point; counts vary as those of any sample."""
        axes = table.schema.axes
        sampled = self._sample(Columns.of(table), budget)
        found = np.zeros((len(sampled), len(axes)), dtype=np.int64)
        found[:, [axis.positions > 1 for axis in axes]] = sampled
        sizes = np.array([axis.size for axis in axes[:-1]])
        points = np.where(found[:, :-1] >= sizes, -1, found[:, :-1]).astype(np.int32)
        _, first, group = np.unique(pack(list(points.T), sizes.tolist()), return_index=True, return_inverse=True)
        flat = group.reshape(-1) * table.values + found[:, -1]
        counts = np.bincount(flat, minlength=len(first) * table.values)
        histograms = counts.reshape(-1, table.values).astype(np.float64)
        boxes = Boxes.of_points(points[first])
        return self.make_release(table, boxes, histograms, deviation=sampling_deviation(histograms))
