"""Counting the cells of a domain with noise: all of them, or, where they are too many to list, those above a threshold.

The threshold follows from the size of the domain and the noise alone.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.budget import Budget

MAX_DOMAIN = 10**18
"""Cells that can still be numbered."""
FALSE_CELLS = 1000
"""Empty cells of a domain too large to list that reach the threshold, on average."""


@dataclass(frozen=True, eq=False)
class CountedCells:
    """Cells with their noisy counts; the threshold that all counts reach, or `None` if every cell is listed."""

    ids: NDArray[np.int64]  # rising
    counts: NDArray[np.int64]
    threshold: int | None
    variance: float  # of the noise in each count


def count_cells(
    cell: NDArray[np.int64], weights: NDArray[np.int64], domain: int, max_listed: int, budget: Budget, price: int
) -> CountedCells:
    """The noisy counts of the cells 0..domain − 1; `cell` and `weights` say where the rows lie."""
    ids, place = np.unique(cell, return_inverse=True)
    exact = np.bincount(place, weights, len(ids)).astype(np.int64)
    if domain <= max_listed:
        full = np.zeros(domain, dtype=np.int64)
        full[ids] = exact
        noisy = budget.counts(full[None, :], price)[0]  # proof: listed
        return CountedCells(np.arange(domain), noisy, None, float(budget.variance(price)))
    threshold = budget.threshold(domain, FALSE_CELLS, price)
    found = budget.sparse_counts(ids, exact, domain, threshold, price)  # proof: sparse
    return CountedCells(*found, threshold, budget.sparse_variance(price))
