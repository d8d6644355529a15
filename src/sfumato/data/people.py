"""People, not rows: whose a row is, and which rows of a person are used."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

ROWS_AT_ONCE = 2**23
"""Rows of people with several that are in memory at a time."""


@dataclass(frozen=True, eq=False)
class Repeated:
    """Hashes of the names of all who may have several rows, in rising order, and how many rows they have in all.

    Two names can have one hash, which makes their people seem to have several rows; those are looked at more closely,
    and nothing follows from it.
    """

    hashes: NDArray[np.uint64]
    rows: int

    @classmethod
    def among(cls, names: Iterable[pl.Series]) -> Self:
        """Gone through once, with eight bytes for each row."""
        hashes = np.concatenate([_hash(each.drop_nulls()) for each in names])
        hashes.sort()
        same = np.flatnonzero(hashes[1:] == hashes[:-1])
        starts = np.ones(len(same), dtype=np.bool_)
        starts[1:] = np.diff(same) > 1
        return cls(hashes[same[starts]], len(same) + int(starts.sum()))

    @property
    def parts(self) -> int:
        """In how many parts their rows are looked at, so that those of one part are few enough."""
        return -(-self.rows // ROWS_AT_ONCE)

    def part_of(self, names: pl.Series) -> NDArray[np.int64]:
        """The part in which the rows of each name are looked at, −1 for people with one row."""
        if not len(self.hashes):
            return np.full(len(names), -1, dtype=np.int64)
        hashes = _hash(names)
        place = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        part = (hashes % np.uint64(max(self.parts, 1))).astype(np.int64)
        return np.where(self.hashes[place] == hashes, part, -1)


def _hash(names: pl.Series) -> NDArray[np.uint64]:
    return names.hash().to_numpy()


def keep_rows_of_people(
    codes: pl.DataFrame, kept: pl.DataFrame, people: pl.Series, limit: int, *, secrets: Sequence[str]
) -> pl.Series:
    """Which rows, of codes and kept columns, are used: at most `limit` of each person, and none of nobody (null).

    The rows of a person stand in the order of a hash of the person and of all columns but the `secrets`; rows that
    agree in these, in that of a hash of the whole row and of how many equal ones of that person came before. The first
    ones are kept. Which these are follows from that person's own rows alone, so a person more or less changes no row of
    anybody else, and at most `limit` rows in all: what holds for a group of `limit` rows holds for a person. Where
    nothing but the secret is hidden, another secret changes nothing else of the row that is kept. The first row of each
    person is among the first two, and so on.

    Rows without a person cannot be kept: taken as one person's, somebody more among them would change which of the
    others' is used; taken as a person each, somebody with many of them would count as many people.
    """
    rows = pl.DataFrame([*codes, *kept])
    listed = pl.DataFrame({"person": people, "open": rows.drop(secrets).hash_rows(), "row": rows.hash_rows()})
    listed = listed.with_row_index("place").drop_nulls("person").filter(pl.len().over("person") > limit)
    listed = listed.with_columns(again=pl.int_range(pl.len()).over("person", "row"))
    listed = listed.with_columns(
        first=listed.select("person", "open").hash_rows(), then=listed.select("person", "row", "again").hash_rows()
    ).sort("person", "first", "then")
    beyond = listed.filter(pl.int_range(pl.len()).over("person") >= limit)["place"]
    return ~pl.int_range(codes.height, dtype=pl.UInt32, eager=True).is_in(beyond.implode()) & people.is_not_null()
