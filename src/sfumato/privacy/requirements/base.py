"""What every class of a syntactic release must satisfy, checked for many classes at once."""

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.parameters import check_parameters
from sfumato.privacy.distances import exposed, shares
from sfumato.schema import Axis
from sfumato.schema.weight import Unit

Counts = NDArray[np.int64] | NDArray[np.float64]

ROUNDING = 1e-9
"""Slack for comparisons of real numbers, far below what one row can change."""


@dataclass(frozen=True, eq=False)
class Population:
    """The whole published table, against which some requirements compare each class."""

    counts: Counts
    axis: Axis

    @cached_property
    def columns(self) -> "tuple[Population, ...]":
        """The same people by each of several sensitive columns alone; of a single one themselves."""
        if len(self.axis.parts) == 1:
            return (self,)
        return tuple(Population(self.alone(self.counts, place), axis) for place, axis in enumerate(self.axis.parts))

    def alone(self, counts: Counts, place: int) -> Counts:
        """Histograms over all sensitive columns as those of one of them: (…, combinations) to (…, values)."""
        if len(self.axis.parts) == 1:
            return counts
        return np.asarray(self.beside(counts, place).sum(axis=-2))

    def beside(self, counts: Counts, place: int) -> Counts:
        """The histograms of one column for each combination of the others: (…, combinations) to (…, others, values)."""
        sizes = [axis.positions for axis in self.axis.parts]
        apart = np.moveaxis(counts.reshape(*counts.shape[:-1], *sizes), counts.ndim - 1 + place, -1)
        return apart.reshape(*counts.shape[:-1], prod(sizes) // sizes[place], sizes[place])

    @property
    def shares(self) -> NDArray[np.float64]:
        """The overall distribution of the sensitive attribute."""
        return shares(self.counts)

    def commonest_secret(self, counts: Counts) -> Counts:
        """The rows of the commonest value in each class, values that are no secret left out."""
        secret = self.axis.secret
        return counts.max(-1) if secret.all() else np.asarray(counts[..., secret].max(-1))

    def exposed(self, counts: Counts) -> NDArray[np.float64]:
        """What each class tells of its secrets, as a distribution: see `exposed`."""
        return exposed(shares(counts), self.shares, self.axis.secret)


@dataclass(frozen=True, kw_only=True)
class Requirement(ABC):
    """A condition on the histogram of the sensitive attribute in a class.

    On the command line it is asked for by the option of its first field. Requirements with the same first field are
    told apart by their `form`; the first one registered is meant unless another is named.
    """

    name: ClassVar[str]
    name_in_buckets: ClassVar[str] = ""
    """What it is called where quasi-identifiers are exact, if its name would promise something about these."""
    form: ClassVar[str] = ""
    merges: ClassVar[bool] = False
    """Whether two classes that satisfy it do so as one, where every sensitive value is a secret."""
    unit: ClassVar[Unit] = "rows"
    """What it counts: rows by sensitive value, or something else, of which a class has one number."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        """Whether each class satisfies the requirement: (classes, values) to (classes,); other units are one column.

        Of several sensitive columns, all have to satisfy it.
        """
        one_by_one = (
            self._holds(population.alone(counts, place), column) for place, column in enumerate(population.columns)
        )
        return np.asarray(np.logical_and.reduce(list(one_by_one)))

    def strain(self, counts: Counts, population: Population) -> NDArray[np.float64]:
        """How much of what is allowed the values of each class use up, at most 1 where it holds; 0 if they may be any.

        Sizes of classes do not count. Of several sensitive columns it is the most.
        """
        if self.unit != "rows":
            return np.zeros(counts.shape[:-1])
        one_by_one = (
            self._strain(population.alone(counts, place), column) for place, column in enumerate(population.columns)
        )
        return np.asarray(np.maximum.reduce(list(one_by_one)))

    @abstractmethod
    def _holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        """The same for a single sensitive column."""

    def _strain(self, counts: Counts, population: Population) -> NDArray[np.float64]:
        """The same for a single sensitive column."""
        return np.zeros(counts.shape[:-1])

    @abstractmethod
    def sentence(self) -> str:
        """What it promises, in words for a non-expert."""

    def sentence_in_buckets(self) -> str:
        """What it promises where a class is a bucket of people whose quasi-identifiers are exact."""
        return self.sentence().replace("class", "bucket")

    @property
    def bounds_values(self) -> bool:
        """Whether a class in which everybody has the same value may fail it: otherwise it hides no value."""
        return True

    @property
    def smallest_class(self) -> int:
        """No class with fewer rows can satisfy the requirement."""
        return 1

    def spec(self) -> dict[str, Any]:
        """The requirement as `release.json` spells it."""
        return {"requirement": self.name, **asdict(self)}

    def __str__(self) -> str:
        return self.title()

    def title(self, *, buckets: bool = False) -> str:
        """Its name with its parameters."""
        values = ", ".join(f"{key}={value}" for key, value in asdict(self).items())
        return f"{(buckets and self.name_in_buckets) or self.name} ({values})"
