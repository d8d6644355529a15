"""The private kd-tree: cuts at private medians, so that dense parts of the domain are cut finer."""

from dataclasses import dataclass
from typing import ClassVar

from sfumato.methods.trees.spatial_tree import SpatialTree


@dataclass(frozen=True, kw_only=True)
class KDTree(SpatialTree):
    """Every cut at a private median: leaves hold about equally many rows.

    Claim: pure differential privacy for adding or removing one row.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O(points × height).
    Reference: paper cormode2013 section II, and Cormode et al., ICDE 2012; proof in spatial_tree.proof.md.

    >>> release = sf.KDTree(epsilon=1).publish(table)
    """

    name: ClassVar[str] = "kd-tree"

    def private_levels(self, height: int) -> int:
        return height
