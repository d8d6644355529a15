"""Noisy counts over a domain too large to list: only those that reach a threshold, with exactly their law.

Adding discrete Laplace noise to every cell and dropping what stays below the threshold T looks at all cells.
Empty ones are all alike: with α = e^(−ε), each reaches T ≥ 1 with probability α^T / (1 + α), and then exceeds T by a
geometric amount. So it is enough to draw the gaps between empty cells at which an event of probability α^T happens,
to keep each with probability 1 / (1 + α), and to draw its excess (after Cormode, Procopiuc, Srivastava and Tran, 2012).
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.noise.digits import Odds, draw_coins
from sfumato.mechanisms.noise.geometric import draw_gaps, draw_geometric
from sfumato.mechanisms.noise.source import Source

MAX_DOMAIN = 10**18
MAX_EXPECTED = 10**8
"""More empty cells than this are not to be drawn: the threshold is too low for the domain."""


def draw_sparse(
    cells: NDArray[np.int64],
    counts: NDArray[np.int64],
    domain_size: int,
    threshold: int,
    epsilon: Fraction,
    source: Source,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cells, in order, whose count with noise is at least `threshold`, and those noisy counts.

    `cells` (rising) are those of 0..domain_size − 1 that may hold a count other than zero. Neither the domain nor the
    threshold may depend on the counts.
    """
    _check(cells, counts, domain_size, threshold, epsilon)
    noisy = counts + source.laplace(epsilon, len(counts))
    reached = noisy >= threshold
    ranks = _reaching_ranks(domain_size - len(cells), threshold, epsilon, source)
    empty = ranks + np.searchsorted(cells - np.arange(len(cells)), ranks, side="right")
    excess = threshold + draw_geometric(epsilon, len(empty), source)
    found = np.concatenate([cells[reached], empty])
    order = np.argsort(found)
    return found[order], np.concatenate([noisy[reached], excess])[order]


def expected_empty(domain_size: int, threshold: int, epsilon: Fraction) -> float:
    """How many empty cells reach the threshold on average."""
    return domain_size * math.exp(-float(epsilon) * threshold) / (1 + math.exp(-float(epsilon)))


def _reaching_ranks(empty: int, threshold: int, epsilon: Fraction, source: Source) -> NDArray[np.int64]:
    """The ranks among `empty` cells of those that reach the threshold."""
    found: list[NDArray[np.int64]] = []
    start = 0
    while start < empty:
        expected = 1 + (empty - start) * math.exp(-float(epsilon) * threshold)
        gaps = draw_gaps(epsilon * threshold, empty, math.ceil(expected + 4 * math.sqrt(expected)), source)
        # Gaps up to twice `empty` could overflow when summed up; past the end they no longer matter.
        within = np.cumsum(gaps + 1.0) < 2.0 * empty + 1
        within[0] = True
        ranks = start + np.cumsum(gaps[within] + 1) - 1
        found.append(ranks[ranks < empty])
        start = empty if len(found[-1]) < len(gaps) else int(ranks[-1]) + 1
    ranks = np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
    return ranks[draw_coins(Odds(epsilon), 0, len(ranks), source)]


def _check(
    cells: NDArray[np.int64], counts: NDArray[np.int64], domain_size: int, threshold: int, epsilon: Fraction
) -> None:
    if not 0 < domain_size <= MAX_DOMAIN:
        raise ParameterError(f"the domain has {domain_size:.3g} cells; expected at least 1 and at most 10^18")
    if threshold < 1:
        raise ParameterError(f"the threshold is {threshold}; expected at least 1")
    if len(cells) != len(counts) or (len(cells) and not 0 <= cells[0] <= cells[-1] < domain_size):
        raise ParameterError("every cell of the domain that is listed needs a count")
    if (np.diff(cells) <= 0).any():
        raise ParameterError("cells must be listed once each, in ascending order")
    if expected_empty(domain_size, threshold, epsilon) > MAX_EXPECTED:
        raise ParameterError(
            f"with a threshold of {threshold}, more than {MAX_EXPECTED:,} of {domain_size:,} cells are expected"
        )
