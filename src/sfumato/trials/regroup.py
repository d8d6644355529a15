"""The same people under another schema: cells counted anew from codes, without reading a row again."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.schema import Schema


def regroup(
    schema: Schema, codes: NDArray[np.integer], weights: NDArray[np.int64], like: Table, people: bool = True
) -> Table:
    """The table of cells with these codes, equal ones taken together, as reading the rows would have made it."""
    cells, place = np.unique(codes, axis=0, return_inverse=True)
    quasi = len(schema.quasi)
    values = schema.sensitive.together(list(cells[:, quasi:].T))
    order = np.lexsort((values, *cells[:, quasi - 1 :: -1].T))
    cells, values, where = cells[order], values[order], np.argsort(order)[place.reshape(-1)]
    points, starts = cells[:, :quasi].astype(np.int32), np.ones(len(cells), dtype=bool)
    starts[1:] = (points[1:] != points[:-1]).any(axis=1)
    first = like.cell_people if people else None
    return replace(
        like,
        schema=schema.without_others,
        points=np.ascontiguousarray(points[starts]),
        cell_point=np.cumsum(starts) - 1,
        cell_value=values,
        cell_weight=np.bincount(where, weights, len(cells)).astype(np.int64),
        cell_people=None if first is None else np.bincount(where, first, len(cells)).astype(np.int64),
        survey=like.survey and like.survey.moved(where, len(cells)) if people else None,
        rows=None,
        wider=None,
    )


def with_sensitive(table: Table, column: str) -> Table:
    """The same with this column as the sensitive one, and those that were among the quasi-identifiers."""
    names = [axis.name for axis in table.schema.axes]
    if table.schema.secret_names == [column]:
        return table
    swapped = {**dict.fromkeys(table.schema.secret_names, "quasi"), column: "sensitive"}
    columns = tuple(replace(one, role=swapped.get(one.name, one.role)) for one in table.schema.columns)  # type: ignore[arg-type]
    schema = replace(table.schema, columns=columns)
    order = [names.index(axis.name) for axis in schema.axes]
    return regroup(schema, table.cell_codes[:, order], table.cell_weight, table)
