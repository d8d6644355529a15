"""Adult as the benchmarks use it: a schema over the shared hierarchies, and the rows."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

import sfumato as sf

QUASI = ("age", "workclass", "education", "marital-status", "race", "sex")
SENSITIVE = "occupation"
TRAINING_ROWS = 30_162
ALL_ROWS = 45_222


def folder() -> Path:
    """Where the real data lies."""
    return Path(os.environ.get("SFUMATO_DATA", Path(__file__).parents[1] / ".." / "shared" / "data")) / "adult"


def schema() -> sf.Schema:
    """Six quasi-identifiers and the occupation, with the shared hierarchies."""
    columns = {
        name: {"role": "quasi", "kind": "categorical", "hierarchy": f"hierarchies/{name}.csv"} for name in QUASI
    }
    columns["age"] |= {"kind": "numeric", "min": 17, "max": 90}
    columns[SENSITIVE] = {
        "role": "sensitive", "kind": "categorical", "hierarchy": f"hierarchies/{SENSITIVE}.csv",
    }
    return sf.Schema.parse({"name": "adult", "columns": columns}, folder())


def rows(count: int = ALL_ROWS) -> pl.DataFrame:
    """The first rows of Adult, or all."""
    return pl.read_csv(folder() / "adult.csv").head(count)
