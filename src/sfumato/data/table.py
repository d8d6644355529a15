"""A table of people as weighted cells on integer axes: all that methods, attacks and workloads look at.

Cells are the distinct combinations of quasi-identifiers and sensitive value, in the order of their codes, so
nothing downstream can depend on the order of rows.
"""

import hashlib
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from sfumato.data.engine import Counted, Engine
from sfumato.data.kept import KeptRows
from sfumato.data.survey import Survey
from sfumato.errors import DataError
from sfumato.notebook import html_table
from sfumato.schema import Axis, Schema
from sfumato.schema.axis import MISSING_LABEL, Span


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Table:
    """Distinct points of the quasi-identifiers, and the rows at each by sensitive value.

    `points` (points, axes) rises lexicographically; `cell_point`, `cell_value` and `cell_weight` list the
    occupied (point, sensitive value) cells in order. The code of a missing sensitive value is the last one; of several
    sensitive columns, a value is a combination.

    >>> table.n, table.points.shape[1] == len(table.schema.quasi)
    (400, True)
    """

    schema: Schema
    points: NDArray[np.int32]
    cell_point: NDArray[np.int64]
    cell_value: NDArray[np.int32]
    cell_weight: NDArray[np.int64]
    rows: Engine | None = None
    cell_people: NDArray[np.int64] | None = None
    """Of the rows of each cell, those that are the first of their person, where a person can have several."""
    survey: Survey | None = None
    """How many people of the population the rows of each cell stand for, and their households, where that is told."""
    repeated: int = 0
    """How many people had several rows to begin with, for the publisher's eyes."""
    synthetic: bool = False
    """Whether noise stands between these rows and any person, so that measures of them show nobody's."""
    derived: str = ""
    """How the rows were made of others, if one person more among those could change many of these."""
    _looks: list[str] = field(default_factory=list)
    """What showed measures of these rows; what is made of the table shares it."""
    unowned: int = 0
    """How many rows were left out because nothing says whose they are, for the publisher's eyes."""
    wider: Counted | None = None
    """The rows counted over the columns with role other as well, where there are such and they were counted."""
    placed: Mapping[str, int] = field(default_factory=dict)
    """How many values of each column were off the schema and replaced as it says, for the publisher's eyes."""
    files: tuple[Path, ...] = ()
    """Where the rows were read, if those were files."""
    _memory: dict[Hashable, Any] = field(default_factory=dict, init=False)

    def remember(self, key: Hashable, make: Callable[[], Any], *, anew: bool = False) -> Any:
        """What `make` returns for this table, made once for each key, unless it is wanted `anew`."""
        if anew or key not in self._memory:
            self._memory[key] = make()
        return self._memory[key]

    @property
    def n(self) -> int:
        """How many rows the table has."""
        return int(self.cell_weight.sum())

    @property
    def values(self) -> int:
        """How many sensitive values there can be, a missing one counted."""
        return self.schema.sensitive.positions

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """Rows at each point."""
        return np.bincount(self.cell_point, self.cell_weight, len(self.points)).astype(np.int64)

    @cached_property
    def cell_start(self) -> NDArray[np.int64]:
        """Where the cells of each point begin, and the end of the last."""
        return np.searchsorted(self.cell_point, np.arange(len(self.points) + 1))

    @cached_property
    def histograms(self) -> NDArray[np.int64]:
        """Rows at each point by sensitive value: (points, values)."""
        flat = self.cell_point * self.values + self.cell_value
        counts = np.bincount(flat, self.cell_weight, len(self.points) * self.values)
        return counts.astype(np.int64).reshape(-1, self.values)

    @cached_property
    def cell_codes(self) -> NDArray[np.int32]:
        """The code of every cell on each axis, the sensitive columns last: (cells, axes); a missing value has −1."""
        return np.column_stack([self.points[self.cell_point], *self.schema.sensitive.apart(self.cell_value)])

    @cached_property
    def overall(self) -> NDArray[np.int64]:
        """Rows by sensitive value."""
        return np.bincount(self.cell_value, self.cell_weight, self.values).astype(np.int64)

    @property
    def commonest(self) -> int:
        """The rows of the commonest value of any sensitive column."""
        return max(int(self.focused(column).overall.max(initial=0)) for column in self.schema.secret_names)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of schema and cells, by which a stored trial knows its table."""
        digest = hashlib.sha256(json.dumps(self.schema.spec(), sort_keys=True).encode())
        more = self.survey.arrays if self.survey else []
        for array in (self.points, self.cell_point, self.cell_value, self.cell_weight, *more):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    @cached_property
    def digest(self) -> str:
        """A digest of the rows, whatever the table is called and in whatever order columns and values are declared.

        It is made of the labels of values, each hashed once, and not of their codes.
        """
        marks = marks_of(self.schema.axes, list(self.cell_codes.T))
        order = np.lexsort((self.cell_weight, marks))
        names = json.dumps(sorted(axis.name for axis in self.schema.axes))
        return hashlib.sha256(names.encode() + marks[order].tobytes() + self.cell_weight[order].tobytes()).hexdigest()

    @cached_property
    def digests(self) -> tuple[str, ...]:
        """The digest of the rows, and those of the files as they are, by which rows in other columns are known."""
        found = {self.digest: None}
        for path in self.files:
            with suppress(OSError), open(path, "rb") as file:
                found[hashlib.file_digest(file, "sha256").hexdigest()] = None
        return tuple(found)

    @property
    def looked(self) -> str | None:
        """What showed measures of these rows, if anything did; noise does not cover what is chosen after that."""
        return self._looks[0] if self._looks else None

    def note_look(self, what: str) -> None:
        """Note that measures of these rows were shown."""
        self._looks.append(what)

    def kept_rows(self, class_of_point: NDArray[np.int64]) -> KeptRows | None:
        """The rows with the classes of their points and the columns to keep as they are, where there are any.

        Rows at points of no class (−1) are left out.
        """
        if self.rows is None or not self.schema.keep:
            return None
        return KeptRows.of_engine(self.rows, self.schema, self.points, class_of_point, self.n)

    @property
    def people(self) -> Self:
        """The same with one row of each person."""
        if self.cell_people is None:
            return self
        one_each = replace(self, survey=self.survey and self.survey.of_first)
        first = one_each.reweight(self.cell_people, before=self.cell_people)
        rows = self.rows.one_each if self.rows else None
        return replace(first, schema=self.schema if rows else first.schema, cell_people=None, rows=rows)

    def focused(self, column: str) -> Self:
        """The same people with one of the sensitive columns alone."""
        if len(self.schema.secrets) == 1:
            return self

        def make() -> Table:
            schema = self.schema.focused(column)
            place = self.schema.secret_names.index(column)
            value = schema.sensitive.together([self.schema.sensitive.apart(self.cell_value)[place]])
            values = schema.sensitive.positions
            cells, cell = np.unique(self.cell_point * values + value, return_inverse=True)
            first = self.cell_people

            def added(rows: NDArray[np.int64]) -> NDArray[np.int64]:
                return np.bincount(cell.reshape(-1), rows, len(cells)).astype(np.int64)

            return replace(
                self,
                schema=schema,
                cell_point=cells // values,
                cell_value=(cells % values).astype(np.int32),
                cell_weight=added(self.cell_weight),
                cell_people=None if first is None else added(first),
                survey=self.survey and self.survey.moved(cell.reshape(-1), len(cells)),
                rows=None,
                wider=None,
            )

        return cast(Self, self.remember(("focused", column), make))

    def without_rows(self) -> Self:
        """The same cells without the rows behind them, light enough to send to another process."""
        return replace(self, rows=None, wider=self.with_others)

    @cached_property
    def with_others(self) -> Counted | None:
        """The rows by the codes of all columns that a model has to know; nothing where there are no other columns, or
        where rows were taken away without looking at those."""
        if self.wider is not None or not self.schema.others or self.rows is None:
            return self.wider
        found = self.rows.count_by_key(self.schema.modelled)
        cells, place = np.unique(found.keys[:, : len(self.schema.axes)], axis=0, return_inverse=True)
        order = np.lexsort(self.cell_codes.T[::-1])
        rows = np.bincount(place.reshape(-1), found.rows, len(cells))
        if not np.array_equal(cells, self.cell_codes[order]) or not np.array_equal(rows, self.cell_weight[order]):
            raise DataError(f"{self.rows.where}: the rows are no longer those that were read")
        return found

    def reweight(self, weights: NDArray[np.int64], before: NDArray[np.int64] | None = None) -> Self:
        """The same cells with other numbers of rows, those without any left out; `before` is what the survey counts.

        Which rows of a cell stay is not told, and so nothing of columns with role other is known of them.
        """
        some = weights > 0
        occupied, cell_point = np.unique(self.cell_point[some], return_inverse=True)
        return replace(
            self,
            schema=self.schema.without_others,
            points=self.points[occupied],
            cell_point=cell_point,
            cell_value=self.cell_value[some],
            cell_weight=weights[some],
            cell_people=None if self.cell_people is None else np.minimum(self.cell_people, weights)[some],
            survey=self.survey and self.survey.reweighted(self.cell_weight if before is None else before, weights),
            rows=None,
            wider=None,
        )

    def __repr__(self) -> str:
        """The shape and the schema, never rows."""
        return f"Table of {self.n:,} rows; {self.schema!r}"

    def _repr_html_(self) -> str:
        return html_table(f"Table of {self.n:,} rows", self.schema.outline, ("column", "role", "values"))

    @classmethod
    def from_rows(cls, rows: Engine, schema: Schema) -> Self:
        """Count the cells of encoded rows, each point's by sensitive value; the missing value comes last."""
        return replace(cls.of_counted(rows.count_by_key(schema.axes), schema), rows=rows)

    @classmethod
    def of_counted(cls, counted: Counted, schema: Schema) -> Self:
        """The same of cells that are counted."""
        quasi = len(schema.quasi)
        points, values = counted.keys[:, :quasi], schema.sensitive.together(list(counted.keys[:, quasi:].T))
        starts = np.ones(len(points), dtype=bool)
        starts[1:] = (points[1:] != points[:-1]).any(axis=1)
        point_of = np.cumsum(starts) - 1
        order = np.lexsort((values, point_of))
        survey = counted.survey and counted.survey.moved(np.argsort(order), len(order))
        return cls(
            schema=schema,
            points=np.ascontiguousarray(points[starts]),
            cell_point=point_of[order],
            cell_value=values[order],
            cell_weight=counted.rows[order],
            cell_people=None if counted.first is None else counted.first[order],
            survey=survey,
            repeated=counted.repeated,
            unowned=counted.unowned,
            placed=counted.placed,
        )


def marks_of(axes: Sequence[Axis], columns: Sequence[NDArray[np.integer]]) -> NDArray[np.uint64]:
    """A hash of the labels of each row of codes, whatever order columns and values are declared in."""
    marks = np.zeros(len(columns[0]), dtype=np.uint64)
    for axis, column in sorted(zip(axes, columns, strict=True), key=lambda each: each[0].name):
        marks = mixed(marks) + _hash_labels(axis, column)
    return marks


def _hash_labels(axis: Axis, codes: NDArray[np.integer]) -> NDArray[np.uint64]:
    """A hash of the label of each code; the missing value has a code off the axis."""
    distinct, place = np.unique(codes, return_inverse=True)
    labels = (axis.label(Span(code, code, False)) if 0 <= code < axis.size else MISSING_LABEL for code in distinct)
    digests = b"".join(hashlib.blake2b(label.encode(), digest_size=8).digest() for label in labels)
    return np.asarray(np.frombuffer(digests, dtype=np.uint64)[place.reshape(-1)])


def mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Every bit of each number spread over all of it (Steele, Lea and Flood, 2014), so that sums of them differ."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(numbers ^ (numbers >> np.uint64(31)))
