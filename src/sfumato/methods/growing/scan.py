"""The scan of the private trees: how good each cut of a region is.

A region is a box of positions with a run of points. Numeric axes may be cut between any two positions (wide ones
at up to a given number of even steps); an axis with a taxonomy is cut into the children of the node a region covers.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled_if_many
from sfumato.methods.growing.points import PointArrays, Ranges, Runs, Taxonomies

Integer = Any  # a Python or a NumPy one: compiled code does not tell them apart

BALANCE, CLASSES, DISCERNIBILITY, PENALTY, PURITY = 0, 1, 2, 3, 4
"""Scores of a cut: − the largest part; Σ the commonest class of each part; −⌊√Σ part²⌋; narrowing per row;
Σ ⌊√Σ class²⌋ over the parts."""
PENALTY_SCALE = 1024
"""Narrowing is counted in 1/1024 of an axis, so that scores are whole numbers."""


@compiled_if_many
def _cut_position(lo: Integer, hi: Integer, cuts: Integer, number: Integer) -> Integer:
    """Where the right part begins if `lo..hi` is cut at the `number`-th of evenly spread cuts."""
    return lo + 1 + (number * (hi - lo)) // cuts


@compiled_if_many
def _step_of(position: Integer, lo: Integer, hi: Integer, cuts: Integer) -> Integer:
    """How many of the evenly spread cuts lie at or below a position."""
    return -((-(position - lo) * cuts) // (hi - lo))


@compiled_if_many
def _root(square: Integer) -> Integer:
    """⌊√square⌋, exactly."""
    root = np.int64(math.sqrt(float(square)))
    while root * root > square:
        root -= 1
    while (root + 1) * (root + 1) <= square:
        root += 1
    return root


@compiled_if_many
def _score(
    kind: Integer, cumulative: NDArray[np.int64], edges: NDArray[np.int64], narrowing: NDArray[np.int64]
) -> Integer:
    """The score of a cut whose part i holds the steps `edges[i]..edges[i + 1] − 1` and is narrower by `narrowing[i]`.

    Row s of `cumulative` has the rows before step s, in all and then by class.
    """
    total, largest, squares = np.int64(0), np.int64(0), np.int64(0)
    for part in range(len(edges) - 1):
        first, end = edges[part], edges[part + 1]
        rows = cumulative[end, 0] - cumulative[first, 0]
        largest = max(largest, rows)
        squares += rows * rows
        if kind == PENALTY:
            total += rows * narrowing[part]
        elif kind in (CLASSES, PURITY):
            commonest, class_squares = np.int64(0), np.int64(0)
            for value in range(1, cumulative.shape[1]):
                held = cumulative[end, value] - cumulative[first, value]
                commonest = max(commonest, held)
                class_squares += held * held
            total += commonest if kind == CLASSES else _root(class_squares)
    if kind == BALANCE:
        return -largest
    return -_root(squares) if kind == DISCERNIBILITY else total


@compiled_if_many
def count_steps(
    points: PointArrays, members: NDArray[np.int64], step_of: NDArray[np.int64], steps: Integer, by_class: bool
) -> NDArray[np.int64]:
    """Rows before each step: in column 0 all of them, in the others, if `by_class`, those of each sensitive value."""
    weights, start, value, weight = points.weights, points.cell_start, points.cell_value, points.cell_weight
    cumulative = np.zeros((steps + 1, points.values + 1 if by_class else 1), dtype=np.int64)
    for number, point in enumerate(members):
        row = step_of[number] + 1
        cumulative[row, 0] += weights[point]
        if by_class:
            for cell in range(start[point], start[point + 1]):
                cumulative[row, value[cell] + 1] += weight[cell]
    for row in range(1, steps + 1):
        cumulative[row] += cumulative[row - 1]
    return cumulative


@compiled_if_many
def score_cuts(
    points: PointArrays,
    runs: Runs,
    ranges: Ranges,
    taxonomies: Taxonomies,
    cuts: NDArray[np.int64],
    kind: Integer,
    candidates: Integer,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """The score, axis and position of every candidate cut of every region, in order; position −1 is a taxonomy's cut.

    `cuts` (regions, axes) says how many evenly spread cuts an axis offers, −1 for the cut into the children of its
    node, 0 for none. Classes are looked at only by the scores that need them.
    """
    scores = np.empty(candidates, dtype=np.int64)
    axes, where = np.empty(candidates, dtype=np.int32), np.empty(candidates, dtype=np.int32)
    by_class = kind in (CLASSES, PURITY)
    found = 0
    halves, narrower = np.zeros(3, dtype=np.int64), np.zeros(2, dtype=np.int64)
    positions = points.positions
    for region in range(len(runs.starts)):
        members = runs.order[runs.starts[region] : runs.ends[region]]
        step_of = np.empty(len(members), dtype=np.int64)
        for axis in range(len(points.sizes)):
            low, high = np.int64(ranges.lo[region, axis]), np.int64(ranges.hi[region, axis])
            unit = max(points.sizes[axis] - 1, 1)
            steps = cuts[region, axis]
            if steps > 0:
                for number, point in enumerate(members):
                    step_of[number] = _step_of(positions[point, axis], low, high, steps)
                rows = count_steps(points, members, step_of, steps + 1, by_class)
                halves[2] = steps + 1
                for number in range(steps):
                    cut = _cut_position(low, high, steps, number)
                    halves[1] = number + 1
                    narrower[0] = (high - cut + 1) * PENALTY_SCALE // unit
                    narrower[1] = (cut - low) * PENALTY_SCALE // unit
                    scores[found], axes[found], where[found] = _score(kind, rows, halves, narrower), axis, cut
                    found += 1
            elif steps < 0:
                node = ranges.node[region, axis]
                part_lo = taxonomies.child_lo[taxonomies.child_start[node] : taxonomies.child_start[node + 1]]
                for number, point in enumerate(members):
                    step_of[number] = np.searchsorted(part_lo, positions[point, axis], side="right") - 1
                rows = count_steps(points, members, step_of, len(part_lo), by_class)
                narrowing = np.empty(len(part_lo), dtype=np.int64)
                for part in range(len(part_lo)):
                    end = np.int64(part_lo[part + 1]) - 1 if part + 1 < len(part_lo) else high
                    narrowing[part] = (high - low - end + part_lo[part]) * PENALTY_SCALE // unit
                scores[found] = _score(kind, rows, np.arange(len(part_lo) + 1), narrowing)
                axes[found], where[found] = axis, -1
                found += 1
    return scores, axes, where
