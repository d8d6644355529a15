"""PrivBayes: a Bayesian network chosen and counted privately, and synthetic rows sampled from it.

As Zhang, Cormode, Procopiuc, Srivastava and Xiao (2014, 2017) build it, but for add-remove neighbours and without a
public number of rows: the score of a parent set is a whole number that one row changes by at most 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.data.keys import pack
from sfumato.mechanisms.budget import Budget, ticks
from sfumato.methods.base import DPMethod
from sfumato.methods.models.ancestral import BARELY, Link, sample
from sfumato.methods.models.network import Attribute, BinnedCells, Parents, candidates, combinations_of, even_starts
from sfumato.methods.positions import positions_of
from sfumato.parameters import parameter
from sfumato.release.boxes import Boxes
from sfumato.release.release import Release

SINGLE = Fraction(1, 10)
"""Share of the budget for counting every attribute by itself."""
CHOOSING = Fraction(3, 20)
"""Share for choosing the network; the rest counts its tables."""
MAX_CELLS = 2**18
"""Cells of a table, however little noise there is."""
MAX_ROWS = 10**7
"""Rows sampled, however many the noisy count speaks of."""


@dataclass(frozen=True, kw_only=True)
class PrivBayes(DPMethod):
    """Synthetic rows from a Bayesian network with noisy conditional distributions.

    A table may have as many cells as leave each of them `theta` times the noise's scale of rows on average
    (θ-usefulness); `degree` limits the number of parents besides.

    Claim: pure differential privacy for adding or removing one row.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O(cells × candidate parent sets + rows × attributes²).
    Reference: papers Zhang et al. 2014 and 2017; proof in privbayes.proof.md.
    """

    name: ClassVar[str] = "privbayes"
    title: ClassVar[str] = "PrivBayes"
    degree: int | None = parameter(
        default=None, help="on how many others a column may depend", minimum=1, example=2, label=", degree {}"
    )
    theta: float = parameter(
        default=4, help="rows per cell of a table, in units of its noise; 4 by default", above=0, label=", θ={:g}"
    )

    def _release(self, table: Table, budget: Budget) -> Release:
        columns, varying = row_columns(table)
        attributes = counted_singly(table, columns, varying, budget)
        cells = BinnedCells(attributes, [columns[number] for number in varying], table.cell_weight)
        links = self._links(cells, self._network(cells, budget), budget)
        found = np.zeros((rows_to_sample(attributes), len(columns)), dtype=np.int64)
        found[:, varying] = sample(attributes, links, len(found), budget.uniforms)
        return release_of_rows(self, table, found)

    def _network(self, cells: BinnedCells, budget: Budget) -> list[tuple[int, Parents]]:
        """Each attribute with its parents, which come before it; the sensitive one is first."""
        attributes = cells.attributes
        network: list[tuple[int, Parents]] = [(len(attributes) - 1, ())]
        tables = len(attributes) - 1
        max_cells = self._most_cells(attributes, budget) if tables else 0
        one_run = np.zeros(1, dtype=np.int64)
        for _ in range(tables):
            offered = candidates(attributes, [child for child, _ in network], max_cells, self.degree or tables)
            scores = np.array([cells.score(child, parents) for child, parents in offered], dtype=np.int64)
            chosen = budget.choose(scores, one_run, ticks(CHOOSING / tables), monotone=False)  # proof: network
            network.append(offered[int(chosen[0])])
        return network

    def _most_cells(self, attributes: Sequence[Attribute], budget: Budget) -> float:
        """The most cells whose average count is `theta` times the scale of their noise."""
        price = (int(budget.left[0]) - ticks(CHOOSING)) // (len(attributes) - 1)
        scale = math.sqrt(float(budget.variance(price)) / 2)
        rows = float(attributes[0].counts.sum())
        return min(rows / (scale * self.theta), MAX_CELLS) if scale > 0 else MAX_CELLS

    def _links(self, cells: BinnedCells, network: Sequence[tuple[int, Parents]], budget: Budget) -> list[Link]:
        """The noisy conditional distribution of each attribute."""
        sizes = [
            combinations_of(cells.attributes, parents) * cells.attributes[child].bins if parents else 0
            for child, parents in network
        ]
        weights = np.cbrt(sizes)
        left = int(budget.left[0])
        links = []
        for (child, parents), weight in zip(network, weights, strict=True):
            attribute = cells.attributes[child]
            if not parents:
                links.append(Link(child, parents, attribute.bin_counts[None, :] + BARELY))
                continue
            price = int(left * (weight / weights.sum()) * (1 - 1e-12))
            exact = cells.counts(child, parents)
            counts = budget.counts(exact[None, :], price)[0]  # proof: tables
            links.append(Link(child, parents, _fitted(counts, attribute, float(budget.variance(price)))))
        return links


def row_columns(table: Table) -> tuple[list[NDArray[np.integer]], list[int]]:
    """The positions of every attribute by cell, the sensitive one last, and which attributes can vary at all."""
    columns = [*positions_of(table)[table.cell_point].T, table.cell_value]
    return columns, [number for number, axis in enumerate(table.schema.axes) if axis.positions > 1]


def rows_to_sample(attributes: Sequence[Attribute]) -> int:
    """As many rows as the noisy counts speak of."""
    return min(max(1, round(float(attributes[0].counts.sum()))), MAX_ROWS)


def release_of_rows(method: DPMethod, table: Table, found: NDArray[np.int64]) -> Release:
    """The sampled rows by distinct point; their counts vary as those of any sample do."""
    quasi = table.schema.quasi
    sizes = np.array([axis.size for axis in quasi])
    points = np.where(found[:, :-1] >= sizes, -1, found[:, :-1]).astype(np.int32)
    _, first, group = np.unique(pack(list(points.T), sizes.tolist()), return_index=True, return_inverse=True)
    flat = group.reshape(-1) * table.values + found[:, -1]
    counts = np.bincount(flat, minlength=len(first) * table.values)
    histograms = counts.reshape(-1, table.values).astype(np.float64)
    deviation = np.sqrt(histograms.sum(axis=1) / table.values)
    return method.make_release(table, Boxes.of_points(points[first]), histograms, deviation=deviation)


def counted_singly(
    table: Table, columns: Sequence[NDArray[np.integer]], varying: Sequence[int], budget: Budget
) -> list[Attribute]:
    """Every attribute by itself: noisy counts of its steps that agree on the number of rows."""
    from sfumato.estimation.consistency import histograms_with_totals

    price = ticks(SINGLE / len(varying))
    variance = float(budget.variance(price))
    starts = [even_starts(axis.size, axis.nullable) for axis in (table.schema.axes[number] for number in varying)]
    noisy = []
    for number, begin in zip(varying, starts, strict=True):
        step = np.searchsorted(begin, columns[number], side="right") - 1
        exact = np.bincount(step, table.cell_weight, len(begin)).astype(np.int64)
        noisy.append(budget.counts(exact[None, :], price).astype(np.float64))  # proof: single-attributes
    precision = np.array([1 / len(begin) for begin in starts])
    rows = max(1.0, float(np.average([counts.sum() for counts in noisy], weights=precision)))
    return [
        Attribute.binned(
            table.schema.axes[number].name,
            begin,
            table.schema.axes[number].positions,
            histograms_with_totals(counts + (rows - counts.sum()) / len(begin), np.array([rows]))[0],
            variance,
        )
        for number, begin, counts in zip(varying, starts, noisy, strict=True)
    ]


def _fitted(counts: NDArray[np.int64], attribute: Attribute, variance: float) -> NDArray[np.float64]:
    """A child's counts by combination of parents, in agreement with its own counts and without negative ones."""
    from sfumato.estimation.consistency import histograms_with_totals

    combinations = len(counts)
    steps = np.bincount(attribute.bin_of_step, minlength=attribute.bins)
    trust = combinations * variance / (combinations * variance + steps * attribute.variance)
    agreed = counts + (attribute.bin_counts - counts.sum(axis=0)) * trust / combinations
    total = np.array([attribute.bin_counts.sum()])
    found = histograms_with_totals(agreed.reshape(1, -1), total).reshape(agreed.shape)
    empty = found.sum(axis=1) <= 0
    found[empty] = attribute.bin_counts + BARELY
    return found
