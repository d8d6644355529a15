"""What a method is: a frozen set of parameters that turns a table into a release."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sfumato.errors import ParameterError
from sfumato.privacy.noise import Source, SystemSource
from sfumato.release.release import Provenance, Release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sfumato.engines import Table
    from sfumato.privacy.claims import Claim


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """A way to publish a table.

    `publish` draws whatever randomness it needs from the operating system. With a simulated source, for trials
    and tests, the release promises nothing.
    """

    name: ClassVar[str]
    randomized: ClassVar[bool] = False

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


def refuse_kept_columns(table: Table, why: str) -> None:
    """Kept columns would link rows that the method takes apart."""
    if table.schema.keep:
        raise ParameterError(f"the column {table.schema.keep[0]!r} has role keep, but {why}")
