"""DiffMulti's Algorithm 1 as it is printed, which is not differentially private and promises nothing.

Eq. 10 gives a part no specializations if its exact count is zero and divides by the exact count of its parent; DM has a
sensitivity that depends on the whole table; every operation is paid alike for the longest path there could be. All
parts of a level are worked on at once, which changes nothing: each has its own specializations. Split points are those
of a public grid, where the paper takes midpoints between data values for NCP.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.mechanisms.noise import Source
from sfumato.methods.base import Method
from sfumato.methods.growing.points import Points
from sfumato.methods.growing.regions import Candidates, Regions, merge_regions
from sfumato.methods.growing.scan import PENALTY_SCALE
from sfumato.methods.trees.utility import SCORES, Utility
from sfumato.privacy.claims import NoGuarantee
from sfumato.release import Release
from sfumato.schema import Axis, Node
from sfumato.streams import stream

NUMERIC_HEIGHT = 7
"""What the paper assumes for the taxonomies that numbers do not have."""
UNKNOWN = -2
"""In place of a split point: none was chosen yet."""


class Parts(NamedTuple):
    """The partitions of one level: their regions, specializations left, and known split points (regions, axes)."""

    regions: Regions
    allowed: NDArray[np.int64]
    splits: NDArray[np.int64]


class Grown(NamedTuple):
    """The leaves, the longest path to one, and how many specializations were made."""

    leaves: Regions
    depth: int
    specializations: int


def longest_path(axes: tuple[Axis, ...], numeric_height: int = NUMERIC_HEIGHT) -> int:
    """|g|: the heights of all taxonomies together, with one assumed for numbers."""
    return sum(numeric_height if axis.kind == "numeric" else height_of(axis.taxonomy) for axis in axes)


def height_of(node: Node) -> int:
    """Levels below a node."""
    return 0 if node.is_leaf else 1 + max(map(height_of, node.children))


@dataclass(frozen=True, kw_only=True)
class PrintedDiffMulti(Method):
    """Algorithm 1 with at most `h` specializations.

    Claim: none.
    Assumes: nothing.
    Cost: O(cells × axes × levels).
    Reference: paper alhussaeni2018 section 4.5.
    """

    name: ClassVar[str] = "printed-diffmulti"
    randomized: ClassVar[bool] = True
    epsilon: float
    h: int
    utility: Utility = "max"
    numeric_height: int = NUMERIC_HEIGHT

    @property
    def claim(self) -> NoGuarantee:
        return NoGuarantee(reason="as printed, exact counts decide which parts are specialized")

    def _publish(self, table: Table, source: Source) -> Release:
        grown, generator = self.grow(table, source), stream("printed counts", int(source.words(1)[0]))
        unused = 3 * (self._longest(table) - grown.depth) * self.price(table)
        leaves = grown.leaves
        noise = generator.laplace(scale=1 / (self.epsilon / 2 + unused), size=(len(leaves), table.values))
        histograms = np.floor(np.maximum(leaves.histograms() + noise, 0))
        some = histograms.sum(axis=1) > 0
        return self.make_release(table, leaves[some].boxes, histograms[some], layout="counts")

    def _longest(self, table: Table) -> int:
        return longest_path(table.schema.quasi, self.numeric_height)

    def price(self, table: Table) -> float:
        """ε′ = ε / (2 (|A_num| + 3 |g|))."""
        numeric = sum(axis.kind == "numeric" for axis in table.schema.quasi)
        return self.epsilon / (2 * (numeric + 3 * self._longest(table)))

    def grow(self, table: Table, source: Source) -> Grown:
        """The leaf partitions."""
        generator = stream("printed growth", int(source.words(1)[0]))
        price, longest = self.price(table), self._longest(table)
        regions = Regions.whole(Points.of(table, taxonomies=True))
        parts = Parts(regions, np.array([self.h]), np.full(regions.widths.shape, UNKNOWN))
        leaves, made = [], 0
        for depth in range(longest + 1):
            divisible = (parts.regions.count_cuts() != 0).any(axis=1)
            valid = divisible & (parts.allowed > 0) & (depth < longest)
            leaves.append(parts.regions[~valid])
            if not valid.any():
                break
            made += int(valid.sum())
            chosen = Parts(parts.regions[valid], parts.allowed[valid], parts.splits[valid])
            parts = self._specialize(chosen, price, generator)
        return Grown(merge_regions(leaves), depth, made)

    def _specialize(self, parts: Parts, price: float, generator: np.random.Generator) -> Parts:
        """Lines 9 to 13 of the algorithm for all partitions of a level."""
        regions = parts.regions
        candidates = regions.score_cuts(regions.count_cuts(), SCORES[self.utility])
        region = np.repeat(np.arange(len(regions)), np.diff(candidates.starts, append=len(candidates.scores)))
        weights = price / 2 * self._utilities(candidates, region, regions)
        known = parts.splits[region, candidates.axis]
        offered = np.where((known == UNKNOWN) | (known == candidates.position), weights, -np.inf)
        per_axis = choose(offered, region * regions.widths.shape[1] + candidates.axis, generator)
        best = per_axis[choose(weights[per_axis], region[per_axis], generator)]
        splits = parts.splits.copy()
        splits[region[per_axis], candidates.axis[per_axis]] = candidates.position[per_axis]
        axis, position = candidates.axis[best], candidates.position[best]
        splits[np.arange(len(regions)), axis] = UNKNOWN
        rows = regions.counts()
        below, part_of = regions.split(axis, position)
        allowed = share_out(parts.allowed - 1, part_of, below.counts(), rows, price, generator)
        return Parts(below, allowed, splits[part_of])

    def _utilities(self, candidates: Candidates, region: NDArray[np.int64], regions: Regions) -> NDArray[np.float64]:
        """u(D, v)/Δu, higher being better: Max, −DM with 2|D| + 1, or −NCP of the children by Equation 6."""
        scores = candidates.scores.astype(np.float64)
        if self.utility == "dm":
            return -(scores**2) / (2 * regions.points.table.n + 1)
        if self.utility == "ncp":
            unit = np.maximum(regions.points.arrays.sizes - 1, 1)
            penalty = regions.counts()[:, None] * (regions.widths - 1) / unit
            return scores / PENALTY_SCALE - penalty[region, candidates.axis]
        return scores


def choose(weights: NDArray[np.float64], group: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
    """One index of each group, with probability ∝ e^weight: the largest weight plus Gumbel noise."""
    keys = weights + generator.gumbel(size=len(weights))
    order = np.lexsort((keys, group))
    last = np.append(np.diff(group[order]) != 0, True)
    return np.asarray(order[last])


def share_out(
    left: NDArray[np.int64],
    part_of: NDArray[np.int64],
    counts: NDArray[np.int64],
    rows: NDArray[np.int64],
    price: float,
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """Equation 10 with a noisy count above the exact one: none for a part that is exactly empty.

    A part gets no more than its partition has left, whatever the noise. What rounding down loses is given to random
    parts of the same partition.
    """
    noisy = np.maximum(counts + generator.laplace(scale=1 / price, size=len(counts)), 0)
    share = left[part_of] * np.where(counts == 0, 0.0, np.minimum(noisy / np.maximum(rows[part_of], 1), 1))
    whole = np.floor(share).astype(np.int64)
    spare = np.floor(np.bincount(part_of, share - whole, len(left))).astype(np.int64)
    order = np.lexsort((generator.random(len(counts)), part_of))
    rank = np.arange(len(order)) - np.searchsorted(part_of[order], part_of[order])
    whole[order] += rank < spare[part_of[order]]
    return whole
