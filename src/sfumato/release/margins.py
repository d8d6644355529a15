"""How rows lie along each axis, as a table: the share of rows in every step of an axis, by the label of the step.

An axis along which rows are spread evenly has no lines. The steps of the others part their values, rising, and the
missing value, where there may be one, is the last of them.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.estimation.shape import Spread, even_spread, spread_of_steps
from sfumato.release.boxes import Boxes
from sfumato.release.folder import read_columns, read_numbers
from sfumato.release.labels import parse_labels, spell_boxes
from sfumato.schema import Axis

MARGINS = "margins"
"""The name of the table."""
COLUMN, VALUE, SHARE = "column", "value", "share"
DIGITS = 6
"""Significant ones of a share."""
ROUNDING = 1e-4
"""How far shares with so many digits may be from adding up to one."""


def round_shares(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares with as many digits as are published."""
    return np.array([float(f"{share:.{DIGITS}g}") for share in shares])


def margins_table(axes: Sequence[Axis], spreads: Sequence[Spread]) -> pl.DataFrame:
    """A line for each step of each axis along which rows are not spread evenly."""
    columns, values, shares = list[str](), list[str](), list[float]()
    for axis, spread in zip(axes, spreads, strict=True):
        starts = spread.cuts[spread.cuts < axis.positions]
        if len(starts) > 1:
            labels, number = spell_boxes(_steps(starts, axis), [axis])
            columns += [axis.name] * len(starts)
            values += labels[axis.name].gather(number).to_list()
            shares += round_shares(np.diff(spread.below[0])[: len(starts)]).tolist()
    return pl.DataFrame({COLUMN: columns, VALUE: values, SHARE: shares})


def read_margins(path: Path, axes: Sequence[Axis]) -> tuple[Spread, ...]:
    """How rows lie along each axis, as a file says."""
    frame = read_columns(path, (COLUMN, VALUE, SHARE))
    shares = read_numbers(frame[SHARE], path, whole=False)
    names = frame[COLUMN].cast(pl.String).to_numpy()
    for name in set(names) - {axis.name for axis in axes}:
        raise ReleaseError(f"{path}: {name!r} is not a quasi-identifier of the release")
    lines = [np.flatnonzero(names == axis.name) for axis in axes]
    return tuple(
        _read_spread(path, axis, frame[VALUE].gather(some), shares[some])
        for axis, some in zip(axes, lines, strict=True)
    )


def _read_spread(path: Path, axis: Axis, values: pl.Series, shares: NDArray[np.float64]) -> Spread:
    if not len(values):
        return even_spread(axis.size)
    parsed = parse_labels(values, axis, str(path), own=True)
    lo, hi, missing = parsed.spans[parsed.code].T
    starts = np.where(missing & (lo > hi), axis.size, lo).astype(np.int64)
    ends = np.where(missing & (lo > hi), axis.size, hi)
    whole = starts[0] == 0 and ends[-1] == axis.positions - 1 and (starts[1:] == ends[:-1] + 1).all()
    if not whole or (missing & (lo <= hi)).any():
        raise ReleaseError(f"{path}: the lines of {axis.name!r} do not part its values, from the first to the last")
    if (shares == 0).any():
        raise ReleaseError(f"{path}: a share of {axis.name!r} is zero; expected a number above 0")
    if abs(shares.sum() - 1) > ROUNDING:
        raise ReleaseError(f"{path}: the shares of {axis.name!r} add up to {shares.sum():.6g}; expected 1")
    return spread_of_steps(starts, shares, axis.size)


def _steps(starts: NDArray[np.int64], axis: Axis) -> Boxes:
    """The steps of one axis that begin at rising positions, the missing value on its own."""
    ends = np.append(starts[1:], axis.positions) - 1
    absent = starts >= axis.size
    lo, hi = np.where(absent, 0, starts), np.where(absent, -1, ends)
    return Boxes(lo.astype(np.int32)[:, None], hi.astype(np.int32)[:, None], absent[:, None])
