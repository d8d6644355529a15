"""Which rows to leave out so that the others can be published more finely.

A few people at the end of an axis can make a class wide. If w of the n rows of a class at one end of an axis are left
out, its penalty per row falls from c to c′, and the rows left out count as suppressed, with a penalty of 1. That gains

    (n − w) · (c − c′) − w · (1 − c).

All rows at a point go or stay, so that who is left out follows from where people stand and from where classes could be
cut, and the table without them is partitioned anew under the same requirements.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.data import Table
from sfumato.errors import UnsatisfiableError
from sfumato.methods.growing.box import EMPTY, cost_of, extend, penalties
from sfumato.methods.growing.points import PointArrays, Points, Runs, runs_of

ROUNDS = 12
"""How often ends of classes are left out, at most: a class can lose one after the other."""
PORTIONS = 8
"""Of all that may be left out, this part at a time: what the others gain from the next is known better then."""
TRIES = 16
"""How many ends are left out for trial, one at a time, to see what the table without them comes to; of a table of more
than `POINTS_TRIED / TRIES` points fewer."""
POINTS_TRIED = 2**18

Partitioner = Callable[[Table], NDArray[np.int64]]


class Classes(NamedTuple):
    """The class of each point, −1 for those left out, and the penalties of boxes and of the values present in them."""

    class_of: NDArray[np.int64]
    penalty: float
    present: float

    def beats(self, other: "Classes") -> bool:
        """Whether boxes are narrower in all, and the values present in them no wider."""
        return self.penalty < other.penalty and self.present <= other.present


class Ends(NamedTuple):
    """The end of each class that gains most per row left out: `rows` at or beyond `position`, on the side `sign`."""

    axis: NDArray[np.int64]
    position: NDArray[np.int64]
    sign: NDArray[np.int64]
    rows: NDArray[np.int64]
    gain: NDArray[np.float64]


class Limits(NamedTuple):
    """The rows that a class must keep, and that may still be left out."""

    min_rows: int
    most: int


def leave_out(table: Table, share: float, min_rows: int, partitioner: Partitioner) -> NDArray[np.int64]:
    """The class of each point, −1 for those left out: at most a share of the rows, and none where nothing is gained.

    In each round the ends that seem to gain most are left out together, and then some of them one at a time; what makes
    the narrowest classes stays left out. How the others are cut then is known only once they are.
    """
    most = int(share * table.n)
    best = _classes(table, partitioner(table))
    for _ in range(ROUNDS):
        left = most - int(table.weights[best.class_of < 0].sum())
        found = best
        for going in _choices(table, best.class_of, Limits(min_rows, left), portion=-(-most // PORTIONS)):
            try:
                tried = _classes(table, _partition_without(table, (best.class_of >= 0) & ~going, partitioner))
            except UnsatisfiableError:
                continue
            if tried.beats(found):
                found = tried
        if found is best:
            break
        best = found
    return best.class_of


def _partition_without(table: Table, staying: NDArray[np.bool_], partitioner: Partitioner) -> NDArray[np.int64]:
    class_of = np.full(len(staying), -1, dtype=np.int64)
    class_of[staying] = partitioner(table.reweight(np.where(staying[table.cell_point], table.cell_weight, 0)))
    return class_of


def _classes(table: Table, class_of: NDArray[np.int64]) -> Classes:
    """The penalties summed over rows and axes, 1 on each axis for a row left out."""
    points = Points.of(table, missing_first=True).arrays
    left_out = int(table.weights[class_of < 0].sum()) * len(points.sizes)
    penalty = float(penalties(points, runs_of(class_of)).sum())
    return Classes(class_of, penalty + left_out, present_penalty(table, class_of) + left_out)


def present_penalty(table: Table, class_of: NDArray[np.int64]) -> float:
    """The penalty of the values that are present in each class: the range of its numbers, its different categories."""
    inside = class_of >= 0
    number, codes = class_of[inside], table.points[inside].astype(np.int64)
    rows, total = np.bincount(number, table.weights[inside]), 0.0
    for axis, column in zip(table.schema.quasi, codes.T, strict=True):
        keys = np.unique(number * (axis.size + 1) + column + 1)
        owner, position = np.divmod(keys, axis.size + 1)
        width = np.bincount(owner) - 1
        if axis.spaced:
            known = position > 0
            holders, first, count = np.unique(owner[known], return_index=True, return_counts=True)
            lowest, highest = position[known][first], position[known][first + count - 1]
            width = np.bincount(owner[~known], minlength=len(rows)) - 1
            width[holders] += highest - lowest + 1
        total += float((rows * width).sum()) / max(axis.positions - 1, 1)
    return total


def _choices(table: Table, class_of: NDArray[np.int64], limits: Limits, portion: int) -> Iterator[NDArray[np.bool_]]:
    """Which points to leave out for trial: ends of classes that gain most per row, a portion of them, then each."""
    points, runs = Points.of(table, missing_first=True).arrays, runs_of(class_of)
    ends = best_ends(points, runs, limits)
    per_row = ends.gain / np.maximum(ends.rows, 1)
    ranked = np.lexsort((np.arange(len(per_row)), -per_row.round(9)))
    ranked = ranked[ends.gain[ranked] > 0]
    upto = np.cumsum(ends.rows[ranked])
    together = ranked[(upto - ends.rows[ranked] < portion) & (upto <= limits.most)]
    each = ranked[: min(TRIES, POINTS_TRIED // len(class_of))]
    for taken in ([together] if len(together) != 1 else []) + [each[place : place + 1] for place in range(len(each))]:
        going = np.zeros(len(class_of), dtype=bool)
        for number in taken:
            members = runs.order[runs.starts[number] : runs.ends[number]]
            beyond = ends.sign[number] * (points.positions[members, ends.axis[number]] - ends.position[number]) >= 0
            going[members[beyond]] = True
        if going.any():
            yield going


@compiled
def best_ends(points: PointArrays, runs: Runs, limits: Limits) -> Ends:
    """The end of each class that gains most per row left out; one of no rows where nothing is gained."""
    where, gain = np.zeros((4, len(runs.starts)), dtype=np.int64), np.zeros(len(runs.starts))
    found = Ends(where[0], where[1], where[2], where[3], gain)
    whole = penalties(points, runs)
    for number in range(len(runs.starts)):
        members = runs.order[runs.starts[number] : runs.ends[number]]
        for axis in range(len(points.sizes)):
            rising = members[np.argsort(points.positions[members, axis], kind="mergesort")]
            _seek_end(points, rising, axis, 1, whole[number], limits, number, found)
            _seek_end(points, rising[::-1].copy(), axis, -1, whole[number], limits, number, found)
    return found


@compiled
def _seek_end(
    points: PointArrays,
    outward: NDArray[np.int64],
    axis: int,
    sign: int,
    whole: float,
    limits: Limits,
    number: int,
    found: Ends,
) -> None:
    """Write the best end of one class on one side of an axis, if it is better than what was found before."""
    axes = np.arange(len(points.sizes))
    scale, box = 1 / np.maximum(points.sizes - 1, 1), np.empty((3, len(axes)), dtype=np.int32)
    box[:] = EMPTY
    rows, staying = points.weights[outward].sum(), 0
    for i in range(len(outward) - 1):
        staying += points.weights[outward[i]]
        extend(box, points.positions, points.missing, axes, outward[i])
        beyond, leaving = points.positions[outward[i + 1], axis], rows - staying
        if beyond == points.positions[outward[i], axis] or staying < limits.min_rows or leaving > limits.most:
            continue
        gain = whole - staying * cost_of(box, axes, scale) - leaving * len(axes)
        if gain > 0 and gain * max(found.rows[number], 1) > found.gain[number] * leaving:
            found.axis[number], found.position[number], found.sign[number] = axis, beyond, sign
            found.rows[number], found.gain[number] = leaving, gain
