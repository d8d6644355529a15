"""DPCube (Xiao, Xiong, Fan, Goryczka and Li, 2014): noisy cells, a kd-partition of them, fresh counts of its parts.

The first half of the budget counts the cells of the quasi-identifiers. Where the domain is too large to list, only
cells whose noisy count reaches a public threshold are drawn. The partition looks at noisy cells alone, so it is free;
the second half counts the sensitive values in each part.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.estimation.consistency import histograms_with_totals
from sfumato.mechanisms.budget import Budget, ticks
from sfumato.methods.base import DPMethod
from sfumato.methods.growing.regions import count_by_class
from sfumato.methods.positions import boxes_of_steps, even_starts, steps_of_points
from sfumato.methods.trees.cells import FALSE_CELLS, MAX_DOMAIN, count_cells
from sfumato.release.release import Release
from sfumato.schema import Axis

CELLS = Fraction(1, 2)
"""Share of the budget for the cells; the parts get the rest."""
MAX_STEPS, MIN_STEPS = 128, 4
"""Steps of an axis in the cells: wider axes are gathered into even ones, into few if the domain is large."""
MAX_LISTED = 2**18
"""Domains of at most this many cells are counted cell by cell."""
GAIN = 2.0
"""A cut must explain this many times the variance of a cell's noise."""
ROWS_PER_VALUE = 2.0
"""A part is divided if it holds this many rows per sensitive value and unit of noise."""


@dataclass(frozen=True, eq=False)
class NoisyCells:
    """Listed cells with noisy counts; all others of the domain count as empty.

    `noise` is the mean square of what an empty cell shows; `variance` that of each count as a share of a sum, infinite
    if sums say nothing because small counts were dropped.
    """

    shape: tuple[int, ...]
    steps: NDArray[np.int64]  # (cells, axes)
    counts: NDArray[np.float64]
    noise: float
    variance: float


@dataclass(frozen=True, eq=False)
class KDPartition:
    """A binary tree of cuts over steps; node i sends steps below `cut[i]` of `axis[i]` to `below[i]`, others on."""

    lo: NDArray[np.int64]  # (nodes, axes)
    hi: NDArray[np.int64]
    axis: NDArray[np.int64]  # −1 at a part
    cut: NDArray[np.int64]
    below: NDArray[np.int64]
    count: NDArray[np.float64]

    @property
    def parts(self) -> NDArray[np.int64]:
        """The nodes that are not divided."""
        return np.flatnonzero(self.axis < 0)

    def part_of(self, steps: NDArray[np.integer]) -> NDArray[np.int64]:
        """Which of the parts holds each row of steps."""
        node = np.zeros(len(steps), dtype=np.int64)
        moving = np.flatnonzero(self.axis[node] >= 0)
        while len(moving):
            at = node[moving]
            node[moving] = self.below[at] + (steps[moving, self.axis[at]] >= self.cut[at])
            moving = moving[self.axis[node[moving]] >= 0]
        return np.searchsorted(self.parts, node)


@dataclass(frozen=True, kw_only=True)
class DPCube(DPMethod):
    """Boxes of similar noisy density, each with a noisy histogram of the sensitive attribute.

    Claim: differential privacy for adding or removing one row, under ε, (ε, δ) or ρ.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O((points + listed cells) × axes × depth).
    Reference: Xiao et al. 2014, compared with in paper alhussaeni2018 section 5; proof in dpcube.proof.md.

    >>> release = sf.DPCube(epsilon=1).publish(table)
    """

    name: ClassVar[str] = "dpcube"
    title: ClassVar[str] = "DPCube"

    def _release(self, table: Table, budget: Budget) -> Release:
        axes = table.schema.quasi
        starts = step_starts(axes)
        steps = steps_of_points(table, starts)
        cells = _count(steps, table.weights, tuple(map(len, starts)), budget)
        price = int(budget.left[0])
        noise = float(budget.variance(price))
        tree = partition_cells(cells, ROWS_PER_VALUE * table.values * math.sqrt(noise))
        exact = count_by_class(table, tree.part_of(steps), len(tree.parts))
        counts = budget.counts(exact[None, :], price)[0]  # proof: parts
        histograms = _merge_counts(counts.astype(np.float64), noise, tree, cells.variance)
        boxes = boxes_of_steps(tree.lo[tree.parts], tree.hi[tree.parts], starts, axes)
        deviation = np.full(len(boxes), math.sqrt(noise))
        return self.make_release(table, boxes, histograms, layout="counts", deviation=deviation)


