"""Differentially private spatial decompositions (Cormode et al., 2012): quad-tree, kd-tree, their hybrid, and RPS.

The domain is halved again and again, every node is counted with noise, each leaf gets a noisy histogram of the
sensitive attribute, and least squares make all counts agree. Levels further down answer more of a query, so they
get geometrically more of the budget. Beside the tree the margin of every column is bought, by which rows are spread
inside the leaves: a few cuts alone leave much to the order of categories.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.mechanisms.budget import Budget, ticks
from sfumato.methods.base import DPMethod
from sfumato.methods.growing.points import Points
from sfumato.methods.growing.regions import Regions
from sfumato.methods.growing.scan import BALANCE
from sfumato.methods.trees.margins import buy_spreads
from sfumato.methods.trees.noisy_tree import Level, release_of_levels
from sfumato.parameters import parameter
from sfumato.privacy.loss import Pure
from sfumato.release.release import Release

Inside = Literal["margins", "even"]
MAX_HEIGHT = 24
CUTTING = Fraction(1, 5)
"""Share of the budget for private medians, where there are any."""
SIZING = Fraction(1, 25)
"""Share for the noisy number of rows, from which an automatic height and the share of the margins follow."""
MIN_MARGINS, MAX_MARGINS = Fraction(1, 50), Fraction(1, 5)
"""Share for the margins of all columns, where a tree is grown."""
ONLY_MARGINS = Fraction(1, 2)
"""The same where there is none but the root."""
MARGIN_NOISE = 0.01
"""The deviation of the noise in a count of a margin that is aimed at, as a share of all rows."""
GROWTH, CONCENTRATED_GROWTH = 2 ** (1 / 3), 2 ** (1 / 2)
"""How much more of ε, or of ρ, each level gets than the one above: the least variance for halved boxes."""
LAST = 0
"""In place of a price: the level of the leaves."""
ROWS_PER_LEAF = 40
"""At ε = 1 a leaf of the automatic height holds about this many rows."""
MAX_EPSILON = 10.0
"""More does not make a tree higher."""


@dataclass(frozen=True, kw_only=True)
class SpatialTree(DPMethod):
    """A tree of halved boxes; `height` levels of cuts, chosen from a private number of rows if not given."""

    private_share: ClassVar[Fraction]
    """Of the levels, from the root down, that are cut at private medians; the others are cut at the middle."""
    height: int | None = parameter(
        default=None,
        help="how many levels of cuts; by default chosen privately",
        minimum=0,
        maximum=MAX_HEIGHT,
        example=6,
    )
    spread: Inside = parameter(
        default="margins",
        help="how rows are spread inside boxes: by the margin of every column, which is bought too (margins, the "
        "default), or evenly (even)",
        label=" {}",
    )

    @classmethod
    def variants_at(cls, table: Table, epsilon: float) -> Iterator[dict[str, Any]]:
        """Trees that are lower and higher than the automatic height, which knows the rows but not the axes."""
        usual = automatic_height(table.n, epsilon / table.schema.rows_per_person, table.values)
        yield from ({"height": usual + more} for more in (-2, 2) if 0 < usual + more <= MAX_HEIGHT)

    def axes_to_cut(self, regions: Regions, budget: Budget) -> NDArray[np.int32]:
        """The axis of each region that covers the largest share of its domain; the first of equals."""
        return regions.widest_axes()

    def _release(self, table: Table, budget: Budget) -> Release:
        height, spreads = self.height, None
        by_margins = self.spread == "margins"
        if height is None or by_margins:
            noise = float(budget.variance(ticks(SIZING)))
            rows = int(budget.counts(np.array([table.n]), ticks(SIZING))[0])  # proof: size
            if height is None:
                height = automatic_height(rows, budget.as_epsilon, table.values if by_margins else 1)
            if by_margins:
                axes = sum(axis.positions > 1 for axis in table.schema.quasi)
                price = margin_price(rows, budget, axes, height)
                spreads = buy_spreads(table, budget, price, rows, noise)
        return release_of_levels(self, self._grow(table, budget, height), spreads=spreads)

    def _grow(self, table: Table, budget: Budget, height: int) -> list[Level]:
        """The tree; a region that cannot be cut any more becomes a leaf early and spends what its path has left."""
        private = math.ceil(height * self.private_share)
        median_price = ticks(CUTTING / private) if private else 0
        growth = GROWTH if isinstance(budget.total, Pure) else CONCENTRATED_GROWTH
        prices = geometric_prices(int(budget.left[0]) - median_price * private, height, growth)
        regions, parent, levels = Regions.whole(Points.of(table)), np.array([-1]), []
        size = 0
        for price in (*prices, LAST):
            inner = np.asarray((regions.widths > 1).any(axis=1) & (price != LAST))
            budget, leaf_budget = budget.apart(inner)
            leaf_noise = leaf_budget.variance(leaf_budget.left)
            histograms = leaf_budget.counts(regions[~inner].histograms(), leaf_budget.left)  # proof: leaf-histograms
            counts = budget.counts(regions[inner].counts()[:, None], price)  # proof: node-counts
            noise = float(budget.variance(price))
            levels.append(Level(regions, parent, inner, histograms, leaf_noise, counts, noise))
            if not inner.any():
                break
            numbers, size = size + np.flatnonzero(inner), size + len(regions)
            regions = regions[inner]
            axis = self.axes_to_cut(regions, budget)
            if len(levels) <= private:
                position = self._choose_medians(regions, axis, budget, median_price)
            else:
                position = regions.middles(axis)
            regions, part_of = regions.split(axis, position)
            budget, parent = budget.fork(part_of), numbers[part_of]
        return levels

    def _choose_medians(
        self, regions: Regions, axis: NDArray[np.int32], budget: Budget, price: int
    ) -> NDArray[np.int32]:
        """A position of each region's axis with about as many rows on either side."""
        each = np.arange(len(regions))
        cuts = np.zeros_like(regions.widths)
        cuts[each, axis] = regions.count_cuts()[each, axis]
        candidates = regions.score_cuts(cuts, BALANCE)
        return candidates.position[budget.choose(candidates.scores, candidates.starts, price)]  # proof: medians


