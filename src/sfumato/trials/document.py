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
from sfumato.trials.preview import Cells, Preview
from sfumato.trials.rehearsal import Rehearsal
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
    """What the synthetic table cost that was tried in place of the real one, what it cannot tell, and how far pilots of
    sample data were from the truth."""

    epsilon: float
    limits: Sequence[str]
    rehearsal: Rehearsal


@dataclass(frozen=True, kw_only=True)
class TrialEntry:
    """A release that was tried; one that is not `eligible` is never recommended, whatever its measures."""

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
    eligible: bool = True
    command: str | None = None


@dataclass(frozen=True, kw_only=True)
class FloorEntry:
    """What may at most be disclosed to an audience, as a value of `measure` and in words."""

    audience: str
    measure: str
    most: float
    sentence: str


@dataclass(frozen=True, kw_only=True)
class UseEntry:
    """The measure of usefulness, and the value up to which a release is of use; `None` if any is."""

    measure: str
    enough: float | None


@dataclass(frozen=True, kw_only=True)
class CandidateEntry:
    """A release to consider, its risk and use at worst, and what the next one would gain and cost."""

    role: str
    trial: str
    label: str
    risk: float
    use: float
    sentence: str


@dataclass(frozen=True, kw_only=True)
class ColumnEntry:
    """What leaving a quasi-identifier out, or coarsening it, would give."""

    column: str
    action: str
    sentence: str


@dataclass(frozen=True, kw_only=True)
class AdviceEntry:
    """The edits of the schema after which a release is fit, and what else was tried."""

    sentence: str
    edits: Sequence[str]
    toml: str
    columns: Sequence[ColumnEntry]
    more: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class RecommendationEntry:
    """What is recommended and why; without a trial, `status` says that nothing is, and `advice` what would help."""

    status: str = "recommended"
    trial: str | None
    claim: str | None
    rule: str
    constraints: Mapping[str, float]
    why: Sequence[str]
    recipient: Sequence[str]
    adversary: Sequence[str]
    figures: Sequence[Verdict]
    floor: FloorEntry | None = None
    use: UseEntry | None = None
    candidates: Sequence[CandidateEntry] = ()
    advice: AdviceEntry | None = None


@dataclass(frozen=True, kw_only=True)
class FrontierDocument(Document):
    """Everything measured; `efficient` has, for every pair `privacy|utility` of measures, the trials that none beats of
    the eligible ones and the end points.

    `previews` show the candidates, and `sample` rows of the table that they were tried on.
    """

    table: TableEntry
    pilot: PilotEntry | None = None
    measures: Mapping[str, MeasureEntry]
    default_pair: tuple[str, str]
    trials: Sequence[TrialEntry]
    refused: Sequence[Mapping[str, str | None]]
    efficient: Mapping[str, Sequence[str]]
    recommendation: RecommendationEntry | None
    previews: Sequence[Preview] = ()
    sample: Cells = ()


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
