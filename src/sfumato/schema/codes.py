"""Some of the values of an axis: what a condition allows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.schema.axis import Axis, Span


@dataclass(frozen=True, order=True)
class Codes:
    """Some of the values of an axis: disjoint runs of codes in rising order, and perhaps the missing value."""

    runs: tuple[tuple[int, int], ...]
    missing: bool = False

    def __and__(self, other: Codes) -> Codes:
        common = ((max(a, c), min(b, d)) for a, b in self.runs for c, d in other.runs)
        return Codes(merge_runs(common), self.missing and other.missing)

    def except_(self, axis: Axis) -> Codes:
        """All present values of the axis but these."""
        ends = [-1, *(hi for _, hi in self.runs)]
        starts = [*(lo for lo, _ in self.runs), axis.size]
        return Codes(merge_runs((end + 1, start - 1) for end, start in zip(ends, starts, strict=True)))

    def without(self, other: Codes, axis: Axis) -> Codes:
        """These but the others, on an axis."""
        return self & Codes(other.except_(axis).runs, not other.missing)

    def hold(self, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which of the codes are among these."""
        if not self.runs:
            return (codes < 0) & self.missing
        lo, hi = np.array(self.runs).T
        run = np.maximum(np.searchsorted(lo, codes, side="right") - 1, 0)
        return np.where(codes < 0, self.missing, (lo[run] <= codes) & (codes <= hi[run]))

    def positions(self, axis: Axis) -> NDArray[np.bool_]:
        """Which positions of the axis are among these, the missing one last."""
        found = self.hold(np.arange(axis.positions, dtype=np.int32))
        if axis.nullable:
            found[-1] = self.missing
        return found

    @staticmethod
    def of(spans: Iterable[Span]) -> Codes:
        """Everything that one of the generalized values covers."""
        spans = list(spans)
        return Codes(merge_runs((span.lo, span.hi) for span in spans), any(span.missing for span in spans))


def positions_among(axis: Axis, allowed: Sequence[Codes]) -> NDArray[np.bool_]:
    """Which positions of a sensitive axis are allowed in each of its columns."""
    found = np.ones(1, dtype=np.bool_)
    for part, codes in zip(axis.parts, allowed, strict=True):
        found = np.logical_and.outer(found, codes.positions(part)).reshape(-1)
    return found


def merge_runs(intervals: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Intervals as disjoint runs in rising order; those whose end is before their start hold nothing."""
    runs: list[tuple[int, int]] = []
    for lo, hi in sorted(interval for interval in intervals if interval[0] <= interval[1]):
        if runs and lo <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], max(hi, runs[-1][1]))
        else:
            runs.append((lo, hi))
    return tuple(runs)
