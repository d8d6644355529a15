"""The people a release is judged by, and what anybody could tell about them who has other people's exact rows.

The table is cut into two halves; who is in one is judged by a model that learned from the other, as sure as people show
that it may be. It depends on the table alone, so it is made once for all releases of it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.measures.attacks.experience import Experience
from sfumato.measures.attacks.forest import Codes, Examples, Floats, Forest
from sfumato.privacy.distances import shares
from sfumato.streams import stream

MAX_PEOPLE = 50_000
"""Of a larger table, so many people are judged and so many rows learned from, drawn with a fixed seed."""
SEED = 1
TREES = 60
ROUNDS = 20

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Panel:
    """Groups of people alike: the point of each, their values, and what others' rows tell of them.

    `people` and `control` are (groups, values), `prior` is everybody's distribution, `secret` says which values are,
    and each person `stands_for` so many of the table.
    """

    points: Codes
    point_of: Counts
    people: Counts
    control: Floats
    prior: Floats
    secret: NDArray[np.bool_]
    stands_for: float = 1.0


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
    prior, judges = shares(table.overall), Experience(people=np.concatenate(people).astype(np.float64))
    expected = np.tile(prior, (len(judges.people), 1))
    return Panel(
        points=table.points[some],
        point_of=np.concatenate(point_of),
        people=np.concatenate(people),
        control=_agreeing(
            judges.sure(judges.follow(expected, np.concatenate(learned))), judges.people.sum(axis=1), prior
        ),
        prior=prior,
        secret=table.schema.sensitive.secret,
        stands_for=table.n / judges.people.sum(),
    )


def _draw(weights: Counts, size: int, generator: np.random.Generator) -> Counts:
    """So many of the people of all cells, or all."""
    if weights.sum() <= size:
        return weights
    return generator.multivariate_hypergeometric(weights, size, method="marginals")


def _learned(table: Table, weights: Counts, points: Codes) -> Floats:
    """What a forest believes at some points that learned from so many rows of each cell."""
    taught, place = np.unique(table.cell_point[weights > 0], return_inverse=True)
    if not len(taught):
        return np.tile(shares(table.overall), (len(points), 1))
    counts = np.zeros((len(taught), table.values))
    np.add.at(counts, (place, table.cell_value[weights > 0]), weights[weights > 0])
    examples = Examples(codes=table.points[taught], counts=counts)
    return Forest(trees=TREES, seed=SEED).beliefs(table.schema.quasi, examples, points)


def _agreeing(beliefs: Floats, people: Floats, prior: Floats) -> Floats:
    """Beliefs about so many people each, changed in proportion until they say of everybody what is true."""
    found = beliefs
    for _ in range(ROUNDS):
        mean = shares(people @ found)
        found = shares(found * np.divide(prior, mean, out=np.zeros_like(prior), where=mean > 0))
    return found
