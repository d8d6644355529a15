"""A tree of noisy counts on its way to a release: nodes as they are counted, then consistent, then published."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.methods.base import DPMethod
from sfumato.methods.growing.regions import Regions, merge_regions
from sfumato.release.release import Release

NOT_COUNTED = np.inf


@dataclass(frozen=True, eq=False, kw_only=True)
class Level:
    """The nodes of one level, siblings together.

    `counts` is (nodes, columns): all rows of a node in one column, or a column for each sensitive value. `variance` is
    that of each count, infinite where a node was not counted; `histograms` are those of the leaves.
    """

    regions: Regions
    parent: NDArray[np.int64]
    inner: NDArray[np.bool_]
    histograms: NDArray[np.int64] | NDArray[np.float64]
    cell_variance: NDArray[np.float64]
    counts: NDArray[np.float64]
    variance: NDArray[np.float64]

    @staticmethod
    def of(
        regions: Regions,
        parent: NDArray[np.int64],
        inner: NDArray[np.bool_],
        histograms: NDArray[np.int64] | NDArray[np.float64],
        cell_variance: NDArray[np.float64],
        counts: NDArray[np.integer] | NDArray[np.float64],
        variance: float,
    ) -> Level:
        """A level whose inner nodes have noisy `counts` (inner nodes, columns) and whose leaves `histograms`."""
        columns = counts.shape[1]
        noisy, spread = np.zeros((len(regions), columns)), np.full(len(regions), float(variance))
        noisy[inner] = counts
        noisy[~inner] = histograms.sum(axis=1, keepdims=True) if columns == 1 else histograms
        spread[~inner] = cell_variance * (histograms.shape[1] if columns == 1 else 1)
        return Level(
            regions=regions,
            parent=parent,
            inner=inner,
            histograms=histograms,
            cell_variance=cell_variance,
            counts=noisy,
            variance=spread,
        )


def under_one_root(
    whole: Regions, leaves: Regions, histograms: NDArray[np.int64], cell_variance: NDArray[np.float64]
) -> list[Level]:
    """Leaves of which nothing above was counted."""
    nothing = histograms[:0]
    root = Level.of(
        whole, np.array([-1]), np.ones(1, dtype=bool), nothing, cell_variance[:0], np.zeros((1, 1)), NOT_COUNTED
    )
    parent, inner = np.zeros(len(leaves), dtype=np.int64), np.zeros(len(leaves), dtype=bool)
    return [root, Level.of(leaves, parent, inner, histograms, cell_variance, np.zeros((0, 1)), NOT_COUNTED)]


def release_of_levels(method: DPMethod, levels: list[Level]) -> Release:
    """The leaves with counts that agree with all that was counted above them and are not negative."""
    from sfumato.estimation.consistency import histograms_with_totals, make_nonnegative, reconcile

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
    return method.make_release(leaves.points.table, leaves.boxes, histograms, layout="counts", deviation=deviation)
