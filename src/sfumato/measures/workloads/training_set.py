"""What a release or a table teaches: distinct boxes, and the rows expected in each by class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.privacy.distances import shares
from sfumato.release import Release
from sfumato.release.boxes import Boxes
from sfumato.schema import Axis

Floats = NDArray[np.float64]

SAME_SHARE = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingSet:
    """Boxes in an order of their own, whatever order they were published in: `counts` is (boxes, classes).

    `frequencies` are the rows by class for someone who does not look at the boxes.
    """

    axes: tuple[Axis, ...]
    boxes: Boxes
    counts: Floats
    frequencies: Floats

    @staticmethod
    def of_table(table: Table) -> TrainingSet:
        """What the original rows teach."""
        boxes, counts = _merge_equal(Boxes.of_points(table.points), table.histograms.astype(np.float64))
        return TrainingSet(axes=table.schema.quasi, boxes=boxes, counts=counts, frequencies=counts.sum(axis=0))

    @staticmethod
    def of_release(release: Release) -> TrainingSet:
        """What a release teaches: each box has its share of the rows of its group.

        Counts below zero say nothing. Rows published with everything suppressed are no examples of anything; they
        tell frequencies where there is nothing else.
        """
        histograms, rows = np.maximum(release.histograms, 0), np.maximum(release.weights, 0)
        if release.channel is not None:
            histograms = release.beliefs * histograms.sum(axis=1, keepdims=True)
        total = histograms.sum(axis=1)[release.group_of]
        share = np.divide(rows, total, out=np.zeros_like(rows), where=total > 0)
        boxes, counts = _merge_equal(release.boxes, histograms[release.group_of] * share[:, None])
        frequencies = counts.sum(axis=0)
        if not len(boxes) and release.suppressed is not None:
            frequencies = release.suppressed
        return TrainingSet(axes=release.schema.quasi, boxes=boxes, counts=counts, frequencies=frequencies)

    @property
    def is_uninformative(self) -> bool:
        """Whether the class has the same distribution in every box."""
        return len(self.boxes) < 2 or bool((np.ptp(shares(self.counts), axis=0) < SAME_SHARE).all())


def _merge_equal(boxes: Boxes, counts: Floats) -> tuple[Boxes, Floats]:
    """The different boxes that have rows, sorted, each with all its rows."""
    occupied = counts.sum(axis=1) > 0
    boxes, counts = boxes[occupied], counts[occupied]
    order = np.lexsort(np.hstack(boxes.arrays).T[::-1])
    boxes, counts = boxes[order], counts[order]
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = np.hstack([side[1:] != side[:-1] for side in boxes.arrays]).any(axis=1)
    first = np.flatnonzero(starts)
    return boxes[first], np.add.reduceat(counts, first, axis=0) if len(first) else counts
