"""What the documents between trials and reports share: the header, what measures mean, and measured values.

A document is all that a report is made from. Its fields are the keys of the JSON file that other programs read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from sfumato.measures.measurement import Direction, Family, Measure
from sfumato.measures.verdict import Mark
from sfumato.trials.repetition import Interval
from sfumato.version import __version__

Values = Mapping[str, float | None]
Intervals = Mapping[str, Interval]


@dataclass(frozen=True, kw_only=True)
class MeasureEntry:
    """What a measure means; an open end of its range is `None`."""

    title: str
    direction: Direction
    unit: str
    family: Family
    sentence: str
    range: tuple[float | None, float | None]
    scale: tuple[Mark, ...] = ()

    @classmethod
    def of(cls, measure: Measure, scale: Iterable[Mark] = ()) -> MeasureEntry:
        """The entry of a measure, with the values that a reader can hold on to."""
        return cls(**measure.spec(), scale=tuple(scale))


@dataclass(frozen=True, kw_only=True)
class Document:
    """The header of every document."""

    format: int = 1
    sfumato: str = __version__
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    def spec(self) -> dict[str, Any]:
        """The document as plain values."""
        return asdict(self)

    def json(self) -> str:
        """The document as the text of a JSON file."""
        return json.dumps(self.spec(), ensure_ascii=False, allow_nan=False, indent=1) + "\n"
