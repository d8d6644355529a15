"""What every class of a syntactic release must satisfy, checked for many classes at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.privacy.distances import shares
from sfumato.schema import Axis

Counts = NDArray[np.int64] | NDArray[np.float64]

LARGEST_PARAMETER = 1e12

ROUNDING = 1e-9
"""Slack for comparisons of real numbers, far below what one row can change."""


@dataclass(frozen=True, eq=False)
class Population:
    """The whole published table, against which some requirements compare each class."""

    counts: Counts
    axis: Axis

    @property
    def shares(self) -> NDArray[np.float64]:
        """The overall distribution of the sensitive attribute."""
        return shares(self.counts)


@dataclass(frozen=True, kw_only=True)
class Requirement(ABC):
    """A condition on the histogram of the sensitive attribute in a class."""

    name: ClassVar[str]

    @abstractmethod
    def holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        """Whether each class satisfies the requirement: (classes, values) to (classes,)."""

    @abstractmethod
    def sentence(self) -> str:
        """What it promises, in words for a non-expert."""

    @property
    def smallest_class(self) -> int:
        """No class with fewer rows can satisfy the requirement."""
        return 1

    def spec(self) -> dict[str, Any]:
        """The requirement as `release.json` spells it."""
        values = {key: value.item() if isinstance(value, np.generic) else value for key, value in asdict(self).items()}
        return {"requirement": self.name, **values}

    def __str__(self) -> str:
        values = ", ".join(f"{key}={value}" for key, value in asdict(self).items())
        return f"{self.name} ({values})"


def expect(condition: bool, message: str) -> None:
    """Refuse a parameter out of range."""
    if not condition:
        raise ParameterError(message)


def is_whole(value: object) -> bool:
    """Whether a parameter is a whole number of a size that can be computed with."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and abs(int(cast(int, value))) <= LARGEST_PARAMETER


def is_number(value: object) -> bool:
    """Whether a parameter is a number of a size that can be computed with."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST_PARAMETER
