"""What is asked of rows, wherever they are kept: two relational operations.

Everything else works on the cells that these return, so a method runs unchanged on every engine.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.delimited import Reading
from sfumato.data.encode import encode_values, find_unfit
from sfumato.data.keys import KeyCounts, Keys
from sfumato.data.misfits import refuse_misfits
from sfumato.data.people import Repeated, keep_rows_of_people
from sfumato.data.pieces import Parts, Piece, same_types, stack
from sfumato.data.sorting import sorted_parts
from sfumato.data.source import Source
from sfumato.data.survey import HOME, WEIGHT, HomeCounts, Survey, encode_weights, refuse_many_people, refuse_weight
from sfumato.data.text import as_names
from sfumato.schema import Axis, Schema, Span
from sfumato.schema.axis import MISSING_LABEL
from sfumato.schema.weight import UNIT

Progress = Callable[[int, int], None]
"""Is told how many rows were read, and how many there are as far as is known."""


@dataclass(frozen=True, kw_only=True)
class Counted:
    """The distinct rows of codes in rising order, (keys, axes), and how often each occurs."""

    keys: NDArray[np.int32]
    rows: NDArray[np.int64]
    first: NDArray[np.int64] | None = None
    """How many of these rows are the first of their person, where there may be several."""
    repeated: int = 0
    """How many people had several rows to begin with, where it is known whose a row is."""
    unowned: int = 0
    """How many rows were left out because nothing says whose they are."""
    placed: dict[str, int] = field(default_factory=dict)
    """How many values of each column were off the schema and replaced as it says, for the publisher's eyes."""
    survey: Survey | None = None
    """For how many people the rows of each key stand, and the households in it, where the schema has such columns."""


class Engine(Protocol):
    """Rows of codes, one for each axis (`MISSING` where there is no value), and columns to keep as they are."""

    @property
    def where(self) -> str:
        """Where the rows come from, for error messages."""

    @property
    def one_each(self) -> "Engine":
        """The first row of each person, where it is known whose a row is."""

    def count_by_key(self, axes: Sequence[Axis]) -> Counted:
        """The distinct rows of codes, and how often each occurs."""

    def join_to_class(
        self, axes: Sequence[Axis], keys: NDArray[np.int32], class_of_key: NDArray[np.int64], value: Axis
    ) -> Parts:
        """Every row with one of the keys: its class (`box`), its position on another axis (`value`), and kept columns.

        `keys` (keys, axes) are distinct. The result is sorted, so that its order tells nothing.
        """


class Batch(NamedTuple):
    """Rows of codes, a column for each axis, and columns to keep as they are."""

    codes: pl.DataFrame
    kept: pl.DataFrame
    first: NDArray[np.int64]
    """1 for the first row of a person, 0 for others."""
    beside: pl.DataFrame
    """The weight of each row (`WEIGHT`) and the name of its household (`HOME`), where there are such columns."""


@dataclass(kw_only=True)
class _Tally:
    """What is found out about people while going through their rows."""

    repeated: int = 0
    unowned: int = 0
    placed: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, eq=False, kw_only=True)
