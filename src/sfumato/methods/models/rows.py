"""Sampled rows: the columns of a table that they imitate, and the release of them."""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.data.kept import KeptRows
from sfumato.data.keys import pack
from sfumato.mechanisms.budget import Budget
from sfumato.methods.base import DPMethod
from sfumato.methods.positions import boxes_of_positions
from sfumato.release.boxes import Boxes
from sfumato.release.content import sampling_deviation
from sfumato.release.histograms import histograms_of
from sfumato.release.measured import Measured
from sfumato.release.possible import without_impossible
from sfumato.release.release import Release
from sfumato.schema import Axis, Schema

MAX_ROWS = 10**7
"""Rows sampled, however many the noisy count speaks of."""


@dataclass(frozen=True, eq=False)
class Columns:
    """The attributes of a table that can vary at all, the sensitive ones last, by cell."""

    axes: Sequence[Axis]
    positions: Sequence[NDArray[np.integer]]
    weights: NDArray[np.int64]  # rows in each cell
    impossible: Sequence[Mapping[int, NDArray[np.bool_]]] = ()
    """Of every combination that cannot occur, which positions of some columns it holds."""
    declared: Sequence[Axis] = ()
    """All axes of the table, where some do not vary."""

    @classmethod
    def of(cls, table: Table) -> Self:
        """The columns of all rows, those with role other as well where the table knows them."""
        wider = table.with_others
        codes, weights = (table.cell_codes, table.cell_weight) if wider is None else (wider.keys, wider.rows)
        declared = table.schema.axes if wider is None else table.schema.modelled
        columns = (
            (axis, np.where(column < 0, axis.size, column))
            for axis, column in zip(declared, codes.T, strict=True)
            if axis.positions > 1
        )
        axes, positions = zip(*columns, strict=True)
        return cls(axes, positions, weights, _impossible(table.schema, axes), declared)


def _impossible(schema: Schema, varying: Sequence[Axis]) -> list[dict[int, NDArray[np.bool_]]]:
    """The declared combinations on the axes that vary; the others hold their only value or rule a combination out."""
    names = [axis.name for axis in varying]
    found = []
    for combination in schema.combinations:
        axes = ((schema.axes[place], codes) for place, codes in combination.allowed.items())
        held = {axis.name: codes.positions(axis) for axis, codes in axes}
        if all(positions.any() for positions in held.values()):
            found.append({names.index(name): positions for name, positions in held.items() if name in names})
    return found


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """Noisy counts of a table over some of the columns, whose groups of positions begin at `starts`."""

    columns: tuple[int, ...]
    starts: tuple[NDArray[np.int64], ...]
    counts: NDArray[np.int64] | NDArray[np.float64]
    variance: float


@dataclass(frozen=True, eq=False)
class Sampled:
    """Rows of positions, how to draw so many others of the same model, and its noisy tables, where it has some."""

    rows: NDArray[np.int64]
    again: Callable[[int], NDArray[np.int64]]
    tables: tuple[NoisyTable, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SampledRows(DPMethod):
    """A method that publishes rows sampled from a noisy model."""

    models_others: ClassVar[bool] = True

    @abstractmethod
    def _sample(self, columns: Columns, budget: Budget) -> Sampled:
        """Rows with the attributes of `columns`."""

    def _release(self, table: Table, budget: Budget) -> Release:
        """The sampled rows by distinct point; counts vary as those of any sample."""
        columns = Columns.of(table)
        axes = tuple(columns.declared)
        sampled = self._sample(columns, budget)
        sizes = np.array([axis.size for axis in axes])

        def codes(rows: NDArray[np.int64]) -> NDArray[np.int64]:
            found = np.zeros((len(rows), len(axes)), dtype=np.int64)
            found[:, [axis.positions > 1 for axis in axes]] = rows
            return np.where(found >= sizes, -1, found)

        found = without_impossible(
            codes(sampled.rows), table.schema, lambda rows: codes(sampled.again(len(rows))), budget.uniforms
        )
        quasi = len(table.schema.quasi)
        points = found[:, :quasi].astype(np.int32)
        packed = pack(list(points.T), sizes[:quasi].tolist())
        _, first, group = np.unique(packed, return_index=True, return_inverse=True)
        group = group.reshape(-1)
        value = table.schema.sensitive.together(list(found[:, quasi : len(table.schema.axes)].T))
        histograms = histograms_of(group, value, None, len(first), table.values)
        boxes = Boxes.of_points(points[first])
        others = {axis: found[:, place] for place, axis in enumerate(axes) if place >= len(table.schema.axes)}
        return self.make_release(
            table,
            boxes,
            histograms,
            deviation=sampling_deviation(histograms),
            measured=tables_as_boxes(sampled.tables, columns.axes, axes) if sampled.tables else None,
            kept=KeptRows.of_codes(group, value, others, len(first), self.name) if others else None,
        )


def tables_as_boxes(
    tables: Sequence[NoisyTable], varying: Sequence[Axis], axes: tuple[Axis, ...], kind: type[Measured] = Measured
) -> Measured:
    """The tables as boxes over all axes; they were counted over those that vary."""
    place = [axes.index(axis) for axis in varying]
    firsts, lasts = [], []
    for table in tables:
        first = np.zeros((table.counts.size, len(axes)), dtype=np.int64)
        last = np.tile([axis.positions - 1 for axis in axes], (table.counts.size, 1))
        groups = np.indices(table.counts.shape).reshape(table.counts.ndim, table.counts.size)
        for column, starts, group in zip(table.columns, table.starts, groups, strict=True):
            axis = place[column]
            first[:, axis] = starts[group]
            last[:, axis] = np.append(starts[1:], axes[axis].positions)[group] - 1
        firsts.append(first)
        lasts.append(last)
    return kind(
        axes,
        boxes_of_positions(np.concatenate(firsts), np.concatenate(lasts), axes),
        np.repeat(np.arange(len(tables)), [table.counts.size for table in tables]),
        np.concatenate([table.counts.reshape(-1) for table in tables]),
        np.repeat([math.sqrt(table.variance) for table in tables], [table.counts.size for table in tables]),
    )
