"""The frontier as one JSON document: all that the report is made from."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from sfumato.data import Table
from sfumato.measures.attacks.belief import revealing
from sfumato.measures.measurement import Measure
from sfumato.privacy.claims import Differential
from sfumato.trials.frontier import Frontier
from sfumato.trials.recommendation import Recommendation
from sfumato.trials.trial import Trial
from sfumato.version import __version__

ENDPOINTS = ("original", "suppression")


def document(frontier: Frontier, recommendation: Recommendation | None) -> dict[str, Any]:
    """Everything measured, for the report and for other programs."""
    return {
        "format": 1,
        "sfumato": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "table": _table(frontier.table),
        "measures": {
            name: measure.spec() | {"scale": _scale(measure, frontier)} for name, measure in frontier.measures.items()
        },
        "default_pair": list(frontier.pair),
        "trials": [_trial(trial, frontier.measures) for trial in frontier.trials],
        "refused": [{"label": trial.make().label, "reason": trial.refused} for trial in frontier.refused],
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


def _scale(measure: Measure, frontier: Frontier) -> list[dict[str, Any]]:
    """Values of the measure that a reader can hold on to."""
    scale: list[dict[str, Any]] = []
    if measure.name == "suppressed":
        return scale
    if measure.name == "p_loss":
        revealed = revealing(frontier.table.overall)[frontier.table.overall > 0]
        scale += [
            {"value": 0.0, "text": "nothing is learned about anyone"},
            {"value": float(revealed.min()), "text": "the commonest value revealed outright"},
            {"value": float(revealed.max()), "text": "the rarest value revealed outright"},
        ]
        return scale
    for method, text in (("suppression", "everything suppressed"), ("original", "the original table")):
        value = frontier.reference(method, measure.name)
        if np.isfinite(value):
            scale.append({"value": value, "text": text})
    return scale


def _within(measure: Measure, interval: tuple[float, float]) -> list[float]:
    """The part of an interval that the measure can take."""
    highest = np.inf if measure.highest is None else measure.highest
    return [float(end) for end in np.clip(interval, measure.lowest, highest)]


def _trial(trial: Trial, measures: dict[str, Measure]) -> dict[str, Any]:
    method = trial.make()
    return {
        "id": trial.id,
        "method": trial.method,
        "label": method.label,
        "series": method.series,
        "recoding": _recoding(trial),
        "parameters": trial.parameters,
        "claim": method.claim.sentence(),
        "endpoint": trial.method in ENDPOINTS,
        "measures": {name: value if np.isfinite(value) else None for name, value in trial.measures.items()},
        "intervals": {
            name: _within(measures[name], interval)
            for name, interval in trial.intervals.items()
            if np.isfinite(interval).all()
        },
        "seconds": trial.seconds,
    }


def _recoding(trial: Trial) -> str | None:
    if trial.method in ENDPOINTS:
        return None
    if isinstance(trial.make().claim, Differential):
        return "noise"
    return str(trial.parameters.get("recoding", "bucketize" if trial.method == "anatomy" else "generalize"))


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
