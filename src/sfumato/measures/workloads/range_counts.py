"""The two COUNT workloads: half of every axis (cormode2013), and a few conditions (li2009 section 5.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data import Table
from sfumato.measures.base import Workload
from sfumato.measures.measurement import Measure
from sfumato.measures.verdict import Grade, References, grade
from sfumato.measures.workloads.queries import Queries, draw
from sfumato.parameters import parameter
from sfumato.release import Release


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
