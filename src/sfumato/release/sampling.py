"""Rows generated from noisy counts alone: generalized rows, or points drawn inside the boxes.

Counts become whole by one pass along the cells: cell i of the running total C gets ⌊C_i + u⌋ − ⌊C_{i−1} + u⌋ rows for
one random u, so each gets its count rounded up or down, with that count as its mean, and every stretch of
neighbouring cells keeps its total to within one row. The order is nested by attribute and random within each
parent: in a fixed one, even counts would fall in step with the attributes and invent correlations. Before the
rows are handed out, their marginals are compared with those of the counts.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.release.boxes import Boxes
from sfumato.release.content import sampling_deviation
from sfumato.release.labels import span_keys
from sfumato.release.release import Release
from sfumato.release.selfcheck import check_marginals

Uniforms = Callable[[int], NDArray[np.float64]]

RowKind = Literal["generalized", "synthetic"]
MAX_ROWS = 50_000_000
MAX_CHECKED_CELLS = 2**16
"""Pairs of attributes with more combinations than this are not compared; their cells hold hardly any rows."""


def generate_rows(release: Release, kind: RowKind, uniforms: Uniforms) -> Release:
    """The release as whole rows: its own boxes, or points drawn evenly inside them."""
    if release.layout == "buckets":
        raise ReleaseError("rows are generated from counts; buckets are published as they are")
    if release.rows > MAX_ROWS:
        raise ReleaseError(f"{release.rows:.3g} rows are too many to write; publish the counts")
    expected = np.maximum(release.weights, 0)[:, None] * release.distributions[release.group_of]
    box, value = (part.reshape(-1) for part in np.indices(expected.shape))
    keys = span_keys(release.boxes.lo, release.boxes.hi, release.boxes.missing)
    spans = [np.unique(column, return_inverse=True)[1].reshape(-1)[box] for column in keys.T]
    whole = round_counts(expected, [*spans, value], uniforms)
    _check(release, expected, whole)
    chosen = whole.sum(axis=1) > 0
    boxes, counts = release.boxes[chosen], whole[chosen]
    if kind == "synthetic":
        boxes, counts = _points(boxes, counts, uniforms)
    weights = counts.sum(axis=1).astype(np.float64)
    return replace(
        release,
        boxes=boxes,
        weights=weights,
        group_of=np.arange(len(boxes)),
        histograms=counts.astype(np.float64),
        layout="rows",
        deviation=sampling_deviation(counts),
    )


def round_counts(
    expected: NDArray[np.float64], columns: Sequence[NDArray[np.integer]] | NDArray[np.integer], uniforms: Uniforms
) -> NDArray[np.int64]:
    """Whole counts, each the expected one rounded up or down, totals of nested cells kept to within one row.

    `columns` has the code of every cell on each attribute, the outermost first.
    """
    order = nested_order(columns, uniforms)
    running = np.floor(np.cumsum(expected.reshape(-1)[order]) + uniforms(1)[0]).astype(np.int64)
    whole = np.empty(len(order), dtype=np.int64)
    whole[order] = np.diff(running, prepend=0)
    return whole.reshape(expected.shape)


def nested_order(columns: Sequence[NDArray[np.integer]] | NDArray[np.integer], uniforms: Uniforms) -> NDArray[np.int64]:
    """An order of cells in which those that share their first codes stand together, at random otherwise."""
    prefix = np.zeros(len(columns[0]), dtype=np.int64)
    keys = []
    for column in columns:
        _, prefix = np.unique(prefix * (int(column.max(initial=0)) + 1) + column, return_inverse=True)
        prefix = prefix.reshape(-1)
        keys.append(uniforms(int(prefix.max(initial=-1)) + 1)[prefix])
    return np.lexsort(keys[::-1])


def _points(boxes: Boxes, counts: NDArray[np.int64], uniforms: Uniforms) -> tuple[Boxes, NDArray[np.int64]]:
    """One point inside its box for every row, by distinct point."""
    box, value = np.nonzero(counts)
    rows = counts[box, value]
    box, value = np.repeat(box, rows), np.repeat(value, rows)
    points = np.empty((len(box), boxes.lo.shape[1]), dtype=np.int32)
    for axis in range(points.shape[1]):
        step = np.floor(uniforms(len(box)) * boxes.widths[box, axis]).astype(np.int64)
        code = boxes.lo[box, axis] + step
        points[:, axis] = np.where(code > boxes.hi[box, axis], -1, code)
    distinct, point = np.unique(points, axis=0, return_inverse=True)
    flat = point.reshape(-1) * counts.shape[1] + value
    return (
        Boxes.of_points(distinct),
        np.bincount(flat, minlength=len(distinct) * counts.shape[1]).reshape(len(distinct), counts.shape[1]),
    )


def _check(release: Release, expected: NDArray[np.float64], whole: NDArray[np.int64]) -> None:
    """Compare the rows of every sensitive value: in all, by each attribute, and by every pair of attributes."""
    keys = span_keys(release.boxes.lo, release.boxes.hi, release.boxes.missing)
    columns = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in keys.T]
    names = [axis.name for axis in release.schema.quasi]
    sets: list[tuple[int, ...]] = [(), *((axis,) for axis in range(len(columns)))]
    sets += combinations(range(len(columns)), 2)
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    chosen = [axes for axes in sets if np.prod([sizes[axis] for axis in axes]) <= MAX_CHECKED_CELLS]
    checks = sum(int(np.prod([sizes[axis] for axis in axes])) * whole.shape[1] for axes in chosen) + 1
    for axes in chosen:
        cells = int(np.prod([sizes[axis] for axis in axes]))
        cell = np.zeros(len(whole), dtype=np.int64)
        for axis in axes:
            cell = cell * sizes[axis] + columns[axis]
        for value in range(whole.shape[1]):
            model = np.bincount(cell, expected[:, value], cells).astype(np.float64)
            check_marginals(
                model,
                np.bincount(cell, whole[:, value], cells).astype(np.int64),
                checks,
                " and ".join([*(names[axis] for axis in axes), release.schema.sensitive.name]),
            )
