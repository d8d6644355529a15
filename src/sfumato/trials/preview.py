"""A release before it is published: what its rows look like, and how each column is spread, beside the table itself.

It is made with simulated noise. On the rows themselves it is for the publisher's eyes; on a pilot, all of it is made of
synthetic rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods.positions import even_starts, positions_of, steps_of
from sfumato.privacy.distances import shares
from sfumato.release import Release
from sfumato.schema import Axis, Span
from sfumato.schema.axis import MISSING_LABEL
from sfumato.trials.trial import SEEDS, Trial

MAX_BARS = 12
SHOWN_ROWS = 5
Cells = Sequence[Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class ColumnPreview:
    """The shares of a column's values, or of groups of neighbours, in the table and in the release."""

    column: str
    values: Sequence[str]
    table: Sequence[float]
    release: Sequence[float]


@dataclass(frozen=True, kw_only=True)
class Preview:
    """Some rows of a release, and how its columns are spread."""

    trial: str
    label: str
    header: Sequence[str]
    rows: Cells
    columns: Sequence[ColumnPreview]


def preview(table: Table, trial: Trial) -> Preview:
    """The release of a trial, made once more, beside its table."""
    release = trial.method.publish(table, SimulatedSource(SEEDS[0]))
    frame = release.to_polars()
    rows = [[str(cell) for cell in frame.row(place)] for place in _spread(frame.height)]
    columns = [_quasi(table, release, place) for place in range(len(table.schema.quasi))]
    return Preview(
        trial=trial.id,
        label=trial.method.label,
        header=frame.columns,
        rows=rows,
        columns=[
            *columns,
            *(_sensitive(table.focused(one), release.focused(one)) for one in table.schema.secret_names),
        ],
    )


def sample_rows(table: Table) -> Cells:
    """Some rows of the table itself, as its schema spells them."""
    cells = table.cell_codes
    return [
        [axis.label(_at(axis, code)) for axis, code in zip(table.schema.axes, cells[place].tolist(), strict=True)]
        for place in _spread(len(cells))
    ]


def _at(axis: Axis, position: int) -> Span:
    """The value at a position of an axis, the missing one last or below zero."""
    return Span(position, position, False) if 0 <= position < axis.size else Span(0, -1, True)


def _spread(count: int) -> list[int]:
    """A few places, evenly spread."""
    shown = min(SHOWN_ROWS, count)
    return [step * (count - 1) // max(shown - 1, 1) for step in range(shown)]


def _quasi(table: Table, release: Release, place: int) -> ColumnPreview:
    axis = table.schema.quasi[place]
    starts = even_starts(axis, MAX_BARS)
    steps = steps_of(starts, positions_of(table)[:, place])
    return ColumnPreview(
        column=axis.name,
        values=_labels(axis, starts),
        table=(np.bincount(steps, table.weights, len(starts)) / table.n).tolist(),
        release=_shares_in_boxes(release, place, axis, starts).tolist(),
    )


def _shares_in_boxes(release: Release, place: int, axis: Axis, starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The share of rows in each step of an axis, every box spread over its range."""
    mass, steps = release.masses(place), steps_of(starts, np.arange(axis.size + 1))
    density = release.weights / release.add_up(place, mass)
    rows = np.zeros(len(starts))
    for step in range(len(starts)):
        rows[step] = density @ release.add_up(place, np.where(steps == step, mass, 0.0))
    return shares(np.maximum(rows, 0))


def _sensitive(table: Table, release: Release) -> ColumnPreview:
    """The commonest values, and the rest together."""
    axis, real, found = table.schema.sensitive, shares(table.overall), shares(np.maximum(release.overall, 0))
    order = np.argsort(-real, kind="stable")
    few, rest = (order, order[:0]) if len(order) <= MAX_BARS else (order[: MAX_BARS - 1], order[MAX_BARS - 1 :])
    several = [f"{len(rest)} others"] if len(rest) else []
    return ColumnPreview(
        column=axis.name,
        values=[*(axis.labels[value] for value in few), *several],
        table=[*real[few].tolist(), *[float(real[rest].sum())] * len(several)],
        release=[*found[few].tolist(), *[float(found[rest].sum())] * len(several)],
    )


def _labels(axis: Axis, starts: NDArray[np.int64]) -> list[str]:
    """How each step of an axis is spelled, the missing value last."""
    ends = np.minimum(np.append(starts[1:], axis.positions), axis.size) - 1
    present = [axis.label(Span(int(lo), int(hi), False)) for lo, hi in zip(starts, ends, strict=True) if lo < axis.size]
    return [*present, *([MISSING_LABEL] if axis.nullable else [])]
