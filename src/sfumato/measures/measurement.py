"""Measures and their values: every number the program reports says what it means and which way is better."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

Direction = Literal["lower", "higher", "none"]
Family = Literal["privacy", "utility", "shape"]


@dataclass(frozen=True, kw_only=True)
class Measure:
    """What a number means: its title, unit and range, which direction is better, and a sentence for everyone."""

    name: str
    title: str
    family: Family
    direction: Direction
    unit: str
    sentence: str
    lowest: float = 0.0
    highest: float | None = None

    def spec(self) -> dict[str, Any]:
        """What the measure means, as a document says it; an end of the range that is none is left open."""
        return {
            "title": self.title,
            "direction": self.direction,
            "unit": self.unit,
            "family": self.family,
            "sentence": self.sentence,
            "range": [self.lowest if isfinite(self.lowest) else None, self.highest],
        }


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """A measured value, with an interval where a randomized method was repeated."""

    measure: Measure
    value: float
    interval: tuple[float, float] | None = None

    def __str__(self) -> str:
        spread = f" [{self.interval[0]:.4g}, {self.interval[1]:.4g}]" if self.interval else ""
        return f"{self.value:.4g}{spread} {self.measure.unit}"
