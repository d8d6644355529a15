"""Measuring a release against its table: every attack and every workload, as one mapping."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.attacks import ATTACKS
from sfumato.errors import DataError
from sfumato.measurement import Measure, Measurement
from sfumato.workloads import WORKLOADS

if TYPE_CHECKING:
    from sfumato.engines import Table
    from sfumato.release import Release

MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measures in (*(attack.measures for attack in ATTACKS), *(workload.measures for workload in WORKLOADS))
    for measure in measures
}


def measure(table: Table, release: Release) -> dict[str, Measurement]:
    """The value of every measure. They are computed on the real data and are for the publisher's eyes."""
    ours, theirs = (
        [(axis.name, axis.nullable, axis.spec()) for axis in schema.axes] for schema in (table.schema, release.schema)
    )
    if ours != theirs:
        raise DataError("the release has other axes than the table; read both with the same schema")
    values: dict[str, float] = {}
    for attack in ATTACKS:
        values |= attack.run(table, release)
    for workload in WORKLOADS:
        values |= workload.run(table, release)
    return {name: Measurement(measure=MEASURES[name], value=value) for name, value in values.items()}
