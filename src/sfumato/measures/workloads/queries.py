"""Random COUNT queries: regions of the quasi-identifiers and a range of the sensitive attribute.

Positions run over the values of an axis, and then its missing value; a range of positions is a span.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.methods.partition.endpoints import Original
from sfumato.release import Release
from sfumato.release.boxes import Boxes
from sfumato.schema import Axis

MAX_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class Queries:
    """Regions, the first and last sensitive code of each, and how many rows truly satisfy it."""

    regions: Boxes
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    truth: NDArray[np.float64]

    def relative_errors(self, release: Release) -> NDArray[np.float64]:
        """|estimate − truth| / truth for each query."""
        estimate = release.counts_in(self.regions, self.first, self.last)
        return np.abs(estimate - self.truth) / self.truth


def random_ranges(
    axis: Axis, lengths: NDArray[np.int64], generator: np.random.Generator, around: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]:
    """A random range of each length in positions, around the given ones if any: lo, hi, missing."""
    first, last = np.zeros_like(lengths), axis.positions - lengths
    if around is not None:
        first, last = np.maximum(first, around - lengths + 1), np.minimum(last, around)
    start = generator.integers(first, last + 1)
    end = start + lengths - 1
    missing = end >= axis.size
    lo = np.where(start >= axis.size, 0, start)
    hi = np.where(start >= axis.size, -1, np.minimum(end, axis.size - 1))
    return lo.astype(np.int32), hi.astype(np.int32), missing


def draw(table: Table, count: int, seed: int, lengths: Callable[[np.random.Generator], Sequence[int]]) -> Queries:
    """`count` queries with at least one true row each.

    `lengths` draws how many positions of each axis (the sensitive one last) a query covers. Queries without a true
    row are drawn anew; where hardly any have one, the rest are drawn around random rows.
    """
    generator = np.random.default_rng(seed)
    original = Original().publish(table.without_rows())
    parts: list[Queries] = []
    found = 0
    for attempt in range(MAX_ROUNDS + 1):
        around = _random_rows(table, count, generator) if attempt == MAX_ROUNDS else None
        candidates = _candidates(table, count, around, generator, lengths)
        truth = np.round(original.counts_in(candidates.regions, candidates.first, candidates.last))
        keep = np.flatnonzero(truth > 0)[: count - found]
        parts.append(Queries(candidates.regions[keep], candidates.first[keep], candidates.last[keep], truth[keep]))
        found += len(keep)
        if found == count:
            break
    regions = Boxes(
        *(np.concatenate([getattr(part.regions, name) for part in parts]) for name in ("lo", "hi", "missing"))
    )
    first, last, truth = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("first", "last", "truth")
    )
    return Queries(regions, first, last, truth)


def _random_rows(table: Table, count: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """The positions of random rows on every axis, the sensitive one last: (count, axes)."""
    cells = generator.choice(len(table.cell_weight), size=count, p=table.cell_weight / table.n)
    points = table.points[table.cell_point[cells]].astype(np.int64)
    sizes = np.array([axis.size for axis in table.schema.quasi])
    return np.column_stack([np.where(points < 0, sizes, points), table.cell_value[cells]])


def _candidates(
    table: Table,
    count: int,
    around: NDArray[np.int64] | None,
    generator: np.random.Generator,
    lengths: Callable[[np.random.Generator], Sequence[int]],
) -> Queries:
    wanted = np.array([lengths(generator) for _ in range(count)])
    shape = (count, len(table.schema.axes))
    lo, hi, missing = np.empty(shape, np.int32), np.empty(shape, np.int32), np.empty(shape, np.bool_)
    for position, axis in enumerate(table.schema.axes):
        near = None if around is None else around[:, position]
        drawn = random_ranges(axis, wanted[:, position], generator, near)
        lo[:, position], hi[:, position], missing[:, position] = drawn
    size = table.schema.sensitive.size
    first = np.where(lo[:, -1] > hi[:, -1], size, lo[:, -1]).astype(np.int64)
    last = np.where(missing[:, -1], size, hi[:, -1]).astype(np.int64)
    regions = Boxes(lo[:, :-1].copy(), hi[:, :-1].copy(), missing[:, :-1].copy())
    return Queries(regions, first, last, np.zeros(count))
