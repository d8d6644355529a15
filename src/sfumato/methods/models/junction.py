"""Junction trees: the cliques of a triangulated graph of attributes, joined so that inference over them is exact.

Attributes that appear in one table are joined by an edge. Eliminating attributes one by one, the one with the smallest
table of neighbours first, triangulates the graph; its greatest cliques, joined by their largest separators, form the
tree (Lauritzen and Spiegelhalter, 1988). It looks at the sizes of attributes and at which tables there are alone, never
at rows.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled

Attributes = tuple[int, ...]
"""Numbers of attributes, rising."""


@dataclass(frozen=True, eq=False)
class JunctionTree:
    """Cliques in an order in which each but the first follows its parent, with which it shares its separator."""

    sizes: tuple[int, ...]  # bins of every attribute
    cliques: tuple[Attributes, ...]
    parents: tuple[int, ...]  # −1 for the first
    separators: tuple[Attributes, ...]

    @classmethod
    def over(cls, sizes: Sequence[int], tables: Iterable[Attributes]) -> Self:
        """The tree in which the attributes of every table are part of one clique."""
        cliques = _greatest(_eliminate(edges_of(len(sizes), tables), np.log(sizes)))
        parents, order = _join(cliques)
        place = {clique: number for number, clique in enumerate(order)}
        ordered = tuple(cliques[clique] for clique in order)
        found = tuple(place[parents[clique]] if parents[clique] >= 0 else -1 for clique in order)
        separators = tuple(
            tuple(sorted(set(clique) & set(ordered[parent]))) if parent >= 0 else ()
            for clique, parent in zip(ordered, found, strict=True)
        )
        return cls(tuple(sizes), ordered, found, separators)

    @property
    def cells(self) -> int:
        """Of all cliques together."""
        return sum(self.table_size(clique) for clique in self.cliques)

    def table_size(self, attributes: Attributes) -> int:
        """How many cells a table over some attributes has."""
        return math.prod(self.sizes[attribute] for attribute in attributes)

    def home_of(self, attributes: Attributes) -> int:
        """The smallest clique that holds the attributes."""
        holding = [number for number, clique in enumerate(self.cliques) if set(attributes) <= set(clique)]
        return min(holding, key=lambda number: self.table_size(self.cliques[number]))

    def cell_map(self, clique: int, attributes: Attributes) -> NDArray[np.int32]:
        """For each cell of a clique, its cell in the table over some of its attributes."""
        held = self.cliques[clique]
        cells = np.zeros([self.sizes[attribute] for attribute in held], dtype=np.int32)
        for attribute in attributes:
            along = [-1 if other == attribute else 1 for other in held]
            cells = cells * self.sizes[attribute] + np.arange(self.sizes[attribute], dtype=np.int32).reshape(along)
        return cells.reshape(-1)


def edges_of(attributes: int, tables: Iterable[Attributes]) -> NDArray[np.bool_]:
    """Which attributes appear in one table: (attributes, attributes)."""
    joined = np.zeros((attributes, attributes), dtype=np.bool_)
    for table in tables:
        for one, other in combinations(table, 2):
            joined[one, other] = joined[other, one] = True
    return joined


@compiled
def edges_within(joined: NDArray[np.bool_], log_sizes: NDArray[np.float64], limit: float) -> NDArray[np.bool_]:
    """Which attributes are joined, or could be without all tables of an elimination having more than `limit` cells."""
    found = joined.copy()
    for one in range(len(log_sizes)):
        for other in range(one + 1, len(log_sizes)):
            if not joined[one, other]:
                graph, left = joined.copy(), np.ones(len(log_sizes), dtype=np.bool_)
                graph[one, other] = graph[other, one] = True
                total, place = 0.0, 0
                while total <= limit and place < len(log_sizes):
                    vertex, weight = _lightest(graph, left, log_sizes)
                    total += math.exp(weight)
                    _remove(graph, left, vertex)
                    place += 1
                found[one, other] = found[other, one] = total <= limit
    return found


@compiled
def _lightest(graph: NDArray[np.bool_], left: NDArray[np.bool_], log_sizes: NDArray[np.float64]) -> tuple[int, float]:
    """The attribute whose table with its neighbours is smallest, and the logarithm of that table's size."""
    best, least = -1, math.inf
    for vertex in range(len(left)):
        if left[vertex]:
            weight = log_sizes[vertex]
            for other in range(len(left)):
                if left[other] and graph[vertex, other]:
                    weight += log_sizes[other]
            if weight < least:
                best, least = vertex, weight
    return best, least


@compiled
def _remove(graph: NDArray[np.bool_], left: NDArray[np.bool_], vertex: int) -> None:
    """Take an attribute out, its neighbours joined to each other."""
    left[vertex] = False
    for one in range(len(left)):
        if left[one] and graph[vertex, one]:
            for other in range(len(left)):
                if other != one and left[other] and graph[vertex, other]:
                    graph[one, other] = True


def _eliminate(joined: NDArray[np.bool_], log_sizes: NDArray[np.float64]) -> list[set[int]]:
    """Each attribute with its neighbours at the time it is taken out."""
    graph, left = joined.copy(), np.ones(len(log_sizes), dtype=np.bool_)
    found = []
    for _ in range(len(log_sizes)):
        vertex, _ = _lightest(graph, left, log_sizes)
        found.append({vertex, *map(int, np.flatnonzero(graph[vertex] & left))})
        _remove(graph, left, vertex)
    return found


def _greatest(sets: list[set[int]]) -> list[Attributes]:
    """The sets that no other contains."""
    kept: list[set[int]] = []
    for one in sorted(sets, key=len, reverse=True):
        if not any(one <= other for other in kept):
            kept.append(one)
    return [tuple(sorted(one)) for one in kept]


def _join(cliques: Sequence[Attributes]) -> tuple[list[int], list[int]]:
    """Every clique's parent, and an order that begins with a root: a spanning tree of the largest separators."""
    shared = np.array([[len(set(one) & set(other)) for other in cliques] for one in cliques])
    parents, order = [-1] * len(cliques), [0]
    waiting = set(range(1, len(cliques)))
    while waiting:
        child, parent = max(((child, known) for child in waiting for known in order), key=lambda pair: shared[pair])
        parents[child] = parent
        order.append(child)
        waiting.remove(child)
    return parents, order
