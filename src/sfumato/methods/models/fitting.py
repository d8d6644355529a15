"""The distribution of greatest entropy that explains noisy marginals best, by mirror descent over all cells.

Minimizes Σ |marginal of X − noisy marginal|² / variance over cell counts X ≥ 0 with a given total, starting from
independent attributes and moving by multiplicative steps, which keep X in the family of log-linear models (as
McKenna, Sheldon and Miklau, 2019, do over a junction tree). It looks at noisy counts alone and costs no privacy.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STEPS = 400
"""Enough to follow what the marginals say; many more would begin to follow their noise."""
GROW, SHRINK = 1.2, 0.5
SETTLED = 1e-9
"""A step that lowers the loss by less than this share of it was the last."""
TINY = 1e-300
MIN_SHARE = 1e-4
"""No value starts with less than this share, so that none is lost to noise before the fit begins."""


@dataclass(frozen=True, eq=False)
class Marginal:
    """Noisy counts over some axes, with the variance of each count."""

    axes: tuple[int, ...]
    counts: NDArray[np.float64]
    variance: float


def fit(shape: Sequence[int], marginals: Sequence[Marginal], steps: int = STEPS) -> NDArray[np.float64]:
    """Counts for every cell of `shape`."""
    total = best_total(marginals)
    cells = _independent(shape, marginals)
    cells *= total / cells.sum()
    loss, slope = _loss(cells, marginals)
    step = min(marginal.variance for marginal in marginals) / total
    for _ in range(steps):
        moved = cells * np.exp(step * (slope.min() - slope))
        moved *= total / max(float(moved.sum()), TINY)
        new_loss, new_slope = _loss(moved, marginals)
        if new_loss <= loss:
            gained = loss - new_loss
            cells, loss, slope, step = moved, new_loss, new_slope, step * GROW
            if gained <= SETTLED * loss:
                break
        else:
            step *= SHRINK
    return cells


def best_total(marginals: Sequence[Marginal]) -> float:
    """The totals of the marginals weighted by how little noise they hold, but at least one row."""
    precision = np.array([1 / (marginal.variance * marginal.counts.size) for marginal in marginals])
    totals = np.array([marginal.counts.sum() for marginal in marginals])
    return max(float((totals * precision).sum() / precision.sum()), 1.0)


def _independent(shape: Sequence[int], marginals: Sequence[Marginal]) -> NDArray[np.float64]:
    """The product of what the marginals say about each axis by itself."""
    cells = np.ones(tuple(shape))
    for axis, size in enumerate(shape):
        counts, precision = np.zeros(size), 0.0
        for marginal in marginals:
            if axis in marginal.axes:
                others = tuple(place for place, other in enumerate(marginal.axes) if other != axis)
                weight = size / (marginal.counts.size * marginal.variance)
                counts += weight * marginal.counts.sum(axis=others)
                precision += weight
        estimate = counts / precision
        least = MIN_SHARE * max(float(estimate.sum()), 1.0)
        cells *= np.maximum(estimate, least).reshape([-1 if other == axis else 1 for other in range(len(shape))])
    return cells


def _loss(cells: NDArray[np.float64], marginals: Sequence[Marginal]) -> tuple[float, NDArray[np.float64]]:
    """Half the weighted sum of squared residuals, and its slope at every cell."""
    loss, slope = 0.0, np.zeros(cells.shape)
    for marginal in marginals:
        others = tuple(axis for axis in range(cells.ndim) if axis not in marginal.axes)
        shape = [size if axis in marginal.axes else 1 for axis, size in enumerate(cells.shape)]
        residual = cells.sum(axis=others, keepdims=True) - marginal.counts.reshape(shape)
        loss += float((residual**2).sum()) / (2 * marginal.variance)
        slope += residual / marginal.variance
    return loss, slope
