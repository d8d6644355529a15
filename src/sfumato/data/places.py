"""Places: where people can come from and go to, each a point on the globe, perhaps inside coarser regions."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.pieces import Unnumbered, row_of
from sfumato.data.source import read_frame
from sfumato.data.text import quote_cell, spell
from sfumato.errors import DataError, ParameterError, quote, shorten

ID_NAMES = ("id", "place", "block", "geoid")
LATITUDE_NAMES = ("latitude", "lat")
LONGITUDE_NAMES = ("longitude", "lon", "lng", "long")
OUTSIDE = "outside"
"""How a file spells an origin beyond the domain."""
EARTH_RADIUS = 6371.0088
"""Kilometres, the mean radius."""
MAX_NAMES = 500
"""Letters of all names of columns in a message."""
KILOMETRES = {"km": 1.0, "mi": 1.609344}


@dataclass(frozen=True, eq=False)
class Partition:
    """Regions that the places fall into: a code per place, and the label of each code."""

    codes: NDArray[np.int32]
    labels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Places:
    """All places: public knowledge.

    >>> near = sf.commute.Places.read({"id": ["a", "b"], "lat": [52.0, 52.1], "lon": [0.0, 0.0]})
    >>> round(float(near.distances([0], [1])[0]), 1)
    11.1
    """

    ids: pl.Series
    latitude: NDArray[np.float64]
    longitude: NDArray[np.float64]
    regions: pl.DataFrame = field(default_factory=pl.DataFrame)
    where: str = "the places"

    def __len__(self) -> int:
        return len(self.latitude)

    @cached_property
    def ids_and_outside(self) -> pl.Series:
        """All that an origin can be called, by its number."""
        return pl.concat([self.ids, pl.Series([OUTSIDE], dtype=pl.String)])

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """Every place as a point of the unit sphere, (places, 3)."""
        latitude, longitude = np.radians(self.latitude), np.radians(self.longitude)
        flat = np.cos(latitude)
        return np.column_stack((flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)))

    def distances(self, one: NDArray[np.integer], other: NDArray[np.integer]) -> NDArray[np.float64]:
        """Great-circle kilometres between places, pair by pair."""
        chord = np.linalg.norm(self.points[one] - self.points[other], axis=1)
        return np.asarray(EARTH_RADIUS * 2 * np.arcsin(np.minimum(chord / 2, 1.0)))

    def partition(self, column: str) -> Partition:
        """The regions of a column, which every place must name."""
        if column not in self.regions.columns:
            known = shorten(", ".join(self.regions.columns), MAX_NAMES) or "none"
            raise ParameterError(f"{self.where}: there are no regions {column!r}; those in the file: {known}")
        values = self.regions[column]
        _refuse_missing(values, self.where, column)
        labels = values.unique().sort()
        codes = values.replace_strict(labels, np.arange(len(labels)), return_dtype=pl.Int32)
        return Partition(codes.to_numpy(), tuple(labels))

    def find(self, raw: pl.Series, where: str, outside: bool = False) -> NDArray[np.int64]:
        """The number of the place that each id names, or the number of places for `OUTSIDE`, where that may be."""
        known = self.ids_and_outside if outside else self.ids
        codes = np.arange(len(known))
        found = as_text(raw, where).replace_strict(known, codes, default=None, return_dtype=pl.Int64)
        if not found.null_count():
            return found.to_numpy()
        row = _first(found.is_null())
        lines = "lines" if isinstance(where, Unnumbered) else "rows"
        more = f" ({found.null_count():,} {lines} in all)" if found.null_count() > 1 else ""
        if raw.dtype.is_numeric() and self.ids.str.starts_with("0").any():
            more += "; ids of places begin with 0, so store ids as text"
        elif outside:
            more += f"; write {OUTSIDE!r} for origins beyond the list, and give a radius"
        raise DataError(
            f"{row_of(where, row, ':')}: {raw.name} is {quote_cell(raw, row)}, which is not in the list of places{more}"
        )

    @classmethod
    def read(
        cls, source: Any, *, place: str | None = None, latitude: str | None = None, longitude: str | None = None
    ) -> Self:
        """Read places from a file or a frame; every other column is a level of regions."""
        frame, where = read_frame(source)
        names = frame.columns
        latitude = find_column(names, latitude, LATITUDE_NAMES, "latitude", where)
        longitude = find_column(names, longitude, LONGITUDE_NAMES, "longitude", where)
        rest = [name for name in names if name not in (latitude, longitude)]
        place = find_column(names, place, (*ID_NAMES, *rest[:1]), "place id", where)
        ids = as_text(frame[place], where)
        _refuse_missing(ids, where, place)
        if OUTSIDE in ids:
            row = _first(ids == OUTSIDE)
            raise DataError(f"{where}: row {row + 1}: {place} is {OUTSIDE!r}, which means origins beyond the list")
        if ids.n_unique() < len(ids):
            row = _first(ids.is_duplicated())
            again = int((ids == ids[row]).arg_true()[1])
            raise DataError(f"{where}: row {again + 1} repeats the place {quote(ids[row])} of row {row + 1}")
        north, east = _degrees(frame[latitude], where, 90.0), _degrees(frame[longitude], where, 180.0)
        return cls(ids, north, east, frame.select(as_text(frame[name], where) for name in rest if name != place), where)


def chord_of(kilometres: float) -> float:
    """The straight line through the unit sphere between two places at this great-circle distance."""
    return float(2 * np.sin(min(kilometres / (2 * EARTH_RADIUS), np.pi / 2)))


def find_column(names: list[str], asked: str | None, usual: tuple[str, ...], what: str, where: str) -> str:
    if asked is not None:
        if asked not in names:
            raise DataError(
                f"{where}: there is no column {asked!r}; the columns are {shorten(', '.join(names), MAX_NAMES)}"
            )
        return asked
    lower = {name.lower(): name for name in reversed(names)}
    for name in usual:
        if name.lower() in lower:
            return lower[name.lower()]
    raise DataError(
        f"{where}: no column for the {what} (such as {usual[0]!r}); the columns are "
        f"{shorten(', '.join(names), MAX_NAMES)}"
    )


def read_weights(source: Any, places: Places) -> NDArray[np.float64]:
    """Public weights of places, such as populations: rows of a place and its weight; places not named have none.

    >>> int(sf.commute.read_weights({"id": ["P0001", "P0002"], "weight": [3, 4]}, places).sum())
    7
    """
    frame, where = read_frame(source)
    names = frame.columns
    place = find_column(names, None, ("origin", *ID_NAMES, *names[:1]), "place", where)
    column = find_column(names, None, ("weight", "population", "count", *names[1:2]), "weight", where)
    numbers = as_numbers(frame[column], where)
    refuse_where(~(numbers >= 0), frame[column], where, "a number of 0 or more")
    weights = np.bincount(places.find(frame[place], where), numbers.to_numpy(), len(places)).astype(np.float64)
    if not weights.any():
        raise DataError(f"{where}: all weights are 0")
    return weights


def read_numbers(raw: pl.Series, where: str) -> list[float]:
    """The numbers in a column, which has nothing else in it."""
    numbers = as_numbers(raw, where)
    refuse_where(numbers.is_null(), raw, where, "a number")
    return numbers.to_list()


def refuse_where(wrong: pl.Series, raw: pl.Series, where: str, expected: str) -> None:
    """Refuse a column with the first of its values that is wrong, or not known to be right."""
    wrong = wrong.fill_null(True)
    if wrong.any():
        row = _first(wrong)
        found = "empty" if raw.is_null()[row] else quote_cell(raw, row)
        raise DataError(f"{row_of(where, row, ':')}: {raw.name} is {found}; expected {expected}")


def as_text(raw: pl.Series, where: str) -> pl.Series:
    """A column as text, however a file stores it."""
    try:
        return raw.cast(pl.String) if raw.dtype == pl.Binary else spell(raw)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{where}: the column {raw.name!r} is of type {raw.dtype}; expected text") from error


def as_numbers(raw: pl.Series, where: str) -> pl.Series:
    """A column as numbers; what is none becomes missing, as does what is not finite."""
    numbers = (raw if raw.dtype.is_numeric() else as_text(raw, where).str.strip_chars()).cast(pl.Float64, strict=False)
    return pl.DataFrame({"n": numbers}).select(pl.when(pl.col("n").is_finite()).then(pl.col("n")))["n"]


def _first(wrong: pl.Series) -> int:
    return int(wrong.arg_max() or 0)


def _refuse_missing(values: pl.Series, where: str, column: str) -> None:
    missing = values.is_null() | (values.str.strip_chars() == "").fill_null(True)
    if missing.any():
        raise DataError(f"{where}: row {_first(missing) + 1}: {column} is empty")


def _degrees(raw: pl.Series, where: str, limit: float) -> NDArray[np.float64]:
    numbers = as_numbers(raw, where)
    refuse_where(~numbers.is_between(-limit, limit), raw, where, f"degrees from {-limit:g} to {limit:g}")
    return numbers.to_numpy().astype(np.float64)
