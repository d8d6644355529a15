"""Combinations that cannot occur, as a schema declares them in the language of queries.

`impossible = ["age < 15 and marital = Married"]` says that no row is like that, which is public knowledge and no fact
about the rows of a table. A row is possible if it is in none of the combinations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import QueryError, SchemaError, quote
from sfumato.schema.axis import Axis
from sfumato.schema.codes import Codes
from sfumato.schema.conditions import read_conditions

MAX_COMBINATIONS = 1_000
MAX_SEARCH = 20_000
"""Regions looked at for a row that is possible."""


@dataclass(frozen=True)
class Combination:
    """What a declaration rules out, or one of several disjoint parts of that: rows that lie among `allowed` on every
    axis that it names, by the axis' place."""

    text: str
    allowed: Mapping[int, Codes]

    def holds(self, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which rows of codes (rows, axes), −1 for the missing value, are like that."""
        found = np.ones(len(codes), dtype=np.bool_)
        for place, allowed in self.allowed.items():
            found &= allowed.hold(codes[:, place].astype(np.int32))
        return found


def parse_combinations(text: str, axes: Sequence[Axis]) -> tuple[Combination, ...]:
    """The combinations that a text in a schema declares: one, unless it has alternatives."""
    try:
        found = read_conditions(text, axes)
    except QueryError as error:
        raise SchemaError(f"impossible holds {quote(text)}, but {error}") from error
    places = {axis.name: place for place, axis in enumerate(axes)}
    return tuple(Combination(text, {places[name]: codes for name, codes in box.items()}) for box in found.boxes)


def find_possible(axes: Sequence[Axis], combinations: Sequence[Combination]) -> tuple[int, ...]:
    """The codes of a row that is possible; refuses combinations that leave none.

    A region of rows that meets a combination is narrowed on one of its axes, on each in turn, until it meets none.
    """
    if len(combinations) > MAX_COMBINATIONS:
        raise SchemaError(f"impossible holds {len(combinations)} conditions; expected at most {MAX_COMBINATIONS:,}")
    waiting = [([Codes.of([axis.everything]) for axis in axes], 0)]
    for _ in range(MAX_SEARCH):
        if not waiting:
            raise SchemaError("impossible rules out every row; leave a condition out or make one narrower")
        region, avoided = waiting.pop()
        while avoided < len(combinations) and not _meets(region, combinations[avoided]):
            avoided += 1
        if avoided == len(combinations):
            return tuple(codes.runs[0][0] if codes.runs else -1 for codes in region)
        for place, codes in combinations[avoided].allowed.items():
            rest = region[place].without(codes, axes[place])
            if rest.runs or rest.missing:
                waiting.append(([*region[:place], rest, *region[place + 1 :]], avoided + 1))
    raise SchemaError("impossible overlaps in too many ways to tell whether any row is left; declare fewer conditions")


def _meets(region: Sequence[Codes], combination: Combination) -> bool:
    """Whether some row of a region is like that."""
    common = (region[place] & codes for place, codes in combination.allowed.items())
    return all(codes.runs or codes.missing for codes in common)
