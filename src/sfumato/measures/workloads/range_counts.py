"""Random COUNT queries and two workloads: half of every axis (cormode2013), a few conditions (li2009 section 5.2).

A query is a region of the quasi-identifiers and a range of the sensitive attribute. Positions run over the values of an
axis, and then its missing value; a range of positions is a span.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.measures.base import Workload
from sfumato.measures.measurement import Grade, Measure, References, grade
from sfumato.methods.partition.endpoints import Original
from sfumato.parameters import parameter
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
    axis: Axis, lengths: NDArray[np.int64], around: NDArray[np.int64] | None, generator: np.random.Generator
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
    parts: list[list[NDArray[Any]]] = []
    found = 0
    for attempt in range(MAX_ROUNDS + 1):
        around = _random_rows(table, count, generator) if attempt == MAX_ROUNDS else None
        regions, first, last = _candidates(
            table, np.array([lengths(generator) for _ in range(count)]), around, generator
        )
        truth = np.round(original.counts_in(regions, first, last))
        keep = np.flatnonzero(truth > 0)[: count - found]
        parts.append([side[keep] for side in (*regions.arrays, first, last, truth)])
        found += len(keep)
        if found == count:
            break
    lo, hi, missing, first, last, truth = (np.concatenate(sides) for sides in zip(*parts, strict=True))
    return Queries(Boxes(lo, hi, missing), first, last, truth)


def _random_rows(table: Table, count: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """The positions of random rows on every axis, the sensitive one last: (count, axes)."""
    cells = generator.choice(len(table.cell_weight), size=count, p=table.cell_weight / table.n)
    points = table.points[table.cell_point[cells]].astype(np.int64)
    sizes = np.array([axis.size for axis in table.schema.quasi])
    return np.column_stack([np.where(points < 0, sizes, points), table.cell_value[cells]])


def _candidates(
    table: Table, lengths: NDArray[np.int64], around: NDArray[np.int64] | None, generator: np.random.Generator
) -> tuple[Boxes, NDArray[np.int64], NDArray[np.int64]]:
    """Regions, and the first and last sensitive code of each; `lengths` and `around` are (queries, axes)."""
    near = [None] * len(table.schema.axes) if around is None else around.T
    drawn = [random_ranges(*each, generator) for each in zip(table.schema.axes, lengths.T, near, strict=True)]
    lo, hi, missing = (np.stack(sides, axis=1) for sides in zip(*drawn, strict=True))
    size = table.schema.sensitive.size
    first = np.where(lo[:, -1] > hi[:, -1], size, lo[:, -1]).astype(np.int64)
    last = np.where(missing[:, -1], size, hi[:, -1]).astype(np.int64)
    return Boxes(lo[:, :-1].copy(), hi[:, :-1].copy(), missing[:, :-1].copy()), first, last


def _judge_error(value: float, references: References) -> tuple[Grade, str]:
    worst = references.suppressed["query_error"]
    return grade(value, 0.1, 0.5), (
        f"A typical count is off by {value:.1%}; with everything suppressed it would be off by {worst:.0%}."
    )


@dataclass(frozen=True, kw_only=True)
class HalfDomainCounts(Workload):
    """`count` queries for a random range over half of the domain of every attribute, the sensitive one too."""

    count: int = parameter(default=2_000, help="how many queries", minimum=1)
    seed: int = 1

    measures: ClassVar[tuple[Measure, ...]] = (
        Measure("query_error", "Query error (half-domain ranges)", "utility", "lower", "relative error").describe(
            "The median relative error when the release answers how many people fall into a random half "
            "of every attribute's range.",
            judge=_judge_error,
        ),
    )

    def run(self, table: Table, release: Release) -> dict[str, float]:
        errors = self.queries(table).relative_errors(release)
        return {"query_error": float(np.median(errors)) if len(errors) else 0.0}

    def queries(self, table: Table) -> Queries:
        """The workload's queries on a table."""
        halves = [max(1, round(axis.positions / 2)) for axis in table.schema.axes]
        queries: Queries = table.remember(self, lambda: draw(table, self.count, self.seed, lambda _: halves))
        return queries


@dataclass(frozen=True, kw_only=True)
class ConjunctiveCounts(Workload):
    """`count` queries with conditions on `dimensions` random quasi-identifiers and the sensitive attribute.

    Together the conditions select a share `selectivity` of the domain, the same share of each attribute.
    """

    count: int = parameter(default=1_000, help="how many queries", minimum=1)
    dimensions: int = parameter(default=4, help="how many quasi-identifiers have a condition", minimum=1)
    selectivity: float = parameter(default=0.05, help="the share of the domain selected", above=0, maximum=1)
    seed: int = 2

    measures: ClassVar[tuple[Measure, ...]] = (
        Measure("mean_query_error", "Query error (a few conditions)", "utility", "lower", "relative error").describe(
            "The mean relative error when the release answers how many people satisfy conditions on a few "
            "quasi-identifiers and the sensitive attribute."
        ),
    )

    def run(self, table: Table, release: Release) -> dict[str, float]:
        errors = self.queries(table).relative_errors(release)
        return {"mean_query_error": float(errors.mean()) if len(errors) else 0.0}

    def queries(self, table: Table) -> Queries:
        """The workload's queries on a table."""
        axes = table.schema.axes
        dimensions = min(self.dimensions, len(table.schema.quasi))
        share = self.selectivity ** (1 / (dimensions + 1))

        def lengths(generator: np.random.Generator) -> Sequence[int]:
            covered = [axis.positions for axis in axes]
            chosen = generator.choice(len(axes) - 1, size=dimensions, replace=False)
            for position in (*chosen, len(axes) - 1):
                covered[position] = max(1, round(share * axes[position].positions))
            return covered

        queries: Queries = table.remember(self, lambda: draw(table, self.count, self.seed, lengths))
        return queries
