"""Bounds that hold for certain: what the rows asked about add up to at the least and at the most, whatever they are.

In every group each row has some box and some sensitive value, and nobody knows which value goes with which box. The
most that this can come to is a transport problem; every choice of a price for each class of values, and the lowest
prices for rows that follow, bounds it from above. Groups with one box have nothing to match, and there it is exact.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from sfumato.release.content import Content
from sfumato.release.coverage import Coverage, Extent, everywhere

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
MAX_PRICED = 8
"""Classes of values up to which every choice of prices is tried."""
ROUNDING = 1e-6


class Classes:
    """The classes or buckets of a release with some row that may be asked about, and rows that can be anywhere."""

    def __init__(self, release: Content, coverage: Coverage) -> None:
        groups = np.unique(release.group_of[coverage.extent.touched.any(axis=1)])
        boxes = np.flatnonzero(np.isin(release.group_of, groups))
        self.extent = coverage.extent.of_boxes(boxes)
        self.group = np.searchsorted(groups, release.group_of[boxes])
        self.weights = release.weights[boxes].astype(np.float64)
        self.rows = coverage.by_class(release.histograms[groups])  # (groups, classes)
        region = coverage.region
        self.anywhere = Coverage.of(region, everywhere(release.schema.quasi)).extent
        lost = np.zeros(release.schema.sensitive.positions) if release.suppressed is None else release.suppressed
        self.lost = coverage.by_class(lost[None])[0]
        self.left_out = left_out(release)

    def ends(self, shift: float = 0.0) -> tuple[float, float]:
        """The least and the most that all rows asked about add up to, with `shift` taken off each."""
        low, high = self.extent.ends(shift)
        far_low, far_high = Extent(np.zeros_like(self.anywhere.inside), *self.anywhere[1:]).ends(shift)
        least = -self._most(-low) + float(far_low[0] @ self.lost) + self.left_out * float(far_low.min(initial=0))
        most = self._most(high) + float(far_high[0] @ self.lost) + self.left_out * float(far_high.max(initial=0))
        return least, most

    def _most(self, worth: Floats) -> float:
        """At least what all rows can add up to, where one in a box with a value of a class adds `worth`."""
        if len(self.group) == len(self.rows):
            return float((self.rows[self.group] * worth).sum())
        bounds = [self._class_by_class(worth), self._row_by_row(worth)]
        steps = np.unique(worth)
        if len(steps) <= 2 and worth.shape[1] <= MAX_PRICED:
            base, unit = float(steps[0]), float(steps[-1] - steps[0])
            choices = product((0.0, 1.0), repeat=worth.shape[1])
            bounds += [self._priced(worth, base + unit * np.array(chosen)) for chosen in choices]
        return float(np.min(bounds, axis=0).sum())

    def _class_by_class(self, worth: Floats) -> Floats:
        """Each class by itself takes the rows of its group that are worth most to it."""
        found = np.zeros(len(self.rows))
        for amounts, rows in zip(worth.T, self.rows.T, strict=True):
            order = np.lexsort((-amounts, self.group))
            weights, group = self.weights[order], self.group[order]
            start = np.searchsorted(group, np.arange(len(rows)))
            before = np.cumsum(weights) - weights
            taken = np.clip(rows[group] - (before - before[start][group]), 0, weights)
            found += np.bincount(group, taken * amounts[order], len(rows))
        return found

    def _row_by_row(self, worth: Floats) -> Floats:
        """Each row by itself takes the class of its group that is worth most."""
        there = self.rows[self.group] > 0
        best = np.where(there, worth, -np.inf).max(axis=1)
        return self._by_group(np.where(there.any(axis=1), best, 0.0))

    def _priced(self, worth: Floats, prices: Floats) -> Floats:
        """Σ h_c β_c + Σ_b w_b max_c (worth_bc − β_c), which no matching exceeds."""
        there = self.rows[self.group] > 0
        gain = np.where(there, worth - prices, -np.inf).max(axis=1)
        return np.asarray(self.rows @ prices + self._by_group(np.where(there.any(axis=1), gain, 0.0)))

    def _by_group(self, amounts: Floats) -> Floats:
        """What the rows of each group come to, with an amount for those of each box."""
        return np.bincount(self.group, self.weights * amounts, len(self.rows)).astype(np.float64)


def left_out(release: Content) -> int:
    """How many people may be missing from a release whose method may leave out a share of them.

    Of n people at most s·n are left out; where m are published, that is at most m·s/(1 − s).
    """
    share = release.provenance.parameters.get("suppress")
    if not isinstance(share, int | float) or not 0 < share < 1:
        return 0
    return int(np.floor(release.rows * share / (1 - share) + ROUNDING))
