"""Measuring a release against its table: every attack and every workload, as one mapping."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.data import Table
from sfumato.errors import DataError
from sfumato.measures.attacks import ATTACKS
from sfumato.measures.measurement import Measure, Measurement
from sfumato.measures.workloads import WORKLOADS
from sfumato.measures.workloads.base import Workload
from sfumato.release import Release

MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measures in (*(attack.measures for attack in ATTACKS), *(workload.measures for workload in WORKLOADS))
    for measure in measures
}


def measure(table: Table, release: Release, workloads: Sequence[Workload] = WORKLOADS) -> dict[str, Measurement]:
    """The value of every measure. They are computed on the real data and are for the publisher's eyes.

    Further workloads, such as `HeldOut` and `MatchPoint`, can be given in place of the usual ones.
    """
    ours, theirs = (
        [(axis.name, axis.nullable, axis.spec()) for axis in schema.axes] for schema in (table.schema, release.schema)
    )
    if ours != theirs:
        raise DataError("the release has other axes than the table; read both with the same schema")
    values: dict[str, float] = {}
    known = dict(MEASURES)
    for attack in ATTACKS:
        values |= attack.run(table, release)
    for workload in workloads:
        values |= workload.run(table, release)
        known |= {measure.name: measure for measure in workload.measures}
    return {name: Measurement(measure=known[name], value=value) for name, value in values.items()}
