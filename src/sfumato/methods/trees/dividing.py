"""The inner loops of growing regions: how good each cut of a region is, and sorting its points into the parts.

A region is a box of positions with a run of points. Numeric axes may be cut between any two positions (wide ones
at up to a given number of even steps); an axis with a taxonomy is cut into the children of the node a region covers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled

Integer = Any  # a Python or a NumPy one: compiled code does not tell them apart

BALANCE, CLASSES, DISCERNIBILITY, PENALTY, PURITY = 0, 1, 2, 3, 4
"""Scores of a cut: − the largest part; Σ the commonest class of each part; −⌊√Σ part²⌋; narrowing per row;
Σ ⌊√Σ class²⌋ over the parts."""
PENALTY_SCALE = 1024
"""Narrowing is counted in 1/1024 of an axis, so that scores are whole numbers."""


@compiled
def _cut_position(lo: Integer, hi: Integer, cuts: Integer, number: Integer) -> Integer:
    """Where the right part begins if `lo..hi` is cut at the `number`-th of evenly spread cuts."""
    return lo + 1 + (number * (hi - lo)) // cuts


@compiled
def _step_of(position: Integer, lo: Integer, hi: Integer, cuts: Integer) -> Integer:
    """How many of the evenly spread cuts lie at or below a position."""
    return -((-(position - lo) * cuts) // (hi - lo))


@compiled
def _root(square: Integer) -> Integer:
    """⌊√square⌋, exactly."""
    root = np.int64(math.sqrt(float(square)))
    while root * root > square:
        root -= 1
    while (root + 1) * (root + 1) <= square:
        root += 1
    return root


@compiled
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


@compiled
def _count_steps(
    members: NDArray[np.int64],
    step_of: NDArray[np.int64],
    steps: Integer,
    weights: NDArray[np.int64],
    cell_start: NDArray[np.int64],
    cell_value: NDArray[np.int32],
    cell_weight: NDArray[np.int64],
    classes: Integer,
) -> NDArray[np.int64]:
    """Rows before each step: in column 0 all of them, in the others those of each of `classes` sensitive values."""
    cumulative = np.zeros((steps + 1, classes + 1), dtype=np.int64)
    for number, point in enumerate(members):
        row = step_of[number] + 1
        cumulative[row, 0] += weights[point]
        if classes > 0:
            for cell in range(cell_start[point], cell_start[point + 1]):
                cumulative[row, cell_value[cell] + 1] += cell_weight[cell]
    for row in range(1, steps + 1):
        cumulative[row] += cumulative[row - 1]
    return cumulative


@compiled
def score_cuts(
    positions: NDArray[np.int32],
    weights: NDArray[np.int64],
    cell_start: NDArray[np.int64],
    cell_value: NDArray[np.int32],
    cell_weight: NDArray[np.int64],
    classes: Integer,
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    lo: NDArray[np.int32],
    hi: NDArray[np.int32],
    node: NDArray[np.int32],
    offers: NDArray[np.int64],
    child_start: NDArray[np.int64],
    child_lo: NDArray[np.int32],
    sizes: NDArray[np.int64],
    kind: Integer,
    candidates: Integer,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """The score, axis and position of every candidate cut of every region, in order; position −1 is a taxonomy's cut.

    `offers` (regions, axes) says how many evenly spread cuts an axis offers, −1 for the cut into the children of
    `node`, 0 for none. Classes are looked at only by the scores that need them.
    """
    scores = np.empty(candidates, dtype=np.int64)
    axes, where = np.empty(candidates, dtype=np.int32), np.empty(candidates, dtype=np.int32)
    seen = classes if kind in (CLASSES, PURITY) else 0
    found = 0
    halves, narrower = np.zeros(3, dtype=np.int64), np.zeros(2, dtype=np.int64)
    for region in range(len(starts)):
        members = order[starts[region] : ends[region]]
        step_of = np.empty(len(members), dtype=np.int64)
        for axis in range(positions.shape[1]):
            cuts = offers[region, axis]
            low, high = np.int64(lo[region, axis]), np.int64(hi[region, axis])
            unit = max(sizes[axis] - 1, 1)
            if cuts > 0:
                for number, point in enumerate(members):
                    step_of[number] = _step_of(positions[point, axis], low, high, cuts)
                rows = _count_steps(members, step_of, cuts + 1, weights, cell_start, cell_value, cell_weight, seen)
                halves[2] = cuts + 1
                for number in range(cuts):
                    cut = _cut_position(low, high, cuts, number)
                    halves[1] = number + 1
                    narrower[0] = (high - cut + 1) * PENALTY_SCALE // unit
                    narrower[1] = (cut - low) * PENALTY_SCALE // unit
                    scores[found], axes[found], where[found] = _score(kind, rows, halves, narrower), axis, cut
                    found += 1
            elif cuts < 0:
                part_lo = child_lo[child_start[node[region, axis]] : child_start[node[region, axis] + 1]]
                for number, point in enumerate(members):
                    step_of[number] = np.searchsorted(part_lo, positions[point, axis], side="right") - 1
                rows = _count_steps(members, step_of, len(part_lo), weights, cell_start, cell_value, cell_weight, seen)
                narrowing = np.empty(len(part_lo), dtype=np.int64)
                for part in range(len(part_lo)):
                    end = np.int64(part_lo[part + 1]) - 1 if part + 1 < len(part_lo) else high
                    narrowing[part] = (high - low - end + part_lo[part]) * PENALTY_SCALE // unit
                scores[found] = _score(kind, rows, np.arange(len(part_lo) + 1), narrowing)
                axes[found], where[found] = axis, -1
                found += 1
    return scores, axes, where


@compiled
def sort_into_parts(
    positions: NDArray[np.int32],
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    axis: NDArray[np.int32],
    first: NDArray[np.int64],
    part_lo: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Reorder the points of each region by part, in place; where each part's points begin and end.

    The parts of region i begin at the positions `part_lo[first[i]:first[i + 1]]` of its axis.
    """
    part_starts = np.empty(len(part_lo), dtype=np.int64)
    part_ends = np.empty(len(part_lo), dtype=np.int64)
    for region in range(len(starts)):
        members = order[starts[region] : ends[region]].copy()
        begin, end = first[region], first[region + 1]
        reached = np.zeros(end - begin + 1, dtype=np.int64)
        part_of = np.empty(len(members), dtype=np.int64)
        for number, point in enumerate(members):
            position = positions[point, axis[region]]
            part_of[number] = np.searchsorted(part_lo[begin:end], position, side="right") - 1
            reached[part_of[number] + 1] += 1
        for part in range(end - begin):
            reached[part + 1] += reached[part]
            part_starts[begin + part] = starts[region] + reached[part]
            part_ends[begin + part] = starts[region] + reached[part + 1]
        for number, point in enumerate(members):
            order[starts[region] + reached[part_of[number]]] = point
            reached[part_of[number]] += 1
    return part_starts, part_ends
