"""What a method is: a frozen set of parameters that turns a table into a release."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from sfumato.data import Table
from sfumato.errors import ParameterError
from sfumato.mechanisms.budget import Budget
from sfumato.mechanisms.noise import Source, SystemSource
from sfumato.privacy.claims import Claim, Differential, PureDP
from sfumato.privacy.loss import Loss, Pure, exact
from sfumato.release.release import Provenance, Release

EPSILON_GRID = (0.1, 0.3, 1.0, 3.0)
"""The settings at which every differentially private method is tried."""


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """A way to publish a table.

    `publish` draws whatever randomness it needs from the operating system. With a simulated source, for trials
    and tests, the release promises nothing.
    """

    name: ClassVar[str]
    randomized: ClassVar[bool] = False
    by_default: ClassVar[bool] = True
    """Whether a frontier tries the method without being asked to."""

    def publish(self, table: Table, source: Source | None = None) -> Release:
        """The release of the table, re-checked against its claim."""
        source = source or SystemSource()
        release = self._publish(table, source).verified().assuming(*table.schema.caveats())
        if self.randomized and not source.protects:
            return release.without_guarantee("seeded")
        return release

    @abstractmethod
    def _publish(self, table: Table, source: Source) -> Release:
        """The release, before its claim is re-checked."""

    @property
    @abstractmethod
    def claim(self) -> Claim:
        """What a release of this method promises; it follows from the parameters alone."""

    @property
    def series(self) -> str:
        """The family of settings this one belongs to on a chart."""
        return self.name

    @property
    def label(self) -> str:
        """A short name for this setting."""
        values = ", ".join(f"{key}={value}" for key, value in self.parameters().items())
        return f"{self.name} {values}".strip()

    @classmethod
    @abstractmethod
    def grid(cls, table: Table) -> Iterator[Method]:
        """Sensible settings to try on a table."""

    def parameters(self) -> dict[str, Any]:
        """The parameters that differ from their defaults, as a release file and a chart show them."""
        return {
            item.name: getattr(self, item.name)
            for item in dataclasses.fields(self)
            if getattr(self, item.name) != item.default
        }

    def provenance(self) -> Provenance:
        """How a release of this method came about."""
        return Provenance(method=self.name, parameters=self.parameters())


@dataclass(frozen=True, kw_only=True)
class DPMethod(Method):
    """A method under differential privacy, pure unless it says otherwise: it sees the rows only through a budget.

    A person more or less in the table is the neighbour it protects against; exchanging one person's row for
    another is two such steps and costs twice epsilon.
    """

    randomized: ClassVar[bool] = True
    epsilon: float

    def __post_init__(self) -> None:
        exact(self.epsilon)

    def publish(self, table: Table, source: Source | None = None) -> Release:
        """The release, under no claim if the schema was read off the rows: its bounds would tell about them."""
        return public_domain(super().publish(table, source), table)

    def _publish(self, table: Table, source: Source) -> Release:
        refuse_kept_columns(table, f"{self.name} publishes no row as it is; give the column another role")
        return self._release(table, Budget(self.total, source))

    @property
    def total(self) -> Loss:
        """What a release may cost in all."""
        return Pure(exact(self.epsilon))

    @abstractmethod
    def _release(self, table: Table, budget: Budget) -> Release:
        """The release, every look at the rows paid for."""

    @property
    def claim(self) -> Differential:
        return PureDP(epsilon=self.epsilon)


def public_domain(release: Release, table: Table) -> Release:
    """The release, under no claim if the schema was read off the rows."""
    if not table.schema.from_data:
        return release
    names = ", ".join(table.schema.from_data)
    return release.without_guarantee(
        f"the bounds or values of {names} were read off the rows; if they are public knowledge, delete from_data in "
        "the schema"
    )


def refuse_kept_columns(table: Table, why: str) -> None:
    """Kept columns would link rows that the method takes apart."""
    if table.schema.keep:
        raise ParameterError(f"the column {table.schema.keep[0]!r} has role keep, but {why}")
