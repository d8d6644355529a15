"""Questions in words: how many rows satisfy conditions, in the language of `schema/conditions.py`, and what the numbers
of a column add up to over them, or are on average."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.errors import ParameterError, QueryError
from sfumato.files import read_text
from sfumato.release.answer import Answer, Question, answer
from sfumato.release.content import Content
from sfumato.release.coverage import Part, Region
from sfumato.schema import Axis, Schema, Span
from sfumato.schema.alternatives import Alternatives
from sfumato.schema.codes import Codes
from sfumato.schema.conditions import read_conditions
from sfumato.schema.numeric import NumericAxis


@dataclass(frozen=True, kw_only=True)
class Query:
    """Rows that satisfy conditions."""

    rows: Alternatives

    @property
    def axes(self) -> Mapping[str, Axis]:
        """The columns that the conditions name."""
        return self.rows.axes

    def estimate(self, release: Content) -> float:
        """How many rows satisfy the query, as a careful recipient of a release would estimate."""
        return self.answer(release).estimate

    def answer(self, release: Content) -> Answer:
        """How many rows satisfy the query, with the bounds that the release allows."""
        return answer(release, Question(Region(release.schema, self._parts(release.schema))))

    def sum(self, release: Content, column: str) -> Answer:
        """What the numbers of a column add up to over these rows; missing ones add nothing."""
        return answer(release, Question(self._valued(release.schema, column), "sum", column))

    def mean(self, release: Content, column: str) -> Answer:
        """The mean of a column over those of these rows that have a number in it."""
        return answer(release, Question(self._valued(release.schema, column), "mean", column))

    def share(self, release: Content, other: Query, about: str) -> Answer:
        """The share of these rows that satisfy other conditions, too."""
        both, rest = Query(rows=self.rows & other.rows), Query(rows=self.rows - other.rows)
        parts = (*both._parts(release.schema), *rest._parts(release.schema, worth=0.0))
        return answer(release, Question(Region(release.schema, parts), "share", about))

    def matches(self, table: Table) -> int:
        """How many rows of the table satisfy the query."""
        return int(table.cell_weight[self._hold(table)].sum())

    def numbers(self, table: Table, column: str) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        """For each cell of the table that satisfies the query and has a number in a column, the least and the most that
        this can be, and the rows of the cell."""
        place, axis = _numeric(table.schema, column)
        code = table.cell_codes[:, place]
        some = self._hold(table) & (code >= 0)
        low, high = axis.worths(code[some])
        return low, high, table.cell_weight[some]

    def _hold(self, table: Table) -> NDArray[np.bool_]:
        """Which cells of the table satisfy the query."""
        self._check(table.schema)
        return self.rows.hold(table.cell_codes, {axis.name: place for place, axis in enumerate(table.schema.axes)})

    def _valued(self, schema: Schema, column: str) -> Region:
        """The rows with a number in a column, which is what they are worth."""
        place, axis = _numeric(schema, column)
        present = Query(rows=self.rows & Alternatives.of(axis, Codes(((0, axis.size - 1),))))
        parts = present._parts(schema)
        for end, sign in ((axis.size - 1, "<"),) * axis.open_above + ((0, ">"),) * axis.open_below:
            if any(part.codes[place].hold(np.array([end], dtype=np.int32))[0] for part in parts):
                edge = axis.label(Span(end, end, False)).split()[-1]
                raise QueryError(
                    f"nobody knows how far {column!r} goes beyond {edge}, so it cannot be added up; ask about others "
                    f"alone: {column} {sign} {edge}"
                )
        return Region(schema, parts, place)

    def _parts(self, schema: Schema, worth: float = 1.0) -> tuple[Part, ...]:
        """The rows as disjoint parts over all columns of a schema."""
        self._check(schema)
        return tuple(Part(codes, worth) for codes in self.rows.on(schema.modelled))

    def _check(self, schema: Schema) -> None:
        for name, axis in self.axes.items():
            if axis not in schema.axes:
                raise QueryError(f"the query was made for another column {name!r} than this table has")


EVERYBODY = Query(rows=Alternatives.everything())


def _numeric(schema: Schema, column: str) -> tuple[int, NumericAxis]:
    """The place of a column whose numbers can be added up."""
    known = {axis.name: (place, axis) for place, axis in enumerate(schema.axes)}
    numeric = [name for name, (_, axis) in known.items() if isinstance(axis, NumericAxis)]
    shown = ", ".join(map(repr, numeric)) or "none here"
    if column not in known:
        raise QueryError(f"there is no column {column!r}; numbers of these can be added up: {shown}")
    place, axis = known[column]
    if not isinstance(axis, NumericAxis):
        raise QueryError(f"{column!r} is categorical and has no numbers; those of these can be added up: {shown}")
    return place, axis


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
    return Query(rows=read_conditions(text, known.values()))
