"""A requirement on one of several sensitive columns, or one that holds for those who know the other columns as well.

Someone who knows the other sensitive values of a person looks for them among those of the class that have these: every
such part of a class has to satisfy the requirement, as if the other columns were quasi-identifiers.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.privacy.requirements.base import Counts, Population, Requirement

KNOWN = "also for those who know the other sensitive columns of a person"


@dataclass(frozen=True, kw_only=True)
class OfColumn(Requirement):
    """A requirement on one sensitive `column`, or on each; with `others_known` to those who know the others as well.

    >>> income = sf.OfColumn(column="condition", requirement=sf.LDiversity(l=1.5))
    >>> release = sf.Mondrian(k=5, requirements=(income,)).publish(table)
    """

    name: ClassVar[str] = "of column"
    requirement: Requirement
    column: str | None = None
    others_known: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.requirement, OfColumn) or self.requirement.unit != "rows":
            raise ParameterError(
                f"{self.requirement} is about classes and not about a column; ask for it beside the others"
            )
        super().__post_init__()

    @classmethod
    def each(cls, requirement: Requirement) -> Requirement:
        """The same requirement to those who know the other columns; a condition on sizes alone stays as it is."""
        if isinstance(requirement, OfColumn):
            return cls(requirement=requirement.requirement, column=requirement.column, others_known=True)
        return cls(requirement=requirement, others_known=True) if requirement.bounds_values else requirement

    def named(self, column: str) -> Self | None:
        """The requirement as far as it is about a column."""
        mine = self.column in (None, column)
        return type(self)(requirement=self.requirement, column=column, others_known=self.others_known) if mine else None

    @property
    def bounds_values(self) -> bool:
        return self.requirement.bounds_values

    @property
    def merges(self) -> bool:  # type: ignore[override]
        return self.requirement.merges

    @property
    def smallest_class(self) -> int:
        return self.requirement.smallest_class

    def holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        found = np.ones(counts.shape[:-1], dtype=np.bool_)
        for place in self._places(population):
            column = population.columns[place]
            if not self.others_known or len(population.columns) == 1:
                found &= self.requirement.holds(population.alone(counts, place), column)
                continue
            parts = population.beside(counts, place)
            empty = parts.sum(axis=-1) <= 0
            found &= (empty | self.requirement.holds(parts, column)).all(axis=-1)
        return found

    def strain(self, counts: Counts, population: Population) -> NDArray[np.float64]:
        places = self._places(population)
        each = [self.requirement.strain(population.alone(counts, p), population.columns[p]) for p in places]
        return np.asarray(np.maximum.reduce(each))

    _holds = holds

    def _places(self, population: Population) -> list[int]:
        names = [column.axis.name for column in population.columns]
        if self.column is None:
            return list(range(len(names)))
        if self.column not in names:
            shown = ", ".join(map(repr, names))
            raise ParameterError(f"{self.requirement} is asked of {self.column!r}; the sensitive columns are {shown}")
        return [names.index(self.column)]

    def spec(self) -> dict[str, Any]:
        return {
            "requirement": self.name,
            "column": self.column,
            "others_known": self.others_known,
            "of": self.requirement.spec(),
        }

    def title(self, *, buckets: bool = False) -> str:
        of = f" of column {self.column}" if self.column else ""
        return self.requirement.title(buckets=buckets) + of + (", others known" if self.others_known else "")

    def sentence(self) -> str:
        return self._said(self.requirement.sentence())

    def sentence_in_buckets(self) -> str:
        return self._said(self.requirement.sentence_in_buckets())

    def _said(self, sentence: str) -> str:
        of = f"of {self.column}: " if self.column else ""
        return f"{of}{sentence}" + (f", {KNOWN}" if self.others_known else "")
