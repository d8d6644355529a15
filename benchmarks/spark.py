"""Spark beside the engine in this process: the same release by every method, and what it takes on five million rows.

Its session runs on two cores and is started before anything is timed.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import sfumato as sf
from benchmarks import adult
from benchmarks.linkage import census_schema
from benchmarks.timing import Result, at_most
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import METHODS
from sfumato.privacy.ledger import Ledger
from sfumato.samples.town import SCHEMA_PATH
from sfumato.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sfumato.data.spark import SparkRows

MILLION = 1_000_000
ROWS = 5
"""Millions of rows."""
MASTER = "local[2]"
MOST = 6
"""How many times the time of the engine in this process."""
PER_CLASS = 20
"""Points in a class that rows are joined to."""
FEW = ("occupation", "marital_status", "hours")
"""Columns left out where every method runs, so that each does in seconds."""


def spark(peers: str) -> Iterator[Result]:
    """Every method on Adult, on the Census excerpt and on five million rows; then counting, recoding and publishing."""
    from sfumato.data.spark import open_rows

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "people").mkdir()
        people = sf.residents(MILLION).cast({pl.Enum: pl.String})
        people.write_parquet(folder / "people.parquet")
        for number in range(ROWS):
            (folder / "people" / f"{number}.parquet").symlink_to(folder / "people.parquet")
        towns = open_rows(str(folder / "people"), MASTER)
        towns.frame([]).sparkSession.range(MILLION).groupBy().count().collect()
        whole, few = _schema(), _schema(**dict.fromkeys(FEW, "ignore"))
        file, excerpt = (
            adult.data_folder() / part / name for part, name in (("adult", "adult.csv"), ("census", "national2019.csv"))
        )
        yield _same("Adult", file, open_rows(str(file)), adult.schema())
        yield _same("the Census excerpt", excerpt, open_rows(str(excerpt)), census_schema())
        yield _same(f"{ROWS} million rows", folder / "people", towns, few)
        yield _timed("counting", lambda source: sf.read(source, whole).n, folder / "people", towns)
        yield _timed("recoding", _recoding(_schema(income="keep")), folder / "people", towns)
        yield _timed("publishing with mondrian", _publishing(whole, folder), folder / "people", towns)


def _schema(**roles: str) -> Schema:
    spec = Schema.load(SCHEMA_PATH).spec()
    spec["columns"] |= {name: {"role": role} for name, role in {"person_id": "ignore", **roles}.items()}
    return Schema.parse(spec)


def _same(what: str, path: Path, rows: SparkRows, schema: Schema) -> Result:
    """One setting of every method on both engines, with the same draw."""
    ours, theirs = sf.read(path, schema), sf.read(rows, schema)
    same = [name for name in METHODS if _spelled(name, ours) == _spelled(name, theirs)]
    got = f"{len(same)} of {len(METHODS)}"
    met = len(same) == len(METHODS) and ours.fingerprint == theirs.fingerprint
    return Result(f"methods that release the same on {what} ({ours.n:,} rows)", "all", got, met)


def _spelled(name: str, table: sf.Table) -> tuple[bytes, ...]:
    """All that a release of the first setting for a table is made of, or the refusal of one that it is too much for."""
    method = next(iter(METHODS[name].grid(table)), sf.Anatomy(l=2))
    try:
        release = method.publish(table, SimulatedSource(3))
    except sf.SfumatoError as error:
        return (str(error).encode(),)
    arrays = (*release.boxes.arrays, release.weights, release.group_of, release.histograms)
    return tuple(np.ascontiguousarray(array).tobytes() for array in arrays)


def _recoding(schema: Schema) -> Any:
    """Joins all rows with a column that is kept to their classes; only that is timed, from tables read before."""
    tables: dict[int, sf.Table] = {}

    def join(source: Any) -> float:
        table = tables.setdefault(id(source), sf.read(source, schema))
        started = time.perf_counter()
        kept = table.kept_rows(np.arange(len(table.points)) // PER_CLASS)
        assert kept is not None
        assert sum(part.height for part in kept.join(np.arange(kept.classes))) == table.n
        return time.perf_counter() - started

    return join


def _publishing(schema: Schema, folder: Path) -> Any:
    def publish(source: Any) -> None:
        out = folder / f"release-{time.time_ns()}"
        ledger = Ledger(folder / "ledger.sqlite")
        sf.publish_to(sf.Mondrian(k=10), sf.read(source, schema), out, ledger=ledger, parquet=True)

    return publish


def _timed(what: str, work: Any, path: Path, rows: SparkRows) -> Result:
    """The shorter of two runs each, in turn, so that what else runs on the machine slows both."""
    best = {"here": np.inf, "spark": np.inf}
    for _ in range(2):
        for engine, source in {"here": path, "spark": rows}.items():
            started = time.perf_counter()
            own = work(source)
            taken = own if isinstance(own, float) else time.perf_counter() - started
            best[engine] = min(best[engine], taken)
    times = f"{best['here']:.1f} s here, {best['spark']:.1f} s on {MASTER}"
    return at_most(f"{what} {ROWS} million rows ({times})", MOST, float(best["spark"] / best["here"]), "x")
