"""Bisecting k-means on weighted points, without chance.

The cluster with the largest spread is split until there are enough. A split starts from single columns, each cut at
its mean, moves by 2-means until nobody changes sides, and is the best found: on mixed data as good as the best of many
random starts. Two clusterings then differ because their data does and not by luck.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Side = NDArray[np.bool_]

STARTS = 4
MOST_ROUNDS = 300
ROUNDING = 1e-9
"""Points are on the far side of a plane only if they are this much nearer to the far centre than to the near one."""
ONE_POINT = 1e-20
"""Points with a variance up to this are one point, but for rounding."""


@dataclass(frozen=True, eq=False)
class Plane:
    """The plane halfway between two centres; `gain` is how much spread it takes away."""

    normal: Floats
    offset: float
    gain: float

    def beyond(self, features: Floats) -> Side:
        """Which points lie on the far side."""
        return np.asarray(features @ self.normal > self.offset)


@dataclass(frozen=True, eq=False)
class Clustering:
    """Splits in order, each a cluster and a plane: the first makes cluster 1 out of cluster 0, and so on."""

    splits: tuple[tuple[int, Plane], ...]

    def labels(self, features: Floats) -> NDArray[np.int64]:
        """The cluster of each point, whether or not it was among those clustered."""
        labels = np.zeros(len(features), dtype=np.int64)
        for made, (part, plane) in enumerate(self.splits, start=1):
            labels[(labels == part) & plane.beyond(features)] = made
        return labels


def cluster(features: Floats, weights: Floats, clusters: int) -> Clustering:
    """The clustering of weighted points, into fewer clusters where there are fewer different points."""
    labels = np.where(weights > 0, 0, -1)
    splits: list[tuple[int, Plane]] = []
    while len(splits) + 1 < clusters:
        spreads = [_spread(features[labels == part], weights[labels == part]) for part in range(len(splits) + 1)]
        part = int(np.argmax(spreads))
        mine = np.flatnonzero(labels == part)
        if spreads[part] <= ONE_POINT * weights[mine].sum():
            break
        plane = _halved(features[mine], weights[mine])
        splits.append((part, plane))
        labels[mine[plane.beyond(features[mine])]] = len(splits)
    return Clustering(tuple(splits))


def _mean(features: Floats, weights: Floats) -> Floats:
    return np.asarray(weights @ features / weights.sum())


def _spread(features: Floats, weights: Floats) -> float:
    """The weighted sum of squared distances from the mean."""
    return float(weights @ ((features - _mean(features, weights)) ** 2).sum(axis=1)) if len(features) else 0.0


def _halved(features: Floats, weights: Floats) -> Plane:
    """The plane between the two centres of 2-means, from the best start; of equals, from the first."""
    best: Plane | None = None
    for side in _starts(features, weights):
        found = _settled(features, weights, side)
        if best is None or found.gain > best.gain * (1 + ROUNDING):
            best = found
    assert best is not None
    return best


def _starts(features: Floats, weights: Floats) -> list[Side]:
    """The columns whose cut at the mean takes away most spread, as the points beyond it."""
    mean, rows = _mean(features, weights), weights.sum()
    sides = features > mean
    weighted = sides * weights[:, None]
    far_rows = weighted.sum(axis=0)
    useful = sides.any(axis=0) & (far_rows < rows)
    if not useful.any():  # The mean of a very heavy point and light ones is, in numbers, the heavy point.
        column = features[:, np.ptp(features, axis=0).argmax()]
        return [column > (column.min() + column.max()) / 2]
    columns = np.flatnonzero(useful)
    far = weighted[:, columns].T @ features / far_rows[columns, None]
    gains = ((far - mean) ** 2).sum(axis=1) * far_rows[columns] * rows / (rows - far_rows[columns])
    return [sides[:, column] for column in columns[np.argsort(-gains, kind="stable")[:STARTS]]]


def _settled(features: Floats, weights: Floats, side: Side) -> Plane:
    """2-means from a first division until nobody changes sides."""
    for _ in range(MOST_ROUNDS):
        plane = _between(features, weights, side)
        moved = plane.beyond(features)
        if (moved == side).all() or moved.all() or not moved.any():
            break
        side = moved
    return plane


def _between(features: Floats, weights: Floats, side: Side) -> Plane:
    near_weights, far_weights = weights * ~side, weights * side
    near, far = _mean(features, near_weights), _mean(features, far_weights)
    normal = far - near
    apart = float(normal @ normal)
    gain = near_weights.sum() * far_weights.sum() / weights.sum() * apart
    return Plane(normal, float(normal @ (near + far) / 2) + ROUNDING * apart, float(gain))
