"""Measuring a release against its table: every attack and every workload, as one mapping."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from sfumato.data import Table
from sfumato.errors import DataError, ParameterError
from sfumato.measures.attacks import ATTACKS
from sfumato.measures.base import Assessment, Workload, expect_same_axes
from sfumato.measures.looks import LOOK, note_look
from sfumato.measures.measurement import Measure, Measurement, Sampled
from sfumato.measures.workloads import WORKLOADS
from sfumato.notebook import html_table
from sfumato.privacy.ledger import Ledger
from sfumato.release import Release

Progress = Callable[[str, int, int], None]
MEASURES: dict[str, Measure] = {
    measure.name: measure for assessment in (*ATTACKS, *WORKLOADS) for measure in assessment.measures
}


class Measurements(dict[str, Measurement]):
    """Measured values by the names of their measures."""

    def spec(self) -> dict[str, dict[str, Any]]:
        """The values and what they mean, as JSON shows them."""
        about = ("unit", "direction", "title", "family", "sentence")
        return {
            name: {
                "value": found.value,
                **({"interval": list(found.interval)} if found.interval else {}),
                **{key: getattr(found.measure, key) for key in about},
            }
            for name, found in self.items()
        }

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {found}" for name, found in self.items())

    def _repr_html_(self) -> str:
        better = {"lower": "lower is better", "higher": "higher is better", "none": ""}
        rows = [(found.measure.title, found, better[found.measure.direction]) for found in self.values()]
        return html_table("Measured on the real data: for the publisher's eyes", rows, ("measure", "value", ""))


def measure(
    table: Table,
    release: Release,
    workloads: Sequence[Workload] = WORKLOADS,
    *,
    only: Collection[str] = (),
    progress: Progress | None = None,
    ledger: Ledger | None = None,
) -> Measurements:
    """The value of every measure. They are computed on the real data and are for the publisher's eyes.

    Further workloads, such as `HeldOut` and `MatchPoint`, can be given in place of the usual ones. With `only`, the
    measures of these names are computed; `progress` is told what comes next, how much is done, and of how much. The
    ledger, by default the user's own, notes that measures of these rows were seen: noise does not cover what is chosen
    after that.

    >>> measured = sf.measure(table, sf.FullSuppression().publish(table))
    >>> measured["classes"].value
    1.0
    """
    _refuse(table, release)
    note_look(table, LOOK, ledger)
    return assess(table, release, workloads, only=only, progress=progress)


def assess(
    table: Table,
    release: Release,
    workloads: Sequence[Workload] = WORKLOADS,
    *,
    only: Collection[str] = (),
    progress: Progress | None = None,
) -> Measurements:
    """The value of every measure, for whoever has noted that they will be seen."""
    _refuse(table, release)
    asked = _asked((*ATTACKS, *workloads), only)
    found = Measurements()
    for done, (assessment, known) in enumerate(asked):
        if progress:
            progress(assessment.measures[0].title, done, len(asked))
        for name, value in assessment.run(table, release).items():
            if name in known:
                interval = known[name].clip(value.interval) if isinstance(value, Sampled) else None
                found[name] = Measurement(measure=known[name], value=float(value), interval=interval)
    return found


def _asked(assessments: Sequence[Assessment], only: Collection[str]) -> list[tuple[Assessment, dict[str, Measure]]]:
    """The assessments that have measures of these names, or all, with the measures asked for."""
    known = {measure.name for assessment in assessments for measure in assessment.measures}
    for name in only:
        if name not in known:
            raise ParameterError(f"{name!r} is not a measure; expected one of {', '.join(sorted(known))}")
    wanted = [
        (assessment, {one.name: one for one in assessment.measures if not only or one.name in only})
        for assessment in assessments
    ]
    return [(assessment, measures) for assessment, measures in wanted if measures]


def _refuse(table: Table, release: Release) -> None:
    """Refuse what cannot be measured."""
    expect_same_axes(table, release, "the release has")
    if not table.n:
        raise DataError("the table has no rows; there is nothing to measure a release against")
