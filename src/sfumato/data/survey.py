"""What a survey tells of rows beside their values: for how many people each stands, and which of them share a home.

Rows of a cell are alike in everything else. Where only some of them are taken, the weight of the others goes in
proportion, and of households those that come first stay.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NoReturn, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.encode import spelled_numbers
from sfumato.data.keys import Keys
from sfumato.data.text import as_text, quote_cell
from sfumato.errors import DataError
from sfumato.schema.weight import EXPECTED, MAX_WEIGHT, MIN_WEIGHT, UNIT, Unit, Weighing

NO_HOME = -1
"""The number of the household of people without one: nothing tells which of them live together."""
WEIGHT, HOME = "\0 weight", "\0 household"
"""Columns beside encoded rows, which no column of a file is called."""
DIGITS = 6
"""Sums of millionths have so many digits behind the point, whatever floating point makes of them."""
MOST_PEOPLE = 4 * 10**12
"""All weights together, in whole millionths, stay below what 64 bits hold."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Homes:
    """How many rows of each household there are in each cell, in the order of cells and households.

    Households are numbered from 0 on, `NO_HOME` for people without one.
    """

    cell: NDArray[np.int64]
    household: NDArray[np.int64]
    rows: NDArray[np.int64]
    first: NDArray[np.int64]
    """How many of these rows are the first of their person."""

    def __getitem__(self, some: NDArray[np.generic]) -> Self:
        return type(self)(**{name: getattr(self, name)[some] for name in ("cell", "household", "rows", "first")})

    def distinct(self, class_of_cell: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
        """How many households live in each class; all people without one are taken for one household."""
        own = class_of_cell[self.cell]
        pairs = np.unique(np.stack([own, self.household])[:, own >= 0], axis=1)
        return np.bincount(pairs[0], minlength=classes)

    def moved(self, place: NDArray[np.int64]) -> Self:
        """The same with other numbers of cells, of which several may become one."""
        cell, order = place[self.cell], np.lexsort((self.household, place[self.cell]))
        cell, household = cell[order], self.household[order]
        starts = np.ones(len(order), dtype=np.bool_)
        starts[1:] = (cell[1:] != cell[:-1]) | (household[1:] != household[:-1])
        number = np.cumsum(starts) - 1
        rows, first = (
            np.bincount(number, each[order], int(starts.sum())).astype(np.int64) for each in (self.rows, self.first)
        )
        return type(self)(cell=cell[starts], household=household[starts], rows=rows, first=first)

    def of_first(self) -> Self:
        """One row of each person."""
        return replace(self, rows=self.first)[self.first > 0]

    def up_to(self, most: NDArray[np.int64]) -> Self:
        """At most so many rows of each cell."""
        before = np.cumsum(self.rows) - self.rows
        start = np.searchsorted(self.cell, self.cell)
        left = np.clip(most[self.cell] - (before - before[start]), 0, self.rows) if len(self.cell) else self.rows
        return replace(self, rows=left, first=np.minimum(self.first, left))[left > 0]


@dataclass(frozen=True, eq=False, kw_only=True)
class Survey:
    """For each cell of a table how many people of the population its rows stand for, and the households in it."""

    people: NDArray[np.float64] | None = None
    first_people: NDArray[np.float64] | None = None
    """The same of the first row of each person, where a person can have several."""
    homes: Homes | None = None

    @property
    def of_first(self) -> Self:
        """One row of each person."""
        people = self.people if self.first_people is None else self.first_people
        return replace(self, people=people, first_people=None, homes=self.homes and self.homes.of_first())

    def reweighted(self, before: NDArray[np.int64], after: NDArray[np.int64]) -> Self:
        """What is left where cells have other numbers of rows, those without any left out."""
        some = after > 0
        share = after[some] / before[some]
        place = np.cumsum(some) - 1
        people, first_people = (
            None if each is None else each[some] * share for each in (self.people, self.first_people)
        )
        homes = self.homes and self.homes[some[self.homes.cell]].up_to(after).moved(place)
        return replace(self, people=people, first_people=first_people, homes=homes)

    def moved(self, place: NDArray[np.int64], cells: int) -> Self:
        """The same with other numbers of cells, of which several may become one."""
        people, first_people = (
            None if each is None else np.bincount(place, each, cells).astype(np.float64).round(DIGITS)
            for each in (self.people, self.first_people)
        )
        return replace(self, people=people, first_people=first_people, homes=self.homes and self.homes.moved(place))

    def units(self, class_of_cell: NDArray[np.int64], classes: int) -> dict[Unit, NDArray[np.float64]]:
        """What there is in each class beside rows; cells of no class (−1) are left out."""
        inside, found = class_of_cell >= 0, dict[Unit, NDArray[np.float64]]()
        if self.people is not None:
            found["weights"] = np.bincount(class_of_cell[inside], self.people[inside], classes).astype(np.float64)
        if self.homes is not None:
            found["households"] = self.homes.distinct(class_of_cell, classes).astype(np.float64)
        return found

    @property
    def arrays(self) -> list[NDArray[np.generic]]:
        """All of it, for a digest."""
        homes = [] if self.homes is None else [self.homes.cell, self.homes.household, self.homes.rows]
        return [each for each in (self.people, self.first_people, *homes) if each is not None]


class HomeCounts:
    """Rows of households in cells, added up batch by batch: memory follows the pairs of both that occur.

    A household is known by a hash of its name. Two that share one are taken for one, which makes classes seem to have
    fewer households, not more.
    """

    def __init__(self, keys: Keys) -> None:
        self.keys = keys
        self._waiting: list[pl.DataFrame] = []

    def add(self, packed: pl.DataFrame, names: pl.Series, first: NDArray[np.int64]) -> None:
        """The cells of rows as words, the names of their households, and whether each row is the first of a person."""
        home = pl.select(pl.when(names.is_null()).then(None).otherwise(names.hash())).to_series()
        self._waiting.append(self._add_up(packed.with_columns(home=home, rows=pl.lit(1, pl.Int64), first=first)))

    def homes(self, cells: NDArray[np.int32]) -> Homes:
        """Households by the number of their cell among these, which rise."""
        place = self.keys.pack(list(cells.T)).with_row_index("cell")
        found = self._add_up(pl.concat(self._waiting)).join(place, on=self.keys.names)
        known = found["home"].unique().drop_nulls().sort().to_numpy()
        home = np.searchsorted(known, found["home"].fill_null(0).to_numpy()).astype(np.int64)
        home[found["home"].is_null().to_numpy()] = NO_HOME
        cell, order = found["cell"].to_numpy().astype(np.int64), np.lexsort((home, found["cell"].to_numpy()))
        rows, first = found["rows"].to_numpy()[order], found["first"].to_numpy()[order]
        return Homes(cell=cell[order], household=home[order], rows=rows, first=first)

    def _add_up(self, lines: pl.DataFrame) -> pl.DataFrame:
        return lines.lazy().group_by(*self.keys.names, "home").agg(pl.col("rows", "first").sum()).collect()


def encode_weights(raw: pl.Series, weighing: Weighing, missing: Sequence[str]) -> NDArray[np.int64]:
    """Weights in whole millionths, 0 where one does not fit and nothing stands for it."""
    text = raw if raw.dtype.is_numeric() else as_text(raw, f"column {raw.name!r}")
    numbers = text.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    with np.errstate(invalid="ignore"):
        fits = (numbers >= MIN_WEIGHT) & (numbers <= MAX_WEIGHT) & ~np.isin(numbers, spelled_numbers(missing))
    instead = 0.0 if weighing.instead is None else weighing.instead
    return np.asarray(np.rint(np.where(fits, numbers, instead) * UNIT).astype(np.int64))


def refuse_weight(raw: pl.Series, place: int, name: str, row: str) -> NoReturn:
    """Say what does not fit about a weight."""
    where = f"{row}, column {name!r}"
    if raw[place] is None:
        raise DataError(f"{where}: the weight is missing; expected {EXPECTED}, or off_schema in the schema")
    raise DataError(f"{where}: {quote_cell(raw, place)} is not a weight; expected {EXPECTED}")


def refuse_many_people(millionths: float, where: str) -> None:
    """Refuse weights that add up to more than can be counted."""
    if millionths > MOST_PEOPLE * UNIT:
        raise DataError(f"{where}: the weights add up to more than {MOST_PEOPLE:,.0f} people")
