"""What is recommended on tables that differ, and whether following the advice helps where nothing is.

`docs/recommendations.md` is written from this. Each table gets either a release above the floor of the public with a
median count error below 30%, or the column to edit; the advice is then followed and the frontier made anew.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import sfumato as sf
from benchmarks import adult, odd_tables
from benchmarks.timing import Result
from sfumato.samples.town import SCHEMA_PATH, residents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sfumato.trials.recommendation import Recommendation

ENOUGH = 0.3
DOCUMENT = Path(__file__).parents[1] / "docs" / "recommendations.md"
CENSUS_SETS = {
    "5 columns": ("AGEP", "SEX", "MSP", "RAC1P", "EDU"),
    "7 columns": ("AGEP", "SEX", "MSP", "RAC1P", "HOUSING_TYPE", "EDU", "OWN_RENT"),
    "8 with PUMA": ("PUMA", "AGEP", "SEX", "MSP", "HISP", "RAC1P", "EDU", "INDP_CAT"),
    "10 columns": ("AGEP", "SEX", "MSP", "RAC1P", "HOUSING_TYPE", "EDU", "OWN_RENT", "NOC", "NPF", "INDP_CAT"),
    "12 columns": (
        *("PUMA", "AGEP", "SEX", "MSP", "HISP", "RAC1P", "NOC", "NPF", "HOUSING_TYPE", "OWN_RENT", "INDP_CAT", "EDU"),
    ),
}
HEADER = """# What is recommended, on tables that differ

Written by `make bench ONLY=recommendations`: the default frontier, every method, on all rows. The floor is that of the
public (`disclosure_added` at most 0.1, unless it had to be raised), the figures are at the pessimistic end of their
intervals. Where nothing is recommended, the advice was followed and the frontier made anew: the last columns show what
came of it. Seconds are of one core, advice and the second frontier included.

| table | rows | columns | seconds | recommended | error | disclosed | advice | then | error | disclosed |
|---|---|---|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Row:
    """A table, what was recommended and, where nothing was, what the advice came to."""

    name: str
    table: sf.Table
    first: Recommendation
    second: Recommendation | None
    seconds: float

    @property
    def last(self) -> Recommendation:
        return self.second or self.first

    @property
    def met(self) -> bool:
        """Whether the release is above its floor and of use."""
        best = self.last
        if best.trial is None or best.standard.floor is None:
            return False
        return best.candidates[-1].use < ENOUGH and best.candidates[-1].risk <= best.standard.floor.most

    def line(self) -> str:
        """The row of the table in the document."""
        advice = self.first.advice.sentence.split(";")[0] if self.first.advice else ""
        shape = [self.name, f"{self.table.n:,}", str(len(self.table.schema.quasi)), f"{self.seconds:.0f}"]
        cells = [*shape, *_cells(self.first), advice]
        return f"| {' | '.join([*cells, *(_cells(self.second) if self.second else ('', '', ''))])} |"


def _cells(found: Recommendation) -> tuple[str, str, str]:
    if found.trial is None:
        return "nothing", "", ""
    best = found.candidates[-1]
    return best.trial.method.label, f"{best.use:.1%}", f"{best.risk:.1%}"


def census(columns: tuple[str, ...], most: int | None = None) -> sf.Table:
    """The Census excerpt, or a sample of so many rows, with some quasi-identifiers and the decile of income."""
    rows = pl.read_csv(adult.data_folder() / "census" / "national2019.csv", infer_schema_length=0)
    spec: dict[str, dict[str, object]] = {}
    for name in (*columns, "PINCP_DECILE"):
        values = sorted(set(rows[name]) - {"N"}, key=lambda value: (len(value), value))
        spec[name] = {"role": "quasi", "kind": "categorical", "values": values, "nullable": True}
    spec["AGEP"] = {"role": "quasi", "kind": "numeric", "min": 0, "max": 99}
    spec["PINCP_DECILE"]["role"] = "sensitive"
    some = rows if most is None else rows.sample(most, seed=1)
    return sf.read(some.select(list(spec)), {"name": "census", "missing": ["N"], "columns": spec})


