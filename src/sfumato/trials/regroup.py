"""The same people under another schema: cells counted anew from codes, without reading a row again."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.schema import Schema


def cell_codes(table: Table) -> NDArray[np.int64]:
    """The code of every cell on each axis, the sensitive one last: (cells, axes); a missing value has −1."""
    value = np.where(table.cell_value == table.schema.sensitive.size, -1, table.cell_value)
    return np.column_stack([table.points[table.cell_point], value]).astype(np.int64)


def regroup(
    schema: Schema, codes: NDArray[np.int64], weights: NDArray[np.int64], like: Table, people: bool = True
) -> Table:
    """The table of cells with these codes, equal ones taken together, as reading the rows would have made it."""
    cells, place = np.unique(codes, axis=0, return_inverse=True)
    values = np.where(cells[:, -1] < 0, schema.sensitive.size, cells[:, -1])
    order = np.lexsort((values, *cells[:, -2::-1].T))
    cells, values, where = cells[order], values[order], np.argsort(order)[place.reshape(-1)]
    points, starts = cells[:, :-1].astype(np.int32), np.ones(len(cells), dtype=bool)
    starts[1:] = (points[1:] != points[:-1]).any(axis=1)
    first = like.cell_people if people else None
    return replace(
        like,
        schema=schema,
        points=np.ascontiguousarray(points[starts]),
        cell_point=np.cumsum(starts) - 1,
        cell_value=values.astype(np.int32),
        cell_weight=np.bincount(where, weights, len(cells)).astype(np.int64),
        cell_people=None if first is None else np.bincount(where, first, len(cells)).astype(np.int64),
        survey=like.survey and like.survey.moved(where, len(cells)) if people else None,
        rows=None,
    )


def with_sensitive(table: Table, column: str) -> Table:
    """The same with another column in the place of the sensitive one, and that among the quasi-identifiers."""
    names = [axis.name for axis in table.schema.axes]
    if column == names[-1]:
        return table
    swapped = {names[-1]: "quasi", column: "sensitive"}
    columns = tuple(replace(one, role=swapped.get(one.name, one.role)) for one in table.schema.columns)  # type: ignore[arg-type]
    schema = replace(table.schema, columns=columns)
    order = [names.index(axis.name) for axis in schema.axes]
    return regroup(schema, cell_codes(table)[:, order], table.cell_weight, table)
