"""Dates and times on a public grid: the hours, days, ISO weeks, months, quarters or years from `min` to `max`.

A group is published as the part of the calendar that it is, such as `2024-03` for all days of a month, else as a range
`[2024-03-01, 2024-03-17]`. Nothing is stored per code; a clock is taken as it is written, whatever its time zone.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import SchemaError, quote
from sfumato.schema.axis import AS_MISSING, CLIP, MISSING, REFUSE, UNKNOWN, Axis
from sfumato.schema.calendar import UNITS, Period, parse_period, period_at
from sfumato.schema.taxonomy import ANY, HalvedNode, LazyNode, Node

KEYS = {"min", "max", "unit", "format", "off_schema"}
LADDERS = {
    "hour": ("year", "quarter", "month", "day", "hour"),
    "day": ("year", "quarter", "month", "day"),
    "week": ("year", "quarter", "month", "week"),
    "month": ("year", "quarter", "month"),
    "quarter": ("year", "quarter"),
    "year": ("year",),
}
"""The calendar above each unit, from the root down."""
WORDS = {"day": "a date", "hour": "an hour"}
DAY_FIRST = "%Y-%d"
"""How formats begin that read another day out of what looks like a date in ISO's spelling."""
SAMPLE = datetime(2004, 11, 23, 17)

_RANGE = re.compile(r"\[\s*(.+?)\s*[,;]\s*(.+?)\s*\]\Z|(.+?)\s*(?: - |–|\.\.| to |/)\s*(.+)\Z")
_BOUND = re.compile(r"(<=|>=|<|>|≤|≥)\s*(.+)\Z")


