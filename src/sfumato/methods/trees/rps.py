"""RPS, recursive partitioning and summarization (Qardaji and Li, 2012): random axes, private medians."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.budget import Budget
from sfumato.methods.growing.regions import Regions
from sfumato.methods.trees.spatial_tree import SpatialTree


@dataclass(frozen=True, kw_only=True)
class RPS(SpatialTree):
    """Each region is cut on an axis drawn at random, at a private median.

    Claim: pure differential privacy for adding or removing one row.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O(points × height).
    Reference: Qardaji and Li, Recursive partitioning and summarization, ASIACCS 2012; proof in spatial_tree.proof.md.

    >>> release = sf.RPS(epsilon=1).publish(table)
    """

    name: ClassVar[str] = "rps"

    def private_levels(self, height: int) -> int:
        return height

    def axes_to_cut(self, regions: Regions, budget: Budget) -> NDArray[np.int32]:
        """One of the axes that can still be cut, each with the same probability."""
        divisible = regions.widths > 1
        rank = np.cumsum(divisible, axis=1)
        drawn = np.floor(budget.uniforms(len(regions)) * rank[:, -1]).astype(np.int64) + 1
        return np.asarray((rank >= drawn[:, None]).argmax(axis=1).astype(np.int32))
