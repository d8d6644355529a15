"""What columns of an undescribed table tell about each other: a band of ages follows from the age."""

from collections.abc import Mapping, Sequence
from itertools import permutations

import polars as pl

SAMPLE = 10_000
SUPPORT = 3
"""Rows that a value has on average, so that what follows from it is no accident."""
COMMON = 0.9
"""What nearly all rows have follows from anything."""


def find_following(frame: pl.DataFrame, names: Sequence[str]) -> dict[str, list[str]]:
    """For each column, those that its value determines in every row, a missing value being one of its own."""
    columns = frame.select(names).with_columns(pl.all().rank("dense").fill_null(0))
    distinct = {name: columns[name].n_unique() for name in names}
    able = [name for name in names if 1 < distinct[name] <= len(frame) / SUPPORT]
    told = [name for name in names if columns[name].value_counts()["count"].max() < COMMON * len(frame)]  # type: ignore[operator]
    few = columns.head(SAMPLE)
    return {
        one: [
            other
            for other in told
            if other != one
            and 1 < distinct[other] <= distinct[one]
            and _follows(few, one, other)
            and _follows(columns, one, other)
        ]
        for one in able
    }


def _follows(columns: pl.DataFrame, one: str, other: str) -> bool:
    return bool(columns.select(pl.struct(one, other).n_unique() == pl.col(one).n_unique()).item())


def choose_between(following: Mapping[str, Sequence[str]], kind: Mapping[str, str]) -> dict[str, str]:
    """Columns that another makes needless, with the one that is kept: the finer one, of equals the one in words."""
    left_out: dict[str, str] = {}
    for one, other in permutations(kind, 2):
        if other not in following.get(one, ()) or one in left_out or other in left_out:
            continue
        alike = one in following.get(other, ())
        if alike and kind[one] == "numeric" and kind[other] != "numeric":
            continue
        left_out[other] = one
    return left_out
