"""What the papers' query workloads can mean: every reading of their words as queries on a table.

cormode2013 asks about half of the domain of every attribute, li2009 about conditions of a given selectivity; neither
says how that becomes whole values.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from sfumato.data import Table
from sfumato.measures.workloads.range_counts import Queries, draw

HALVES: dict[str, Callable[[int], int]] = {
    "half of the values": lambda values: math.ceil(values / 2),
    "closed ranges": lambda values: min(values, values // 2 + 1),
    "two values left free": lambda values: values if values == 2 else round(values / 2),
}
"""How many of an attribute's values a range over half of its domain covers."""
OF_DOMAIN, ROUNDED, OF_ATTRIBUTE = "of the domain, rounded up", "of the domain, rounded", "of each attribute"
SELECTIVITIES = (OF_DOMAIN, ROUNDED, OF_ATTRIBUTE)
"""What a selectivity is a share of, and how it becomes whole values."""
ROUNDING = 1e-9


def half_domain(table: Table, reading: str, seed: int, count: int) -> Queries:
    """Queries for a range over half of the domain of every attribute, the sensitive one too."""
    halves = [HALVES[reading](axis.positions) for axis in table.schema.axes]
    return _drawn(table, (half_domain, reading, seed, count), count, seed, lambda _: halves)


def conjunctions(table: Table, reading: str, seed: int, count: int, *, dimensions: int, selectivity: float) -> Queries:
    """Queries with conditions on some quasi-identifiers and on the sensitive attribute."""
    sizes = [axis.positions for axis in table.schema.axes]
    share = selectivity if reading == OF_ATTRIBUTE else selectivity ** (1 / (dimensions + 1))

    def width(size: int) -> int:
        return max(1, round(share * size)) if reading == ROUNDED else math.ceil(share * size - ROUNDING)

    def lengths(generator: np.random.Generator) -> Sequence[int]:
        chosen = {*generator.choice(len(sizes) - 1, size=dimensions, replace=False).tolist(), len(sizes) - 1}
        return [width(size) if place in chosen else size for place, size in enumerate(sizes)]

    key = (conjunctions, reading, seed, count, dimensions, selectivity)
    return _drawn(table, key, count, seed, lengths)


def _drawn(
    table: Table,
    key: tuple[object, ...],
    count: int,
    seed: int,
    lengths: Callable[[np.random.Generator], Sequence[int]],
) -> Queries:
    queries: Queries = table.remember(key, lambda: draw(table, count, seed, lengths))
    return queries


def selectivity_of(table: Table, queries: Queries) -> float:
    """The share of people that the median query is about."""
    return float(np.median(queries.truth)) / table.n
