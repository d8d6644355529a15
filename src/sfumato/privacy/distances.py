"""Distances between distributions of the sensitive attribute, for many distributions at once.

Each takes `p` (m, values) and `q` (values) or (m, values), both summing to one, and returns (m,).
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.schema import Axis

Floats = NDArray[np.float64]

Distance = Literal["jensen-shannon", "equal", "ordered", "hierarchical"]


def shares(counts: NDArray[np.generic]) -> Floats:
    """Each row of counts as a distribution; a row without rows becomes zeros."""
    numbers = np.asarray(counts, dtype=np.float64)
    totals = numbers.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(numbers, totals, out=np.zeros_like(numbers), where=totals > 0))


def exposed(p: Floats, overall: Floats, secret: NDArray[np.bool_]) -> Floats:
    """Distributions without what harms nobody: more of values that are no secret than there are overall.

    Where secrets have a smaller share than overall, they are taken for as likely as overall, in the same proportions;
    where there are none, or nothing at all, that is the overall distribution.
    """
    if secret.all():
        return p
    likely = overall[secret].sum()
    of_secrets = p[..., secret].sum(-1, keepdims=True)
    scaled = np.divide(p, of_secrets, out=np.broadcast_to(overall / likely, p.shape).copy(), where=of_secrets > 0)
    return np.where(of_secrets >= likely, p, np.where(secret, scaled * likely, overall))


def jensen_shannon(p: Floats, q: Floats) -> Floats:
    """½ KL(p, m) + ½ KL(q, m) with m = (p + q)/2 and natural logarithms: from 0 to ln 2."""
    from scipy.special import rel_entr  # loading it takes a quarter of the time in which `publish --help` answers

    middle = (p + q) / 2
    return np.asarray(np.maximum(rel_entr(p, middle).sum(-1) + rel_entr(q, middle).sum(-1), 0) / 2)


def total_variation(p: Floats, q: Floats) -> Floats:
    """½ Σ|p − q|: the earth mover's distance where any two values are at distance 1."""
    return np.asarray(np.abs(p - q).sum(-1) / 2)


def ordered_earth_movers(p: Floats, q: Floats) -> Floats:
    """Σ|cumulative difference| / (values − 1): neighbouring values are close; a missing value comes last."""
    return np.asarray(np.abs(np.cumsum(p - q, axis=-1)).sum(-1) / max(p.shape[-1] - 1, 1))


def hierarchical_earth_movers(p: Floats, q: Floats, axis: Axis) -> Floats:
    """Earth mover's distance where two values are as far apart as their lowest common ancestor is high.

    Each inner node moves what its children can settle among themselves, at its share of the tree's height; a
    missing value hangs directly under the root.
    """
    root = axis.taxonomy
    if root.is_leaf:
        return total_variation(p, q)
    below = np.cumsum(p - q, axis=-1)
    below = np.concatenate([np.zeros((*below.shape[:-1], 1)), below], axis=-1)
    cost = np.zeros(below.shape[:-1])
    for node in root.walk():
        if node.is_leaf:
            continue
        surplus = [below[..., child.hi + 1] - below[..., child.lo] for child in node.children]
        if node is root and axis.nullable:
            surplus.append(p[..., -1] - q[..., -1])
        extra = np.stack(surplus, axis=-1)
        moved = np.minimum(np.maximum(extra, 0).sum(-1), np.maximum(-extra, 0).sum(-1))
        cost += moved * node.height / root.height
    return cost


def distance(p: Floats, q: Floats, axis: Axis, kind: Distance) -> Floats:
    """The distance of the given kind on the sensitive axis."""
    if kind == "hierarchical":
        return hierarchical_earth_movers(p, q, axis)
    return {"jensen-shannon": jensen_shannon, "equal": total_variation, "ordered": ordered_earth_movers}[kind](p, q)
