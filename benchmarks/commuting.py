"""Synthetic flows: seconds and memory on Rhode Island, cost by the size of the domain, and against the dense way."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from benchmarks.adult import data_folder
from benchmarks.timing import Result, at_most, best_of, ratio
from sfumato.data.flows import Flows
from sfumato.data.places import Places
from sfumato.mechanisms.dirichlet import Promise
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods.flows.domain import Domain
from sfumato.methods.flows.synthesis import Synthesizer

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = data_folder() / "commute"
PROMISE = Promise(epsilon=4.6, delta=1e-5)
PAPER_PLACES = 233_726
MIN_PLACES, MAX_PLACES = 25_000, 8_000_000
DESTINATIONS = 1_000
PEOPLE = 15


def commuting(_: str) -> Iterator[Result]:
    """Synthetic flows of Rhode Island: seconds, memory, cost by the size of the domain, and the dense way beside it."""
    yield from _rhode_island()
    yield from _flat()
    yield _against_dense()


def _rhode_island() -> Iterator[Result]:
    """The command from file to folder, in a process of its own."""
    code = (
        "import resource, sys; from sfumato.cli import main; code = main(sys.argv[1:]); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2, file=sys.stderr); sys.exit(code)"
    )
    with tempfile.TemporaryDirectory() as folder:
        arguments = [
            "commute",
            "synthesize",
            str(FOLDER / "ri_od_2019.csv.gz"),
            "--places",
            str(FOLDER / "ri_blocks.csv.gz"),
            "--name",
            "Rhode Island",
            "--epsilon",
            "4.6",
            "--ledger",
            f"{folder}/ledger.sqlite",
            "-o",
        ]
        taken, memory = [], 0.0
        for attempt in range(3):
            started = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", code, *arguments, f"{folder}/release{attempt}"],
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "PYTHONWARNINGS": "ignore"},
            )
            taken.append(time.perf_counter() - started)
            memory = max(memory, float(done.stderr.split()[-1]))
    yield at_most("Rhode Island by block, 8,358 destinations, from file to folder", 10, min(taken), "s")
    yield at_most("  its peak memory", 2, memory, "GB")


def _simulated(places: int, destinations: int, people: int) -> Flows:
    """Places strewn over a large country, and people who come from anywhere near the first of them."""
    random = np.random.default_rng(1)
    known = Places(pl.Series(range(places)), random.uniform(30, 45, places), random.uniform(-110, -80, places))
    goes_to = np.repeat(np.arange(destinations), people)
    comes_from = random.integers(0, places, destinations * people)
    return Flows.of_pairs(known, goes_to, comes_from, np.ones(destinations * people, dtype=np.int64))


def _per_destination(places: int, domain: Domain) -> float:
    """Seconds that one more destination costs: what is prepared once for all places is left out."""
    few, many = _simulated(places, DESTINATIONS, PEOPLE), _simulated(places, 4 * DESTINATIONS, PEOPLE)
    synthesizer = Synthesizer(promise=PROMISE, domain=domain)

    def seconds(flows: Flows) -> float:
        return best_of(3, lambda: synthesizer.synthesize(flows, SimulatedSource(1)))

    return (seconds(many) - seconds(few)) / (3 * DESTINATIONS)


def _flat() -> Iterator[Result]:
    for name, domain, asked in (("every place", Domain(), 2.0), ("within 160 km", Domain(radius=160.0), np.inf)):
        small, large = (_per_destination(places, domain) for places in (MIN_PLACES, MAX_PLACES))
        got = f"{large / small:.2f}x ({small * 1e6:.0f} µs at 25 thousand places, {large * 1e6:.0f} µs at 8 million)"
        limit = f"at most {asked:g}x" if np.isfinite(asked) else ""
        yield Result(f"Cost of a destination as places grow 320-fold, {name}", limit, got, large <= asked * small)


def _against_dense() -> Result:
    """The same draw through a vector over all places: Dirichlet weights, then a multinomial sample."""
    flows = _simulated(PAPER_PLACES, DESTINATIONS, PEOPLE)
    ours = best_of(3, lambda: Synthesizer(promise=PROMISE).synthesize(flows, SimulatedSource(1))) / DESTINATIONS
    random, alpha = np.random.default_rng(1), 0.0412

    def dense() -> None:
        for destination in range(5):
            mass = np.full(PAPER_PLACES, alpha)
            pairs = slice(flows.start[destination], flows.start[destination + 1])
            mass[flows.origins[pairs]] += flows.counts[pairs]
            weights = random.standard_gamma(mass)
            random.multinomial(PEOPLE, weights / weights.sum())

    peer = best_of(3, dense) / 5
    what = f"A destination of {PEOPLE} people among {PAPER_PLACES:,} places, against a dense vector"
    return ratio(what, 200, peer, ours)
