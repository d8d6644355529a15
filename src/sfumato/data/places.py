"""Places: where people can come from and go to, each a point on the globe, perhaps inside coarser regions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.source import read_frame
from sfumato.errors import DataError, ParameterError

ID_NAMES = ("id", "place", "block", "geoid")
LATITUDE_NAMES = ("latitude", "lat")
LONGITUDE_NAMES = ("longitude", "lon", "lng", "long")
OUTSIDE = "outside"
"""How a file spells an origin beyond the domain."""
EARTH_RADIUS = 6371.0088
"""Kilometres, the mean radius."""
KILOMETRES = {"km": 1.0, "mi": 1.609344}


@dataclass(frozen=True, eq=False)
class Partition:
    """Regions that the places fall into: a code per place, and the label of each code."""

    codes: NDArray[np.int32]
    labels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Places:
    """All places: public knowledge."""

    ids: pl.Series
    latitude: NDArray[np.float64]
    longitude: NDArray[np.float64]
    regions: pl.DataFrame = field(default_factory=pl.DataFrame)
    where: str = "the places"

    def __len__(self) -> int:
        return len(self.latitude)

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """Every place as a point of the unit sphere, (places, 3)."""
        latitude, longitude = np.radians(self.latitude), np.radians(self.longitude)
        flat = np.cos(latitude)
        return np.column_stack((flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)))

    def distances(self, one: NDArray[np.integer], other: NDArray[np.integer]) -> NDArray[np.float64]:
        """Great-circle kilometres between places, pair by pair."""
        chord = np.linalg.norm(self.points[one] - self.points[other], axis=1)
        angles: NDArray[np.float64] = 2 * np.arcsin(np.minimum(chord / 2, 1.0))
        return EARTH_RADIUS * angles

    def partition(self, column: str) -> Partition:
        """The regions of a column, which every place must name."""
        if column not in self.regions.columns:
            known = ", ".join(self.regions.columns) or "none"
            raise ParameterError(f"{self.where}: there are no regions {column!r}; those in the file: {known}")
        values = self.regions[column]
        _refuse_missing(values, self.where, column)
        labels = values.unique().sort()
        codes = values.replace_strict(labels, np.arange(len(labels)), return_dtype=pl.Int32)
        return Partition(codes.to_numpy(), tuple(labels))

    @staticmethod
    def read(
        source: Any, *, place: str | None = None, latitude: str | None = None, longitude: str | None = None
    ) -> Places:
        """Read places from a CSV or Parquet file or a frame; every column that is no coordinate is a region."""
        frame, where = read_frame(source)
        names = frame.columns
        latitude = column_for(names, latitude, LATITUDE_NAMES, "latitude", where)
        longitude = column_for(names, longitude, LONGITUDE_NAMES, "longitude", where)
        rest = [name for name in names if name not in (latitude, longitude)]
        place = column_for(names, place, (*ID_NAMES, *rest[:1]), "place id", where)
        ids = as_text(frame[place], where)
        _refuse_missing(ids, where, place)
        if OUTSIDE in ids:
            row = int((ids == OUTSIDE).arg_max() or 0)
            raise DataError(f"{where}: row {row + 1}: {place} is {OUTSIDE!r}, which stands for what is no place")
        twice = ids.is_duplicated()
        if twice.any():
            row = int(twice.arg_max() or 0)
            again = int((ids == ids[row]).arg_true()[1])
            raise DataError(f"{where}: row {again + 1} repeats the place {ids[row]!r} of row {row + 1}")
        regions = pl.DataFrame([as_text(frame[name], where) for name in rest if name != place])
        return Places(
            ids, _degrees(frame[latitude], where, 90.0), _degrees(frame[longitude], where, 180.0), regions, where
        )


def chord_of(kilometres: float) -> float:
    """The straight line through the unit sphere between two places at this great-circle distance."""
    return float(2 * np.sin(min(kilometres / (2 * EARTH_RADIUS), np.pi / 2)))


def column_for(names: list[str], asked: str | None, usual: tuple[str, ...], what: str, where: str) -> str:
    if asked is not None:
        if asked not in names:
            raise DataError(f"{where}: there is no column {asked!r}; the columns are {', '.join(names)}")
        return asked
    lower = {name.lower(): name for name in reversed(names)}
    for name in usual:
        if name.lower() in lower:
            return lower[name.lower()]
    raise DataError(f"{where}: no column for the {what} (such as {usual[0]!r}); the columns are {', '.join(names)}")


def as_text(raw: pl.Series, where: str) -> pl.Series:
    """A column as text, however a file stores it."""
    try:
        return raw.cast(pl.String)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{where}: the column {raw.name!r} is of type {raw.dtype}; expected text") from error


def as_numbers(raw: pl.Series, where: str) -> pl.Series:
    """A column as numbers; what is none becomes missing, as does what is not finite."""
    numbers = (raw if raw.dtype.is_numeric() else as_text(raw, where).str.strip_chars()).cast(pl.Float64, strict=False)
    return pl.DataFrame({"n": numbers}).select(pl.when(pl.col("n").is_finite()).then(pl.col("n")))["n"]


def _refuse_missing(values: pl.Series, where: str, column: str) -> None:
    missing = values.is_null() | (values.str.strip_chars() == "").fill_null(True)
    if missing.any():
        raise DataError(f"{where}: row {int(missing.arg_max() or 0) + 1}: {column} is empty")


def _degrees(raw: pl.Series, where: str, limit: float) -> NDArray[np.float64]:
    numbers = as_numbers(raw, where)
    wrong = (~numbers.is_between(-limit, limit)).fill_null(True)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        found = "empty" if raw[row] is None else repr(raw[row])
        raise DataError(f"{where}: row {row + 1}: {raw.name} is {found}; expected degrees from {-limit:g} to {limit:g}")
    return numbers.to_numpy().astype(np.float64)
