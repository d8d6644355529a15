"""An attribute as an integer axis: the idea that lets every method be written once.

Values are numbered `0..size-1`; a missing value has the code `MISSING`. A generalized value is an interval
`lo..hi` of codes plus whether the missing value is in it; `lo = 0, hi = -1` is the empty interval.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError, SchemaError, quote
from sfumato.schema.taxonomy import ANY, Node

MISSING = -1
UNKNOWN = -2
MISSING_LABEL = "(missing)"
PRESENT_LABEL = "(present)"
OR_MISSING = f" or {MISSING_LABEL}"
RESERVED_LABELS = frozenset({ANY, MISSING_LABEL, PRESENT_LABEL})
REFUSE = "refuse"
AS_MISSING = "missing"
CLIP = "clip"
ROUND = "round"


class Span(NamedTuple):
    """A generalized value: the codes `lo..hi`, and the missing value if `missing`."""

    lo: int
    hi: int
    missing: bool


@dataclass(frozen=True, kw_only=True)
class Axis(ABC):
    """One attribute: how its values are numbered, spelled and grouped.

    `off_schema` says what becomes of a value that is off the axis, and of a missing one if the axis is not nullable:
    a word or a value that stands for all such. Without one, such a value is refused. `harmless` are the labels of
    values that are no secret though the attribute is sensitive, such as "not applicable".
    """

    name: str
    nullable: bool = False
    off_schema: str = ""
    harmless: tuple[str, ...] = ()
    kind: ClassVar[str]
    spaced: ClassVar[bool] = False
    """Whether values lie on a line, as numbers and dates do, so that the difference of two codes tells how far apart
    they are; the neighbours of others are merely put side by side."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many values there are, the missing one not counted."""

    @property
    @abstractmethod
    def taxonomy(self) -> Node:
        """The tree over the values; its root covers all of them."""

    @property
    @abstractmethod
    def expected(self) -> str:
        """What a value of this axis looks like, for error messages."""

    @abstractmethod
    def encode(self, values: Sequence[object] | NDArray[np.float64]) -> NDArray[np.int32]:
        """The code of each value, `UNKNOWN` where it does not lie on the axis."""

    def place(self, codes: NDArray[np.int32], values: Sequence[object] | NDArray[np.float64]) -> NDArray[np.int32]:
        """The codes of values, with those that are off the axis where `off_schema` puts them."""
        off = codes == UNKNOWN
        if not self.nullable:
            off |= codes == MISSING
        if not self.off_schema or not off.any():
            return codes
        return np.where(off, self._stand_ins(codes, values), codes).astype(np.int32)

    @abstractmethod
    def _stand_ins(
        self, codes: NDArray[np.int32], values: Sequence[object] | NDArray[np.float64]
    ) -> int | NDArray[np.int32]:
        """The code that stands for each value, should it be off the axis."""

    @abstractmethod
    def spec(self) -> dict[str, Any]:
        """The axis as a schema file spells it, without references to other files."""

    @abstractmethod
    def _spell(self, lo: int, hi: int) -> str:
        """The label of `lo..hi`, where that is not the whole axis."""

    @abstractmethod
    def _parse_values(self, text: str) -> tuple[int, int] | None:
        """The interval that a label without missing part stands for, `None` if it has no meaning here."""

    @property
    def refuses(self) -> bool:
        """Whether there are values that are refused, whatever `off_schema` says."""
        return not self.off_schema

    @property
    def positions(self) -> int:
        """How many values there are, the missing one counted."""
        return self.size + self.nullable

    @property
    def parts(self) -> tuple["Axis", ...]:
        """The columns that the axis stands for: itself, or several."""
        return (self,)

    def apart(self, positions: NDArray[np.integer]) -> list[NDArray[np.int32]]:
        """The code of each position in every column, `MISSING` where there is no value."""
        found = []
        for axis in reversed(self.parts):
            positions, place = np.divmod(positions, axis.positions)
            found.append(np.where(place < axis.size, place, MISSING).astype(np.int32))
        return found[::-1]

    def together(self, codes: Sequence[NDArray[np.integer]]) -> NDArray[np.int32]:
        """The position that codes of every column make up, a missing value coming last; the inverse of `apart`."""
        found = np.zeros(len(codes[0]), dtype=np.int32)
        for axis, column in zip(self.parts, codes, strict=True):
            found = found * axis.positions + np.where(column < 0, axis.size, column).astype(np.int32)
        return found

    @property
    def comparable(self) -> bool:
        """Whether one value can be said to lie below another."""
        return self.spaced

    def count_below(self, text: str, *, inclusive: bool) -> int | None:
        """How many values lie below the one that a text spells, or at it if `inclusive`; `None` if it spells none."""
        interval = self._parse_values(text.strip())
        if interval is None:
            return None
        return interval[1] + 1 if inclusive else interval[0]

    @property
    def levels_above(self) -> int:
        """By how many levels the axis can be coarsened."""
        return 0

    def coarsened(self, levels: int) -> Self:
        """The axis whose values are so many levels above these."""
        raise SchemaError(f"column {self.name!r}: there is no level above its values")

    def codes_in(self, coarser: Self) -> NDArray[np.int64]:
        """The code that each value has on the axis coarsened to a level above."""
        raise SchemaError(f"column {self.name!r}: there is no level above its values")

    def raw_spelling(self, code: int) -> str:
        """A value as a table of people would have it."""
        return self.label(Span(code, code, False))

    @cached_property
    def secret(self) -> NDArray[np.bool_]:
        """Which positions are secrets, the missing one last: all but the harmless ones."""
        found = np.ones(self.positions, dtype=bool)
        for lo, hi, missing in map(self.parse, self.harmless):
            found[lo : hi + 1] = False
            if missing:
                found[-1] = False
        return found

    @property
    def everything(self) -> Span:
        """The whole axis."""
        return Span(0, self.size - 1, self.nullable)

    @cached_property
    def labels(self) -> list[str]:
        """The label of each single position, the missing one last."""
        single = [self.label(Span(code, code, False)) for code in range(self.size)]
        return [*single, MISSING_LABEL] if self.nullable else single

    def label(self, span: Span) -> str:
        """The published spelling of a generalized value; `parse` is its inverse."""
        lo, hi, missing = span
        if lo > hi:
            return MISSING_LABEL
        if (lo, hi) == (0, self.size - 1) and self.size > 1:
            return ANY if missing == self.nullable else PRESENT_LABEL
        return self._spell(lo, hi) + (OR_MISSING if missing else "")

    def parse(self, label: str) -> Span:
        """The generalized value that a label stands for, in our spelling or in another tool's."""
        text = label.strip()
        if text == ANY:
            return self.everything
        if text == MISSING_LABEL and self.nullable:
            return Span(0, -1, True)
        missing = text.endswith(OR_MISSING)
        text = text.removesuffix(OR_MISSING)
        interval = (0, self.size - 1) if text == PRESENT_LABEL else self._parse_values(text)
        if interval is None or (missing and not self.nullable):
            raise DataError(f"column {self.name!r}: {quote(label)} is neither {self.expected} nor a group of such")
        return Span(*interval, missing)
