"""Publishes from Spark while executors are killed in the middle of their tasks, and checks what came of it.

`python lost_executors.py FOLDER MASTER`, in a process of its own: a master such as `local-cluster[2,1,1024]` has
executors that can be killed; of `local[2,4]` tasks fail, up to three times. Each file `kill-N` in the folder is one
executor that dies, or one task that fails, of the task that finds it.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from engines import same_tables
from sfumato.data import read
from sfumato.data.spark import start
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import Mondrian, QuadTree
from sfumato.privacy.ledger import Ledger
from sfumato.publish.publication import publish_to
from sfumato.release import Release
from sfumato.samples.town import SCHEMA_PATH, residents
from sfumato.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

FOLDER, MASTER = Path(sys.argv[1]), sys.argv[2]
PEOPLE = residents(600).cast({pl.Enum: pl.String})


def parent_of(process: int) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("PPid:")).split()[1])


def dying(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows, if this executor lives to pass them on; the daemon of Python's workers is a child of it."""
    first = next(batches)
    for number in range(3):
        try:
            (FOLDER / f"kill-{number}").unlink()
        except FileNotFoundError:
            continue
        if MASTER.startswith("local["):
            raise RuntimeError("a task that fails")
        os.kill(parent_of(os.getppid()), signal.SIGKILL)
        time.sleep(600)
    yield first
    yield from batches


def schema_of(**roles: str) -> Schema:
    spec = Schema.load(SCHEMA_PATH).spec()
    spec["columns"] |= {name: {"role": role} for name, role in roles.items()}
    return Schema.parse(spec)


def left() -> list[str]:
    return sorted(path.name for path in FOLDER.glob("kill-*"))


def main() -> None:
    warnings.simplefilter("ignore")  # Spark warns of a pandas that it does not know yet
    frame = start(MASTER).createDataFrame(PEOPLE.to_arrow()).repartition(2)
    rows = frame.mapInArrow(dying, frame.schema)
    few = dict.fromkeys(("income", "occupation", "marital_status", "district", "hours"), "ignore")
    plain, kept = schema_of(**few), schema_of(**{**few, "income": "keep"})

    (FOLDER / "kill-0").touch()
    (FOLDER / "kill-1").touch()
    table, memory = read(rows, plain), read(PEOPLE, plain)
    assert left() == [], "two executors died while rows were counted"
    same_tables(memory, table)

    (FOLDER / "kill-2").touch()
    method, ledger = QuadTree(epsilon=1.0), Ledger(FOLDER / "ledger.sqlite")
    drawn, there = publish_to(method, table, FOLDER / "private", ledger=ledger)
    assert left() == ["kill-2"], "no task ran while noise was drawn"
    entries = ledger.entries(plain.name)
    assert [(float(entry.cost.epsilon), entry.state) for entry in entries] == [(1.0, "settled")]
    assert np.allclose(Release.load(there).overall, drawn.overall, atol=0.01)
    same = [method.publish(each, SimulatedSource(3)).histograms for each in (table, memory)]
    assert np.array_equal(*same), "the law of the noise is that of a table that was counted undisturbed"

    recoded = [
        publish_to(Mondrian(k=5), each, FOLDER / name, ledger=ledger)[1]
        for name, each in {"spark": read(rows, kept), "memory": read(PEOPLE, kept)}.items()
    ]
    assert left() == []
    assert (recoded[0] / "data.csv").read_bytes() == (recoded[1] / "data.csv").read_bytes()
    assert len(ledger.entries(plain.name)) == 1


if __name__ == "__main__":
    main()
