"""Numbers as people read them: the same decimals all down a column, percent where the unit is a share of
something, and never more digits than help to compare.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

MISSING = "–"
MOST_DECIMALS = 6


@dataclass(frozen=True, kw_only=True)
class NumberStyle:
    """How the values of one measure are written."""

    decimals: int
    percent: bool = False

    @classmethod
    def of(cls, measure: dict[str, Any], values: Iterable[float | None]) -> NumberStyle:
        """Three digits for a typical value of the column; whole numbers stay whole."""
        if is_percent(measure):
            return cls(decimals=1, percent=True)
        sizes = [abs(value) for value in values if value]
        if all(float(size).is_integer() for size in sizes):
            return cls(decimals=0)
        return cls(decimals=min(max(2 - math.floor(math.log10(median(sizes))), 0), MOST_DECIMALS))

    def text(self, value: float | None) -> str:
        if value is None:
            return MISSING
        shown = value * 100 if self.percent else value
        sign = "%" if self.percent else ""
        step = 10.0**-self.decimals
        if 0 < abs(shown) < step / 2:
            return f"{'<' if shown > 0 else '>−'}{step:.{self.decimals}f}{sign}"
        return _minus(f"{shown:,.{self.decimals}f}") + sign


def styles(document: dict[str, Any]) -> dict[str, NumberStyle]:
    """The style of every measure of the document."""
    trials = document["trials"]
    return {
        name: NumberStyle.of(measure, [trial["measures"].get(name) for trial in trials])
        for name, measure in document["measures"].items()
    }


def is_percent(measure: dict[str, Any]) -> bool:
    """Whether values are parts of a whole, which read best as percentages."""
    return str(measure["unit"]).startswith("share of ")


def unit(measure: dict[str, Any]) -> str:
    """The unit after a written value: what a percentage is of, or the unit itself."""
    return str(measure["unit"]).removeprefix("share ")


def axis_unit(measure: dict[str, Any]) -> str:
    """The unit in the title of an axis."""
    return f"% {unit(measure)}" if is_percent(measure) else unit(measure)


def plain(value: float, measure: dict[str, Any]) -> str:
    """A single number that stands in no column, such as a reference value."""
    shown = value * 100 if is_percent(measure) else value
    digits = f"{shown:,.0f}" if float(shown).is_integer() else f"{shown:.3g}"
    return _minus(digits) + ("%" if is_percent(measure) else "")


def interval(style: NumberStyle, bounds: list[float] | None) -> str:
    """The interval of a repeated trial in words, or nothing."""
    return f"{style.text(bounds[0])} to {style.text(bounds[1])}" if bounds else ""


def _minus(digits: str) -> str:
    unsigned = digits.removeprefix("-")
    is_zero = not unsigned.strip("0.,")
    return unsigned if is_zero or unsigned == digits else f"−{unsigned}"
