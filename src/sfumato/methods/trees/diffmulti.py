"""DiffMulti (Al-Hussaeni et al., 2018), repaired: top-down specialization of every region by itself.

As printed it is not differentially private; diffmulti.proof.md says what was changed and why the claim now holds.
One private selection per specialization looks at all cuts of all attributes; the number of specializations is
shared out by noisy counts until all are made; a leaf spends all that its own path has left.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.mechanisms.budget import Budget, ticks
from sfumato.methods.base import EPSILON_GRID, DPMethod
from sfumato.methods.growing.points import Points
from sfumato.methods.growing.regions import Regions
from sfumato.methods.trees.noisy_tree import NOT_COUNTED, Level, release_of_levels
from sfumato.methods.trees.utility import SCORES, Utility, sensitivity_of
from sfumato.parameters import parameter
from sfumato.release.release import Release

Sharing = Literal["fair", "even"]
MAX_SPECIALIZATIONS = 10_000_000
MAX_LEVELS = 40
SPARE_LEVELS = 2
"""Levels beyond those of a balanced binary tree."""
MIN_VARIANCE = 1e-12
"""A variance too small to be told from none."""
MAX_CUTS = 31
"""Cuts that a numeric axis offers; each further one is a further chance for a bad one to win."""
ROWS_PER_SPECIALIZATION = 50
"""At ε = 1 and for one sensitive value, what a frontier takes for enough rows to bear another specialization."""
MIN_TRIED, MAX_TRIED = 4, 1_000
"""How few and how many specializations a frontier tries."""


@dataclass(frozen=True, kw_only=True)
class Allocation:
    """Shares of the budget for choosing cuts and for counting parts, the same at every level; leaves have the rest."""

    cuts: Fraction
    parts: Fraction


BY_CLASS = Allocation(cuts=Fraction(1, 2), parts=Fraction(1, 10))
"""Cuts that follow the classes must be told apart."""
BY_SHAPE = Allocation(cuts=Fraction(1, 5), parts=Fraction(1, 2))
"""Where any fair cut will do, most depends on knowing which parts are worth another."""


@dataclass(frozen=True, kw_only=True)
class DiffMulti(DPMethod):
    """`h` specializations, chosen for a utility: `dm`, `ncp` or `max` as in the paper, or `purity`.

    Fewer are made only where noisy counts say that there are no rows left to specialize, or the domain is too small.
    Max cannot tell cuts apart as long as every part has the same commonest class; `purity` adds up √Σ class² over the
    parts instead, which rises with every cut that separates classes. No record goes through more than `levels` cuts.
    Specializations are shared among parts by noisy counts (`fair`), or evenly, which costs nothing (`even`, example
    4.2 of the paper).

    Claim: differential privacy for adding or removing one row, under ε, (ε, δ) or ρ.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O(cells × axes × levels).
    Reference: paper alhussaeni2018 section 4; proof in diffmulti.proof.md.

    >>> release = sf.DiffMulti(epsilon=1, h=50).publish(table)
    """

    name: ClassVar[str] = "diffmulti"
    title: ClassVar[str] = "DiffMulti"
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"utility": "dm"}, {"utility": "purity"})
    h: int = parameter(help="how many specializations", minimum=1, maximum=MAX_SPECIALIZATIONS, example=1000)
    utility: Utility = parameter(
        default="max", help="what cuts are chosen for; max by default", label=" {}", always=True
    )
    levels: int | None = parameter(
        default=None, help="how often a record is specialized at most", minimum=1, maximum=MAX_LEVELS
    )
    sharing: Sharing = parameter(
        default="fair", help="how specializations are shared among parts: fair, by noisy counts, or even", label=" {}"
    )

    @classmethod
    def grid(cls, table: Table, epsilons: Sequence[float] = EPSILON_GRID) -> Iterator[Self]:
        """Every variant at every ε, with as many specializations as the rows bear."""
        for method in super().grid(table, epsilons):
            bearing = table.n * method.epsilon / (ROWS_PER_SPECIALIZATION * math.sqrt(table.values))
            yield replace(method, h=round(min(max(bearing, MIN_TRIED), MAX_TRIED)))

    @property
    def longest_path(self) -> int:
        """How many specializations one record can go through."""
        return self.levels or math.ceil(math.log2(self.h + 1)) + SPARE_LEVELS

    @property
    def follows_classes(self) -> bool:
        """Whether cuts are chosen by the sensitive attribute."""
        return self.utility in ("max", "purity")

    def _release(self, table: Table, budget: Budget) -> Release:
        levels = self._grow(table, budget)
        made = sum(int(np.count_nonzero(level.inner)) for level in levels)
        return release_of_levels(self, levels, provenance=self.provenance(specializations=made))

    def _grow(self, table: Table, budget: Budget) -> list[Level]:
        allocation = BY_CLASS if self.follows_classes else BY_SHAPE
        selecting, counting = (ticks(share / self.longest_path) for share in (allocation.cuts, allocation.parts))
        regions, parent, levels = Regions.whole(Points.of(table, taxonomies=True)), np.array([-1]), []
        weight, left, size = np.ones(1), self.h, 0
        counts, noise = np.zeros((1, table.values), dtype=np.int64), NOT_COUNTED
        for further in reversed(range(self.longest_path + 1)):
            inner = allocate(left, weight, room_of(regions, further)) > 0
            budget, leaf_budget = budget.apart(inner)
            leaf_noise = leaf_budget.variance(leaf_budget.left)
            leaf_counts = leaf_budget.counts(regions[~inner].histograms(), leaf_budget.left)  # proof: leaf-histograms
            histograms, leaf_noise = _combine(leaf_counts, leaf_noise, counts[~inner], noise)
            levels.append(Level(regions, parent, inner, histograms, leaf_noise, counts[inner], noise))
            if not inner.any():
                break
            left -= int(np.count_nonzero(inner))
            numbers, size = size + np.flatnonzero(inner), size + len(regions)
            axis, position = self._choose_cuts(regions[inner], budget, selecting)
            regions, part_of = regions[inner].split(axis, position)
            budget, parent = budget.fork(part_of), numbers[part_of]
            if self.sharing == "fair":
                counts = budget.counts(regions.histograms(), counting)  # proof: part-counts
                noise = float(budget.variance(counting))
                weight = weight[inner][part_of] * _shares(counts.sum(axis=1), part_of)
            else:
                counts = np.zeros((len(regions), table.values), dtype=np.int64)
                weight = weight[inner][part_of] / np.bincount(part_of)[part_of]
        return levels

    def _choose_cuts(self, regions: Regions, budget: Budget, price: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """A cut for each region: its axis and position."""
        cuts = regions.count_cuts(MAX_CUTS)
        candidates = regions.score_cuts(cuts, SCORES[self.utility])
        scores, sensitivity = candidates.scores, sensitivity_of(self.utility)
        if self.follows_classes:
            # Where no cut separates classes, an attribute must not be chosen for having many of them.
            rivals = np.abs(cuts).ravel()
            scores = scores - budget.handicaps(np.repeat(rivals, rivals), price, sensitivity=sensitivity)
        best = budget.choose(scores, candidates.starts, price, sensitivity=sensitivity)  # proof: cuts
        return candidates.axis[best], candidates.position[best]


def _combine(
    counts: NDArray[np.int64], noise: NDArray[np.float64], earlier: NDArray[np.int64], earlier_noise: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two noisy counts of the same cells weighted by how little noise they hold, and the variance of that."""
    if np.isinf(earlier_noise):
        return counts.astype(np.float64), noise
    least = max(earlier_noise, MIN_VARIANCE)
    trust = least / (np.maximum(noise, MIN_VARIANCE) + least)
    return trust[:, None] * counts + (1 - trust[:, None]) * earlier, trust * noise


