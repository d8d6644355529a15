"""Strict multidimensional partitioning: cut the points level by level while the requirements allow it.

Scanning (`cuts`) and deciding (here) are apart: a level's candidate cuts are proposed in one sweep, checked
against all requirements at once, and the cheapest allowed cut of each node is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.errors import UnsatisfiableError
from sfumato.privacy.requirements import KAnonymity, Population, Requirement

Cut = Literal["ncp", "median"]
POINTS_AT_ONCE = 2**19


def partition(table: Table, requirements: Sequence[Requirement], cut: Cut) -> NDArray[np.int64]:
    """The class of each point of the table; classes are numbered in the order of their smallest point."""
    population = Population(table.overall, table.schema.sensitive)
    _check_root(table, requirements, population)
    order = np.arange(len(table.points))
    starts, ends = np.zeros(1, dtype=np.int64), np.array([len(order)])
    histograms = table.overall[None, :]
    finished: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    while len(starts):
        node, axis, code, left = _allowed_cuts(table, requirements, population, cut, order, starts, ends, histograms)
        whole = np.ones(len(starts), dtype=bool)
        whole[node] = False
        finished.append((starts[whole], ends[whole]))
        starts, ends = starts[node], ends[node]
        middles = _split(table, order, starts, ends, axis, code)
        histograms = np.concatenate([left, histograms[node] - left]) if len(left) else histograms[:0]
        starts, ends = np.concatenate([starts, middles]), np.concatenate([middles, ends])
        if not len(histograms):
            histograms = np.zeros((len(starts), 0), dtype=np.int64)
    return _numbered(order, finished)


def _check_root(table: Table, requirements: Sequence[Requirement], population: Population) -> None:
    for requirement in requirements:
        if not requirement.holds(table.overall[None, :], population)[0]:
            commonest = int(table.overall.argmax())
            label = table.schema.sensitive.labels[commonest]
            why = f" (the commonest sensitive value {label!r} has {table.overall[commonest] / table.n:.1%} of them)"
            raise UnsatisfiableError(
                f"no release of this table can satisfy {requirement}: its {table.n} rows taken together already "
                f"fail it{'' if isinstance(requirement, KAnonymity) else why}"
            )


def _allowed_cuts(
    table: Table,
    requirements: Sequence[Requirement],
    population: Population,
    cut: Cut,
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    histograms: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """For each node that can be cut: its number, axis and code of the cut, and the left histogram."""
    only_size = all(isinstance(requirement, KAnonymity) for requirement in requirements)
    smallest = max((requirement.smallest_class for requirement in requirements), default=1)
    parts = []
    for batch in _batches(ends - starts):
        node, axis, code, cost, left = _propose(table, order, starts[batch], ends[batch], smallest, cut, only_size)
        if not only_size:
            right = histograms[batch][node] - left
            allowed = np.ones(len(node), dtype=bool)
            for requirement in requirements:
                allowed[allowed] = requirement.holds(left[allowed], population)
                allowed[allowed] = requirement.holds(right[allowed], population)
            kept = np.flatnonzero(allowed)
            ranked = kept[np.lexsort((code[kept], axis[kept], np.round(cost[kept], 9), node[kept]))]
            first = ranked[np.unique(node[ranked], return_index=True)[1]]
            node, axis, code, left = node[first], axis[first], code[first], left[first]
        parts.append((node + batch.start, axis, code, left))
    joined = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
    return joined[0], joined[1], joined[2], joined[3]


def _batches(sizes: NDArray[np.int64]) -> list[slice]:
    """Runs of nodes with about `POINTS_AT_ONCE` points together."""
    run = np.cumsum(sizes) // POINTS_AT_ONCE
    edges = [0, *(np.flatnonzero(np.diff(run)) + 1).tolist(), len(sizes)]
    return [slice(start, end) for start, end in pairwise(edges)]


def _propose(
    table: Table,
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    smallest: int,
    cut: Cut,
    only_size: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    from sfumato.methods.partition.cuts import propose_cuts

    scale = np.array([1 / max(axis.positions - 1, 1) for axis in table.schema.quasi])
    return propose_cuts(
        table.points,
        table.weights,
        scale,
        order,
        starts,
        ends,
        smallest,
        cut == "median",
        only_size,
        table.cell_start,
        table.cell_value,
        table.cell_weight,
        table.values,
    )


def _split(
    table: Table,
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    axis: NDArray[np.int64],
    code: NDArray[np.int64],
) -> NDArray[np.int64]:
    from sfumato.methods.partition.cuts import split

    return split(table.points, order, starts, ends, axis, code)


def _numbered(
    order: NDArray[np.int64], finished: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
) -> NDArray[np.int64]:
    """The class of each point, numbered by smallest point: points rise, so this is the order of the boxes."""
    starts = np.sort(np.concatenate([starts for starts, _ in finished]))
    in_order = np.zeros(len(order), dtype=np.int64)
    in_order[starts[1:]] = 1
    class_of = np.empty(len(order), dtype=np.int64)
    class_of[order] = np.cumsum(in_order)
    _, first, renumbered = np.unique(class_of, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[renumbered.reshape(-1)]
