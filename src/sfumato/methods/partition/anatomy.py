"""Anatomy (Xiao and Tao, 2006): exact quasi-identifiers in one table, sensitive values per bucket in another.

Each bucket takes one row of each of the ℓ commonest sensitive values left. Which row of a value is taken is
drawn at random: were rows taken in a known order, the buckets together would tell who has which value.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.data import Table
from sfumato.errors import UnsatisfiableError
from sfumato.mechanisms.noise import Source
from sfumato.methods.base import Method, refuse_kept_columns
from sfumato.parameters import parameter
from sfumato.privacy.claims import Syntactic
from sfumato.privacy.requirements import DistinctLDiversity, LDiversity
from sfumato.release.boxes import Boxes
from sfumato.release.release import Release

L_GRID = (2, 3, 4, 6, 10)


@dataclass(frozen=True, kw_only=True)
class Anatomy(Method):
    """Buckets of at least `l` rows whose sensitive values all differ.

    Claim: in every bucket each sensitive value has a share of at most 1/l.
    Assumes: the adversary knows the quasi-identifiers and nothing else.
    Cost: O(rows).
    Reference: Xiao and Tao, Anatomy: simple and effective privacy preservation, VLDB 2006.

    >>> ill = [row for row in sf.residents(400).to_dicts() if row["condition"] != "Healthy"]
    >>> release = sf.Anatomy(l=2).publish(sf.read(ill, schema="town.toml"))
    """

    name: ClassVar[str] = "anatomy"
    title: ClassVar[str] = "Anatomy"
    takes_several: ClassVar[bool] = False
    randomized: ClassVar[bool] = True
    l: int = parameter(help="how many different sensitive values a bucket has", minimum=2, example=3)

    def _publish(self, table: Table, source: Source) -> Release:
        refuse_kept_columns(table, "Anatomy takes rows apart; use Mondrian or another role")
        if table.overall.max() * self.l > table.n:
            commonest = table.schema.sensitive.labels[int(table.overall.argmax())]
            raise UnsatisfiableError(
                f"no buckets of this table can be {self.l}-diverse: the sensitive value {commonest!r} has "
                f"{table.overall.max() / table.n:.1%} of the rows, above 1/{self.l}"
            )
        bucket_of_row = fill_buckets(table.overall, self.l)
        buckets = int(bucket_of_row.max()) + 1
        bucket_of_row = source.permutation(buckets)[bucket_of_row]
        point, value = _shuffled_rows(table, source)
        pairs, weights = np.unique(point * buckets + bucket_of_row, return_counts=True)
        points, group_of = np.divmod(pairs, buckets)
        boxes, weights = Boxes.of_points(table.points[points]), weights.astype(np.float64)
        counts = np.bincount(bucket_of_row * table.values + value, minlength=buckets * table.values)
        histograms = counts.reshape(buckets, table.values).astype(np.float64)
        return self.make_release(table, boxes, histograms, weights=weights, group_of=group_of, layout="buckets")

    @property
    def claim(self) -> Syntactic:
        return Syntactic(requirements=(LDiversity(l=self.l), DistinctLDiversity(l=self.l)), buckets=True)

    @classmethod
    def grid(cls, table: Table, epsilons: Sequence[float] = ()) -> Iterator[Self]:
        table = table.people
        if not table.schema.keep:
            yield from (cls(l=l) for l in L_GRID if l * table.overall.max() <= table.n)


def _shuffled_rows(table: Table, source: Source) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The point and sensitive value of every row, by value, in random order within each value."""
    order = source.permutation(table.n)
    point = np.repeat(table.cell_point, table.cell_weight)[order]
    value = np.repeat(table.cell_value, table.cell_weight)[order]
    by_value = np.argsort(value, kind="stable")
    return point[by_value], value[by_value]


@compiled
def fill_buckets(overall: NDArray[np.int64], l: int) -> NDArray[np.int64]:
    """The bucket of each row when rows are listed by value: `l` rows of different values in each, or a few more.

    While `l` values have rows left, a bucket takes one row of each of the `l` commonest. The rows that remain
    are of different values, one each, and join buckets that do not hold their value yet; such buckets exist
    whenever no value exceeds a share of 1/l (Xiao and Tao, 2006, property 3).
    """
    left, starts = overall.copy(), np.cumsum(overall) - overall
    following = starts.copy()
    bucket_of_row = np.full(overall.sum(), -1, dtype=np.int64)
    bucket = 0
    while np.count_nonzero(left) >= l:
        for value in np.argsort(-left, kind="mergesort")[:l]:
            bucket_of_row[following[value]] = bucket
            following[value] += 1
            left[value] -= 1
        bucket += 1
    for value in range(len(overall)):
        free = np.ones(bucket, dtype=np.bool_)
        free[bucket_of_row[starts[value] : following[value]]] = False
        others = np.flatnonzero(free)[: left[value]]
        if len(others) < left[value]:
            raise ValueError("a value has more rows than buckets can take one of")
        bucket_of_row[following[value] : following[value] + left[value]] = others
    return bucket_of_row
