"""Differential privacy: speed of noise, DiffMulti and PrivBayes, and the query error of the best method."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
from audit.opendp_source import OpenDPSource

import sfumato as sf
from benchmarks import adult
from benchmarks.timing import Result, at_most, best_of, ratio
from sfumato.measures.workloads import HalfDomainCounts
from sfumato.mechanisms.noise import SimulatedSource, SystemSource
from sfumato.samples.town import SCHEMA_PATH

DRAWS = 1_000_000
SEEDS = range(10)
PEERS = Path(__file__).parent / "peers"


def noise(peers: str) -> list[Result]:
    """A million discrete Laplace draws at ε = 1 against one call of OpenDP's vector measurement."""
    epsilon, ours = Fraction(1), SystemSource()
    ours.laplace(epsilon, 10)
    theirs = best_of(1, lambda: OpenDPSource().laplace(epsilon, DRAWS))
    return [
        ratio(
            "a million discrete Laplace draws against OpenDP",
            50,
            theirs,
            best_of(5, lambda: ours.laplace(epsilon, DRAWS)),
        )
    ]


def publish_town(rows: int, h: int) -> dict[str, float]:
    """Publish a simulated town by DiffMulti; seconds without reading, and the specializations made."""
    table = sf.read(sf.residents(rows), SCHEMA_PATH)
    method = sf.DiffMulti(epsilon=1.0, h=h, utility="ncp")
    sf.DiffMulti(epsilon=1.0, h=10, utility="ncp").publish(table)
    started = time.perf_counter()
    release = method.publish(table)
    return {"seconds": time.perf_counter() - started, "leaves": len(release.histograms)}


def diffmulti(peers: str) -> list[Result]:
    """One and four million rows with h = 10,000, and h = 100,000."""
    one, four, many = (_apart(rows, h) for rows, h in ((10**6, 10_000), (4 * 10**6, 10_000), (10**6, 100_000)))
    growth = four["seconds"] / one["seconds"]
    return [
        at_most(f"DiffMulti, 1 million rows, h = 10,000 ({one['leaves']} leaves)", 120, one["seconds"], "s"),
        at_most(f"DiffMulti from 1 to 4 million rows (to {four['seconds']:.1f} s)", 4.6, growth, "x"),
        at_most(f"DiffMulti, 1 million rows, h = 100,000 ({many['leaves']} leaves)", 30, many["seconds"], "s"),
    ]


def _apart(rows: int, h: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.private", str(rows), str(h)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def queries(peers: str) -> list[Result]:
    """The median relative error of half-domain counts at ε = 1, mean over ten seeds, and the time it takes."""
    table, workload = adult.cormode_table(), HalfDomainCounts()
    sf.Marginals(epsilon=1.0).publish(table)
    errors, seconds = [], []
    for seed in SEEDS:
        started = time.perf_counter()
        release = sf.Marginals(epsilon=1.0).publish(table, SimulatedSource(seed))
        seconds.append(time.perf_counter() - started)
        errors.append(workload.run(table, release)["query_error"])
    return [
        at_most(f"half-domain query error of Marginals at ε = 1 ({spread(errors)})", 0.03, float(np.mean(errors)), ""),
        at_most("time of Marginals", 2, max(seconds), "s"),
    ]


def privbayes(peers: str) -> list[Result]:
    """PrivBayes of degree 2 at ε = 1 against dpmm's, and the query errors of both."""
    table, workload = adult.cormode_table(), HalfDomainCounts()
    method = sf.PrivBayes(epsilon=1.0, degree=2)
    method.publish(table)
    errors = [workload.run(table, method.publish(table, SimulatedSource(s)))["query_error"] for s in SEEDS]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rows.csv"
        path, columns = str(adult.folder() / "adult.csv"), [*adult.CORMODE, adult.SENSITIVE]
        command = [peers, "-W", "ignore", str(PEERS / "dpmm_privbayes.py"), path, str(adult.TRAINING_ROWS), str(out)]
        told = subprocess.run([*command, *columns], check=True, capture_output=True, text=True).stdout
        theirs = sf.read_published(pl.read_csv(out, infer_schema=False), table.schema)
        their_error = workload.run(table, theirs)["query_error"]
    return [
        ratio(
            "PrivBayes of degree 2 on Adult against dpmm",
            20,
            float(told.split()[-1]),
            best_of(5, lambda: method.publish(table)),
        ),
        at_most(
            f"query error of PrivBayes, dpmm's being {their_error:.3f} ({spread(errors)})",
            round(their_error, 3),
            float(np.mean(errors)),
            "",
        ),
    ]


def spread(values: list[float]) -> str:
    """Mean and standard error."""
    return f"{np.mean(values):.4f} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.4f} over {len(values)} seeds"


if __name__ == "__main__":
    print(json.dumps(publish_town(int(sys.argv[1]), int(sys.argv[2]))))
