"""What recipients will do with synthetic rows, as far as it tells which tables to measure: what they predict and ask.

A table that holds the column to predict counts more when one is chosen, and is measured with less noise; so is one that
joins columns which questions join, the more the oftener they do. It looks at the schema and at what was asked alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Self

from sfumato.errors import ParameterError
from sfumato.methods.models.junction import Attributes
from sfumato.release.query import parse_queries
from sfumato.schema import Axis

PLAIN, WANTED = 4, 6
"""What an error counts in a table that nobody asked for, and in one that is wanted most, where anything is."""
DEAREST = 4
"""How many times the price of others a table is measured for at most."""


@dataclass(frozen=True)
class Interest:
    """How often each pair of columns is wanted, by their names, and the column that is predicted."""

    predicted: str | None = None
    pairs: tuple[tuple[str, str, int], ...] = ()

    @classmethod
    def of(cls, predicted: str | None, texts: Sequence[str], axes: Sequence[Axis]) -> Self:
        """What is asked of a table with such axes; refuses columns that it does not have."""
        if predicted is not None:
            check_column(predicted, axes)
        found: dict[tuple[str, str], int] = {}
        for query in parse_queries(texts, axes):
            for one, other in combinations(sorted(query.axes), 2):
                found[one, other] = found.get((one, other), 0) + 1
        return cls(predicted, tuple((*pair, count) for pair, count in sorted(found.items())))


NOTHING = Interest()


class Weighing:
    """What an error in a table over some attributes counts, and how much dearer than others the table is measured."""

    def __init__(self, interest: Interest, names: Sequence[str], rounds: int, common: Attributes = ()) -> None:
        place = {name: number for number, name in enumerate(names)}
        self.predicted = None if interest.predicted is None else place.get(interest.predicted)
        self.pairs = {
            frozenset((place[one], place[other])): count
            for one, other, count in interest.pairs
            if one in place and other in place
        }
        with_predicted = math.comb(len(names), 2) if self.predicted in common else len(names) - 1
        wanted = len(self.pairs) + with_predicted * (self.predicted is not None)
        self.plain, self.most = (PLAIN, WANTED) if wanted else (1, 1)
        self.dearest = min(max(rounds // wanted, 1), DEAREST) if wanted else 1

    def weight(self, attributes: Attributes) -> int:
        """A whole number from `plain` to `most`: plain + ⌈(most − plain) · share⌉."""
        return self.plain + math.ceil((self.most - self.plain) * self._share(attributes))

    def times(self, attributes: Attributes) -> int:
        """How many times the price of a plain table is paid: 1 + ⌊(dearest − 1) · share⌋.

        The dearest leaves as many rounds as tables are wanted: all of them, where the predicted attribute is common.
        """
        return 1 + math.floor((self.dearest - 1) * self._share(attributes))

    def _share(self, attributes: Attributes) -> Fraction:
        """How much a table is wanted: wholly if it has the predicted attribute, else as its pair asked for most is."""
        if self.predicted in attributes:
            return Fraction(1)
        asked = max((self.pairs.get(frozenset(pair), 0) for pair in combinations(attributes, 2)), default=0)
        return Fraction(asked, max(self.pairs.values())) if asked else Fraction(0)


def check_column(column: str, axes: Sequence[Axis]) -> None:
    """Refuse to predict a column that a table does not have."""
    names = [axis.name for axis in axes]
    if column not in names:
        raise ParameterError(f"there is no column {column!r} to predict; expected one of {', '.join(names)}")
