"""Ancestral sampling: one column after the other, each given the columns before it.

Rows with the same parents get the child's values in exactly their shares, up to rounding, in random order: for m
rows, the numbers (0 + U)/m, …, (m − 1 + U)/m are dealt out at random. Each row alone is an exact draw, rows
together vary less than independent ones. Rows with the same parents then exchange values where that brings other pairs
of columns nearer to the model. All of it follows from noisy counts and costs no privacy.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sfumato.methods.models.binning import Attribute
from sfumato.methods.models.exchange import Pair, exchange
from sfumato.methods.models.network import Parents
from sfumato.release.sampling import check_marginals

Uniforms = Callable[[int], NDArray[np.float64]]
Draw = Callable[[NDArray[np.int64], NDArray[np.float64], Uniforms], NDArray[np.int64]]

BELOW_ONE = 1 - 2.0**-32
BARELY = 1e-9
"""Added to counts that may all be zero, so that they have shares."""


@dataclass(frozen=True, eq=False)
class Link:
    """A child, its parents, and its shares for each combination of their groups: (combinations, bins)."""

    child: int
    parents: Parents
    shares: NDArray[np.float64]


def deal(groups: NDArray[np.int64], shares: NDArray[np.float64], uniforms: Uniforms) -> NDArray[np.int64]:
    """A value for each row, from the shares (groups, values) of its group."""
    counts = np.bincount(groups, minlength=len(shares))
    starts = np.cumsum(counts) - counts
    order = np.argsort(groups + uniforms(len(groups)))
    group = groups[order]
    place = np.arange(len(groups)) - starts[group] + uniforms(len(shares))[group]
    drawn = np.empty(len(groups), dtype=np.int64)
    drawn[order] = _inverse(group, place / counts[group], shares)
    return drawn


def sample(
    attributes: Sequence[Attribute], links: Sequence[Link], rows: int, uniforms: Uniforms, draw: Draw = deal
) -> NDArray[np.int64]:
    """Rows of positions, the attributes as columns; every pair of columns is checked against the model."""
    bins: dict[int, NDArray[np.int64]] = {}
    nothing = np.zeros(rows, dtype=np.int64)
    checks = sum(attribute.bins + len(attribute.starts) for attribute in attributes) + sum(
        one.bins * other.bins for one, other in combinations(attributes, 2)
    )
    found = np.empty((rows, len(attributes)), dtype=np.int64)
    for link in links:
        child = attributes[link.child]
        groups = nothing
        for parent, view in link.parents:
            groups = groups * attributes[parent].sizes[view] + attributes[parent].views[view][bins[parent]]
        drawn = draw(groups, link.shares, uniforms)
        _check(_expect(nothing, 1, groups, link.shares), drawn, checks, child.name)
        pairs = {other: _expect(column, attributes[other].bins, groups, link.shares) for other, column in bins.items()}
        for other, pair in pairs.items():
            _check(pair, drawn, checks, f"{attributes[other].name} and {child.name}")
        exchange(drawn, groups, list(pairs.values()))
        bins[link.child] = drawn
        within = step_shares(child)
        step = draw(drawn, within, uniforms)
        _check(_expect(nothing, 1, drawn, within), step, checks, child.name)
        found[:, link.child] = inside_steps(child, step, uniforms)
    return found


def step_shares(attribute: Attribute) -> NDArray[np.float64]:
    """How the rows of each bin fall on the steps of the axis, by the noisy counts: (bins, steps)."""
    steps = len(attribute.counts)
    shares = np.zeros((attribute.bins, steps))
    shares[attribute.bin_of_step, np.arange(steps)] = attribute.counts + BARELY
    return shares


def inside_steps(attribute: Attribute, step: NDArray[np.int64], uniforms: Uniforms) -> NDArray[np.int64]:
    """Any position of each row's step."""
    widths = np.diff(np.append(attribute.starts, attribute.positions))
    if (widths == 1).all():
        return attribute.starts[step]
    return np.asarray(attribute.starts[step] + np.floor(uniforms(len(step)) * widths[step]).astype(np.int64))


def _expect(other: NDArray[np.int64], others: int, groups: NDArray[np.int64], shares: NDArray[np.float64]) -> Pair:
    """What the groups of rows make of the counts of a column beside another one."""
    together = np.bincount(other * len(shares) + groups, minlength=others * len(shares)).reshape(others, -1)
    return Pair(other, together @ (shares / shares.sum(axis=1, keepdims=True)))


def _check(pair: Pair, drawn: NDArray[np.int64], checks: int, names: str) -> None:
    """Compare the counts of two columns with what is expected of them."""
    check_marginals(pair.expected, pair.counts(drawn), checks, names)


def _inverse(group: NDArray[np.int64], uniform: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """The value at which the cumulative shares of a row's group pass its uniform number."""
    reached = np.cumsum(shares, axis=1)
    reached /= reached[:, -1:]
    ladder = (reached + np.arange(len(shares))[:, None]).reshape(-1)
    found = np.searchsorted(ladder, group + np.minimum(uniform, BELOW_ONE), side="right")
    return np.asarray(found - group * shares.shape[1])
