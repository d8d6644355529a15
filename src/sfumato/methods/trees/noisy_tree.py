"""A tree of noisy counts on its way to a release: nodes as they are counted, then consistent, then published."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.estimation.consistency import histograms_with_totals, make_nonnegative, reconcile
from sfumato.methods.base import DPMethod
from sfumato.methods.growing.regions import Regions, merge_regions
from sfumato.release.release import Release

NOT_COUNTED = np.inf


@dataclass(frozen=True, eq=False)
class Level:
    """The nodes of one level, siblings together: leaves with histograms, inner nodes with counts.

    `inner_counts` is (inner nodes, columns): all rows of a node in one column, or a column for each sensitive value;
    `inner_variance` is that of each, infinite where they were not counted.
    """

    regions: Regions
    parent: NDArray[np.int64]
    inner: NDArray[np.bool_]
    histograms: NDArray[np.int64] | NDArray[np.float64]
    cell_variance: NDArray[np.float64]
    inner_counts: NDArray[np.integer] | NDArray[np.float64]
    inner_variance: float

    @property
    def counts(self) -> NDArray[np.float64]:
        """All nodes as the inner ones were counted: (nodes, columns)."""
        found = np.empty((len(self.regions), self.inner_counts.shape[1]))
        found[self.inner] = self.inner_counts
        found[~self.inner] = self.histograms.sum(axis=1, keepdims=True) if found.shape[1] == 1 else self.histograms
        return found

    @property
    def variance(self) -> NDArray[np.float64]:
        """The variance of each count of a node."""
        found = np.full(len(self.regions), float(self.inner_variance))
        found[~self.inner] = self.cell_variance * (self.histograms.shape[1] if self.inner_counts.shape[1] == 1 else 1)
        return found


def under_one_root(
    whole: Regions, leaves: Regions, histograms: NDArray[np.int64], cell_variance: NDArray[np.float64]
) -> list[Level]:
    """Leaves of which nothing above was counted."""
    root = Level(
        whole, np.array([-1]), np.array([True]), histograms[:0], cell_variance[:0], np.zeros((1, 1)), NOT_COUNTED
    )
    parent, inner = np.zeros(len(leaves), dtype=np.int64), np.zeros(len(leaves), dtype=bool)
    return [root, Level(leaves, parent, inner, histograms, cell_variance, np.zeros((0, 1)), NOT_COUNTED)]


def release_of_levels(method: DPMethod, levels: list[Level], **more: Any) -> Release:
    """The leaves with counts that agree with all that was counted above them and are not negative.

    `more` goes to the release as it is.
    """
    parent, counts, variance = (
        np.concatenate([getattr(level, name) for level in levels]) for name in ("parent", "counts", "variance")
    )
    leaf = np.flatnonzero(~np.concatenate([level.inner for level in levels]))
    agreed = reconcile(parent, counts, variance)
    totals = make_nonnegative(parent, agreed.sum(axis=1))[leaf]
    noisy = np.concatenate([level.histograms for level in levels]).astype(np.float64)
    histograms = histograms_with_totals(noisy if agreed.shape[1] == 1 else agreed[leaf], totals)
    leaves = merge_regions([level.regions[~level.inner] for level in levels])
    deviation = np.sqrt(np.concatenate([level.cell_variance for level in levels]))
    more |= {"layout": "counts", "deviation": deviation}
    return method.make_release(leaves.points.table, leaves.boxes, histograms, **more)
