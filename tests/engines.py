"""The engines that every method, attack and workload is run on: one suite for all of them.

A gap is declared with its reason, and the tests that it concerns must fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from sfumato.data import Engine, Table, read
from sfumato.data.engine import PolarsEngine

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from sfumato.schema import Schema

MASTER = "local[2]"
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SMALL = {
    "shuffle.partitions": "2",
    "adaptive.enabled": "false",
    "codegen.wholeStage": "false",
    "codegen.factoryMode": "NO_CODEGEN",
}
"""What Java and Spark do for large tables takes longer than tests on small ones; benchmarks run with it."""
GAPS: dict[str, dict[str, str]] = {
    "spark": {
        "kept types": "Spark has neither categories nor milliseconds of their own; beside a kept column of such a type "
        "another row of a person with several is used, by the same law",
        "not UTF-8": "Spark reads bytes that are no text as one and the same sign",
    }
}
"""What an engine does otherwise, by what the test that finds it is called."""
ENGINES = ("memory", "files", "spark")
EVERY_ENGINE = [name if name != "spark" else pytest.param(name, marks=pytest.mark.spark) for name in ENGINES]


@cache
def java() -> str | None:
    """Why Spark cannot run here, or nothing."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if found is None:
        return "Spark needs Java; scripts/install-for-tests installs it"
    told = subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stderr
    version = told.partition('version "')[2].partition(".")[0]
    return None if version.isdigit() and int(version) >= 17 else f"Spark needs Java 17 or newer; here is {told!r}"


def session() -> SparkSession:
    """The one session of this process."""
    if reason := java():
        pytest.skip(reason)
    from sfumato.data.spark import start

    os.environ.setdefault("JDK_JAVA_OPTIONS", QUICK)
    started = start(MASTER)
    for name, setting in SMALL.items():
        started.conf.set(f"spark.sql.{name}", setting)
    started.conf.set("spark.sql.timestampType", "TIMESTAMP_NTZ")  # of frames made here
    return started


def on_spark(frame: pl.DataFrame, parts: int = 2) -> DataFrame:
    """A frame on Spark, its rows in several places and in another order."""
    return session().createDataFrame(frame.to_arrow()).repartition(parts)


def source_on(name: str, frame: pl.DataFrame, folder: Path) -> Any:
    """Rows where an engine has them: in memory, in several files, or on Spark."""
    if name == "spark":
        return on_spark(frame)
    if name == "memory":
        return frame
    there = folder / f"{len(list(folder.iterdir()))}"
    there.mkdir()
    for number in range(2):
        frame[number::2].write_parquet(there / f"{number}.parquet")
    return there


def engine_on(name: str, frame: pl.DataFrame, schema: Schema, folder: Path) -> Engine:
    if name == "spark":
        from sfumato.data.spark import SparkEngine

        return SparkEngine.read(on_spark(frame), schema)
    return PolarsEngine.read(source_on(name, frame, folder), schema)


def table_on(name: str, frame: pl.DataFrame, schema: Schema, folder: Path) -> Table:
    return read(source_on(name, frame, folder), schema)


def same_tables(one: Table, other: Table) -> None:
    """Everything that methods, attacks and workloads look at."""
    for name in ("points", "cell_point", "cell_value", "cell_weight", "cell_people"):
        ours, theirs = getattr(one, name), getattr(other, name)
        assert (ours is None) == (theirs is None), name
        if ours is not None:
            assert ours.dtype == theirs.dtype, name
            assert np.array_equal(ours, theirs), name
    assert (one.repeated, one.unowned) == (other.repeated, other.unowned)
    assert (one.fingerprint, one.digest) == (other.fingerprint, other.digest)
