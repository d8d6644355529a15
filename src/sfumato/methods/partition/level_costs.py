"""What a vector of levels costs: what its rows lose in their classes, and what is lost with those that are left out.

No row costs less in a coarser class, and a row left out costs at least as much as in any class. So the cost of all rows
in their classes, none left out, is a lower bound of the vector's own cost, and of that of every coarser one.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.methods.partition.levels import Grouping, Levels, Vector

Objective = Literal["ncp", "discernibility", "precision"]
Floats = NDArray[np.float64]


class LevelCosts:
    """Costs summed over the rows of a table, by one objective.

    `ncp`: the mean over the axes of (positions of the node − 1) / (positions of the axis − 1); `precision`: that of
    level / height of the taxonomy; 1 for a row left out. `discernibility`: the rows of its class, of all if left out.
    """

    def __init__(self, table: Table, levels: Sequence[Levels], objective: Objective) -> None:
        self.rows, self.levels = table.n, levels
        self.by_size = objective == "discernibility"
        sizes = [axis.positions for axis in table.schema.quasi]
        self.shares: list[Floats] = [
            (
                np.repeat(known.numbers[:, None] / max(known.height, 1), known.lo.shape[1], axis=1)
                if objective == "precision"
                else (known.hi - known.lo) / max(size - 1, 1)
            )
            / len(levels)
            for known, size in zip(levels, sizes, strict=True)
        ]
        self.sums = [
            shares @ np.bincount(known.value_of, table.weights, shares.shape[1])
            for known, shares in zip(levels, self.shares, strict=True)
        ]

    def least(self, vector: Vector) -> float:
        """What all rows cost in their classes, as far as that is known before these are counted."""
        return 0.0 if self.by_size else float(sum(sums[level] for sums, level in zip(self.sums, vector, strict=True)))

    def of_all(self, vector: Vector, classes: Grouping) -> float:
        """What all rows cost in their classes."""
        return float((classes.rows.astype(np.float64) ** 2).sum()) if self.by_size else self.least(vector)

    def of_leaving_out(self, vector: Vector, classes: Grouping, out: NDArray[np.bool_]) -> float:
        """How much more the rows of some classes cost if they are left out."""
        points, rows = classes.points[out], classes.rows[out].astype(np.float64)
        if self.by_size:
            return float((rows * self.rows - rows**2).sum())
        cost = np.zeros(len(points))
        for known, shares, level in zip(self.levels, self.shares, vector, strict=True):
            cost += shares[level][known.value_of[points]]
        return float((rows * (1 - cost)).sum())
