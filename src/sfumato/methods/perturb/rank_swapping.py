"""Rank swapping (Moore, 1996): values of a column change places with values of nearly the same rank."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from sfumato.data import Table
from sfumato.mechanisms.noise import Source
from sfumato.methods.perturb.perturbation import Perturbation, Rows
from sfumato.parameters import parameter
from sfumato.privacy.claims import NoGuarantee

TRIED = 0.1
"""The range that a frontier tries."""


@dataclass(frozen=True, kw_only=True)
class RankSwapping(Perturbation):
    """Every value of a quasi-identifier swapped with one whose rank is at most a share `range` of all rows away.

    Each column is swapped by itself, so counts of single columns stay exact, and the smaller the range the more is
    left of how columns go together. Equal values are ranked at random, categories in tree order, missing values last.

    Claim: none.
    Assumes: nothing.
    Cost: O(rows × axes × log rows).
    Reference: Moore, Controlled data-swapping techniques for masking public use microdata sets, 1996.

    >>> sf.RankSwapping(range=0.1).publish(table).rows
    400.0
    """

    name: ClassVar[str] = "rank-swapping"
    title: ClassVar[str] = "Rank swapping"
    range: float = parameter(
        help="how far apart the ranks of swapped values are at most, as a share of all rows",
        above=0,
        maximum=1,
        example=0.1,
        label=" {:g}",
    )

    def _changed(self, table: Table, positions: Rows, source: Source) -> dict[int, Rows]:
        return {number: self._swapped(column, source) for number, column in enumerate(positions.T)}

    def _swapped(self, column: Rows, source: Source) -> Rows:
        shuffled = source.permutation(len(column))
        ranked = shuffled[np.argsort(column[shuffled], kind="stable")]
        most = int(self.range * len(column))
        partner = swap_partners(len(column), most, source.uniforms(len(column)))
        found = np.empty_like(column)
        found[ranked] = column[ranked[partner]]
        return found

    @property
    def claim(self) -> NoGuarantee:
        return NoGuarantee(
            reason=f"values were swapped with others within {self.range:.3g} of all ranks, each column by itself; who "
            "knows several values of a person may still find the row that is nearest to them"
        )

    @classmethod
    def grid(cls, table: Table, epsilons: Sequence[float] = ()) -> Iterator[Self]:
        if cls.suits(table):
            yield cls(range=TRIED)


def swap_partners(count: int, most: int, draws: np.typing.NDArray[np.float64]) -> Rows:
    """Whom each rank swaps with, at most so many ranks away; itself where nobody near is left.

    Ranks choose in turn, with a draw of [0, 1) each, among those that follow and have not been chosen.
    """
    partner = list(range(count))
    free = bytearray(b"\1") * count
    for rank, draw in enumerate(draws.tolist()):
        near = min(most, count - 1 - rank)
        if not free[rank] or near < 1:
            continue
        start = rank + 1 + int(draw * near)
        other = free.find(1, start, rank + 1 + near)
        if other < 0:
            other = free.find(1, rank + 1, start)
        if other >= 0:
            partner[rank], partner[other] = other, rank
            free[rank] = free[other] = 0
    return np.array(partner, dtype=np.int64)
