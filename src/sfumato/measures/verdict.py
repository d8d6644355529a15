"""Is this number good? Verdicts against what the two end points of the same table reach."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

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
    """A value, a grade, and the sentence that explains the grade."""

    measure: str
    value: float
    grade: Grade
    sentence: str

    def spec(self) -> dict[str, Any]:
        """The verdict as the report needs it."""
        return {"measure": self.measure, "value": self.value, "verdict": self.grade, "sentence": self.sentence}


Judge = Callable[[float, References], tuple[Grade, str]]
"""A grade and a sentence; grades compare with the end points, never with absolute taste where avoidable."""
Scale = Callable[[References], list[Mark]]


def grade(value: float, good: float, fair: float) -> Grade:
    """The grade of a value that is good up to one bound and fair up to another."""
    return "good" if value <= good else "fair" if value <= fair else "poor"
