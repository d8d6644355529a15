"""DiffGen (Mohammed, Chen, Fung and Yu, 2011): single-dimensional top-down specialization.

All rows share one partition of each axis. Every round one value of one axis is replaced by those below it: a
taxonomy's node by its children, a range of numbers by its two sides of a private cut. The value is chosen privately by
Max, the rows that belong to the commonest class of their child, or by another utility of alhussaeni2018; the classes
are the sensitive values.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.estimation.consistency import histograms_with_totals
from sfumato.mechanisms.budget import Budget, ticks
from sfumato.methods.base import DPMethod
from sfumato.methods.growing.points import root_of, skip_single_children
from sfumato.methods.growing.scan import PENALTY_SCALE
from sfumato.methods.positions import boxes_of_steps, positions_of, steps_of_points
from sfumato.methods.trees.cells import MAX_DOMAIN, count_cells
from sfumato.methods.trees.utility import Utility, sensitivity_of
from sfumato.parameters import parameter
from sfumato.release.release import Release
from sfumato.schema import Axis
from sfumato.schema.taxonomy import Node

SELECTING = Fraction(1, 2)
"""Share of the budget for choosing cuts and values; the leaves get the rest."""
MAX_CUTS = 31
"""Cuts that a range of numbers offers."""
MAX_SPECIALIZATIONS = 1_000
MAX_LISTED = 2**20
"""Up to this many counts of leaves and values are all drawn."""


@dataclass(frozen=True)
class Value:
    """A generalized value: the positions `lo..hi` of an axis, and where its children begin.

    `node` is that of the taxonomy, `None` on an axis of numbers or dates; `children` is empty while none are known.
    """

    axis: int
    lo: int
    hi: int
    node: Node | None
    children: tuple[int, ...] = ()

    @classmethod
    def top(cls, number: int, axis: Axis) -> Self:
        """The whole axis; its missing value stands beside the root of a taxonomy."""
        if axis.spaced:
            return cls(number, 0, axis.positions - 1, None)
        return cls.of_node(number, root_of(axis))

    @classmethod
    def of_node(cls, axis: int, node: Node) -> Self:
        node = skip_single_children(node)
        return cls(axis, node.lo, node.hi, node, tuple(child.lo for child in node.children))

    @property
    def needs_cut(self) -> bool:
        """Whether this is a range of numbers or dates without a cut."""
        return self.node is None and self.lo < self.hi and not self.children

    @property
    def cuts(self) -> list[int]:
        """Where the upper side of a range may begin."""
        number = min(self.hi - self.lo, MAX_CUTS)
        return [self.lo + 1 + place * (self.hi - self.lo) // number for place in range(number)]

    def specialize(self) -> list[Self]:
        """The values that replace this one."""
        if self.node is not None:
            return [self.of_node(self.axis, child) for child in self.node.children]
        lower, upper = self.children
        return [replace(self, lo=lower, hi=upper - 1, children=()), replace(self, lo=upper, children=())]


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """Rows by class up to each position of an axis that occurs."""

    size: int  # of the axis
    positions: NDArray[np.int32]  # rising
    reached: NDArray[np.int64]  # (positions + 1, classes)

    @classmethod
    def of(cls, size: int, column: NDArray[np.int32], histograms: NDArray[np.int64]) -> Self:
        """The counts of one axis of so many positions, from the position of each point and its rows by class."""
        order = np.argsort(column, kind="stable")
        reached = np.zeros((len(column) + 1, histograms.shape[1]), dtype=np.int64)
        np.cumsum(histograms[order], axis=0, out=reached[1:])
        return cls(size, column[order], reached)

    def score(self, starts: Sequence[int], hi: int, utility: Utility = "max") -> int:
        """The utility of children, the last one ending at `hi`; n_iv are the rows of child i in class v.

        `max`: Σ_i max_v n_iv; `purity`: Σ_i ⌊√Σ_v n_iv²⌋; `dm`: Σ_i n_i − ⌊√Σ_i n_i²⌋, as values of different sizes are
        compared; `ncp`: Σ_i n_i w_i, where child i is narrower than its parent by w_i/1024 of the axis.
        """
        edges = np.array([*starts, hi + 1])
        counts = np.diff(self.reached[np.searchsorted(self.positions, edges)], axis=0)  # (children, classes)
        if utility == "max":
            return int(counts.max(axis=1).sum())
        if utility == "purity":
            return sum(math.isqrt(square) for square in (counts**2).sum(axis=1).tolist())
        rows = counts.sum(axis=1)
        if utility == "dm":
            return int(rows.sum()) - math.isqrt(int((rows**2).sum()))
        narrower = (edges[-1] - edges[0] - np.diff(edges)) * PENALTY_SCALE // max(self.size - 1, 1)
        return int((rows * narrower).sum())


@dataclass(frozen=True, kw_only=True)
class DiffGen(DPMethod):
    """The grid of the axes' partitions after `h` specializations, with a noisy histogram in each of its boxes.

    All choices are paid for alike. Fewer specializations are made where no value is left to specialize.

    Claim: differential privacy for adding or removing one row, under ε, (ε, δ) or ρ.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O(points × axes + h × values + boxes).
    Reference: Mohammed et al. 2011, compared with in paper alhussaeni2018 section 5; proof in diffgen.proof.md.

    >>> release = sf.DiffGen(epsilon=1).publish(table)
    """

    name: ClassVar[str] = "diffgen"
    title: ClassVar[str] = "DiffGen"
    h: int = parameter(default=10, help="how many specializations", minimum=1, maximum=MAX_SPECIALIZATIONS, always=True)
    utility: Utility = parameter(default="max", help="what cuts are chosen for; max by default", label=" {}")

    def _release(self, table: Table, budget: Budget) -> Release:
        counts = [
            ClassCounts.of(axis.positions, column, table.histograms)
            for axis, column in zip(table.schema.quasi, positions_of(table).T, strict=True)
        ]
        values, made = self._specialize(table, counts, budget)
        starts = [np.array(sorted(value.lo for value in values if value.axis == axis)) for axis in range(len(counts))]
        cell = np.ravel_multi_index(tuple(steps_of_points(table, starts).T), [len(begin) for begin in starts])
        found, histograms, variance = self._count(table, cell, math.prod(map(len, starts)), budget)
        if not len(found):
            starts = [np.zeros(1, dtype=np.int64)] * len(counts)
            found, histograms = np.zeros(1, dtype=np.int64), np.full((1, table.values), 1 / table.values)
        step = np.column_stack(np.unravel_index(found, [len(begin) for begin in starts]))
        boxes = boxes_of_steps(step, step, starts, table.schema.quasi)
        more = {
            "deviation": np.full(len(found), math.sqrt(variance)),
            "provenance": self.provenance(specializations=made),
        }
        return self.make_release(table, boxes, histograms, layout="counts", **more)

    def _specialize(self, table: Table, counts: Sequence[ClassCounts], budget: Budget) -> tuple[list[Value], int]:
        """The values of all axes after the specializations, and how many of these there were."""
        values = [Value.top(number, axis) for number, axis in enumerate(table.schema.quasi)]
        ranges = sum(value.needs_cut for value in values)
        price = ticks(SELECTING / (ranges + self.h + (self.h - 1 if ranges else 0)))
        values = [self._add_cuts([value], counts, budget, price)[0] for value in values]
        first, sensitivity = np.zeros(1, dtype=np.int64), sensitivity_of(self.utility)
        for made in range(self.h):
            offered = _offer(values, table.values)
            if not offered:
                return values, made
            scores = np.array([counts[value.axis].score(value.children, value.hi, self.utility) for value in offered])
            best = budget.choose(scores, first, price, sensitivity=sensitivity)  # proof: values
            chosen = offered[best[0]]
            parts = chosen.specialize()
            values.remove(chosen)
            values += self._add_cuts(parts, counts, budget, price) if made < self.h - 1 else parts
        return values, self.h

    def _add_cuts(self, values: list[Value], counts: Sequence[ClassCounts], budget: Budget, price: int) -> list[Value]:
        """Disjoint values of one axis, ranges of numbers among them with a private cut, all for one price."""
        ranges = [value for value in values if value.needs_cut]
        if not ranges:
            return values
        cuts = [(value, cut) for value in ranges for cut in value.cuts]
        scores = np.array([counts[value.axis].score((value.lo, cut), value.hi, self.utility) for value, cut in cuts])
        lengths = np.array([len(value.cuts) for value in ranges])
        sensitivity = sensitivity_of(self.utility)
        starts = np.cumsum(lengths) - lengths
        best = budget.choose(scores, starts, price, sensitivity=sensitivity, disjoint=True)  # proof: cuts
        found = {cuts[place][0]: cuts[place][1] for place in best}
        return [replace(value, children=(value.lo, found[value])) if value in found else value for value in values]

    def _count(
        self, table: Table, cell: NDArray[np.int64], boxes: int, budget: Budget
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], float]:
        """The boxes of the grid to publish, their histograms, and the variance of the noise in a count."""
        price = int(budget.left[0])
        cell = cell[table.cell_point] * table.values + table.cell_value
        domain = boxes * table.values
        leaves = count_cells(cell, table.cell_weight, domain, MAX_LISTED, budget, price)  # proof: leaves
        if leaves.threshold is None:
            # The nearest counts without negative ones that have the same total, or one row if that is less.
            total = np.array([max(float(leaves.counts.sum()), 1.0)])
            counts = histograms_with_totals(leaves.counts[None, :].astype(np.float64), total)
            return np.arange(boxes), counts.reshape(boxes, -1), leaves.variance
        found, row = np.unique(leaves.ids // table.values, return_inverse=True)
        histograms = np.zeros((len(found), table.values))
        histograms[row, leaves.ids % table.values] = leaves.counts
        return found, histograms, leaves.variance


def _offer(values: Sequence[Value], classes: int) -> list[Value]:
    """The values with children after whose specialization the counts of the grid can still be numbered."""
    parts = np.bincount([value.axis for value in values]).tolist()
    cells = math.prod(parts) * classes
    return [
        value
        for value in values
        if len(value.children) > 1
        and cells // parts[value.axis] * (parts[value.axis] - 1 + len(value.children)) <= MAX_DOMAIN
    ]
