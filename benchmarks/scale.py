"""Scale: simulated towns of millions of rows, published by the command, in processes whose memory is read off.

A million rows lie in one Parquet file, and a hundred links to it are a hundred million rows over the same cells.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import sfumato as sf
from benchmarks.timing import Result, at_most
from sfumato.data.engine import PolarsEngine
from sfumato.samples.town import SCHEMA_PATH
from sfumato.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

MILLION = 1_000_000
MANY = 100
MOST_GIGABYTES = 8
PER_CLASS = 20
"""Points in a class that rows are joined to."""
VALUES = 1_000
MANY_VALUES = (("mondrian", "--l", "3"), ("mondrian", "--t", "0.3"), ("synthesis", "--epsilon", "1"))
PRIVATE = (("kd-tree",), ("diffmulti", "--h", "10000"), ("synthesis",))

MEASURED = """
from sfumato.cli import main
try:
    main()
finally:
    with open("/proc/self/status") as status:  # what the system counts for a child begins with its parent's
        print(next(int(line.split()[1]) for line in status if line.startswith("VmHWM")))
"""


def scale(peers: str) -> Iterator[Result]:
    """From one to a hundred million rows; counting beside Polars' own group-by; recoding with a column that is kept."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spec = Schema.load(SCHEMA_PATH).spec()
        spec["columns"]["person_id"] = {"role": "ignore"}
        schema = Schema.parse(spec)
        people = sf.residents(MILLION).drop("person_id").cast({pl.Enum: pl.String})
        for rows in (1, 4, 10, MANY):
            (folder / f"{rows}").mkdir()
            people.write_parquet(folder / "people.parquet")
            for number in range(rows):
                (folder / f"{rows}" / f"{number}.parquet").symlink_to(folder / "people.parquet")
        (folder / "town.toml").write_text(SCHEMA_PATH.read_text().replace('"identifier"', '"ignore"'))
        yield from _counting(folder, schema)
        yield from _recoding(folder, spec)
        yield from _many_values(folder)
        few = _published(folder, 1, "mondrian", "--k", "10")
        many = _published(folder, MANY, "mondrian", "--k", "10")
        times = f"({few[0]:.0f} s to {many[0]:.0f} s)"
        yield at_most(f"time of mondrian from 1 to {MANY} million rows {times}", 130, many[0] / few[0], "x")
        memory = f"({few[1]:.2f} GB to {many[1]:.2f} GB)"
        yield at_most(f"peak memory of mondrian from 1 to {MANY} million rows {memory}", 3, many[1] / few[1], "x")
        for method in PRIVATE:
            seconds, gigabytes = _published(folder, MANY, *method, "--epsilon", "1")
            what = f"peak memory of {method[0]} on {MANY} million rows ({seconds:.0f} s)"
            yield at_most(what, MOST_GIGABYTES, gigabytes, "GB")


def _counting(folder: Path, schema: Schema) -> Iterator[Result]:
    """Reading and counting ten million rows, beside Polars' group-by of the same columns of the same files."""
    files, names = folder / "10", [axis.name for axis in schema.axes]
    theirs = _timed(lambda: pl.scan_parquet(files).group_by(names).agg(pl.len()).collect())
    ours = _timed(lambda: PolarsEngine.read(files, schema).count_by_key(schema.axes))
    yield at_most(f"counting 10 million rows ({theirs:.1f} s by Polars, {ours:.1f} s)", 3, ours / theirs, "x")


def _recoding(folder: Path, spec: dict[str, Any]) -> Iterator[Result]:
    """Joining four million rows with a column that is kept to their classes, in an order that tells nothing."""
    columns = {**spec["columns"], "income": {"role": "keep"}}
    table = sf.read(folder / "4", Schema.parse({**spec, "columns": columns}))
    class_of_point = np.arange(len(table.points)) // PER_CLASS
    kept = table.kept_rows(class_of_point)
    assert kept
    joined: list[int] = []
    seconds = _timed(lambda: joined.extend(part.height for part in kept.join(np.arange(kept.classes))))
    assert sum(joined) == table.n
    rate = table.n / seconds / MILLION
    yield Result("rows a second joined to their classes", "1 million", f"{rate:.2f} million", rate >= 1)


def _many_values(folder: Path) -> Iterator[Result]:
    """Half a million people, nearly all with quasi-identifiers of their own, and a thousand sensitive values."""
    random, rows = np.random.default_rng(1), MILLION // 2
    sizes = {"age": 100, "sex": 2, "education": 16, "place": 1000, "job": 50, "code": VALUES}
    people = {name: random.integers(0, size, rows) for name, size in sizes.items()}
    people["code"] = np.minimum(people["code"] * people["place"] // 1000, VALUES - 1)
    spec = [
        f'[columns.{name}]\nrole = "{"sensitive" if name == "code" else "quasi"}"\nkind = "numeric"\n'
        f"min = 0\nmax = {size - 1}\n"
        for name, size in sizes.items()
    ]
    (folder / "values").mkdir()
    pl.DataFrame(people).write_parquet(folder / "values" / "people.parquet")
    schema = folder / "values.toml"
    schema.write_text("\n".join(['name = "values"\n', *spec]))
    for method in MANY_VALUES:
        seconds, gigabytes = _published(folder, "values", *method, schema=schema)
        what = (
            f"peak memory of {' '.join(method)} on {rows:,} people with {VALUES:,} sensitive values ({seconds:.0f} s)"
        )
        yield at_most(what, 3, gigabytes, "GB")


def _timed(work: Any) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _published(folder: Path, rows: int | str, *method: str, schema: Path | None = None) -> tuple[float, float]:
    """Seconds and gigabytes of the command, in a process of its own."""
    out = folder / f"release-{'-'.join(method)}-{rows}"
    command = ["publish", str(folder / str(rows)), "--schema", str(schema or folder / "town.toml"), "--method", *method]
    more = ["--ledger", str(folder / "ledger.sqlite"), "--parquet", "-o", str(out)]
    started = time.perf_counter()
    told = subprocess.run([sys.executable, "-c", MEASURED, *command, *more], check=True, capture_output=True, text=True)
    return time.perf_counter() - started, int(told.stdout.split()[-1]) / 2**20
