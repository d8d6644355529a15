"""What attacks and workloads are: something done with a release, and the numbers that say how well it goes."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

from sfumato.data import Table
from sfumato.errors import DataError
from sfumato.measures.measurement import Measure
from sfumato.parameters import check_parameters
from sfumato.release import Release


@dataclass(frozen=True, kw_only=True)
class Assessment(ABC):
    """Something done with a release, measured against its table."""

    measures: ClassVar[tuple[Measure, ...]]

    def __post_init__(self) -> None:
        check_parameters(self)

    def focused(self, column: str) -> Self:
        """The same for one of several sensitive columns."""
        return self

    @abstractmethod
    def run(self, table: Table, release: Release) -> dict[str, float]:
        """The value of each measure for a release of `table`."""


class Attack(Assessment):
    """An adversary who sees a release and knows everybody's quasi-identifiers."""


class Workload(Assessment):
    """A use of a release, compared with the same use of the original table."""


def expect_same_axes(table: Table, other: Table | Release, whose: str) -> None:
    """Refuse to compare what was read with different schemas."""
    ours, theirs = (
        [(axis.name, axis.nullable, axis.spec()) for axis in schema.axes] for schema in (table.schema, other.schema)
    )
    if ours != theirs:
        raise DataError(f"{whose} other axes than the table; read both with the same schema")