def step_starts(axes: Sequence[Axis]) -> list[NDArray[np.int64]]:
    """The public steps of every axis, fewer on the widest ones until all cells can be listed or at least numbered."""
    most = [MAX_STEPS] * len(axes)
    while True:
        starts = [even_starts(axis, steps) for axis, steps in zip(axes, most, strict=True)]
        domain = math.prod(map(len, starts))
        widest = max(range(len(starts)), key=lambda axis: len(starts[axis]))
        if domain <= (MAX_LISTED if len(starts[widest]) > MIN_STEPS else MAX_DOMAIN):
            return starts
        most[widest] = max(1, len(starts[widest]) // 2)


def _count(steps: NDArray[np.int64], weights: NDArray[np.int64], shape: tuple[int, ...], budget: Budget) -> NoisyCells:
    """The cells with noise: all of them, or those above a threshold that follows from the domain alone."""
    price, domain = ticks(CELLS), math.prod(shape)
    cell = np.asarray(np.ravel_multi_index(steps.T, shape))
    cells = count_cells(cell, weights, domain, MAX_LISTED, budget, price)  # proof: cells
    noise = variance = cells.variance
    if cells.threshold is not None:
        noise, variance = FALSE_CELLS * cells.threshold**2 / domain, np.inf
    found = np.column_stack(np.unravel_index(cells.ids, shape))
    return NoisyCells(shape, found, cells.counts.astype(np.float64), noise, variance)


def partition_cells(cells: NoisyCells, least: float) -> KDPartition:
    """Cut where the densities on both sides differ most, until parts are even or hold fewer than `least` rows."""
    lo, hi = [np.zeros(len(cells.shape), dtype=np.int64)], [np.array(cells.shape, dtype=np.int64) - 1]
    axis, cut, below, count = [-1], [0], [0], [float(cells.counts.sum())]
    waiting = [(0, np.arange(len(cells.counts)))]
    while waiting:
        node, inside = waiting.pop()
        found = _best_cut(cells, inside, lo[node], hi[node]) if count[node] >= least else None
        if found is None:
            continue
        axis[node], cut[node] = found
        below[node] = len(lo)
        right = cells.steps[inside, axis[node]] >= cut[node]
        end, begin = hi[node].copy(), lo[node].copy()
        end[axis[node]], begin[axis[node]] = cut[node] - 1, cut[node]
        for part in (inside[~right], inside[right]):
            waiting.append((len(count), part))
            count.append(float(cells.counts[part].sum()))
        lo += [lo[node], begin]
        hi += [end, hi[node]]
        axis += [-1, -1]
        cut += [0, 0]
        below += [0, 0]
    return KDPartition(np.array(lo), np.array(hi), np.array(axis), np.array(cut), np.array(below), np.array(count))


def _best_cut(
    cells: NoisyCells, inside: NDArray[np.int64], lo: NDArray[np.int64], hi: NDArray[np.int64]
) -> tuple[int, int] | None:
    """The axis and step at which cutting explains most of the squared differences between cells, if enough."""
    widths = hi - lo + 1
    volume = math.prod(widths.tolist())
    best, where = GAIN * cells.noise, None
    counts = cells.counts[inside]
    for axis in np.flatnonzero(widths > 1):
        width = int(widths[axis])
        profile = np.bincount(cells.steps[inside, axis] - lo[axis], counts, width)
        left = np.cumsum(profile)[:-1]
        total = left[-1] + profile[-1]
        share = np.arange(1, width) / width
        gain = (left - share * total) ** 2 / (share * (1 - share)) / volume
        place = int(np.argmax(gain))
        if gain[place] > best:
            best, where = float(gain[place]), (int(axis), int(lo[axis]) + place + 1)
    return where


def _merge_counts(
    histograms: NDArray[np.float64], noise: float, tree: KDPartition, cell_variance: float
) -> NDArray[np.float64]:
    """Least squares of both counts of each part, then without negative counts."""
    parts, values = tree.parts, histograms.shape[1]
    fresh = histograms.sum(axis=1)
    volume = (tree.hi[parts] - tree.lo[parts] + 1).astype(np.float64).prod(axis=1)
    if np.isinf(cell_variance):
        total = fresh
    else:
        trust = values * noise / (values * noise + volume * cell_variance) if noise + cell_variance > 0 else 0.5
        total = fresh + trust * (tree.count[parts] - fresh)
    weights = histograms_with_totals(total[None, :], np.array([max(total.sum(), 1.0)]))[0]
    return histograms_with_totals(histograms + (total - fresh)[:, None] / values, weights)
