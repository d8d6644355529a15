"""The frontier as one document: all that its report is made from."""

from dataclasses import asdict
from typing import Any

import numpy as np

from sfumato.data import Table
from sfumato.trials.document import Document, measured, with_header
from sfumato.trials.frontier import Frontier
from sfumato.trials.recommendation import Recommendation
from sfumato.trials.trial import Trial


def frontier_document(frontier: Frontier, recommendation: Recommendation | None) -> Document:
    """Everything measured; `efficient` has the efficient trials for every pair `privacy|utility` of measures."""
    return with_header(
        table=_table(frontier.table),
        measures={
            name: measure.spec() | {"scale": [asdict(mark) for mark in measure.marks(frontier.references)]}
            for name, measure in frontier.measures.items()
        },
        default_pair=frontier.pair,
        trials=[_trial(trial, frontier) for trial in frontier.trials],
        refused=[{"label": trial.method.label, "reason": trial.refused} for trial in frontier.refused],
        efficient=_efficient(frontier),
        recommendation=recommendation.spec() if recommendation else None,
    )


def _table(table: Table) -> dict[str, Any]:
    schema, shares = table.schema, (table.overall / table.n).tolist()
    return {
        "name": schema.name,
        "rows": table.n,
        "quasi": [axis.name for axis in schema.quasi],
        "sensitive": schema.sensitive.name,
        "sensitive_shares": list(zip(schema.sensitive.labels, shares, strict=True)),
        "unique_share": float(np.count_nonzero(table.weights == 1) / table.n),
        "from_data": dict(schema.from_data),
    }


def _trial(trial: Trial, frontier: Frontier) -> dict[str, Any]:
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
        **measured(trial.measures, trial.intervals, frontier.measures),
        "seconds": trial.seconds,
    }


def _efficient(frontier: Frontier) -> dict[str, list[str]]:
    directed = [measure for measure in frontier.measures.values() if measure.direction != "none"]
    privacy, utility = ([one.name for one in directed if one.family == family] for family in ("privacy", "utility"))
    return {f"{one}|{other}": frontier.efficient(one, other) for one in privacy for other in utility}
