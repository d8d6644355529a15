"""Flows: how many people go to each destination from each origin."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.places import OUTSIDE, Places, as_numbers, as_text, column_for
from sfumato.data.source import read_frame
from sfumato.errors import DataError

COUNT_NAMES = ("count", "workers", "people", "trips", "flow")
MOST_PEOPLE = 10**7
"""In one destination."""


@dataclass(frozen=True, eq=False)
class Flows:
    """People by destination and origin, as runs of origins: destination i owns pairs `start[i]:start[i + 1]`.

    Origins are places by number, in rising order within a destination; the number of places stands for "outside".
    """

    places: Places
    destinations: NDArray[np.int32]
    start: NDArray[np.int64]
    origins: NDArray[np.int32]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.destinations)

    @cached_property
    def people(self) -> NDArray[np.int64]:
        """How many people go to each destination."""
        return np.add.reduceat(self.counts, self.start[:-1])

    @property
    def total(self) -> int:
        """How many people there are."""
        return int(self.counts.sum())

    @cached_property
    def destination_of_pair(self) -> NDArray[np.int32]:
        """The destination of every pair, as a place."""
        return np.repeat(self.destinations, np.diff(self.start))

    @cached_property
    def inside(self) -> NDArray[np.bool_]:
        """Which pairs come from a known place."""
        return self.origins < len(self.places)

    @cached_property
    def kilometres(self) -> NDArray[np.float64]:
        """The distance of every pair; not a number for those from outside."""
        far = np.full(len(self.origins), np.nan)
        far[self.inside] = self.places.distances(self.origins[self.inside], self.destination_of_pair[self.inside])
        return far

    @staticmethod
    def of_pairs(
        places: Places, destinations: NDArray[np.integer], origins: NDArray[np.integer], counts: NDArray[np.integer]
    ) -> Flows:
        """Flows of pairs in any order; equal pairs are added, pairs of nobody left out."""
        size = len(places) + 1
        some = np.asarray(counts) > 0
        keys = np.asarray(destinations, dtype=np.int64)[some] * size + np.asarray(origins, dtype=np.int64)[some]
        distinct, which = np.unique(keys, return_inverse=True)
        added = np.bincount(which, weights=np.asarray(counts)[some], minlength=len(distinct)).astype(np.int64)
        place, first = np.unique(distinct // size, return_index=True)
        return Flows(
            places,
            place.astype(np.int32),
            np.append(first, len(distinct)).astype(np.int64),
            (distinct % size).astype(np.int32),
            added,
        )

    @staticmethod
    def read(
        source: Any,
        places: Places,
        *,
        origin: str | None = None,
        destination: str | None = None,
        count: str | None = None,
    ) -> Flows:
        """Read origin–destination pairs; without a count column every row is one person."""
        frame, where = read_frame(source)
        names = frame.columns
        origin = column_for(names, origin, ("origin", "home", "from"), "origin", where)
        destination = column_for(names, destination, ("destination", "work", "to"), "destination", where)
        if count is None:
            count = next((name for name in names if name.lower() in COUNT_NAMES), None)
        else:
            count = column_for(names, count, (), "count", where)
        if len({origin, destination, count}) < 3:
            raise DataError(f"{where}: origin, destination and count are different columns; one was given twice")
        codes = pl.DataFrame({"id": places.ids}).with_row_index("code").with_columns(pl.col("code").cast(pl.Int64))
        goes_to = _codes(frame[destination], codes, where)
        comes_from = _codes(frame[origin], codes, where, outside=len(places))
        people = _people(frame[count], where) if count else np.ones(frame.height, dtype=np.int64)
        if not people.any():
            raise DataError(f"{where}: the counts add up to nobody")
        flows = Flows.of_pairs(places, goes_to, comes_from, people)
        if int(flows.people.max()) > MOST_PEOPLE:
            place = places.ids[int(flows.destinations[flows.people.argmax()])]
            raise DataError(f"{where}: more than {MOST_PEOPLE:,} people go to {place!r}; split the destination")
        return flows

    def frame(self, count: str = "count") -> pl.DataFrame:
        """The flows as a table with the ids of the places."""
        ids = pl.concat([self.places.ids, pl.Series([OUTSIDE], dtype=pl.String)])
        return pl.DataFrame(
            {
                "destination": self.places.ids[self.destination_of_pair.astype(np.int64)],
                "origin": ids[self.origins.astype(np.int64)],
                count: self.counts,
            }
        )


def _codes(raw: pl.Series, codes: pl.DataFrame, where: str, outside: int | None = None) -> NDArray[np.int64]:
    ids = as_text(raw, where)
    found = pl.DataFrame({"id": ids}).join(codes, on="id", how="left", maintain_order="left")["code"]
    if outside is not None and OUTSIDE in ids:
        found = pl.DataFrame({"id": ids, "code": found}).select(
            pl.when(pl.col("id") == OUTSIDE).then(outside).otherwise(pl.col("code")).alias("code")
        )["code"]
    if found.null_count():
        row = int(found.is_null().arg_max() or 0)
        raise DataError(
            f"{where}: row {row + 1}: {raw.name} is {raw[row]!r}, which is no place in the list of places"
            + _more_about(raw, found, codes, outside is not None)
        )
    return found.to_numpy()


def _more_about(raw: pl.Series, found: pl.Series, codes: pl.DataFrame, origins: bool) -> str:
    """How many rows are so, and what may be the matter."""
    more = f" ({found.null_count():,} rows in all)" if found.null_count() > 1 else ""
    if raw.dtype.is_numeric() and codes["id"].str.starts_with("0").any():
        return f"{more}; ids of places begin with 0, so store ids as text"
    return f"{more}; write {OUTSIDE!r} for origins beyond the list, and give a radius" if origins else more


def _people(raw: pl.Series, where: str) -> NDArray[np.int64]:
    numbers = as_numbers(raw, where)
    wrong = (~numbers.is_between(0, MOST_PEOPLE)).fill_null(True) | (numbers != numbers.floor()).fill_null(True)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise DataError(
            f"{where}: row {row + 1}: {raw.name} is {raw[row]!r}; expected a whole number from 0 to {MOST_PEOPLE:,}"
        )
    return numbers.to_numpy().astype(np.int64)
