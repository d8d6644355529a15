"""Measuring a release against its table: every attack and every workload, as one mapping."""

from collections.abc import Callable, Collection, Mapping, Sequence
from math import inf, isnan
from types import MappingProxyType
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
    """Measured values by the names of their measures; of several sensitive columns, those of the worst for each."""

    def __init__(self, found: Mapping[str, Measurement] = MappingProxyType({})) -> None:
        super().__init__(found)
        self.by_column: dict[str, Measurements] = {}
        """The values for each of several sensitive columns."""

    @classmethod
    def worst(cls, by_column: "dict[str, Measurements]") -> "Measurements":
        """Of each measure the worst value for any column, and beside them those for every column."""
        every: dict[str, list[Measurement]] = {}
        for found in by_column.values():
            for name, one in found.items():
                every.setdefault(name, []).append(one)
        together = cls({name: max(values, key=_badness) for name, values in every.items()})
        together.by_column = by_column
        return together

    def spec(self) -> dict[str, dict[str, Any]]:
        """The values and what they mean, as JSON shows them."""
        about = ("unit", "direction", "title", "family", "sentence")
        return {
            name: {
                "value": found.value,
                **({"interval": list(found.interval)} if found.interval else {}),
                **({"by_column": self.of_columns(name)} if self.by_column else {}),
                **{key: getattr(found.measure, key) for key in about},
            }
            for name, found in self.items()
        }

    def of_columns(self, name: str) -> dict[str, float]:
        """The value of a measure for each of several sensitive columns that it says anything about."""
        return {column: found[name].value for column, found in self.by_column.items() if name in found}

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
    columns = table.schema.secret_names
    if len(columns) == 1:
        return _assess(table, release, workloads, only, progress)
    by_column = {}
    for number, column in enumerate(columns):
        part = _part_of(progress, number, len(columns)) if progress else None
        focused = [workload.focused(column) for workload in workloads]
        by_column[column] = _assess(table.focused(column), release.focused(column), focused, only, part)
    return Measurements.worst(by_column)


def _part_of(progress: Progress, number: int, parts: int) -> Progress:
    """Tells how much of all is done when so much of one part is."""
    return lambda what, done, of: progress(what, number * of + done, parts * of)


def _assess(
    table: Table, release: Release, workloads: Sequence[Workload], only: Collection[str], progress: Progress | None
) -> Measurements:
    """The value of every measure where there is one sensitive column."""
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


def _badness(found: Measurement) -> float:
    """What is larger for a worse value; the first one counts where no direction is better."""
    if isnan(found.value) or found.measure.direction == "none":
        return -inf
    return found.value if found.measure.direction == "lower" else -found.value


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
