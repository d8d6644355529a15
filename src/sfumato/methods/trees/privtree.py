"""PrivTree (Zhang, Xiao and Xie, 2016): a tree that decides by itself where to go on, whatever its depth.

A region is halved if its count, less a fixed amount for each level above it, is above zero after noise. Because the
counts along a path fall by at least that amount from level to level, all decisions on a path together cost no
more than about three of them: privtree.proof.md has the exact sum for discrete noise.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from sfumato.data import Table
from sfumato.mechanisms.budget import Budget, ticks
from sfumato.mechanisms.noise import Source
from sfumato.methods.base import DPMethod
from sfumato.methods.growing.points import Points
from sfumato.methods.growing.regions import Regions, merge_regions
from sfumato.methods.trees.noisy_tree import release_of_levels, under_one_root
from sfumato.release.release import Release

DECIDING = Fraction(1, 2)
"""Share of the budget for deciding where to cut; the histograms of the leaves have the rest."""
ROUNDING = 1e-9
TERMS = 64


@dataclass(frozen=True, kw_only=True)
class PrivTree(DPMethod):
    """Halves of the widest axis, as long as a region has more rows than noise could make up.

    Claim: differential privacy for adding or removing one row, under ε, (ε, δ) or ρ.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O(points × depth).
    Reference: Zhang, Xiao and Xie, PrivTree, SIGMOD 2016; proof in privtree.proof.md.

    >>> release = sf.PrivTree(epsilon=1).publish(table)
    """

    name: ClassVar[str] = "privtree"
    title: ClassVar[str] = "PrivTree"

    def _release(self, table: Table, budget: Budget) -> Release:
        whole = Regions.whole(Points.of(table))
        leaves = budget.spend(ticks(DECIDING), lambda paid, source: grow(whole, paid, source))  # proof: decisions
        budget = budget.fork(np.zeros(len(leaves), dtype=np.int64))
        noise = budget.variance(budget.left)
        histograms = budget.counts(leaves.histograms(), budget.left)  # proof: leaf-histograms
        return release_of_levels(self, under_one_root(whole, leaves, histograms, noise))


@dataclass(frozen=True)
class Decisions:
    """The noise of each decision (its ε) and how much a level takes off the count."""

    epsilon: Fraction
    step: int

    @classmethod
    def within(cls, epsilon: Fraction) -> Self:
        """The least noise for which all decisions on any path together cost no more than `epsilon`."""
        each = epsilon / 2
        while True:
            found = cls(each, max(math.ceil(math.log(2) / each), 1))
            if found.cost() <= float(epsilon) * (1 - ROUNDING):
                return found
            each = Fraction(math.floor(each * Fraction(999, 1000) * 2**60), 2**60)

    def cost(self) -> float:
        """An upper bound on the loss of a whole path: ε + Σ_j loss(1 + j·step), the tail by its geometric bound."""
        epsilon = float(self.epsilon)
        losses = [_loss(epsilon, 1 + number * self.step) for number in range(TERMS)]
        decay = math.exp(-epsilon * self.step)
        return (epsilon + math.fsum(losses) + losses[-1] * decay / (1 - decay)) * (1 + ROUNDING)


def _loss(epsilon: float, above: int) -> float:
    """ln P(x + X > 0) / P(x − 1 + X > 0) for x = `above` ≥ 1 and discrete Laplace X.

    = ln (1 + α − αˣ) / (1 + α − αˣ⁻¹) with α = e^(−ε): ε at x = 1, and falling at least as fast as αˣ.
    """
    if above == 1:
        return epsilon
    alpha, nearer = math.exp(-epsilon), math.exp(-epsilon * (above - 1))
    return math.log1p(nearer * -math.expm1(-epsilon) / (alpha - math.expm1(-epsilon * (above - 1))))


def grow(whole: Regions, epsilon: Fraction, source: Source) -> Regions:
    """The leaves of the tree."""
    decisions = Decisions.within(epsilon)
    regions, leaves, depth = whole, [], 0
    while len(regions):
        biased = np.maximum(regions.counts() - depth * decisions.step, -decisions.step)
        above = biased + source.laplace(decisions.epsilon, len(regions)) > 0
        inner = above & (regions.widths > 1).any(axis=1)
        leaves.append(regions[~inner])
        regions = regions[inner]
        if len(regions):
            axis = regions.widest_axes()
            regions, _ = regions.split(axis, regions.middles(axis))
        depth += 1
    return merge_regions(leaves)
