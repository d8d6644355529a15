"""Drawing made-up people: codes by relative chances, which depend on age and whatever else is known of a person."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

Rng = np.random.Generator
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

EVERY_AGE = np.arange(100)


def label(codes: Codes, labels: Iterable[str]) -> pl.Series:
    """The labels of the codes; the code after the last label stands for a missing value."""
    names = list(labels)
    return pl.Series([*names, None], dtype=pl.Enum(names)).gather(codes)


def columns(table: Mapping[str, Sequence[float]]) -> list[Floats]:
    """The columns of a table of numbers."""
    return list(np.array(list(table.values()), dtype=float).T)


def chances_by_age(ages: Sequence[float], chances: Sequence[Floats]) -> Floats:
    """Chances (100 ages, values), on straight lines between the given ages."""
    return np.column_stack([np.interp(EVERY_AGE, ages, of_value) for of_value in np.transpose(chances)])


def where(applies: Flags, factors: Floats) -> Floats:
    """The factors (values) in the rows they apply to, 1 in the others: (rows, values)."""
    return np.where(applies[:, None], factors, 1.0)


def draw(rng: Rng, chances: Floats, *factors: Floats) -> Codes:
    """One code per row, by the chances (rows, values) times the factors of the same shape."""
    bounds = np.cumsum(math.prod(factors, start=chances), axis=1)
    points = rng.random(len(bounds)) * bounds[:, -1]
    codes: Codes = np.count_nonzero(bounds[:, :-1] <= points[:, None], axis=1)
    return codes
