"""Flows: how many people go to each destination from each origin."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.distinct import Lines
from sfumato.data.places import Places, as_numbers, find_column, refuse_where
from sfumato.errors import DataError, quote

COUNT_NAMES = ("count", "workers", "people", "trips", "flow")
MAX_PEOPLE = 10**7
"""In one destination."""


@dataclass(frozen=True, eq=False, repr=False)
class Flows:
    """People by destination and origin, as runs of origins: destination i owns pairs `start[i]:start[i + 1]`.

    Origins are places by number, in rising order within a destination; the number of places stands for "outside".

    >>> read = sf.commute.Flows.read({"origin": ["P0001"], "destination": ["P0002"], "count": [5]}, places)
    >>> read.total, read.frame().rows()
    (5, [('P0002', 'P0001', 5)])
    """

    places: Places
    destinations: NDArray[np.int32]
    start: NDArray[np.int64]
    origins: NDArray[np.int32]
    counts: NDArray[np.int64]
    origin: str = "origin"
    """The column that said where people come from: the one that synthesis hides."""
    _looks: list[str] = field(default_factory=list, init=False)

    def __len__(self) -> int:
        return len(self.destinations)

    def __repr__(self) -> str:
        """The size of the flows, never who goes where."""
        return f"Flows of {self.total:,} people to {len(self):,} of {len(self.places):,} places"

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
    def digest(self) -> str:
        """A digest of who goes where, by the ids of the places, in whatever order these and the flows are listed."""
        pairs = self.frame().sort("destination", "origin").write_csv()
        return hashlib.sha256(pairs.encode()).hexdigest()

    @property
    def looked(self) -> str | None:
        """What showed measures of these flows, if anything did; noise does not cover what is chosen after that."""
        return self._looks[0] if self._looks else None

    def note_look(self, what: str) -> None:
        """Note that measures of these flows were shown."""
        self._looks.append(what)

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

    @classmethod
    def of_pairs(
        cls,
        places: Places,
        destinations: NDArray[np.integer],
        origins: NDArray[np.integer],
        counts: NDArray[np.integer],
        *,
        origin: str = "origin",
    ) -> Self:
        """Flows of pairs in any order; equal pairs are added, pairs of nobody left out."""
        size, some = len(places) + 1, counts > 0
        distinct, people = add_equal(destinations[some].astype(np.int64) * size + origins[some], counts[some])
        place, first = np.unique(distinct // size, return_index=True)
        start = np.append(first, len(distinct)).astype(np.int64)
        return cls(places, place.astype(np.int32), start, (distinct % size).astype(np.int32), people, origin)

    @classmethod
    def read(
        cls,
        source: Any,
        places: Places,
        *,
        origin: str | None = None,
        destination: str | None = None,
        count: str | None = None,
    ) -> Self:
        """Read origin–destination pairs; without a count column every row is one person."""

        def choose(names: list[str], where: str) -> list[str]:
            leaves = find_column(names, origin, ("origin", "home", "from"), "origin", where)
            arrives = find_column(names, destination, ("destination", "work", "to"), "destination", where)
            usual = next((name for name in names if name.lower() in COUNT_NAMES), None)
            counts = usual if count is None else find_column(names, count, (), "count", where)
            if len({leaves, arrives, counts}) < 3:
                raise DataError(f"{where}: origin, destination and count are different columns; one was given twice")
            return [leaves, arrives, *([counts] if counts else [])]

        lines = Lines.read(source, choose)
        where, (leaves, arrives, *counts) = lines.where, lines.frame.get_columns()
        goes_to = places.find(arrives, where)
        comes_from = places.find(leaves, where, outside=True)
        people = lines.rows * _people(counts[0], where) if counts else lines.rows
        if not people.any():
            raise DataError(f"{where}: the counts add up to nobody")
        flows = cls.of_pairs(places, goes_to, comes_from, people, origin=leaves.name)
        if int(flows.people.max()) > MAX_PEOPLE:
            place = places.ids[int(flows.destinations[flows.people.argmax()])]
            raise DataError(f"{where}: more than {MAX_PEOPLE:,} people go to {quote(place)}; split the destination")
        return flows

    def frame(self, count: str = "count") -> pl.DataFrame:
        """The flows as a table with the ids of the places."""
        ids = self.places.ids_and_outside
        return pl.DataFrame(
            {"destination": ids[self.destination_of_pair], "origin": ids[self.origins], count: self.counts}
        )


def add_equal(keys: NDArray[np.integer], people: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct keys, rising, and the people of each."""
    distinct, which = np.unique(keys, return_inverse=True)
    return distinct, np.bincount(which, weights=people, minlength=len(distinct)).astype(np.int64)


def _people(raw: pl.Series, where: str) -> NDArray[np.int64]:
    numbers = as_numbers(raw, where)
    wrong = ~numbers.is_between(0, MAX_PEOPLE) | (numbers != numbers.floor())
    refuse_where(wrong, raw, where, f"a whole number from 0 to {MAX_PEOPLE:,}")
    return numbers.to_numpy().astype(np.int64)
