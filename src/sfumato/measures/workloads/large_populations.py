"""U_loss (li2009 section 4.2): how well the release describes the sensitive attribute of large populations.

A population is a conjunction of at most one taxonomy node per quasi-identifier that enough rows satisfy.
"""

import heapq
import itertools
import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.measures.base import Workload
from sfumato.measures.measurement import Grade, Measure, References, grade
from sfumato.measures.workloads.population import counted_people, weighted_histograms
from sfumato.parameters import parameter
from sfumato.privacy.distances import jensen_shannon, shares
from sfumato.release import Release
from sfumato.release.boxes import Boxes
from sfumato.schema import Axis, Node, Span

Counts = NDArray[np.int64] | NDArray[np.float64]
ROUNDING = 1e-6
"""Slack for a share of rows that is a whole number but for floating point."""
MAX_POPULATIONS = 2_500


def _judge(value: float, references: References) -> tuple[Grade, str]:
    worst = references.suppressed["u_loss"]
    share = value / worst if worst > 0 else 0.0
    return grade(share, 0.1, 0.4), f"Suppressing everything loses {worst:.4f}; this release loses {share:.0%} of that."


@dataclass(frozen=True, kw_only=True)
class LargePopulations(Workload):
    """The mean over all populations with a share of at least `support`, or the `most` largest of them, of the
    Jensen-Shannon divergence between their true and their estimated sensitive attribute."""

    support: float = parameter(default=0.05, help="the least share of a large population", above=0, maximum=1)
    most: int = parameter(default=MAX_POPULATIONS, help="how many populations to look at, the largest", minimum=1)

    measures: ClassVar[tuple[Measure, ...]] = (
        Measure(
            "u_loss", "Utility loss on large populations", "utility", "lower", "of at most 0.693", highest=math.log(2)
        ).describe(
            "How far, on average over the large groups that the taxonomies can describe (at most the "
            f"{MAX_POPULATIONS:,} largest), the sensitive attribute estimated from the release is from the true one.",
            judge=_judge,
        ),
    )

    def run(self, table: Table, release: Release) -> dict[str, float]:
        regions, truth = self.populations(table)
        if not len(regions):
            return {"u_loss": 0.0}
        release, _ = counted_people(table, release)
        estimate = release.histograms_in(regions)
        estimate[estimate.sum(axis=1) <= 0] = release.overall
        return {"u_loss": float(jensen_shannon(shares(truth), shares(estimate)).mean())}

    def populations(self, table: Table) -> tuple[Boxes, Counts]:
        """The regions of the large populations in the order of their axes, and each by sensitive value: its rows, or
        the people they stand for where there are weights."""

        def find() -> tuple[Boxes, Counts]:
            histograms = weighted_histograms(table)
            needed = math.ceil(self.support * table.n - ROUNDING)
            everything = [axis.everything for axis in table.schema.quasi]
            found = []
            for conditions, members in itertools.islice(_by_size(table, needed, self.most), self.most):
                region = [conditions.get(position, whole) for position, whole in enumerate(everything)]
                found.append((region, histograms[members].sum(axis=0)))
            if not found:
                return Boxes.whole(table.schema.quasi)[:0], np.zeros((0, table.values), dtype=np.int64)
            found.sort(key=lambda each: each[0])
            return Boxes.of_spans([region for region, _ in found]), np.array([counts for _, counts in found])

        populations: tuple[Boxes, Counts] = table.remember(self, find)
        return populations


def _by_size(table: Table, needed: int, most: int) -> Iterator[tuple[dict[int, Span], NDArray[np.int64]]]:
    """The populations of at least `needed` rows, the largest first, each with its points; at least the first `most`.

    A population has no more rows than the one without its last condition. So whoever always takes the largest one
    known, and adds to it every condition on a later axis, meets all of them by size. Of those as large as each other
    the one whose conditions come first is taken first.
    """
    nodes = _Nodes(table, needed)
    waiting: list[tuple[int, tuple[int, ...], NDArray[np.int64]]] = []
    sizes = np.zeros(0, dtype=np.int64)

    def add_conditions(chosen: tuple[int, ...], members: NDArray[np.int64]) -> None:
        nonlocal sizes, needed
        for node, size in nodes.after(chosen[-1] if chosen else -1, members, needed):
            heapq.heappush(waiting, (-size, (*chosen, node), members))
            sizes = np.append(sizes, size)
        if len(sizes) > most:
            sizes = np.sort(sizes)[-most:]
            needed = max(needed, int(sizes[0]))

    add_conditions((), np.arange(len(table.points)))
    while waiting:
        _, chosen, before = heapq.heappop(waiting)
        members = before[nodes.holds(chosen[-1], before)]
        yield {nodes.axis[node]: nodes.span[node] for node in chosen}, members
        add_conditions(chosen, members)


class _Nodes:
    """The conditions that can make a large population: the large nodes of all taxonomies, in the order of the axes.

    The ends of nodes cut every axis into pieces, and those of all axes stand side by side on one line. A missing value
    has the code below all others.
    """

    def __init__(self, table: Table, needed: int) -> None:
        self.axis: list[int] = []
        self.span: list[Span] = []
        self.weights = table.weights
        places, first, last, start = [], [], [], 0
        for position, axis in enumerate(table.schema.quasi):
            spans = sorted(_large_nodes(axis, table.points[:, position], table.weights, needed))
            lo, hi = np.array([(-1 if span.missing else span.lo, span.hi) for span in spans]).reshape(-1, 2).T
            cuts = np.unique(np.concatenate([lo, hi + 1]))
            places.append(start + np.searchsorted(cuts, table.points[:, position], side="right"))
            first.append(start + np.searchsorted(cuts, lo, side="right"))
            last.append(start + np.searchsorted(cuts, hi, side="right"))
            self.axis += [position] * len(spans)
            self.span += spans
            start += len(cuts) + 1
        self.places = np.stack(places, axis=1)  # (points, axes)
        self.first, self.last = np.concatenate(first), np.concatenate(last)
        self.length = start

    def holds(self, node: int, members: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of some points satisfy a condition."""
        place = self.places[members, self.axis[node]]
        return np.asarray((self.first[node] <= place) & (place <= self.last[node]))

    def after(self, node: int, members: NDArray[np.int64], needed: int) -> Iterator[tuple[int, int]]:
        """The conditions on axes after a node's that enough rows of some points satisfy, with how many do."""
        axis = self.axis[node] + 1 if node >= 0 else 0
        nodes = slice(bisect_left(self.axis, axis), None)
        places = self.places[members, axis:]
        weights = np.repeat(self.weights[members], places.shape[1])
        up_to = np.concatenate([[0], np.cumsum(np.bincount(places.reshape(-1), weights, self.length))])
        rows = (up_to[self.last[nodes] + 1] - up_to[self.first[nodes]]).astype(np.int64)
        large = np.flatnonzero(rows >= needed)
        return zip((nodes.start + large).tolist(), rows[large].tolist(), strict=True)


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
