"""The private quad-tree: cuts that do not look at the data, so that all of the budget buys counts."""

from dataclasses import dataclass
from typing import ClassVar

from sfumato.methods.trees.spatial_tree import SpatialTree


@dataclass(frozen=True, kw_only=True)
class QuadTree(SpatialTree):
    """Every cut in the middle of the widest axis, whatever the data.

    Claim: pure differential privacy for adding or removing one row.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O(points × height).
    Reference: paper cormode2013 section II, and Cormode et al., ICDE 2012; proof in spatial_tree.proof.md.

    >>> release = sf.QuadTree(epsilon=1).publish(table)
    """

    name: ClassVar[str] = "quad-tree"

    def private_levels(self, height: int) -> int:
        return 0
