"""Making noisy counts agree: least squares over a tree in linear time, then counts that are not negative.

`reconcile` is the generalized least-squares estimate when the noise of every count is independent with a known
variance: upwards each node combines its own count with the sum of its children by inverse variance, downwards the
surplus of a parent over its children is shared by their variances. All of it is arithmetic on noisy counts, so
it costs no privacy.
"""

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled_if_many

NOISE, MOST_SHIFT, HALVINGS = NormalDist(), 30.0, 50
"""More deviations are lost by counts only where hardly any is left."""
MIN_VARIANCE = 1e-12
"""Noise too small to be told from none still decides who is right when two counts disagree."""


@compiled_if_many
def reconcile(
    parent: NDArray[np.int64], counts: NDArray[np.float64], variance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The least-squares counts, column by column; a parent comes before its children and is their sum.

    `counts` is (nodes, columns), `variance` that of each count of a node: infinite where it was not counted, which
    only nodes with children may be. `parent` is −1 at the root.
    """
    size = len(parent)
    estimate, spread = counts.copy(), np.maximum(variance, MIN_VARIANCE)
    below, below_spread = np.zeros(counts.shape), np.zeros(size)
    for node in range(size - 1, -1, -1):
        if below_spread[node] > 0:
            own = 0.0 if np.isinf(spread[node]) else below_spread[node] / (spread[node] + below_spread[node])
            estimate[node] = own * estimate[node] + (1 - own) * below[node]
            spread[node] = below_spread[node] if np.isinf(spread[node]) else own * spread[node]
        if parent[node] >= 0:
            below[parent[node]] += estimate[node]
            below_spread[parent[node]] += spread[node]
    for node in range(1, size):
        over = parent[node]
        estimate[node] += (estimate[over] - below[over]) * (spread[node] / below_spread[over])
    return estimate


@compiled_if_many
def _onto_simplex(values: NDArray[np.float64], total: float) -> None:
    """The nearest counts that are not negative and sum up to `total`, in place."""
    if total <= 0:
        values[:] = 0.0
        return
    ranked = np.sort(values)[::-1]
    sum_of_largest, shift = 0.0, 0.0
    for number in range(len(ranked)):
        sum_of_largest += ranked[number]
        candidate = (sum_of_largest - total) / (number + 1)
        if number == 0 or ranked[number] - candidate > 0:
            shift = candidate
    for number in range(len(values)):
        values[number] = max(values[number] - shift, 0.0)


@compiled_if_many
def make_nonnegative(parent: NDArray[np.int64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counts of a tree moved to the nearest ones of zero or more, from the root down; siblings stand together."""
    found = counts.copy()
    found[0] = max(found[0], 1.0)
    node = 1
    while node < len(parent):
        last = node
        while last + 1 < len(parent) and parent[last + 1] == parent[node]:
            last += 1
        _onto_simplex(found[node : last + 1], found[parent[node]])
        node = last + 1
    return found


@compiled_if_many
def histograms_with_totals(histograms: NDArray[np.float64], totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each histogram moved to the nearest one without negative counts that has its total."""
    found = histograms.copy()
    for row in range(len(found)):
        _onto_simplex(found[row], totals[row])
    return found


def before_clipping(counts: NDArray[np.float64], deviation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counts as they may have been before they were moved onto the simplex, in expectation where that is not known.

    Of p counts above zero each lost d, which the z others took up: p d = −Σ of what was clipped. Were these nothing but
    noise, each no more than d deviations σ, then −E[x | x ≤ d] = φ(d)/Φ(d) of it on average, so that d solves
    p d = z φ(d)/Φ(d); all in units of σ.
    """
    above = counts > 0
    kept, clipped = int(above.sum()), int((~above).sum())
    if not kept or not clipped:
        return counts.copy()
    ratio = kept / clipped

    shift, most = 0.0, MOST_SHIFT
    for _ in range(HALVINGS):
        middle = (shift + most) / 2
        lacks = ratio * middle < NOISE.pdf(middle) / NOISE.cdf(middle)
        shift, most = (middle, most) if lacks else (shift, middle)
    return np.asarray(np.where(above, counts + shift * deviation, -ratio * shift * deviation))
