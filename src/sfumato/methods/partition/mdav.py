"""Microaggregation (Domingo-Ferrer and Mateo-Sanz, 2002): people in small groups of neighbours, published alike.

As Domingo-Ferrer and Torra (2005) do with k-anonymity in mind, by the maximum distance to the average (MDAV). What a
group is published as is either the tightest range around it, or the mean of its numbers and its commonest categories.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.errors import UnsatisfiableError
from sfumato.mechanisms.noise import Source
from sfumato.methods.base import Method
from sfumato.methods.partition.microaggregate import microaggregate
from sfumato.methods.partition.requiring import sizes_for
from sfumato.methods.positions import positions_of
from sfumato.parameters import parameter
from sfumato.privacy.claims import Syntactic
from sfumato.privacy.requirements import KAnonymity
from sfumato.release.boxes import Boxes
from sfumato.release.envelope import MEAN
from sfumato.release.histograms import histograms_of
from sfumato.release.release import Release
from sfumato.schema import Axis

K_GRID = (5, 20, 100)


@dataclass(frozen=True, kw_only=True)
class MDAV(Method):
    """Groups of k to 2k − 1 people who are near each other on all quasi-identifiers together.

    People who look alike are in one group, however many they are; where that leaves over fewer than k, those join the
    nearest groups. Distances are Euclidean, each column taken as a share of its range and categories in tree order.
    With `recoding` `mean` everybody in a group has the mean of its numbers and the commonest of its categories.

    Claim: every published class has at least k people.
    Assumes: the adversary knows the quasi-identifiers and nothing else.
    Cost: O(points² / k) up to 4,096 points; larger tables are cut into blocks of at most so many, and cost
    O(points · 4,096 / k).
    Reference: Domingo-Ferrer and Torra, Ordinal, continuous and heterogeneous k-anonymity through microaggregation,
    2005.

    >>> bool(sf.MDAV(k=10).publish(table).weights.min() >= 10)
    True
    """

    name: ClassVar[str] = "mdav"
    title: ClassVar[str] = "MDAV"
    k: int = parameter(help="at least this many people in a class", minimum=1, example=10)
    recoding: Literal["range", "mean"] = parameter(
        default="range",
        help="the tightest ranges around each group (range, the default), or its means and commonest categories (mean)",
        label=" {}",
    )

    def _publish(self, table: Table, source: Source) -> Release:
        if table.n < self.k:
            raise UnsatisfiableError(f"the table has {table.n:,} rows, too few for a class of {self.k:,}")
        positions = positions_of(table)
        scale = np.array([max(axis.positions - 1, 1) for axis in table.schema.quasi])
        group_of = microaggregate(positions / scale, table.weights, self.k)
        groups = int(group_of.max()) + 1
        if self.recoding == MEAN:
            boxes = Boxes.of_points(means(positions, table.weights, group_of, table.schema.quasi))
        else:
            boxes = Boxes.around(table.points, group_of, groups)
        sides = np.hstack([boxes.lo, boxes.hi, boxes.missing])
        _, first, alike = np.unique(sides, axis=0, return_index=True, return_inverse=True)
        class_of = alike.reshape(-1)[group_of]
        number = class_of[table.cell_point]
        histograms = histograms_of(number, table.cell_value, table.cell_weight, len(first), table.values)
        return self.make_release(table, boxes[first], histograms, kept=table.kept_rows(class_of))

    @property
    def claim(self) -> Syntactic:
        claim = Syntactic(requirements=(KAnonymity(k=self.k),))
        if self.recoding != MEAN:
            return claim
        return claim.assuming(
            "published values are the means and commonest values of classes, and need not be anybody's"
        )

    @classmethod
    def grid(cls, table: Table, epsilons: Sequence[float] = ()) -> Iterator[Self]:
        yield from (cls(k=k) for k in sizes_for(table.people, K_GRID))


def means(
    positions: NDArray[np.int32], rows: NDArray[np.int64], group_of: NDArray[np.int64], axes: Sequence[Axis]
) -> NDArray[np.int32]:
    """The mean of the numbers and the commonest category of each group; missing where at least half of a number is."""
    columns = zip(axes, positions.T, strict=True)
    return np.column_stack(
        [
            _mean(column, rows, group_of, axis.size)
            if axis.kind == "numeric"
            else _commonest(column, rows, group_of, axis)
            for axis, column in columns
        ]
    ).astype(np.int32)


def _mean(
    column: NDArray[np.int32], rows: NDArray[np.int64], group_of: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    known, groups = column < size, int(group_of.max()) + 1
    weight = np.bincount(group_of[known], rows[known], groups)
    total = np.bincount(group_of[known], rows[known] * column[known].astype(np.float64), groups)
    mean = np.floor(total / np.maximum(weight, 1) + 0.5).astype(np.int64)
    return np.where(2 * weight > np.bincount(group_of, rows, groups), mean, -1)


def _commonest(
    column: NDArray[np.int32], rows: NDArray[np.int64], group_of: NDArray[np.int64], axis: Axis
) -> NDArray[np.int64]:
    keys, place = np.unique(group_of * (axis.size + 1) + column, return_inverse=True)
    weight = np.bincount(place.reshape(-1), rows, len(keys))
    group, value = np.divmod(keys, axis.size + 1)
    best = np.lexsort((value, -weight, group))
    first = best[np.unique(group[best], return_index=True)[1]]
    return np.where(value[first] == axis.size, -1, value[first])