@dataclass(frozen=True, kw_only=True)
class DateAxis(Axis):
    """The periods `first..last` of a unit; `pattern` is how a file may spell them besides ISO's way."""

    kind: ClassVar[str] = "date"
    spaced: ClassVar[bool] = True
    unit: str
    first: int
    last: int
    pattern: str = ""

    def __post_init__(self) -> None:
        where = f"column {self.name!r}"
        if self.off_schema not in ("", CLIP) and not (self.off_schema == AS_MISSING and self.nullable):
            expected = f"{REFUSE}, {CLIP} or {AS_MISSING} (with nullable = true)"
            raise SchemaError(f"{where}: off_schema is {quote(self.off_schema)}; expected {expected}")
        if self.last < self.first:
            first, last = Period(self.unit, self.first), Period(self.unit, self.last)
            raise SchemaError(f"{where}: max {last} lies before min {first}")

    @classmethod
    def declared(cls, name: str, spec: dict[str, Any]) -> Self:
        """The axis of a column in a schema."""
        where, unit, pattern = f"column {name!r}", spec.get("unit", "day"), spec.get("format", "")
        if unit not in UNITS:
            raise SchemaError(f"{where}: unit is {quote(unit)}; expected one of {', '.join(UNITS)}")
        ends = []
        for key in ("min", "max"):
            text = str(spec.get(key, "nothing"))
            period = parse_period(text)
            if period is None:
                raise SchemaError(f"{where}: {key} is {quote(text)}; expected a date such as 2024-03-01")
            ends.append(period.within(unit)[key == "max"])
        if pattern and (not isinstance(pattern, str) or not _tells(pattern, unit)):
            expected = f"how a {unit} is spelled, such as %d.%m.%Y"
            raise SchemaError(f"{where}: format is {quote(pattern)}; expected {expected}")
        return cls(name=name, unit=unit, first=ends[0], last=ends[1], pattern=pattern)

    @property
    def size(self) -> int:
        return self.last - self.first + 1

    @cached_property
    def taxonomy(self) -> Node:
        if self.unit == "year":
            return HalvedNode(ANY, 0, self.size - 1)
        return LazyNode(ANY, 0, self.size - 1, (), 0, len(LADDERS[self.unit]), self._parts)

    def _parts(self, lo: int, hi: int, level: int) -> Iterator[tuple[str, int, int]]:
        while lo <= hi:
            _, end = Period(self.unit, self.first + lo).within(LADDERS[self.unit][level - 1])
            last = min(Period(LADDERS[self.unit][level - 1], end).within(self.unit)[1] - self.first, hi)
            yield self._spell(lo, last), lo, last
            lo = last + 1

    @property
    def expected(self) -> str:
        first, last = Period(self.unit, self.first), Period(self.unit, self.last)
        spelled = f", spelled like {SAMPLE.strftime(self.pattern)}" if self.pattern else ""
        return f"{WORDS.get(self.unit, f'a {self.unit}')} from {first} to {last}{spelled}"

    def spec(self) -> dict[str, Any]:
        ends = {"min": str(Period(self.unit, self.first)), "max": str(Period(self.unit, self.last))}
        return {"kind": self.kind, **ends, "unit": self.unit, **({"format": self.pattern} if self.pattern else {})}

    @property
    def levels_above(self) -> int:
        """Weeks do not lie in months, so that nothing can be made of them that days would make as well."""
        return 0 if self.unit == "week" else len(self._ladder_up) - 1

    @property
    def _ladder_up(self) -> tuple[str, ...]:
        return LADDERS[self.unit][::-1]

    def coarsened(self, levels: int) -> Self:
        if not 0 < levels <= self.levels_above:
            return super().coarsened(levels)
        unit = self._ladder_up[levels]
        first, last = (Period(self.unit, end).within(unit)[0] for end in (self.first, self.last))
        # A spelling that tells hours tells years as well.
        return replace(self, unit=unit, first=first, last=last)

    def codes_in(self, coarser: Self) -> NDArray[np.int64]:
        codes = [Period(self.unit, self.first + code).within(coarser.unit)[0] for code in range(self.size)]
        return np.array(codes, dtype=np.int64) - coarser.first

    def encode(self, values: Sequence[object] | NDArray[np.float64]) -> NDArray[np.int32]:
        numbers = self._numbers(values)
        known = (numbers >= self.first) & (numbers <= self.last)
        return np.where(known, numbers - self.first, UNKNOWN).astype(np.int32)

    def _numbers(self, values: Sequence[object] | NDArray[np.float64]) -> NDArray[np.int64]:
        """The number of the period of each value, −1 for what is none."""
        numbers = (-1 if (period := self._period(str(value).strip())) is None else period for value in values)
        return np.fromiter(numbers, dtype=np.int64, count=len(values))

    def _period(self, text: str) -> int | None:
        if self.pattern:
            try:
                return period_at(self.unit, datetime.strptime(text, self.pattern)).number
            except ValueError:
                if self.pattern.startswith(DAY_FIRST):
                    return None
        period = parse_period(text)
        if period is None or UNITS.index(period.unit) > UNITS.index(self.unit):
            return None
        return period.within(self.unit)[0]

    def _stand_ins(
        self, codes: NDArray[np.int32], values: Sequence[object] | NDArray[np.float64]
    ) -> int | NDArray[np.int32]:
        """The nearest value; for what is no date the missing value, or the first where none may be missing."""
        if self.off_schema == AS_MISSING:
            return MISSING
        numbers = np.where(codes == MISSING, -1, self._numbers(values))
        nearest = np.clip(numbers - self.first, 0, self.size - 1)
        return np.where(numbers < 0, MISSING if self.nullable else 0, nearest).astype(np.int32)

    def _spell(self, lo: int, hi: int) -> str:
        first, last = Period(self.unit, self.first + lo), Period(self.unit, self.first + hi)
        if lo == hi:
            return str(first)
        for unit in reversed(UNITS[UNITS.index(self.unit) + 1 :]):
            period = Period(unit, first.within(unit)[0])
            if period.within(self.unit) == (first.number, last.number):
                return str(period)
        return f"[{first}, {last}]"

    def _parse_values(self, text: str) -> tuple[int, int] | None:
        interval = self._interval(text, text)
        if interval is None and (match := _BOUND.match(text)):
            sign, bound = match.groups()
            below = self.count_below(bound, inclusive=sign in ("<=", "≤", ">"))
            if below is None:
                return None
            interval = (0, below - 1) if sign in ("<", "<=", "≤") else (below, self.size - 1)
        elif interval is None and (match := _RANGE.match(text)):
            interval = self._interval(*(end for end in match.groups() if end))
        return interval if interval and interval[0] <= interval[1] else None

    def _interval(self, first: str, last: str) -> tuple[int, int] | None:
        """The codes from the beginning of one period to the end of another."""
        ends = [self._any_period(text) for text in (first, last)]
        if None in ends:
            return None
        (lo, _), (_, hi) = (period.within(self.unit) for period in ends if period)
        lo, hi = max(lo - self.first, 0), min(hi - self.first, self.size - 1)
        return (lo, hi) if lo <= hi else None

    def _any_period(self, text: str) -> Period | None:
        number = self._period(text)
        return parse_period(text) if number is None else Period(self.unit, number)

    def count_below(self, text: str, *, inclusive: bool) -> int | None:
        """How many values lie below a period, or below its end if `inclusive`; a value stands for its beginning."""
        period = parse_period(text)
        if period is None:
            number = self._period(text)
            period = None if number is None else Period(self.unit, number)
        if period is None:
            return None
        lo, hi = period.within(self.unit)
        if UNITS.index(period.unit) < UNITS.index(self.unit):
            begins = Period(self.unit, lo).begins
            hi = lo if begins <= period.begins else lo - 1
            lo = lo if begins >= period.begins else lo + 1
        return int(np.clip((hi + 1 if inclusive else lo) - self.first, 0, self.size))


def _tells(pattern: str, unit: str) -> bool:
    """Whether a spelling of a moment tells in which period of a unit it lies."""
    try:
        read = datetime.strptime(SAMPLE.strftime(pattern), pattern)
    except ValueError:
        return False
    return period_at(unit, read) == period_at(unit, SAMPLE)