def _adult(sensitive: str) -> sf.Table:
    columns = {
        name: {"role": "quasi", "kind": "categorical", "hierarchy": f"hierarchies/{name}.csv"}
        for name in (*adult.QUASI, adult.SENSITIVE)
        if name != sensitive
    }
    columns["age"] |= {"kind": "numeric", "min": 17, "max": 90}
    columns[sensitive] = {"role": "sensitive", "kind": "categorical", "hierarchy": f"hierarchies/{sensitive}.csv"}
    return sf.read(adult.rows(), sf.Schema.parse({"name": "adult", "columns": columns}, adult.folder()))


def simulated(rows: int, sizes: tuple[int, ...], *, skew: float = 0.0, values: int = 5, seed: int = 1) -> sf.Table:
    """People with categories of these sizes, later ones the rarer the more `skew`, and an illness by the first."""
    draw = np.random.default_rng(seed)
    columns: dict[str, dict[str, object]] = {}
    frame: dict[str, np.ndarray] = {}
    trend = draw.random(rows)
    for number, size in enumerate(sizes):
        share = (1 + np.arange(size)) ** -skew
        place = np.clip(0.6 * draw.random(rows) + 0.4 * trend, 0, 1 - 1e-9)
        frame[f"c{number}"] = np.searchsorted(np.cumsum(share / share.sum()), place).clip(0, size - 1)
        numeric = {"kind": "numeric", "min": 0, "max": size - 1}
        flat = {"kind": "categorical", "values": [str(value) for value in range(size)]}
        columns[f"c{number}"] = {"role": "quasi", **(numeric if size > 15 and number % 2 == 0 else flat)}
    ill = (frame["c0"] * values // sizes[0] + (draw.random(rows) < 0.4) * draw.integers(0, values, rows)) % values
    columns["ill"] = {"role": "sensitive", "kind": "categorical", "values": [str(value) for value in range(values)]}
    text = {name: column.astype(str) for name, column in frame.items()} | {"ill": ill.astype(int).astype(str)}
    return sf.read(pl.DataFrame(text), {"name": "simulated", "columns": columns})


def tables() -> dict[str, Callable[[], sf.Table]]:
    """The tables, by name."""
    found: dict[str, Callable[[], sf.Table]] = {
        "town of 5,000": lambda: sf.read(residents(5_000), str(SCHEMA_PATH)),
        "500 people, 4 columns": lambda: simulated(500, (60, 2, 5, 4)),
        "3,000 people, skewed": lambda: simulated(3_000, (70, 2, 12, 6, 8), skew=2.0),
        "8,000 people, many categories": lambda: simulated(8_000, (120, 90, 2, 40)),
        "6,000 people, 11 columns": lambda: simulated(6_000, (50, 2, 4, 6, 3, 8, 2, 5, 4, 9, 3)),
        "200,000 people, 5 columns": lambda: simulated(200_000, (80, 2, 15, 8, 6), skew=1.0),
        "Adult, occupation": lambda: _adult("occupation"),
        "Adult, marital-status": lambda: _adult("marital-status"),
    }
    found |= {f"Census, {name}": lambda quasi=quasi: census(quasi) for name, quasi in CENSUS_SETS.items()}
    return found | odd_tables.TABLES


def examine(name: str, table: sf.Table) -> Row:
    """Recommend; where nothing is recommended, follow the advice and recommend again."""
    started = time.process_time()
    first = sf.frontier(table, workers=1).recommend()
    second = None
    if first.advice and first.advice.trial:
        edited = reduce(lambda before, edit: edit.apply(before), first.advice.edits, table)
        second = sf.frontier(edited, workers=1).recommend()
    return Row(name, table, first, second, time.process_time() - started)


def told_of(name: str) -> tuple[str, bool]:
    """The line of a table by name, and whether its release is as asked."""
    row = examine(name, tables()[name]())
    return row.line(), row.met


def recommendations(peers: str) -> Iterator[Result]:
    """Every table, or those whose names hold what SFUMATO_TABLES says; the document is written once all are done.

    Each core takes a table at a time.
    """
    wanted = os.environ.get("SFUMATO_TABLES", "")
    names = [name for name in tables() if wanted in name]
    lines = []
    with ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn")) as pool:
        for name, (line, met) in zip(names, pool.map(told_of, names), strict=True):
            lines.append(f"{line}\n")
            yield Result(name, f"above the floor, error below {ENOUGH:.0%}", line.strip("| "), met)
    if not wanted:
        DOCUMENT.write_text(HEADER + "".join(lines), encoding="utf-8")