@dataclass(frozen=True, kw_only=True)
class QuadTree(SpatialTree):
    """Every cut in the middle of the widest axis, whatever the data.

    Claim: differential privacy for adding or removing one row, under ε, (ε, δ) or ρ.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O(points × height).
    Reference: paper cormode2013 section II, and Cormode et al., ICDE 2012; proof in spatial_tree.proof.md.

    >>> release = sf.QuadTree(epsilon=1).publish(table)
    """

    name: ClassVar[str] = "quad-tree"
    private_share: ClassVar[Fraction] = Fraction(0)


@dataclass(frozen=True, kw_only=True)
class KDTree(SpatialTree):
    """Every cut at a private median: leaves hold about equally many rows.

    Claim: differential privacy for adding or removing one row, under ε, (ε, δ) or ρ.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O(points × height).
    Reference: paper cormode2013 section II, and Cormode et al., ICDE 2012; proof in spatial_tree.proof.md.

    >>> release = sf.KDTree(epsilon=1).publish(table)
    """

    name: ClassVar[str] = "kd-tree"
    private_share: ClassVar[Fraction] = Fraction(1)


@dataclass(frozen=True, kw_only=True)
class HybridTree(SpatialTree):
    """Private medians in the upper half of the levels, middles below.

    Claim: differential privacy for adding or removing one row, under ε, (ε, δ) or ρ.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O(points × height).
    Reference: Cormode, Procopiuc, Srivastava, Shen and Yu, ICDE 2012, section 3.3; proof in spatial_tree.proof.md.

    >>> release = sf.HybridTree(epsilon=1).publish(table)
    """

    name: ClassVar[str] = "hybrid-tree"
    private_share: ClassVar[Fraction] = Fraction(1, 2)


@dataclass(frozen=True, kw_only=True)
class RPS(SpatialTree):
    """Each region is cut on an axis drawn at random, at a private median.

    Claim: differential privacy for adding or removing one row, under ε, (ε, δ) or ρ.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O(points × height).
    Reference: Qardaji and Li, Recursive partitioning and summarization, ASIACCS 2012; proof in spatial_tree.proof.md.

    >>> release = sf.RPS(epsilon=1).publish(table)
    """

    name: ClassVar[str] = "rps"
    private_share: ClassVar[Fraction] = Fraction(1)

    def axes_to_cut(self, regions: Regions, budget: Budget) -> NDArray[np.int32]:
        """One of the axes that can still be cut, each with the same probability."""
        divisible = regions.widths > 1
        rank = np.cumsum(divisible, axis=1)
        drawn = np.floor(budget.uniforms(len(regions)) * rank[:, -1]).astype(np.int64) + 1
        return np.asarray((rank >= drawn[:, None]).argmax(axis=1).astype(np.int32))


def automatic_height(rows: int, epsilon: float, values: int) -> int:
    """The height at which a leaf holds enough rows for its noise.

    With fewer such leaves than there are sensitive values, the cells of a leaf are noise, and cutting the table tells
    less than its margins do: there is no tree but the root.
    """
    leaves = rows * min(epsilon, MAX_EPSILON) / ROWS_PER_LEAF
    return min(max(round(math.log2(leaves)), 0), MAX_HEIGHT) if leaves >= max(values, 1) else 0


def margin_price(rows: int, budget: Budget, axes: int, height: int) -> int:
    """Ticks for the margins of so many axes: a share s that gives their counts noise of 1% of the rows, or near it.

    Where a count for all of the budget has noise of the deviation d, that of a margin is d · axes / s under ε, and
    d · √(axes / s) under ρ.
    """
    if height == 0:
        return ticks(ONLY_MARGINS)
    noise = math.sqrt(2) / (budget.as_epsilon * MARGIN_NOISE * max(rows, 1))
    wanted = axes * (noise if isinstance(budget.total, Pure) else noise**2)
    return ticks(min(max(Fraction(wanted), MIN_MARGINS), MAX_MARGINS))


def geometric_prices(whole: int, height: int, growth: float = GROWTH) -> list[int]:
    """Ticks for the counts of each level above the leaves, whose histograms get the rest, the largest part."""
    shares = np.array([growth**level for level in range(height + 1)])
    return [max(int(whole * share), 1) for share in shares[:-1] / shares.sum()]
