"""Measures and their values: every number the program reports says what it means, which way is better, how good it is.

Verdicts compare a value with what the two end points of the same table reach.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from math import inf, isfinite, nan
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

Direction = Literal["lower", "higher", "none"]
Family = Literal["privacy", "utility", "shape"]
Grade = Literal["good", "fair", "poor"]


@dataclass(frozen=True, eq=False, kw_only=True)
class References:
    """What to compare with: the people by sensitive value, and the measures of the two end points."""

    overall: NDArray[np.int64]
    original: dict[str, float]
    suppressed: dict[str, float]

    @property
    def baseline_guess(self) -> float:
        """The share of people guessed right by naming the commonest value for everyone."""
        return float(self.overall.max() / self.overall.sum())


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A value of a measure that a reader can hold on to."""

    value: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A value, whether it is good, and the sentence that explains why."""

    measure: str
    value: float
    verdict: Grade
    sentence: str


Judge = Callable[[float, References], tuple[Grade, str]]
"""A grade and a sentence; grades compare with the end points, never with absolute taste where avoidable."""
Scale = Callable[[References], list[Mark]]


def grade(value: float, good: float, fair: float) -> Grade:
    """The grade of a value that is good up to one bound and fair up to another."""
    return "good" if value <= good else "fair" if value <= fair else "poor"


@dataclass(frozen=True)
class Measure:
    """What a number means: its title, unit and range, which direction is better, and a sentence for everyone.

    A measure that can tell good values from bad has a `judge`. Its `scale` gives values to compare with; without one,
    they are those of the two end points. Not every release has the value of an `optional` measure. Shares end at 1.
    """

    name: str
    title: str
    family: Family
    direction: Direction
    unit: str
    _: KW_ONLY
    sentence: str = ""
    lowest: float = 0.0
    highest: float | None = None
    judge: Judge | None = None
    scale: Scale | None = None
    optional: bool = False

    def __post_init__(self) -> None:
        if self.highest is None and self.unit.startswith("share"):
            object.__setattr__(self, "highest", 1.0)

    def describe(self, sentence: str, judge: Judge | None = None, scale: Scale | None = None) -> Self:
        """The measure with its sentence, and what tells good values from bad."""
        return replace(self, sentence=sentence, judge=judge, scale=scale)

    def verdict(self, value: float, references: References) -> Verdict | None:
        """Whether a value is good, if the measure can tell."""
        if self.judge is None:
            return None
        grade, sentence = self.judge(value, references)
        return Verdict(measure=self.name, value=value, verdict=grade, sentence=sentence)

    def marks(self, references: References) -> list[Mark]:
        """Values of the measure that a reader can hold on to."""
        if self.scale is not None:
            return [mark for mark in self.scale(references) if isfinite(mark.value)]
        ends = {"everything suppressed": references.suppressed, "the original table": references.original}
        values = {text: measures.get(self.name, nan) for text, measures in ends.items()}
        return [Mark(value=value, text=text) for text, value in values.items() if isfinite(value)]

    def clip(self, interval: tuple[float, float]) -> tuple[float, float]:
        """The part of an interval that the measure can take."""
        highest = inf if self.highest is None else self.highest
        low, high = (min(max(end, self.lowest), highest) for end in interval)
        return low, high


class Sampled(float):
    """A value that was measured on a sample, with the interval that holds the whole's with 95% confidence."""

    interval: tuple[float, float]

    @classmethod
    def within(cls, value: float, interval: tuple[float, float]) -> Self:
        """A value and its interval."""
        found = cls(value)
        found.interval = interval
        return found


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """A measured value, with an interval where it was measured on a sample or a randomized method was repeated."""

    measure: Measure
    value: float
    interval: tuple[float, float] | None = None

    def __str__(self) -> str:
        spread = f" [{self.interval[0]:.4g}, {self.interval[1]:.4g}]" if self.interval else ""
        return f"{self.value:.4g}{spread} {self.measure.unit}"
