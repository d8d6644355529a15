"""The hybrid of kd-tree and quad-tree: private medians above, where they matter, middles below."""

from dataclasses import dataclass
from typing import ClassVar

from sfumato.methods.trees.spatial_tree import SpatialTree


@dataclass(frozen=True, kw_only=True)
class HybridTree(SpatialTree):
    """Private medians in the upper half of the levels, middles below.

    Claim: pure differential privacy for adding or removing one row.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O(points × height).
    Reference: Cormode, Procopiuc, Srivastava, Shen and Yu, ICDE 2012, section 3.3; proof in spatial_tree.proof.md.

    >>> release = sf.HybridTree(epsilon=1).publish(table)
    """

    name: ClassVar[str] = "hybrid-tree"

    def private_levels(self, height: int) -> int:
        return (height + 1) // 2
