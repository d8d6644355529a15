"""The frontier as one JSON document: all that the report is made from."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np

from sfumato.data import Table
from sfumato.measures.measurement import Measure
from sfumato.trials.frontier import Frontier
from sfumato.trials.recommendation import Recommendation
from sfumato.trials.repetition import finite_intervals, finite_values
from sfumato.trials.trial import Trial
from sfumato.version import __version__


def document(frontier: Frontier, recommendation: Recommendation | None) -> dict[str, Any]:
    """Everything measured, for the report and for other programs."""
    return {
        "format": 1,
        "sfumato": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "table": _table(frontier.table),
        "measures": {
            name: measure.spec() | {"scale": [asdict(mark) for mark in measure.marks(frontier.references)]}
            for name, measure in frontier.measures.items()
        },
        "default_pair": list(frontier.pair),
        "trials": [_trial(trial, frontier.measures) for trial in frontier.trials],
        "refused": [{"label": trial.method.label, "reason": trial.refused} for trial in frontier.refused],
        "efficient": _efficient(frontier),
        "recommendation": recommendation.spec() if recommendation else None,
    }


def _table(table: Table) -> dict[str, Any]:
    shares = table.overall / table.n
    return {
        "name": table.schema.name,
        "rows": table.n,
        "quasi": [axis.name for axis in table.schema.quasi],
        "sensitive": table.schema.sensitive.name,
        "sensitive_shares": [
            [label, float(share)] for label, share in zip(table.schema.sensitive.labels, shares, strict=True)
        ],
        "unique_share": float(np.count_nonzero(table.weights == 1) / table.n),
        "from_data": {name: list(parts) for name, parts in table.schema.from_data.items()},
    }


def _trial(trial: Trial, measures: dict[str, Measure]) -> dict[str, Any]:
    method = trial.method
    return {
        "id": trial.id,
        "method": method.name,
        "label": method.label,
        "series": method.series,
        "recoding": None if method.endpoint else method.claim.recoding,
        "parameters": method.parameters(),
        "claim": method.claim.sentence(),
        "endpoint": method.endpoint is not None,
        "measures": finite_values(trial.measures),
        "intervals": finite_intervals(trial.intervals, measures),
        "seconds": trial.seconds,
    }


def _efficient(frontier: Frontier) -> dict[str, list[str]]:
    """The efficient trials for every pair of a privacy and a utility measure."""
    directed = {name: measure for name, measure in frontier.measures.items() if measure.direction != "none"}
    return {
        f"{privacy}|{utility}": frontier.efficient(privacy, utility)
        for privacy, first in directed.items()
        if first.family == "privacy"
        for utility, second in directed.items()
        if second.family == "utility"
    }
