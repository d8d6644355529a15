"""Some of the values of an axis: what a condition allows, and how much of boxes that is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.estimation.shape import Side
from sfumato.schema import Axis, Span

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
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

    def hold(self, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which of the codes are among these."""
        if not self.runs:
            return (codes < 0) & self.missing
        lo, hi = np.array(self.runs).T
        run = np.maximum(np.searchsorted(lo, codes, side="right") - 1, 0)
        return np.where(codes < 0, self.missing, (lo[run] <= codes) & (codes <= hi[run]))

    @staticmethod
    def of(spans: Iterable[Span]) -> Codes:
        """Everything that one of the generalized values covers."""
        spans = list(spans)
        return Codes(merge_runs((span.lo, span.hi) for span in spans), any(span.missing for span in spans))


def merge_runs(intervals: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Intervals as disjoint runs in rising order; those whose end is before their start hold nothing."""
    runs: list[tuple[int, int]] = []
    for lo, hi in sorted(interval for interval in intervals if interval[0] <= interval[1]):
        if runs and lo <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], max(hi, runs[-1][1]))
        else:
            runs.append((lo, hi))
    return tuple(runs)


def lie(sides: Sequence[Side], allowed: Sequence[Codes]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which boxes are inside what is allowed on every axis, and which are touched by it."""
    inside, touched = np.ones((2, len(sides[0].lo)), dtype=bool)
    for side, codes in zip(sides, allowed, strict=True):
        common = allowed_in(side, codes, _counted)[0]
        inside &= common == side.hi - side.lo + 1 + side.missing
        touched &= common > 0
    return inside, touched


def shares_inside(sides: Sequence[Side], allowed: Sequence[Codes]) -> Floats:
    """How much of each box is inside what is allowed on every axis."""
    share = np.ones(len(sides[0].lo))
    for side, codes in zip(sides, allowed, strict=True):
        share *= allowed_in(side, codes, _counted)[0] / (side.hi - side.lo + 1 + side.missing)
    return share


def allowed_in(side: Side, codes: Codes, up_to: Callable[[Integers], Floats]) -> Floats:
    """How much of each box the codes allow along one axis, as `up_to` counts what lies below a position.

    Up to position x, the codes allow all runs that end before it and the last one as far as it goes.
    """
    absent = np.diff(up_to(np.array([side.size, side.size + 1]))) * (side.missing & codes.missing)
    if not codes.runs:
        return absent
    lo, end = np.array(codes.runs).T + np.array([[0], [1]])
    before = np.pad(np.cumsum(up_to(end) - up_to(lo), axis=1), ((0, 0), (1, 0)))

    def allowed_up_to(positions: Integers) -> Floats:
        run = np.searchsorted(lo, positions, side="right") - 1
        within = up_to(np.minimum(positions, end[run])) - up_to(lo[run])
        return np.where(run < 0, 0, before[:, run] + within)

    return np.maximum(allowed_up_to(side.hi + 1) - allowed_up_to(side.lo), 0) + absent


def _counted(positions: Integers) -> Floats:
    """How many positions lie below each."""
    return positions[None].astype(np.float64)
