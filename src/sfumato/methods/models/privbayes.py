"""PrivBayes: a Bayesian network chosen and counted privately, and synthetic rows sampled from it.

As Zhang, Cormode, Procopiuc, Srivastava and Xiao (2014, 2017) build it, but for add-remove neighbours and without a
public number of rows: the score of a parent set is a whole number that one row changes by at most 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.estimation.consistency import histograms_with_totals
from sfumato.mechanisms.budget import Budget, ticks
from sfumato.methods.models.ancestral import BARELY, Link, sample
from sfumato.methods.models.binning import MIN_VARIANCE, Attribute, count_attributes, rows_to_sample
from sfumato.methods.models.network import BinnedCells, Parents, candidates, combinations_of
from sfumato.methods.models.rows import Columns, Sampled, SampledRows
from sfumato.parameters import parameter

CHOOSING = Fraction(3, 20)
"""Share of the budget for choosing the network; the attributes by themselves have a tenth, the tables the rest."""
MAX_CELLS = 2**18
"""Cells of a table, however little noise there is."""


@dataclass(frozen=True, kw_only=True)
class PrivBayes(SampledRows):
    """Synthetic rows from a Bayesian network with noisy conditional distributions.

    A table may have as many cells as leave each of them `theta` times the noise's scale of rows on average
    (θ-usefulness); `degree` limits the number of parents besides.

    Claim: differential privacy for adding or removing one row, under ε, (ε, δ) or ρ.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O(cells × candidate parent sets + rows × attributes²).
    Reference: papers Zhang et al. 2014 and 2017; proof in privbayes.proof.md.

    >>> release = sf.PrivBayes(epsilon=1).publish(table)
    """

    name: ClassVar[str] = "privbayes"
    title: ClassVar[str] = "PrivBayes"
    degree: int | None = parameter(
        default=None, help="on how many others a column may depend", minimum=1, example=2, label=", degree {}"
    )
    theta: float = parameter(
        default=4, help="rows per cell of a table, in units of its noise; 4 by default", above=0, label=", θ={:g}"
    )

    def _sample(self, columns: Columns, budget: Budget) -> Sampled:
        attributes = count_attributes(columns, budget)
        cells = BinnedCells(attributes, columns)
        links = self._links(cells, self._network(cells, budget), budget)

        def draw(rows: int) -> NDArray[np.int64]:
            return sample(attributes, links, rows, budget.uniforms)

        return Sampled(draw(rows_to_sample(attributes)), draw)

    def _network(self, cells: BinnedCells, budget: Budget) -> list[tuple[int, Parents]]:
        """Each attribute with its parents, which come before it; the sensitive one is first."""
        attributes = cells.attributes
        network: list[tuple[int, Parents]] = [(len(attributes) - 1, ())]
        tables = len(attributes) - 1
        max_cells = self._most_cells(attributes, budget) if tables else 0
        one_run = np.zeros(1, dtype=np.int64)
        for _ in range(tables):
            offered = candidates(attributes, [child for child, _ in network], max_cells, self.degree or tables)
            scores, price = cells.scores(offered), ticks(CHOOSING / tables)
            chosen = budget.choose(scores, one_run, price, monotone=False)  # proof: network
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
            variance = max(float(budget.variance(price)), MIN_VARIANCE)
            links.append(Link(child, parents, _fit_table(counts, attribute, variance)))
        return links


def _fit_table(counts: NDArray[np.int64], attribute: Attribute, variance: float) -> NDArray[np.float64]:
    """A child's counts by combination of parents, in agreement with its own counts and without negative ones."""
    combinations = len(counts)
    steps = np.bincount(attribute.bin_of_step, minlength=attribute.bins)
    trust = combinations * variance / (combinations * variance + steps * attribute.variance)
    agreed = counts + (attribute.bin_counts - counts.sum(axis=0)) * trust / combinations
    total = np.array([attribute.bin_counts.sum()])
    found = histograms_with_totals(agreed.reshape(1, -1), total).reshape(agreed.shape)
    empty = found.sum(axis=1) <= 0
    found[empty] = attribute.bin_counts + BARELY
    return found
