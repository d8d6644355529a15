"""Measuring a release against its table: every attack and every workload, as one mapping."""

from collections.abc import Sequence
from typing import Any

from sfumato.data import Table
from sfumato.errors import DataError
from sfumato.measures.attacks import ATTACKS
from sfumato.measures.base import Workload, expect_same_axes
from sfumato.measures.measurement import Measure, Measurement
from sfumato.measures.workloads import WORKLOADS
from sfumato.notebook import html_table
from sfumato.release import Release

LOOK = "a measurement"
"""What shows measures of the rows."""
MEASURES: dict[str, Measure] = {
    measure.name: measure for assessment in (*ATTACKS, *WORKLOADS) for measure in assessment.measures
}


class Measurements(dict[str, Measurement]):
    """Measured values by the names of their measures."""

    def spec(self) -> dict[str, dict[str, Any]]:
        """The values and what they mean, as JSON shows them."""
        about = ("unit", "direction", "title", "family", "sentence")
        return {
            name: {"value": found.value, **{key: getattr(found.measure, key) for key in about}}
            for name, found in self.items()
        }

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {found}" for name, found in self.items())

    def _repr_html_(self) -> str:
        better = {"lower": "lower is better", "higher": "higher is better", "none": ""}
        rows = [(found.measure.title, found, better[found.measure.direction]) for found in self.values()]
        return html_table("Measured on the real data: for the publisher's eyes", rows, ("measure", "value", ""))


def measure(table: Table, release: Release, workloads: Sequence[Workload] = WORKLOADS) -> Measurements:
    """The value of every measure. They are computed on the real data and are for the publisher's eyes.

    Further workloads, such as `HeldOut` and `MatchPoint`, can be given in place of the usual ones.

    >>> measured = sf.measure(table, sf.FullSuppression().publish(table))
    >>> measured["classes"].value
    1.0
    """
    expect_same_axes(table, release, "the release has")
    if not table.n:
        raise DataError("the table has no rows; there is nothing to measure a release against")
    found = Measurements()
    for assessment in (*ATTACKS, *workloads):
        known = {measure.name: measure for measure in assessment.measures}
        for name, value in assessment.run(table, release).items():
            found[name] = Measurement(measure=known[name], value=value)
    return found
