"""One-run audits by the hundred: how often they contradict methods that keep their claims, and programs that do not.

At 95% confidence an audit may contradict a true claim once in twenty runs, and no more often. The twin is a noisy
histogram with a third of the noise that it claims.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.stats import binom

from sfumato.audit import Audit, audit_generator
from sfumato.data import read
from sfumato.mechanisms.noise import SimulatedSource, Source, SystemSource
from sfumato.methods import DiffGen, KDTree, Marginals, PrivBayes, PrivTree, QuadTree, Synthesis
from sfumato.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sfumato.methods.base import DPMethod
    from sfumato.release import Release

RUNS = 200
CONFIDENCE = 0.95
FAILING = 0.001
"""How likely a right method is called amiss, each of them by itself."""
ALLOWED = int(binom.isf(FAILING, RUNS, 1 - CONFIDENCE))
"""Contradictions in so many runs; more have a probability below FAILING."""
EPSILONS = (0.5, 1.0, 2.0, 3.0)
AUDITED: tuple[type[DPMethod], ...] = (Marginals, Synthesis, PrivBayes, QuadTree, KDTree, PrivTree, DiffGen)
SIZES = {"district": 8, "work": 6, "school": 5, "illness": 4}
PEOPLE, CANARIES = 400, 400
QUIET = 3
"""By how much the twin's noise is cut."""
MIN_CAUGHT = 0.95
"""The share of its audits that must catch the twin; in all that were tried, every one did."""


@cache
def schema() -> Schema:
    """A small domain of four columns."""
    *_, sensitive = SIZES
    columns = {
        name: {
            "role": "sensitive" if name == sensitive else "quasi",
            "kind": "categorical",
            "values": [str(value) for value in range(size)],
        }
        for name, size in SIZES.items()
    }
    return Schema.parse({"name": "small", "columns": columns})


@cache
def people() -> pl.DataFrame:
    """The same made-up people each time, most of them with few of the values."""
    generator = np.random.default_rng(7)
    drawn = {name: np.minimum(generator.geometric(0.5, PEOPLE) - 1, size - 1) for name, size in SIZES.items()}
    return pl.DataFrame(drawn).cast(pl.String)


@dataclass(frozen=True, kw_only=True)
class NoisyHistogram:
    """Counts of every cell with discrete Laplace noise, as rows; those below 0 are 0."""

    epsilon: float
    source: Source

    def __call__(self, rows: pl.DataFrame) -> pl.DataFrame:
        shape = tuple(SIZES.values())
        flat = np.ravel_multi_index(tuple(rows.cast(pl.Int64).to_numpy().T), shape)
        counts = np.bincount(flat, minlength=int(np.prod(shape)))
        noisy = np.maximum(counts + self.source.laplace(Fraction(self.epsilon), len(counts)), 0)
        cells = np.unravel_index(np.repeat(np.arange(len(noisy)), noisy), shape)
        return pl.DataFrame(dict(zip(SIZES, cells, strict=True))).cast(pl.String)


@dataclass(frozen=True, kw_only=True)
class Publisher:
    """A method of the package, with noise that can be repeated."""

    method: DPMethod
    source: Source

    def __call__(self, rows: pl.DataFrame) -> Release:
        return self.method.publish(read(rows, schema()), self.source)


def sources(seed: int | None, runs: int) -> Iterator[tuple[Source, Source]]:
    """For each run the coins of the audit, and the noise of what is audited."""
    for run in range(runs):
        if seed is None:
            yield SystemSource(), SystemSource()
        else:
            yield SimulatedSource(10_000 * seed + 2 * run), SimulatedSource(10_000 * seed + 2 * run + 1)


def audit_method(kind: type[DPMethod], seed: int | None, runs: int = RUNS) -> list[Audit]:
    """Audits of a method, ε going round."""
    found = []
    for run, (coins, noise) in enumerate(sources(seed, runs)):
        epsilon = EPSILONS[run % len(EPSILONS)]
        program = Publisher(method=kind(epsilon=epsilon), source=noise)
        found.append(_audit(program, epsilon, coins))
    return found


def audit_histogram(claimed: float, seed: int | None, runs: int = RUNS, *, quiet: float = 1) -> list[Audit]:
    """Audits of a noisy histogram whose ε is `quiet` times what it claims."""
    return [
        _audit(NoisyHistogram(epsilon=quiet * claimed, source=noise), claimed, coins)
        for coins, noise in sources(seed, runs)
    ]


def _audit(program: NoisyHistogram | Publisher, epsilon: float, coins: Source) -> Audit:
    return audit_generator(
        people(), schema(), program, epsilon=epsilon, canaries=CANARIES, confidence=CONFIDENCE, coins=coins
    )
