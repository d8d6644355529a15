"""The frontier as one document: all that its report is made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.data import Table
from sfumato.measures.measurement import Measure
from sfumato.trials.document import Document, Intervals, MeasureEntry, Values
from sfumato.trials.frontier import Frontier
from sfumato.trials.recommendation import Recommendation
from sfumato.trials.repetition import finite_intervals, finite_values
from sfumato.trials.trial import Trial


@dataclass(frozen=True, kw_only=True)
class TableEntry:
    """The table that was tried."""

    name: str
    rows: int
    quasi: tuple[str, ...]
    sensitive: str
    sensitive_shares: tuple[tuple[str, float], ...]
    unique_share: float | None
    from_data: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, table: Table) -> TableEntry:
        """What a reader needs to know about a table."""
        schema, shares = table.schema, (table.overall / table.n).tolist()
        return cls(
            name=schema.name,
            rows=table.n,
            quasi=tuple(axis.name for axis in schema.quasi),
            sensitive=schema.sensitive.name,
            sensitive_shares=tuple(zip(schema.sensitive.labels, shares, strict=True)),
            unique_share=float(np.count_nonzero(table.weights == 1) / table.n),
            from_data=dict(schema.from_data),
        )


@dataclass(frozen=True, kw_only=True)
class TrialEntry:
    """One release that was tried, and its measures."""

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

    @classmethod
    def of(cls, trial: Trial, measures: Mapping[str, Measure]) -> TrialEntry:
        """A trial in figures that JSON can hold."""
        method = trial.method
        return cls(
            id=trial.id,
            method=method.name,
            label=method.label,
            series=method.series,
            recoding=None if method.endpoint else method.claim.recoding,
            parameters=method.parameters(),
            claim=method.claim.sentence(),
            endpoint=method.endpoint is not None,
            measures=finite_values(trial.measures),
            intervals=finite_intervals(trial.intervals, measures),
            seconds=trial.seconds,
        )


@dataclass(frozen=True, kw_only=True)
class RefusedEntry:
    """A setting that the table refused, and why."""

    label: str
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class VerdictEntry:
    """A value of the recommended release, whether it is good, and why."""

    measure: str
    value: float
    verdict: str
    sentence: str


@dataclass(frozen=True, kw_only=True)
class RecommendationEntry:
    """The recommended trial, the rule that chose it, and the sentences that go with it."""

    trial: str
    rule: str
    constraints: Mapping[str, float]
    why: tuple[str, ...]
    recipient: tuple[str, ...]
    adversary: tuple[str, ...]
    figures: tuple[VerdictEntry, ...]

    @classmethod
    def of(cls, spec: dict[str, Any]) -> RecommendationEntry:
        """The entry of a recommendation, from its plain values."""
        return cls(**spec | {"figures": tuple(VerdictEntry(**figure) for figure in spec["figures"])})


@dataclass(frozen=True, kw_only=True)
class FrontierDocument(Document):
    """Everything measured, for the report and for other programs.

    `efficient` has the ids of the efficient trials for every pair `privacy|utility` of measures.
    """

    table: TableEntry
    measures: Mapping[str, MeasureEntry]
    default_pair: tuple[str, str]
    trials: tuple[TrialEntry, ...]
    refused: tuple[RefusedEntry, ...]
    efficient: Mapping[str, tuple[str, ...]]
    recommendation: RecommendationEntry | None

    @classmethod
    def of(cls, frontier: Frontier, recommendation: Recommendation | None) -> FrontierDocument:
        """The document of a frontier and what it recommends."""
        measures = frontier.measures
        return cls(
            table=TableEntry.of(frontier.table),
            measures={name: MeasureEntry.of(one, one.marks(frontier.references)) for name, one in measures.items()},
            default_pair=frontier.pair,
            trials=tuple(TrialEntry.of(trial, measures) for trial in frontier.trials),
            refused=tuple(RefusedEntry(label=one.method.label, reason=one.refused) for one in frontier.refused),
            efficient=dict(_efficient(frontier)),
            recommendation=RecommendationEntry.of(recommendation.spec()) if recommendation else None,
        )

    def efficient_trials(self, privacy: str, utility: str) -> frozenset[str]:
        """The ids of the trials that no other beats on both measures."""
        return frozenset(self.efficient.get(f"{privacy}|{utility}", ()))

    @property
    def recommended(self) -> TrialEntry | None:
        """The recommended trial."""
        chosen = self.recommendation.trial if self.recommendation else None
        return next((trial for trial in self.trials if trial.id == chosen), None)


def _efficient(frontier: Frontier) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The efficient trials for every pair of a privacy and a utility measure."""
    directed = [measure for measure in frontier.measures.values() if measure.direction != "none"]
    for privacy in (one.name for one in directed if one.family == "privacy"):
        for utility in (one.name for one in directed if one.family == "utility"):
            yield f"{privacy}|{utility}", tuple(frontier.efficient(privacy, utility))
