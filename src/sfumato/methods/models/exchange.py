"""Values exchanged between rows, so that a column's pairs with all earlier ones come near to what is expected.

Dealing values out among the rows of a group (those with the same parents) leaves to chance how they fall on columns
that are not parents. Two rows of one group may exchange their values without changing any count of the group; they do
where that lowers Σ (rows − expected rows)² over the pairs with all earlier columns.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled

PARTNERS = 6
"""With how many others of its group each row may exchange its value."""


class Pair(NamedTuple):
    """The bins of an earlier column, row by row, and how many rows each pair of its bins and values should have."""

    bins: NDArray[np.int64]
    expected: NDArray[np.float64]  # (bins, values)

    def counts(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many rows each pair has."""
        flat = self.bins * self.expected.shape[1] + values
        return np.bincount(flat, minlength=self.expected.size).reshape(self.expected.shape)

    def excess(self, values: NDArray[np.int64]) -> NDArray[np.float64]:
        """How many rows each pair has too many."""
        return np.asarray(self.counts(values) - self.expected)


def exchange(values: NDArray[np.int64], groups: NDArray[np.int64], pairs: Sequence[Pair]) -> None:
    """Let each row exchange values, in place, with those that come next in its group; their order must say nothing."""
    if not pairs:
        return
    order = np.argsort(groups, kind="stable")
    starts = np.cumsum([0, *(pair.expected.size for pair in pairs)])[:-1]
    width = pairs[0].expected.shape[1]
    cells = np.empty((len(values), len(pairs)), dtype=np.int32)
    for number, (start, pair) in enumerate(zip(starts, pairs, strict=True)):
        cells[:, number] = start + width * pair.bins[order]
    excess = np.concatenate([pair.excess(values).reshape(-1) for pair in pairs])
    sorted_values = values[order]
    _exchange(sorted_values, groups[order], cells, excess)
    values[order] = sorted_values


@compiled
def _exchange(
    values: NDArray[np.int64], groups: NDArray[np.int64], cells: NDArray[np.int32], excess: NDArray[np.float64]
) -> None:
    """`cells` (rows, pairs) is where the counts of each row begin in `excess`, which has one for every value."""
    for apart in range(1, PARTNERS + 1):
        for row in range(len(values) - apart):
            other = row + apart
            value, another = values[row], values[other]
            alike = value == another or groups[row] != groups[other]
            if not alike and _change(cells[row], cells[other], value, another, excess) < 0:
                values[row], values[other] = another, value
                for pair in range(cells.shape[1]):
                    here, there = cells[row, pair], cells[other, pair]
                    excess[here + value] -= 1
                    excess[here + another] += 1
                    excess[there + another] -= 1
                    excess[there + value] += 1


@compiled
def _change(
    here: NDArray[np.int32], there: NDArray[np.int32], value: int, another: int, excess: NDArray[np.float64]
) -> float:
    """By how much an exchange changes ½ Σ excess²."""
    change = 0.0
    for pair in range(len(here)):
        if here[pair] != there[pair]:
            change += excess[here[pair] + another] - excess[here[pair] + value]
            change += excess[there[pair] + value] - excess[there[pair] + another] + 2
    return change
