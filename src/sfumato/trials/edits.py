"""Edits of a schema that make its table easier to publish: leaving a quasi-identifier out, or coarsening it.

An edit changes the cells of a table as reading the rows with the edited schema would, without reading them again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.data.propose import toml_of_column
from sfumato.schema import Axis, CategoricalAxis, DateAxis, NumericAxis, Schema
from sfumato.schema.column import Column
from sfumato.schema.numeric import spell_number
from sfumato.schema.taxonomy import flat_tree
from sfumato.trials.regroup import regroup

Action = Literal["coarsen", "drop"]
OTHER = "Other"
FEW_VALUES = 20
"""An axis of numbers with fewer values than this is coarsened by at least half, others to at most a quarter."""
HANDFUL = 6
"""How many values are left of a column that is coarsened far."""
MIN_VALUES = 4
"""Categories without a taxonomy are merged only where there are at least so many."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Edit:
    """A column, what becomes of it, and the code that each of its codes becomes."""

    column: str
    action: Action
    words: str
    axis: Axis | None = None
    codes: NDArray[np.int64] | None = None

    def schema(self, schema: Schema) -> Schema:
        """The edited schema."""
        return schema.with_columns(tuple(map(self._column, schema.columns)))

    def _column(self, column: Column) -> Column:
        if column.name != self.column:
            return column
        return replace(column, axis=self.axis) if self.axis else Column(name=column.name, role="ignore")

    def apply(self, table: Table) -> Table:
        """The table as its rows would be read with the edited schema."""
        codes = table.cell_codes.copy()
        position = [axis.name for axis in table.schema.axes].index(self.column)
        if self.codes is None:
            codes = np.delete(codes, position, axis=1)
        else:
            codes[:, position] = np.where(codes[:, position] < 0, -1, self.codes[codes[:, position]])
        return regroup(self.schema(table.schema), codes, table.cell_weight, table)


def possible_edits(table: Table) -> Iterator[Edit]:
    """For each quasi-identifier, coarsening it by one level, and leaving it out unless it is the last."""
    for axis in table.schema.quasi:
        coarser = coarsening(table, axis.name)
        if coarser:
            yield coarser
        if len(table.schema.quasi) > 1:
            yield Edit(column=axis.name, action="drop", words=f"leave out {axis.name}")


def coarsening(table: Table, column: str, *, far: bool = False) -> Edit | None:
    """Coarsening a quasi-identifier by one level, or so `far` that a handful of values is left, if that is further."""
    position = [axis.name for axis in table.schema.quasi].index(column)
    axis = table.schema.quasi[position]
    present = table.points[:, position] >= 0
    counts = np.bincount(table.points[present, position], table.weights[present], axis.size)
    near = _coarsen(axis, counts, axis.size)
    if near is None or not far:
        return near
    assert near.axis is not None
    further = _coarsen(axis, counts, HANDFUL)
    return further if further and further.axis and further.axis.size < near.axis.size else None


def toml_of(schema: Schema, names: Sequence[str]) -> str:
    """The named columns as the schema file spells them."""
    return "\n".join(toml_of_column(column) for column in schema.columns if column.name in names)


def _coarsen(axis: Axis, counts: NDArray[Any], most: int) -> Edit | None:
    """Coarsening by one level, or by as many as leave at most so many values or as few as there can be."""
    if isinstance(axis, NumericAxis):
        return _wider_bins(axis, most) if axis.size > 2 else None
    if isinstance(axis, DateAxis):
        return _longer_periods(axis, most)
    levels = axis.levels_above
    if levels > 0:
        several = (axis.coarsened(level) for level in range(1, levels + 1))
        coarser = next((one for one in several if one.size <= most), axis.coarsened(levels))
        risen = levels - coarser.levels_above
        height = "one level of its taxonomy higher" if risen == 1 else f"{risen} levels higher"
        words = f"publish {axis.name} {height}, with {coarser.size} values in place of {axis.size}"
        return Edit(column=axis.name, action="coarsen", words=words, axis=coarser, codes=axis.codes_in(coarser))
    if not isinstance(axis, CategoricalAxis) or axis.coarsen or axis.ordered:
        return None
    return _merge_rare(axis, counts, most)


def _longer_periods(axis: DateAxis, most: int) -> Edit | None:
    """The next longer period, or as long a one as leaves at most so many values."""
    longer = [axis.coarsened(level) for level in range(1, axis.levels_above + 1)]
    if not longer or axis.size < 2:
        return None
    coarser = next((one for one in longer if one.size <= most and one.size < axis.size), longer[-1])
    words = f"publish {axis.name} by {coarser.unit}, with {coarser.size} values in place of {axis.size}"
    return Edit(column=axis.name, action="coarsen", words=words, axis=coarser, codes=axis.codes_in(coarser))


def _wider_bins(axis: NumericAxis, most: int) -> Edit | None:
    """Bins of a round width, or several of the bins there are in one."""
    least = max(2 if axis.size < FEW_VALUES else 4, -(-axis.size // most))
    if axis.edges:
        edges = (*axis.edges[:-1:least], axis.edges[-1])
        codes, words = np.arange(axis.size) // least, f"in {len(edges) - 1} bins in place of {axis.size}"
    else:
        width = next(round_ for round_ in _round_numbers(axis.step) if round_ >= least * axis.step)
        start = np.floor(axis.minimum / width) * width
        count = int((axis.maximum - start) // width) + 1
        edges = tuple(_plain(start + number * width) for number in range(count + 1))
        values = np.array([axis.value(code) for code in range(axis.size)])
        codes = np.searchsorted(edges, values, side="right") - 1
        edges = (-np.inf if axis.bottom else edges[0], *edges[1:-1], np.inf if axis.top else edges[-1])
        words = f"in steps of {spell_number(width)} in place of {spell_number(axis.step)}"
    if not np.isfinite(edges).any():
        return None
    coarser = NumericAxis(name=axis.name, nullable=axis.nullable, off_schema=axis.off_schema, edges=edges)
    words = f"publish {axis.name} {words}"
    return Edit(column=axis.name, action="coarsen", words=words, axis=coarser, codes=codes.astype(np.int64))


def _round_numbers(above: float) -> Iterator[float]:
    """1, 2 and 5 times powers of ten from about a number on."""
    power = 10.0 ** np.floor(np.log10(above))
    while True:
        yield from (_plain(digit * power) for digit in (1, 2, 5))
        power *= 10


def _plain(number: float) -> float:
    rounded = float(f"{number:.12g}")
    return int(rounded) if rounded.is_integer() else rounded


def _merge_rare(axis: CategoricalAxis, counts: NDArray[Any], most: int) -> Edit | None:
    """The rarer half of the values under one name, or all but so many that at most so many are left."""
    labels = axis.leaf_labels
    if axis.size < MIN_VALUES:
        return None
    sink = axis.off_schema if axis.off_schema in labels else OTHER
    ranked = [labels[code] for code in np.argsort(-counts[: axis.size], kind="stable") if labels[code] != sink]
    common = set(ranked[: min(axis.size // 2, most - 1)])
    kept = [label for label in labels if label in common]
    code_of = {label: code for code, label in enumerate(kept)}
    codes = np.array([code_of.get(label, len(kept)) for label in labels])
    coarser = CategoricalAxis(name=axis.name, nullable=axis.nullable, off_schema=sink, tree=flat_tree([*kept, sink]))
    words = f"publish the {len(kept)} commonest values of {axis.name}, and {sink} for the other {axis.size - len(kept)}"
    return Edit(column=axis.name, action="coarsen", words=words, axis=coarser, codes=codes)
