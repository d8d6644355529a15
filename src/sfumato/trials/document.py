"""Documents between trials and reports: a report is made from nothing else.

Their fields are the keys of the JSON files that other programs read.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Self

from sfumato.measures.measurement import Direction, Family, Mark, Measure, Verdict
from sfumato.trials.repetition import Interval
from sfumato.version import __version__

Values = Mapping[str, float | None]
Intervals = Mapping[str, Interval]


@dataclass(frozen=True, kw_only=True)
class Document:
    """The header of every document."""

    format: int = 1
    sfumato: str = __version__
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))


@dataclass(frozen=True)
class MeasureEntry:
    """What a measure means; an open end of its range is `None`."""

    title: str
    direction: Direction
    unit: str
    family: Family
    sentence: str
    range: tuple[float | None, float | None]
    scale: Sequence[Mark]

    @classmethod
    def of(cls, measure: Measure, scale: Sequence[Mark] = ()) -> Self:
        ends = (measure.lowest if math.isfinite(measure.lowest) else None, measure.highest)
        return cls(measure.title, measure.direction, measure.unit, measure.family, measure.sentence, ends, scale)


@dataclass(frozen=True, kw_only=True)
class TableEntry:
    name: str
    rows: int
    quasi: Sequence[str]
    sensitive: str
    sensitive_shares: Sequence[tuple[str, float]]
    unique_share: float | None
    from_data: Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class PilotEntry:
    """What the synthetic table cost that was tried in place of the real one, and what it cannot tell."""

    epsilon: float
    limits: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class TrialEntry:
    id: str
    method: str
    label: str
    series: str
    recoding: str | None
    parameters: Mapping[str, Any]
    claim: str
    endpoint: bool
    measures: Values
    intervals: Intervals
    seconds: float | None


@dataclass(frozen=True, kw_only=True)
class RecommendationEntry:
    trial: str
    rule: str
    constraints: Mapping[str, float]
    why: Sequence[str]
    recipient: Sequence[str]
    adversary: Sequence[str]
    figures: Sequence[Verdict]


@dataclass(frozen=True, kw_only=True)
class FrontierDocument(Document):
    """Everything measured; `efficient` has the efficient trials for every pair `privacy|utility` of measures."""

    table: TableEntry
    pilot: PilotEntry | None = None
    measures: Mapping[str, MeasureEntry]
    default_pair: tuple[str, str]
    trials: Sequence[TrialEntry]
    refused: Sequence[Mapping[str, str | None]]
    efficient: Mapping[str, Sequence[str]]
    recommendation: RecommendationEntry | None


def finite(values: Mapping[str, float], found: Intervals, about: Mapping[str, Measure]) -> tuple[Values, Intervals]:
    """Values as JSON can hold them, and the intervals of finite ones, within what their measures can take."""
    known = {name: interval for name, interval in found.items() if all(map(math.isfinite, interval))}
    return (
        {name: value if math.isfinite(value) else None for name, value in values.items()},
        {name: about[name].clip(interval) for name, interval in known.items()},
    )


def to_json(document: Document) -> str:
    """The text of the document's file."""
    return json.dumps(asdict(document), ensure_ascii=False, allow_nan=False, indent=1) + "\n"