class PolarsEngine:
    """Rows of files or a frame, gone through piece by piece for each question; none is held.

    Columns are encoded through their distinct spellings. Of identifiers only the one that tells people apart is loaded,
    of other columns those that matter.
    """

    schema: Schema = field(repr=False)
    source: Source = field(repr=False)
    only_first: bool = False
    progress: Progress | None = field(default=None, repr=False)

    @classmethod
    def read(cls, source: Any, schema: Schema, progress: Progress | None = None) -> Self:
        """The rows of a source, with the columns that a schema declares."""
        return cls(schema=schema, source=Source.of(source), progress=progress)

    @property
    def where(self) -> str:
        return self.source.where

    @property
    def one_each(self) -> Self:
        return replace(self, only_first=True)

    def count_by_key(self, axes: Sequence[Axis]) -> Counted:
        schema, words = self.schema, Keys([axis.size for axis in axes])
        names = ("rows", "first", *(("people", "first_people") if schema.weight else ()))
        tally, counts, homes, weight = _Tally(), KeyCounts(words, names), HomeCounts(words), 0.0
        for batch in self._batches(tally):
            added = {"rows": np.ones(batch.codes.height, dtype=np.int64), "first": batch.first}
            columns = [batch.codes[axis.name].to_numpy() for axis in axes]
            if schema.weight:
                people = batch.beside[WEIGHT].to_numpy()
                refuse_many_people(weight := weight + people.sum(dtype=np.float64), self.where)
                added |= {"people": people, "first_people": people * batch.first}
            if schema.household_column:
                homes.add(words.pack(columns), batch.beside[HOME], batch.first)
            counts.add(columns, **added)
        keys, (rows, first, *weighed) = counts.sorted()
        several = schema.rows_per_person > 1 and not self.only_first
        survey = None
        if schema.weight or schema.household_column:
            survey = Survey(
                people=weighed[0] / UNIT if weighed else None,
                first_people=weighed[1] / UNIT if weighed and several else None,
                homes=homes.homes(keys) if schema.household_column else None,
            )
        return Counted(
            keys=keys,
            rows=rows,
            first=first if several else None,
            repeated=tally.repeated,
            unowned=tally.unowned,
            placed=dict(tally.placed),
            survey=survey,
        )

    def join_to_class(
        self, axes: Sequence[Axis], keys: NDArray[np.int32], class_of_key: NDArray[np.int64], value: Axis
    ) -> Parts:
        words = Keys([axis.size for axis in axes])
        class_of = words.pack(list(keys.T)).with_columns(box=class_of_key)

        def joined() -> Iterator[pl.DataFrame]:
            for batch in self._batches(_Tally()):
                packed = words.pack([batch.codes[axis.name].to_numpy() for axis in axes])
                rows = pl.DataFrame([*packed, as_positions(batch.codes, value), *batch.kept])
                yield rows.join(class_of, on=words.names, how="inner").select("box", "value", *self.schema.keep)

        return Parts(lambda: sorted_parts(same_types(joined(), self.where)))

    def _batches(self, tally: _Tally) -> Iterator[Batch]:
        """All rows that are used, the ones of people with several after the others."""
        if self.schema.person_column is None:
            for piece in self._pieces(self._columns):
                yield self._encoded(piece, tally.placed)
            return
        held: list[tuple[Piece, pl.Series]] = []
        columns = list(dict.fromkeys([*self._columns, self.schema.person_column]))
        first = next(pieces := self._pieces(columns))
        if first.done == 1:
            held = [(first, self._names(first))]
            repeated = Repeated.among(names for _, names in held)
        else:
            pieces.close()
            repeated = Repeated.among(self._names(piece) for piece in self._pieces([self.schema.person_column]))
        for part in range(max(repeated.parts, 1)):
            several: list[tuple[Batch, pl.Series]] = []
            for piece, names in held or ((piece, self._names(piece)) for piece in self._pieces(columns)):
                part_of = repeated.part_of(names)
                known = names.is_not_null().to_numpy()
                if part == 0:
                    tally.unowned += int((~known).sum())
                    yield self._encoded(piece, tally.placed, known & (part_of < 0))
                if (some := known & (part_of == part)).any():
                    several.append((self._encoded(piece, tally.placed, some), names.filter(some)))
            if several:
                yield self._first_rows(several, tally)

    def _pieces(self, columns: Sequence[str]) -> Generator[Piece]:
        """The pieces of the source with some columns; whoever waits is told how far it is."""
        schema = self.schema
        reading: Reading = "strict" if schema.unread else "lossy" if schema.refusing else "lenient"
        rows = 0
        for piece in self.source.pieces(columns, empty=True, reading=reading):
            rows += piece.frame.height
            yield piece
            if self.progress:
                self.progress(rows, round(rows / piece.done) if piece.done else rows)

    @property
    def _columns(self) -> list[str]:
        schema = self.schema
        beside = [schema.weight.name] if schema.weight else []
        beside += [schema.household_column] if schema.household_column else []
        return [*(axis.name for axis in schema.modelled), *schema.unread, *beside]

    def _names(self, piece: Piece) -> pl.Series:
        """Whose each row is, where that is known."""
        return self._spelled(piece, piece.frame, self.schema.person_column or "")

    def _spelled(self, piece: Piece, frame: pl.DataFrame, column: str) -> pl.Series:
        """The names in a column, null where one is missing."""
        return as_names(frame[column], self.schema.missing, f"{piece.where}, column {column!r}")

    def _used_pieces(self) -> Iterator[tuple[Piece, NDArray[np.bool_] | None]]:
        """All pieces, and which of their rows are somebody's."""
        person = self.schema.person_column
        for piece in self._pieces([*self._columns, *([person] if person else [])]):
            yield piece, self._names(piece).is_not_null().to_numpy() if person else None

    def _encoded(self, piece: Piece, placed: Counter[str], used: NDArray[np.bool_] | None = None) -> Batch:
        """Rows of people with one row each; where a value does not fit, all that do not are refused."""
        frame = piece.frame if used is None else piece.frame.filter(used)
        codes = self._encode(piece, [frame[axis.name] for axis in self.schema.modelled], placed)
        if any(find_unfit(codes[axis.name], axis).any() for axis in self.schema.modelled):
            refuse_misfits(self._used_pieces(), self.schema, self.where, self.source.advice)
        spelled = {axis.name: spell_codes(codes[axis.name].to_numpy(), axis) for axis in self.schema.others}
        kept = pl.DataFrame([spelled[name] if name in spelled else frame[name] for name in self.schema.keep])
        return Batch(codes, kept, np.ones(frame.height, dtype=np.int64), self._beside(piece, frame, used))

    def _beside(self, piece: Piece, frame: pl.DataFrame, used: NDArray[np.bool_] | None) -> pl.DataFrame:
        """What the survey tells of rows; the first with a weight that does not fit is refused."""
        schema, found = self.schema, []
        if schema.weight and schema.weight.weighing:
            raw = frame[schema.weight.name]
            weights = encode_weights(raw, schema.weight.weighing, schema.missing)
            for line in np.flatnonzero(weights == 0)[:1].tolist():
                refuse_weight(raw, line, raw.name, _row(piece, used, line))
            found.append(pl.Series(WEIGHT, weights))
        if schema.household_column:
            found.append(self._spelled(piece, frame, schema.household_column).alias(HOME))
        return pl.DataFrame(found)

    def _encode(self, piece: Piece, columns: Sequence[pl.Series], placed: Counter[str]) -> pl.DataFrame:
        """The codes of some values of each axis."""
        schema = self.schema
        return pl.DataFrame(
            [
                encode_values(raw, axis, schema.missing, piece.where, placed)
                for raw, axis in zip(columns, schema.modelled, strict=True)
            ]
        )

    def _first_rows(self, several: list[tuple[Batch, pl.Series]], tally: _Tally) -> Batch:
        """The rows that are used of people with several."""
        codes = pl.concat([batch.codes for batch, _ in several])
        kept = stack([batch.kept for batch, _ in several], self.where)
        beside = pl.concat([batch.beside for batch, _ in several])
        people = pl.concat([names for _, names in several])
        tally.repeated += int((people.value_counts()["count"] > 1).sum())
        most = 1 if self.only_first else self.schema.rows_per_person
        others = pl.DataFrame([column for column in (*kept, *beside) if column.name not in codes.columns])
        first, used = (
            keep_rows_of_people(codes, others, people, limit, secrets=self.schema.secret_names) for limit in (1, most)
        )
        kept, beside = (each.filter(used) if each.width else each for each in (kept, beside))
        return Batch(codes.filter(used), kept, first.filter(used).cast(pl.Int64).to_numpy(), beside)


def _row(piece: Piece, used: NDArray[np.bool_] | None, line: int) -> str:
    """A row of those that are used of a piece, as error messages name it."""
    return piece.row(line if used is None else int(np.flatnonzero(used)[line]))


def spell_codes(codes: NDArray[np.integer], axis: Axis) -> pl.Series:
    """The column of the labels of some codes, each spelled once."""
    distinct, place = np.unique(codes, return_inverse=True)
    labels = [axis.label(Span(int(code), int(code), False)) if code >= 0 else MISSING_LABEL for code in distinct]
    return pl.Series(axis.name, labels, dtype=pl.String).gather(place.reshape(-1))


def as_positions(codes: pl.DataFrame, axis: Axis) -> pl.Series:
    """The column `value` of joined rows: the position that the codes of its columns make up, a missing value last."""
    return pl.Series("value", axis.together([codes[part.name].to_numpy() for part in axis.parts]))
