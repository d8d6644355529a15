"""U_loss (li2009 section 4.2): how well the release describes the sensitive attribute of large populations.

A population is a conjunction of at most one taxonomy node per quasi-identifier that enough rows satisfy.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.measures.base import Workload
from sfumato.measures.measurement import Grade, Measure, References, grade
from sfumato.parameters import parameter
from sfumato.privacy.distances import jensen_shannon, shares
from sfumato.release import Release
from sfumato.release.boxes import Boxes
from sfumato.schema import Axis, Node, Span

ROUNDING = 1e-6
"""Slack for a share of rows that is a whole number but for floating point."""


def _judge(value: float, references: References) -> tuple[Grade, str]:
    worst = references.suppressed["u_loss"]
    share = value / worst if worst > 0 else 0.0
    return grade(share, 0.1, 0.4), f"Suppressing everything loses {worst:.4f}; this release loses {share:.0%} of that."


@dataclass(frozen=True, kw_only=True)
class LargePopulations(Workload):
    """The mean over all populations with a share of at least `support` of the Jensen-Shannon divergence between
    their true and their estimated sensitive attribute."""

    support: float = parameter(default=0.05, help="the least share of a large population", above=0, maximum=1)

    measures: ClassVar[tuple[Measure, ...]] = (
        Measure(
            "u_loss", "Utility loss on large populations", "utility", "lower", "nats", highest=math.log(2)
        ).describe(
            "How far, on average over all large groups that the taxonomies can describe, the sensitive "
            "attribute estimated from the release is from the true one.",
            judge=_judge,
        ),
    )

    def run(self, table: Table, release: Release) -> dict[str, float]:
        regions, truth = self.populations(table)
        if not len(regions):
            return {"u_loss": 0.0}
        estimate = release.histograms_in(regions)
        estimate[estimate.sum(axis=1) <= 0] = release.overall
        return {"u_loss": float(jensen_shannon(shares(truth), shares(estimate)).mean())}

    def populations(self, table: Table) -> tuple[Boxes, NDArray[np.int64]]:
        """The regions of all large populations, and the rows of each by sensitive value."""

        def find() -> tuple[Boxes, NDArray[np.int64]]:
            spans, histograms = [], []
            for region, members in self._extend((), np.arange(len(table.points)), table):
                spans.append(region)
                histograms.append(table.histograms[members].sum(axis=0))
            if not spans:
                return Boxes.whole(table.schema.quasi)[:0], np.zeros((0, table.values), dtype=np.int64)
            return Boxes.of_spans(spans), np.array(histograms)

        found: tuple[Boxes, NDArray[np.int64]] = table.remember(self, find)
        return found

    def _extend(
        self, region: tuple[Span, ...], members: NDArray[np.int64], table: Table
    ) -> Iterator[tuple[tuple[Span, ...], NDArray[np.int64]]]:
        """Every large population that starts as `region` does, the one without any condition left out."""
        position = len(region)
        if position == len(table.schema.quasi):
            if any(span != axis.everything for span, axis in zip(region, table.schema.quasi, strict=True)):
                yield region, members
            return
        axis = table.schema.quasi[position]
        yield from self._extend((*region, axis.everything), members, table)
        codes = table.points[members, position]
        needed = math.ceil(self.support * table.n - ROUNDING)
        for span in _large_nodes(axis, codes, table.weights[members], needed):
            inside = (codes >= span.lo) & (codes <= span.hi) | ((codes < 0) & span.missing)
            yield from self._extend((*region, span), members[inside], table)


def _large_nodes(axis: Axis, codes: NDArray[np.int32], weights: NDArray[np.int64], needed: float) -> Iterator[Span]:
    """The nodes below the root that enough rows satisfy, each set of values once."""
    order = np.argsort(codes, kind="stable")
    rising = codes[order]
    up_to = np.concatenate([[0], np.cumsum(weights[order])])

    def rows(lo: int, hi: int) -> int:
        """How many rows have a code in `lo..hi`."""
        first, end = np.searchsorted(rising, lo, side="left"), np.searchsorted(rising, hi, side="right")
        return int(up_to[end] - up_to[first])

    if axis.nullable and rows(-1, -1) >= needed:
        yield Span(0, -1, True)
    root = axis.taxonomy
    waiting: list[Node] = [root]
    seen = {(root.lo, root.hi)} if not axis.nullable else set()
    while waiting:
        node = waiting.pop()
        if rows(node.lo, node.hi) < needed:
            continue
        if (node.lo, node.hi) not in seen:
            seen.add((node.lo, node.hi))
            yield Span(node.lo, node.hi, False)
        waiting.extend(node.children)
