"""Random COUNT queries and two workloads: half of the domain (cormode2013), a few conditions (li2009 section 5.2).

A query is a region of the quasi-identifiers and a range of the sensitive attribute. Positions run over the values of an
axis, and then its missing value; a range of positions is a span.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.measures.base import Workload
from sfumato.measures.measurement import Grade, Mark, Measure, References, Sampled, grade
from sfumato.measures.workloads.population import counted_people, people_of, true_counts
from sfumato.parameters import parameter
from sfumato.release import Release
from sfumato.release.boxes import Boxes
from sfumato.schema import Axis
from sfumato.streams import stream

MAX_ROUNDS = 20
HALF_DOMAIN_QUERIES, CONJUNCTIVE_QUERIES = 2_000, 1_000
MOST_LOOKS = 2 * 10**8
"""So often at most a query looks at a combination of quasi-identifiers; of more, a sample of the queries is asked."""
LEAST_QUERIES = 400
CONFIDENT = 1.96
"""Standard deviations of 95% confidence."""
SAMPLED = (
    " With more than {most:,} different combinations of quasi-identifiers, a sample of the queries is asked, at least "
    f"{LEAST_QUERIES}, and the value has an interval of 95% confidence."
)
ROUNDING = 1e-9
"""Slack for a width that is a whole number but for floating point."""


@dataclass(frozen=True, eq=False)
class Queries:
    """Regions, the first and last sensitive code of each, and how many rows truly satisfy it, or people by weights."""

    regions: Boxes
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    truth: NDArray[np.float64]

    def relative_errors(self, release: Release, *, careful: bool = False, factor: float = 1.0) -> NDArray[np.float64]:
        """|factor · estimate − truth| / truth for each query, as the papers estimate or as a careful recipient does."""
        asked = self.regions, self.first, self.last
        estimate = release.careful_counts_in(*asked) if careful else release.counts_in(*asked)
        return np.abs(factor * estimate - self.truth) / self.truth

    def domain_shares(self, axes: Sequence[Axis]) -> NDArray[np.float64]:
        """The share of the domain that each query covers."""
        quasi = self.regions.hi - self.regions.lo + 1 + self.regions.missing
        covered = np.column_stack([quasi, self.last - self.first + 1])
        shares: NDArray[np.float64] = (covered / [axis.positions for axis in axes]).prod(axis=1)
        return shares


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


def draw(
    table: Table, count: int, seed: int, lengths: Callable[[np.random.Generator], Sequence[int]], least: float = 1
) -> Queries:
    """`count` queries with at least `least` true rows each.

    `lengths` draws how many positions of each axis (the sensitive one last) a query covers. Queries with fewer rows
    are drawn anew; where hardly any have so many, the rest are drawn around random rows and have at least one.
    """
    generator = stream("queries", seed)
    original = true_counts(table)
    digits = 0 if table.schema.weight is None else 6
    parts: list[list[NDArray[Any]]] = []
    found = 0
    for attempt in range(MAX_ROUNDS + 1):
        around = _random_rows(table, count, generator) if attempt == MAX_ROUNDS else None
        regions, first, last = _candidates(
            table, np.array([lengths(generator) for _ in range(count)]), around, generator
        )
        truth = np.round(original.counts_in(regions, first, last), digits)
        keep = np.flatnonzero(truth >= (least if around is None else 10.0**-digits))[: count - found]
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


def asked_of(table: Table, count: int) -> int:
    """How many of so many queries are asked of a table."""
    return min(count, max(MOST_LOOKS // max(len(table.points), 1), LEAST_QUERIES))


def median_of(values: NDArray[np.float64], *, of_all: bool) -> float:
    """The median, with its interval if these are not all values there are.

    Of n values as many lie below the median of the whole as heads are thrown with n coins: n/2 ± 1.96 · √n/2.
    """
    value = float(np.median(values)) if len(values) else 0.0
    if of_all or not len(values):
        return value
    ranked, half = np.sort(values), CONFIDENT * math.sqrt(len(values)) / 2
    low, high = math.floor(len(values) / 2 - half), math.ceil(len(values) / 2 + half)
    return Sampled.within(value, (float(ranked[max(low - 1, 0)]), float(ranked[min(high, len(values) - 1)])))


def mean_of(values: NDArray[np.float64], *, of_all: bool) -> float:
    """The mean, with its interval if these are not all values there are."""
    value = float(values.mean())
    half = CONFIDENT * float(values.std()) / math.sqrt(len(values))
    return value if of_all else Sampled.within(value, (value - half, value + half))


def _judge_error(value: float, references: References) -> tuple[Grade, str]:
    worst, share = (references.suppressed[name] for name in ("query_error", "query_selectivity"))
    return grade(value, 0.1, 0.5), (
        f"A typical count, of {share:.1%} of people, is off by {value:.1%}; with everything suppressed it would be "
        f"off by {worst:.0%}."
    )


@dataclass(frozen=True, kw_only=True)
class HalfDomainCounts(Workload):
    """`count` queries for a random range over half of the domain of the sensitive attribute and of some others.

    A range is closed: it runs from a value to the one that lies half of the domain further on, so it covers
    ⌊p/2⌋ + 1 of p values, and both of two. That reading gives the selectivities that cormode2013 prints. A `strict`
    range covers half of the values, rounded up. Where more attributes could have a condition than the paper's, random
    ones have it, so that a query is about a population of some size in wide tables too.
    """

    count: int = parameter(default=HALF_DOMAIN_QUERIES, help="how many queries", minimum=1)
    ranges: Literal["closed", "strict"] = parameter(
        default="closed", help="from a value to half of the domain further on, or half of the values"
    )
    conditions: int = parameter(default=5, help="how many attributes have a condition at most", minimum=1)
    support: float = parameter(default=0.001, help="the least share of people that a query counts", minimum=0, below=1)
    seed: int = 1

    measures: ClassVar[tuple[Measure, ...]] = (
        Measure("query_error", "Query error (half-domain ranges)", "utility", "lower", "relative error").describe(
            "The median relative error when the release answers how many people fall into random ranges, each over "
            "half of an attribute, of the sensitive attribute and up to four others."
            + SAMPLED.format(most=MOST_LOOKS // HALF_DOMAIN_QUERIES),
            judge=_judge_error,
        ),
        Measure(
            "query_selectivity", "Selectivity of half-domain ranges", "utility", "none", "share of people"
        ).describe(
            "The share of people that the median one of these queries is about.",
            scale=lambda references: [Mark(value=references.original["query_selectivity"], text="on this table")],
        ),
    )

    def run(self, table: Table, release: Release) -> dict[str, float]:
        queries, of_all = self.queries(table), asked_of(table, self.count) == self.count
        release, factor = counted_people(table, release)
        return {
            "query_error": median_of(queries.relative_errors(release, factor=factor), of_all=of_all),
            "query_selectivity": median_of(queries.truth / people_of(table), of_all=of_all),
        }

    def queries(self, table: Table) -> Queries:
        """The workload's queries on a table."""
        *quasi, sensitive = (axis.positions for axis in table.schema.axes)
        half = [self._width(positions) for positions in quasi]
        # Two sensitive values are not both covered, for then no query would be about them.
        own = min(self._width(sensitive), max(1, sensitive - 1))
        narrowed = np.flatnonzero(np.less(half, quasi))
        chosen = min(self.conditions - 1, len(narrowed))

        def lengths(generator: np.random.Generator) -> Sequence[int]:
            covered = list(quasi)
            for position in generator.choice(narrowed, size=chosen, replace=False):
                covered[position] = half[position]
            return [*covered, own]

        least = max(1.0, self.support * people_of(table))
        count = asked_of(table, self.count)
        queries: Queries = table.remember((self, count), lambda: draw(table, count, self.seed, lengths, least))
        return queries

    def _width(self, positions: int) -> int:
        """How many of an attribute's positions a range covers."""
        return min(positions, positions // 2 + 1) if self.ranges == "closed" else math.ceil(positions / 2)


@dataclass(frozen=True, kw_only=True)
class ConjunctiveCounts(Workload):
    """`count` queries with conditions on `dimensions` random quasi-identifiers and the sensitive attribute.

    Together the conditions select at least a share `selectivity` of the domain: the same share of each attribute,
    rounded up to whole values. So more conditions select more, which is what li2009 says of its queries.
    """

    count: int = parameter(default=CONJUNCTIVE_QUERIES, help="how many queries", minimum=1)
    dimensions: int = parameter(default=4, help="how many quasi-identifiers have a condition", minimum=1)
    selectivity: float = parameter(default=0.05, help="the share of the domain selected", above=0, maximum=1)
    seed: int = 2

    measures: ClassVar[tuple[Measure, ...]] = (
        Measure("mean_query_error", "Query error (a few conditions)", "utility", "lower", "relative error").describe(
            "The mean relative error when the release answers how many people satisfy conditions on a few "
            "quasi-identifiers and the sensitive attribute, taking people to be spread evenly inside a published range."
            + SAMPLED.format(most=MOST_LOOKS // CONJUNCTIVE_QUERIES)
        ),
        Measure("typical_count_error", "Typical error of a count", "utility", "lower", "relative error").describe(
            "The median relative error of the same counts for a careful recipient, who learns from the release itself "
            "how values spread inside its ranges, as `sfumato query` does."
        ),
        Measure(
            "conditions_selectivity", "Selectivity of a few conditions", "utility", "none", "share of the domain"
        ).describe(
            "The share of the domain that the same conditions select on average. 5% is asked, and the range of each "
            "attribute is rounded up to whole values.",
            scale=lambda references: [
                Mark(value=0.05, text="asked"),
                Mark(value=references.original["conditions_selectivity"], text="on this table"),
            ],
        ),
    )

    def run(self, table: Table, release: Release) -> dict[str, float]:
        queries, of_all = self.queries(table), asked_of(table, self.count) == self.count
        if not len(queries.truth):
            return dict.fromkeys((one.name for one in self.measures), 0.0)
        release, factor = counted_people(table, release)
        careful = queries.relative_errors(release, careful=True, factor=factor)
        return {
            "mean_query_error": mean_of(queries.relative_errors(release, factor=factor), of_all=of_all),
            "typical_count_error": median_of(careful, of_all=of_all),
            "conditions_selectivity": mean_of(queries.domain_shares(table.schema.axes), of_all=of_all),
        }

    def queries(self, table: Table) -> Queries:
        """The workload's queries on a table."""
        axes = table.schema.axes
        dimensions = min(self.dimensions, len(table.schema.quasi))
        share = self.selectivity ** (1 / (dimensions + 1))
        whole = [axis.positions for axis in axes]
        narrow = [math.ceil(share * positions - ROUNDING) for positions in whole]

        def lengths(generator: np.random.Generator) -> Sequence[int]:
            covered = whole[:-1]
            for position in generator.choice(len(covered), size=dimensions, replace=False):
                covered[position] = narrow[position]
            return [*covered, narrow[-1]]

        count = asked_of(table, self.count)
        queries: Queries = table.remember((self, count), lambda: draw(table, count, self.seed, lengths))
        return queries
