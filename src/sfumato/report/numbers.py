"""Numbers as people read them: the same decimals all down a column, percent where the unit is a share of
something, and never more digits than help to compare.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from sfumato.trials.document import MeasureEntry, Values

HINTS = {"lower": "lower is better", "higher": "higher is better", "none": "no better direction"}
MISSING = "–"
SHARE = "share"
PARTS = (SHARE, "relative error", "ratio")
"""Units of figures relative to something that their measures name."""
MAX_DECIMALS = 6


@dataclass(frozen=True, kw_only=True)
class NumberStyle:
    """How the values of one measure are written."""

    decimals: int
    percent: bool = False

    @classmethod
    def of(cls, unit: str, values: Iterable[float | None]) -> Self:
        """Three digits for a typical value of the column; whole numbers stay whole."""
        if is_percent(unit):
            return cls(decimals=1, percent=True)
        sizes = [abs(value) for value in values if value]
        if all(float(size).is_integer() for size in sizes):
            return cls(decimals=0)
        return cls(decimals=min(max(2 - math.floor(math.log10(median(sizes))), 0), MAX_DECIMALS))

    def text(self, value: float | None) -> str:
        if value is None:
            return MISSING
        shown = value * 100 if self.percent else value
        sign = "%" if self.percent else ""
        step = 10.0**-self.decimals
        if 0 < abs(shown) < step / 2:
            return f"{'<' if shown > 0 else '>−'}{step:.{self.decimals}f}{sign}"
        return _minus(f"{shown:,.{self.decimals}f}") + sign

    def interval(self, bounds: Sequence[float] | None) -> str:
        """The interval of a repeated trial in words, or nothing where both ends read the same."""
        low, high = map(self.text, bounds or (None, None))
        return f"{low} to {high}" if low != high else ""

    def with_interval(self, value: float | None, bounds: Sequence[float] | None) -> str:
        """A value, and its interval in brackets where it has one."""
        between = self.interval(bounds)
        return f"{self.text(value)} ({between})" if between else self.text(value)


def number_styles(measures: Mapping[str, MeasureEntry], found: Sequence[Values]) -> dict[str, NumberStyle]:
    """The style of every measure, for the values that trials or runs have of it."""
    return {name: NumberStyle.of(about.unit, [one.get(name) for one in found]) for name, about in measures.items()}


def is_percent(unit: str) -> bool:
    """Whether values are parts of a whole, which read best as percentages."""
    return unit in PARTS or unit.startswith(f"{SHARE} of ")


def format_unit(unit: str) -> str:
    """The unit after a written value: what a percentage is of, or the unit itself."""
    return "" if unit in PARTS else unit.removeprefix(f"{SHARE} ")


def axis_unit(unit: str) -> str:
    """The unit in the title of an axis."""
    return f"% {format_unit(unit)}".strip() if is_percent(unit) else format_unit(unit)


def axis_format(unit: str) -> str:
    """How Vega writes the numbers along an axis."""
    return "~%" if is_percent(unit) else "~g"


def plain(value: float, unit: str) -> str:
    """A single number that stands in no column, such as a reference value."""
    shown = value * 100 if is_percent(unit) else value
    digits = f"{shown:,.0f}" if float(shown).is_integer() else f"{shown:.3g}"
    return _minus(digits) + ("%" if is_percent(unit) else "")


def _minus(digits: str) -> str:
    unsigned = digits.removeprefix("-")
    is_zero = not unsigned.strip("0.,")
    return unsigned if is_zero or unsigned == digits else f"−{unsigned}"
