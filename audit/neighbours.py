"""Neighbouring tables on small domains: a table, and the same with the rows of one person more."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.data import Table
from sfumato.schema import Schema

Row = tuple[int, ...]
"""Codes of the quasi-identifiers, −1 where missing, and of the sensitive value."""


def schema_of(sensitive: int = 2, rows_per_person: int = 1, rows_per_household: int = 1, **quasi: Any) -> Schema:
    """A schema whose quasi-identifiers are given as a size (numeric), or as the taxonomy of a categorical one.

    A pair (size or taxonomy, True) stands for an axis with missing values.
    """
    columns = {name: {"role": "quasi", **_axis(spec)} for name, spec in quasi.items()}
    values = [f"v{number}" for number in range(sensitive)]
    columns["secret"] = {"role": "sensitive", "kind": "categorical", "values": values}
    person = {"person": "id", "rows_per_person": rows_per_person} if rows_per_person > 1 else {}
    if rows_per_household > 1:
        person = {"person": "home", "protect": "household", "rows_per_household": rows_per_household}
    return Schema.parse({"columns": columns, **person})


def _axis(spec: Any) -> dict[str, Any]:
    if isinstance(spec, tuple):
        return {**_axis(spec[0]), "nullable": True}
    if isinstance(spec, int):
        return {"kind": "numeric", "min": 0, "max": spec - 1}
    return {"kind": "categorical", "taxonomy": spec}


def table_of(schema: Schema, rows: list[Row]) -> Table:
    """A table of rows of codes; unlike a file, it may be empty or hold one sensitive value only."""
    size = schema.sensitive.size
    cells = Counter((*row[:-1], row[-1] if row[-1] >= 0 else size) for row in rows)
    points = sorted({cell[:-1] for cell in cells})
    ordered = sorted(cells)
    place = {point: number for number, point in enumerate(points)}
    return Table(
        schema=schema,
        points=np.array(points, dtype=np.int32).reshape(len(points), len(schema.quasi)),
        cell_point=np.array([place[cell[:-1]] for cell in ordered], dtype=np.int64),
        cell_value=np.array([cell[-1] for cell in ordered], dtype=np.int32),
        cell_weight=np.array([cells[cell] for cell in ordered], dtype=np.int64),
    )


@dataclass(frozen=True)
class Pair:
    """A table, and its neighbour with one person more: a row, and `again` so many rows like it."""

    schema: Schema
    rows: tuple[Row, ...]
    more: Row
    again: int = 0

    @cached_property
    def without(self) -> Table:
        return table_of(self.schema, list(self.rows))

    @cached_property
    def added(self) -> Table:
        return table_of(self.schema, [*self.rows, *[self.more] * (1 + self.again)])
