"""DiffMulti (Al-Hussaeni et al., 2018), repaired: top-down specialization of every region by itself.

As printed it is not differentially private; diffmulti.proof.md says what was changed and why the claim now holds.
One private selection per specialization looks at all cuts of all attributes; the number of specializations is
shared out by noisy counts; a leaf spends all that its own path has left.
"""

import math
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
from sfumato.methods.growing.scan import CLASSES, DISCERNIBILITY, PENALTY, PENALTY_SCALE, PURITY
from sfumato.methods.trees.noisy_tree import Level, release_of_levels
from sfumato.parameters import parameter
from sfumato.release.release import Release

Utility = Literal["dm", "ncp", "max", "purity"]
SCORES: dict[Utility, int] = {"dm": DISCERNIBILITY, "ncp": PENALTY, "max": CLASSES, "purity": PURITY}
MAX_SPECIALIZATIONS = 10_000_000
MAX_LEVELS = 40
SPARE_LEVELS = 2
"""Levels beyond those of a balanced binary tree."""
CLASS_LEVELS = 5
"""Where cuts follow the classes, fewer and better paid ones teach a learner more."""
ROUNDING = 1e-6
"""More than a running total of shares can be off by, and far less than one specialization."""
MIN_VARIANCE = 1e-12
"""A variance too small to be told from none."""
MAX_CUTS = 31
"""Cuts that a numeric axis offers; each further one is a further chance for a bad one to win."""


@dataclass(frozen=True, kw_only=True)
class Allocation:
    """Shares of the budget for choosing cuts and for counting parts (the leaves have the rest), and how much more
    each level pays than the one above."""

    cuts: Fraction
    parts: Fraction
    growth: Fraction


BY_CLASS = Allocation(cuts=Fraction(3, 5), parts=Fraction(1, 10), growth=Fraction(6, 5))
"""Cuts that follow the classes must be told apart, below by fewer rows than above."""
BY_SHAPE = Allocation(cuts=Fraction(1, 5), parts=Fraction(1, 2), growth=Fraction(1))
"""Where any fair cut will do, most depends on knowing which parts are worth another."""


@dataclass(frozen=True, kw_only=True)
class DiffMulti(DPMethod):
    """At most `h` specializations, chosen for a utility: `dm`, `ncp` or `max` as in the paper, or `purity`.

    Max cannot tell cuts apart as long as every part has the same commonest class; `purity` adds up √Σ class² over the
    parts instead, which rises with every cut that separates classes. No record goes through more than `levels` cuts.

    Claim: pure differential privacy for adding or removing one row.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O(cells × axes × levels).
    Reference: paper alhussaeni2018 section 4; proof in diffmulti.proof.md.

    >>> release = sf.DiffMulti(epsilon=1, h=50).publish(table)
    """

    name: ClassVar[str] = "diffmulti"
    title: ClassVar[str] = "DiffMulti"
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"utility": "dm"}, {"utility": "max"})
    h: int = parameter(help="how many specializations", minimum=1, maximum=MAX_SPECIALIZATIONS, example=1000)
    utility: Utility = parameter(
        default="max", help="what cuts are chosen for; max by default", label=" {}", always=True
    )
    levels: int | None = parameter(
        default=None, help="how often a record is specialized at most", minimum=1, maximum=MAX_LEVELS
    )

    @property
    def longest_path(self) -> int:
        """How many specializations one record can go through."""
        balanced = math.ceil(math.log2(self.h + 1)) + SPARE_LEVELS
        return self.levels or (min(balanced, CLASS_LEVELS) if self.follows_classes else balanced)

    @property
    def follows_classes(self) -> bool:
        """Whether cuts are chosen by the sensitive attribute."""
        return self.utility in ("max", "purity")

    def _release(self, table: Table, budget: Budget) -> Release:
        return release_of_levels(self, self._grow(table, budget))

    def _grow(self, table: Table, budget: Budget) -> list[Level]:
        allocation = BY_CLASS if self.follows_classes else BY_SHAPE
        selecting, sharing = (
            _rising_prices(share, allocation.growth, self.longest_path) for share in (allocation.cuts, allocation.parts)
        )
        regions, parent, levels = Regions.whole(Points.of(table, taxonomies=True)), np.array([-1]), []
        allowed = np.array([self.h])
        counts, noise = np.zeros((1, table.values), dtype=np.int64), np.inf
        size = 0
        for level in range(self.longest_path + 1):
            inner = (allowed > 0) & (regions.count_cuts() != 0).any(axis=1) & (level < self.longest_path)
            budget, leaf_budget = budget.apart(inner)
            leaf_noise = leaf_budget.variance(leaf_budget.left)
            leaf_counts = leaf_budget.counts(regions[~inner].histograms(), leaf_budget.left)  # proof: leaf-histograms
            histograms, leaf_noise = _combine(leaf_counts, leaf_noise, counts[~inner], noise)
            levels.append(Level(regions, parent, inner, histograms, leaf_noise, counts[inner], noise))
            if not inner.any():
                break
            numbers, size = size + np.flatnonzero(inner), size + len(regions)
            axis, position = self._choose_cuts(regions[inner], budget, selecting[level])
            regions, part_of = regions[inner].split(axis, position)
            budget, parent = budget.fork(part_of), numbers[part_of]
            counts = budget.counts(regions.histograms(), sharing[level])  # proof: part-counts
            noise = float(budget.variance(sharing[level]))
            allowed = allocate(allowed[inner] - 1, part_of, counts.sum(axis=1))
        return levels

    def _choose_cuts(self, regions: Regions, budget: Budget, price: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """A cut for each region: its axis and position."""
        kind = SCORES[self.utility]
        candidates = regions.score_cuts(regions.count_cuts(MAX_CUTS), kind)
        best = budget.choose(  # proof: cuts
            candidates.scores, candidates.starts, price, sensitivity=PENALTY_SCALE if kind == PENALTY else 1
        )
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


def _rising_prices(share: Fraction, growth: Fraction, levels: int) -> list[int]:
    """A share of the budget divided among levels, each getting `growth` times what the one above gets."""
    parts = [growth**level for level in range(levels)]
    return [ticks(share * part / sum(parts)) for part in parts]


def allocate(left: NDArray[np.int64], part_of: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The specializations left to each parent, shared among its parts by noisy counts: whole, and no more than left.

    The parts of a parent stand together; rounding goes along their running total.
    """
    weight = np.maximum(counts, 0).astype(np.float64)
    total = np.bincount(part_of, weight, len(left))[part_of]
    share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    reached = np.cumsum(left[part_of] * share)
    first = np.searchsorted(part_of, part_of)
    whole = np.floor(reached - np.concatenate([[0.0], reached])[first] + ROUNDING).astype(np.int64)
    before = np.concatenate([[0], whole[:-1]])
    return np.asarray(whole - np.where(np.arange(len(whole)) == first, 0, before))
