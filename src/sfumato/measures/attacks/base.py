"""What an attack is: a way to learn about people from a release, and the numbers that say how well it works."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from sfumato.data import Table
from sfumato.measures.measurement import Measure
from sfumato.release import Release


@dataclass(frozen=True, kw_only=True)
class Attack(ABC):
    """An adversary who sees a release and knows everybody's quasi-identifiers."""

    measures: ClassVar[tuple[Measure, ...]]

    @abstractmethod
    def run(self, table: Table, release: Release) -> dict[str, float]:
        """The value of each measure when the release of `table` is attacked."""