def _shares(counts: NDArray[np.int64], part_of: NDArray[np.int64]) -> NDArray[np.float64]:
    """The share of each part in its parent's rows by noisy counts; none where these are not above zero."""
    rows = np.maximum(counts, 0).astype(np.float64)
    total = np.bincount(part_of, rows)[part_of]
    return np.divide(rows, total, out=np.zeros_like(rows), where=total > 0)


def room_of(regions: Regions, levels: int) -> NDArray[np.int64]:
    """How many specializations regions can take in so many levels: half of a full binary tree, as few cuts are even.

    A tree has no more leaves than its region has points; a region that offers no cut has no room.
    """
    with np.errstate(over="ignore"):
        points = regions.widths.astype(np.float64).prod(axis=1)
    full = np.minimum(points, 2**levels).astype(np.int64)
    divisible = (regions.count_cuts() != 0).any(axis=1) & (levels > 0)
    return np.where(divisible, np.maximum(full // 2, 1), 0)


def allocate(left: int, weight: NDArray[np.float64], room: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whole shares of what is left, in proportion to weights as far as there is room: min(λ·weight, room).

    λ makes them add up to all that is left or all the room there is. Fractions go to the largest of them, one to each.
    """
    usable = np.where(weight > 0, np.minimum(room, left), 0)
    if left >= usable.sum():
        return usable
    order = np.flatnonzero(usable)
    order = order[np.argsort(usable[order] / weight[order], kind="stable")]
    most, claims = usable[order], weight[order]
    factor = (left - (np.cumsum(most) - most)) / np.cumsum(claims[::-1])[::-1]
    share = np.minimum(factor[np.argmax(factor * claims <= most)] * claims, most)
    whole = np.floor(share).astype(np.int64)
    rounded_up = np.argsort(whole - share, kind="stable")[: left - whole.sum()]
    whole[rounded_up] += 1
    usable[order] = whole
    return usable
