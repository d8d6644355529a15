"""The people a release is judged by, and what anybody could tell about them who has other people's exact rows.

The table is cut into two halves; who is in one is judged by a model that learned from the other, followed as far as
the reverse, a model of the first half about the second, turned out to be right. It depends on the table alone, so it is
made once for all releases of it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.measures.attacks.forest import Codes, Floats, Forest, WeightedRows
from sfumato.measures.attacks.tempering import Known, agree
from sfumato.privacy.distances import shares
from sfumato.streams import stream

MAX_PEOPLE = 50_000
"""Of a larger table, so many people are judged and so many rows learned from, drawn with a fixed seed."""
SEED = 1
TREES = 60

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Panel:
    """Groups of people alike: the point of each, their values, and what others' rows tell of them.

    `people` and `control` are (groups, values), `prior` is everybody's distribution, `secret` says which values are.
    """

    points: Codes
    point_of: Counts
    people: Counts
    control: Floats
    prior: Floats
    secret: NDArray[np.bool_]


def panel_of(table: Table) -> Panel:
    """The panel of a table, made once."""
    found: Panel = table.remember(panel_of, lambda: _make(table))
    return found


def _make(table: Table) -> Panel:
    generator = stream("panel", SEED)
    first = _draw(table.cell_weight, table.n // 2, generator)
    halves = (first, table.cell_weight - first)
    judged = [_draw(half, MAX_PEOPLE // 2, generator) for half in halves]
    taught = [_draw(half, MAX_PEOPLE, generator) for half in halves]
    some = np.unique(table.cell_point[(judged[0] + judged[1]) > 0])
    number = np.zeros(len(table.points), dtype=np.int64)
    number[some] = np.arange(len(some))
    point_of, people, learned = [], [], []
    for half, others in zip(judged, reversed(taught), strict=True):
        counts = np.zeros((len(some), table.values), dtype=np.int64)
        np.add.at(counts, (number[table.cell_point], table.cell_value), half)
        there = np.flatnonzero(counts.sum(axis=1))
        point_of.append(there)
        people.append(counts[there])
        learned.append(_learned(table, others, table.points[some[there]]))
    prior = shares(table.overall)
    control = [
        Known(beliefs=theirs, counts=others.astype(np.float64)).calibrate(mine, prior)
        for mine, theirs, others in zip(learned, reversed(learned), reversed(people), strict=True)
    ]
    return Panel(
        points=table.points[some],
        point_of=np.concatenate(point_of),
        people=np.concatenate(people),
        control=agree(np.concatenate(control), np.concatenate(people).sum(axis=1).astype(np.float64), prior),
        prior=prior,
        secret=table.schema.sensitive.secret,
    )


def _draw(weights: Counts, size: int, generator: np.random.Generator) -> Counts:
    """So many of the people of all cells, or all."""
    if weights.sum() <= size:
        return weights
    return generator.multivariate_hypergeometric(weights, size, method="marginals")


def _learned(table: Table, weights: Counts, points: Codes) -> Floats:
    """What a forest believes at some points that learned from so many rows of each cell."""
    taught = weights > 0
    if not taught.any():
        return np.tile(shares(table.overall), (len(points), 1))
    rows = WeightedRows(
        codes=table.points[table.cell_point[taught]],
        values=table.cell_value[taught].astype(np.int64),
        weights=weights[taught].astype(np.float64),
    )
    return Forest(trees=TREES, seed=SEED).beliefs(table.schema.quasi, rows, points, table.values)
