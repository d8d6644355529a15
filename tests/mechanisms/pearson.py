"""Pearson's test of what was drawn against its law, with the quantile that it exceeds once in a million runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import chi2

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

FALSE_FAILURE = 1e-6
"""The probability with which a test fails though what it tests is right, up to the χ² approximation."""
FEWEST_EXPECTED = 10


def deviation(counts: ArrayLike, expected: ArrayLike) -> tuple[float, float]:
    """χ² of counts, each row against a law of its own, and the quantile it exceeds with probability FALSE_FAILURE.

    The cells of a row that expect the fewest draws are pooled until all expect enough.
    """
    statistic, freedom = 0.0, 0
    for seen, wanted in zip(np.atleast_2d(counts), np.atleast_2d(expected), strict=True):
        order = np.argsort(wanted, kind="stable")
        enough = int(np.searchsorted(np.cumsum(wanted[order]), FEWEST_EXPECTED)) + 1
        pooled = max(enough, int((wanted < FEWEST_EXPECTED).sum()))
        starts = [0, *range(pooled, len(order))]
        found, means = (np.add.reduceat(np.asarray(row, dtype=float)[order], starts) for row in (seen, wanted))
        assert means.min() >= FEWEST_EXPECTED
        statistic += float(((found - means) ** 2 / means).sum())
        freedom += len(means) - 1
    return statistic, float(chi2.isf(FALSE_FAILURE, freedom))
