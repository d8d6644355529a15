"""Rows generated from noisy counts alone: generalized rows, or points drawn inside the boxes.

Counts become whole by one pass along the cells: cell i of the running total C gets ⌊C_i + u⌋ − ⌊C_{i−1} + u⌋ rows for
one random u, so each gets its count rounded up or down, with that count as its mean, and every stretch of
neighbouring cells keeps its total to within one row. The order is nested by attribute and random within each
parent: in a fixed one, even counts would fall in step with the attributes and invent correlations. Before the
rows are handed out, their marginals are compared with those of the counts.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.estimation.shape import Spread
from sfumato.release.boxes import Boxes
from sfumato.release.content import sampling_deviation
from sfumato.release.histograms import histograms_of
from sfumato.release.inside import places_inside
from sfumato.release.labels import span_keys
from sfumato.release.possible import possible_counts, without_impossible
from sfumato.release.release import Release
from sfumato.schema import Schema

Uniforms = Callable[[int], NDArray[np.float64]]

RowKind = Literal["generalized", "synthetic"]
MAX_ROWS = 50_000_000
FALSE_FAILURE = 1e-9
"""The probability that a correct sampler fails any of its checks."""
MAX_CHECKED_CELLS = 2**16
"""Pairs of attributes with more combinations than this are not compared; their cells hold hardly any rows."""


def generate_rows(release: Release, kind: RowKind, uniforms: Uniforms) -> Release:
    """The release as whole rows: its own boxes, or points drawn inside them as rows are spread there."""
    if release.layout == "buckets":
        raise ReleaseError("rows are generated from counts; buckets are published as they are")
    if release.layout == "counts" and release.measured is not None:
        raise ReleaseError("tables are published in place of rows; the counts beside them tell of one column alone")
    if release.rows > MAX_ROWS:
        raise ReleaseError(f"{release.rows:.3g} rows are too many to write; publish the counts")
    expected = possible_counts(release)
    box, value = (part.reshape(-1) for part in np.indices(expected.shape))
    keys = span_keys(release.boxes.lo, release.boxes.hi, release.boxes.missing)
    columns = [np.unique(column, return_inverse=True)[1] for column in keys.T]
    whole = round_counts(expected, [*(column[box] for column in columns), value], uniforms)
    _check(release, columns, expected, whole)
    chosen = whole.sum(axis=1) > 0
    boxes, histograms, spreads = release.boxes[chosen], whole[chosen].astype(np.float64), release.spreads
    if kind == "synthetic":
        boxes, histograms = _points(release.schema, boxes, whole[chosen], spreads, uniforms)
        spreads = None
    return replace(
        release,
        boxes=boxes,
        weights=histograms.sum(axis=1),
        group_of=np.arange(len(boxes)),
        histograms=histograms,
        layout="rows",
        deviation=sampling_deviation(histograms),
        spreads=spreads,
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


def _points(
    schema: Schema, boxes: Boxes, counts: NDArray[np.int64], spreads: Sequence[Spread] | None, uniforms: Uniforms
) -> tuple[Boxes, NDArray[np.float64]]:
    """One point inside its box for every row, by distinct point; rows that cannot be are drawn again in their box."""
    box, value = np.repeat(np.argwhere(counts), counts[counts > 0], axis=0).T
    secrets = np.column_stack(schema.sensitive.apart(value))

    def drawn(rows: NDArray[np.int64]) -> NDArray[np.int64]:
        found = np.empty((len(rows), len(schema.axes)), dtype=np.int64)
        for axis in range(len(schema.quasi)):
            spread = spreads[axis] if spreads else None
            found[:, axis] = places_inside(boxes, axis, box[rows], uniforms(len(rows)), spread)
        found[:, len(schema.quasi) :] = secrets[rows]
        return found

    codes = without_impossible(drawn(np.arange(len(box))), schema, drawn, uniforms)
    distinct, point = np.unique(codes[:, : len(schema.quasi)], axis=0, return_inverse=True)
    last = schema.sensitive.together(list(codes[:, len(schema.quasi) :].T))
    histograms = histograms_of(point.reshape(-1), last, None, len(distinct), counts.shape[1])
    return Boxes.of_points(distinct.astype(np.int32)), histograms


def _check(
    release: Release, columns: list[NDArray[np.int64]], expected: NDArray[np.float64], whole: NDArray[np.int64]
) -> None:
    """Compare the rows of every sensitive value: in all, by each attribute, and by every pair of attributes."""
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    sets = [axes for count in range(3) for axes in combinations(range(len(columns)), count)]
    cells_of = {axes: math.prod(sizes[axis] for axis in axes) for axes in sets}
    compared = {axes: cells for axes, cells in cells_of.items() if cells <= MAX_CHECKED_CELLS}
    checks = sum(compared.values()) * whole.shape[1] + 1
    for axes, cells in compared.items():
        names = [*(release.schema.quasi[axis].name for axis in axes), release.schema.sensitive.name]
        cell = np.zeros(len(whole), dtype=np.int64)
        for axis in axes:
            cell = cell * sizes[axis] + columns[axis]
        for value in range(whole.shape[1]):
            model = np.bincount(cell, expected[:, value], cells).astype(np.float64)
            sampled = np.bincount(cell, whole[:, value], cells).astype(np.int64)
            check_marginals(model, sampled, checks, " and ".join(names))


def check_marginals(expected: NDArray[np.float64], sampled: NDArray[np.integer], checks: int, names: str) -> None:
    """Refuse sampled counts too far from their expected values; `checks` counts are compared in all."""
    allowed = deviation_bound(expected, FALSE_FAILURE / checks)
    excess = np.abs(sampled - expected) - allowed
    if (excess > 0).any():
        worst = np.unravel_index(int(np.argmax(excess)), excess.shape)
        raise ReleaseError(
            f"the sampled rows do not follow their model: {int(sampled[worst])} rows in one cell of {names}, "
            f"expected {expected[worst]:.1f} and at most {allowed[worst]:.1f} away from that"
        )


def deviation_bound(mean: NDArray[np.float64], probability: float) -> NDArray[np.float64]:
    """The t at which 2 exp(−t² / (2μ + 2t/3)) falls to `probability`: L/3 + √(L²/9 + 2Lμ) with L = ln(2/p).

    A count of sampled rows is a sum of 0/1 draws with known mean μ. Where the draws are independent or negatively
    associated (as they are when values are dealt out in exact shares), Bernstein's inequality holds:
    P(|count − μ| ≥ t) ≤ 2 exp(−t² / (2μ + 2t/3)). Rows whose rounding makes up correlations of its own do not pass.
    """
    log = math.log(2 / probability)
    return np.asarray(log / 3 + np.sqrt(log**2 / 9 + 2 * log * mean))
