"""How much of boxes lies among some of the values of an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.estimation.shape import Side
from sfumato.schema.codes import Codes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def lie(sides: Sequence[Side], allowed: Sequence[Codes]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which boxes are inside what is allowed on every axis, and which are touched by it."""
    inside, touched = np.ones((2, len(sides[0].lo)), dtype=bool)
    for side, codes in zip(sides, allowed, strict=True):
        common = allowed_in(side, codes, counted)[0]
        inside &= common == side.hi - side.lo + 1 + side.missing
        touched &= common > 0
    return inside, touched


def shares_inside(sides: Sequence[Side], allowed: Sequence[Codes]) -> Floats:
    """How much of each box is inside what is allowed on every axis."""
    share = np.ones(len(sides[0].lo))
    for side, codes in zip(sides, allowed, strict=True):
        share *= allowed_in(side, codes, counted)[0] / (side.hi - side.lo + 1 + side.missing)
    return share


def allowed_in(side: Side, codes: Codes, up_to: Callable[[Integers], Floats]) -> Floats:
    """How much of each box the codes allow along one axis, as `up_to` counts what lies below a position.

    Up to position x, the codes allow all runs that end before it and the last one as far as it goes.
    """
    absent = np.diff(up_to(np.array([side.size, side.size + 1]))) * (side.missing & codes.missing)
    if not codes.runs:
        return absent
    lo, end = np.array(codes.runs).T + np.array([[0], [1]])
    within_runs = up_to(end) - up_to(lo)
    before = np.zeros((len(within_runs), len(lo) + 1))
    np.cumsum(within_runs, axis=1, out=before[:, 1:])

    def allowed_up_to(positions: Integers) -> Floats:
        run = np.searchsorted(lo, positions, side="right") - 1
        within = up_to(np.minimum(positions, end[run])) - up_to(lo[run])
        return np.where(run < 0, 0, before[:, run] + within)

    return np.maximum(allowed_up_to(side.hi + 1) - allowed_up_to(side.lo), 0) + absent


def counted(positions: Integers) -> Floats:
    """How many positions lie below each."""
    return positions[None].astype(np.float64)
