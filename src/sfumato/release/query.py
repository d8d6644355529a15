"""Count queries in words: how many rows satisfy conditions, in the language of `schema/conditions.py`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sfumato.data import Table
from sfumato.errors import ParameterError, QueryError
from sfumato.files import read_text
from sfumato.release.answer import Answer, answer
from sfumato.release.content import Content
from sfumato.release.coverage import Coverage
from sfumato.schema import Axis, Schema
from sfumato.schema.codes import Codes, positions_among
from sfumato.schema.conditions import read_conditions


@dataclass(frozen=True, kw_only=True)
class Query:
    """The rows whose codes on every named axis are among those allowed."""

    axes: Mapping[str, Axis]
    allowed: Mapping[str, Codes]

    def estimate(self, release: Content) -> float:
        """How many rows satisfy the query, as a careful recipient of a release would estimate."""
        return self.answer(release).estimate

    def answer(self, release: Content) -> Answer:
        """How many rows satisfy the query, with the bounds that the release allows."""
        allowed = self._on(release.schema)
        quasi, secrets = allowed[: len(release.schema.quasi)], allowed[len(release.schema.quasi) :]
        chosen = positions_among(release.schema.sensitive, secrets)
        others = [Codes.of([axis.everything]) for axis in release.schema.others]
        measured = None if release.measured is None else release.measured.count([*allowed, *others])
        return answer(Coverage.of(release, quasi), chosen, measured)

    def matches(self, table: Table) -> int:
        """How many rows of the table satisfy the query."""
        held = zip(self._on(table.schema), table.cell_codes.T, strict=True)
        return int(table.cell_weight[np.logical_and.reduce([codes.hold(column) for codes, column in held])].sum())

    def _on(self, schema: Schema) -> list[Codes]:
        """What is allowed on each axis of a schema, the sensitive ones last."""
        for name, axis in self.axes.items():
            if axis not in schema.axes:
                raise QueryError(f"the query was made for another column {name!r} than this table has")
        return [self.allowed.get(axis.name, Codes.of([axis.everything])) for axis in schema.axes]


def parse_query(text: str, schema: Schema) -> Query:
    """The query that conditions on the columns of a schema make."""
    return parse_conditions(text, schema.axes)


def parse_queries(texts: Sequence[str], axes: Sequence[Axis]) -> list[Query]:
    """The query that each text makes on these axes; one that cannot be understood is refused with its number."""
    found = []
    for number, text in enumerate(texts, start=1):
        try:
            found.append(parse_conditions(text, axes))
        except QueryError as error:
            raise QueryError(f"query {number}, {text}: {error}") from error
    return found


def read_queries(path: Path) -> tuple[str, ...]:
    """The queries in a file, one on each line; empty lines and those that begin with # are passed over."""
    lines = [line.strip() for line in read_text(path, "the file of queries", ParameterError).splitlines()]
    asked = tuple(line for line in lines if line and not line.startswith("#"))
    if not asked:
        raise ParameterError(f"{path}: there are no queries in it; expected one on each line, such as age >= 40")
    return asked


def parse_conditions(text: str, axes: Iterable[Axis]) -> Query:
    """The query that conditions on these axes make."""
    known = {axis.name: axis for axis in axes}
    allowed = read_conditions(text, known.values())
    return Query(axes={name: known[name] for name in allowed}, allowed=allowed)
