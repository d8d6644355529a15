"""Scale: simulated towns of millions of rows, each in a process of its own so that memory can be read off it."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import sfumato as sf
from benchmarks.timing import Result, at_most
from sfumato.samples.town import SCHEMA_PATH


def publish_town(rows: int) -> dict[str, float]:
    """Simulate, read and publish a town; seconds for reading and publishing, and the peak memory."""
    frame = sf.residents(rows)
    sf.Mondrian(k=10).publish(sf.read(frame.head(10_000), SCHEMA_PATH))
    started = time.perf_counter()
    release = sf.Mondrian(k=10).publish(sf.read(frame, SCHEMA_PATH))
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"seconds": seconds, "gigabytes": peak, "classes": len(release.histograms)}


def _apart(rows: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.scale", str(rows)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def scale(peers: str) -> list[Result]:
    """From 1 to 4 million rows, and 10 million within memory."""
    one, four, ten = (_apart(rows) for rows in (1_000_000, 4_000_000, 10_000_000))
    return [
        at_most(
            f"time from 1 to 4 million rows ({one['seconds']:.1f} s to {four['seconds']:.1f} s)",
            4.6,
            four["seconds"] / one["seconds"],
            "x",
        ),
        at_most(
            f"peak memory for 10 million rows, 6 quasi-identifiers ({ten['seconds']:.0f} s)", 16, ten["gigabytes"], "GB"
        ),
    ]


if __name__ == "__main__":
    print(json.dumps(publish_town(int(sys.argv[1]))))
