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


def data_folder() -> Path:
    """Where the real data lies."""
    return Path(os.environ.get("SFUMATO_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))


def folder() -> Path:
    """Where the real data lies."""
    return data_folder() / "adult"


def schema() -> sf.Schema:
    """Six quasi-identifiers and the occupation, with the shared hierarchies."""
    columns = {name: {"role": "quasi", "kind": "categorical", "hierarchy": f"hierarchies/{name}.csv"} for name in QUASI}
    columns["age"] |= {"kind": "numeric", "min": 17, "max": 90}
    columns[SENSITIVE] = {"role": "sensitive", "kind": "categorical", "hierarchy": f"hierarchies/{SENSITIVE}.csv"}
    return sf.Schema.parse({"name": "adult", "columns": columns}, folder())


def rows(count: int = ALL_ROWS) -> pl.DataFrame:
    """The first rows of Adult, or all."""
    return pl.read_csv(folder() / "adult.csv").head(count)


CORMODE = ("workclass", "education", "sex", "hours-per-week", "income")
RPS_ATTRIBUTES = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "hours-per-week",
    "native-country",
)
NUMBERS = {"age": (17, 90), "hours-per-week": (1, 99)}
PLAIN = {
    "income": ("<=50K", ">50K"),
    "relationship": ("Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried", "Wife"),
}


def _column(name: str, role: str) -> dict[str, object]:
    if name in NUMBERS:
        return {"role": role, "kind": "numeric", "min": NUMBERS[name][0], "max": NUMBERS[name][1]}
    if name in PLAIN:
        return {"role": role, "kind": "categorical", "values": list(PLAIN[name])}
    return {"role": role, "kind": "categorical", "hierarchy": f"hierarchies/{name}.csv"}


def _table(quasi: tuple[str, ...], sensitive: str, count: int) -> sf.Table:
    columns = {name: _column(name, "quasi") for name in quasi} | {sensitive: _column(sensitive, "sensitive")}
    return sf.read(rows(count), sf.Schema.parse({"name": "adult", "columns": columns}, folder()))


def cormode_table() -> sf.Table:
    """The 30,162 rows with cormode2013's quasi-identifiers; occupation is sensitive."""
    return _table(CORMODE, SENSITIVE, TRAINING_ROWS)


def income_table(count: int = TRAINING_ROWS) -> sf.Table:
    """Eleven attributes, income the class to learn: without weights, years of education and capital."""
    return _table(RPS_ATTRIBUTES, "income", count)


def dpcube_table(count: int = ALL_ROWS) -> sf.Table:
    """The four attributes on which alhussaeni2018 compares with DPCube; income is the class."""
    return _table(("workclass", "marital-status", "race", "sex"), "income", count)
