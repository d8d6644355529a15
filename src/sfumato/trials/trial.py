"""One setting of one method, tried on a table and measured, or refused by the table."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan, nan
from typing import Any, Self

from sfumato.data import Table
from sfumato.errors import ParameterError, UnsatisfiableError
from sfumato.measures.measure import assess
from sfumato.measures.measurement import Measure
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import Method, make_method
from sfumato.trials.purpose import COUNTS, Purpose
from sfumato.trials.repetition import Interval, summarize_values

SEEDS = (1, 2, 3)
ROUNDS = 2
"""How often close rivals are repeated with as many seeds as at first."""
MOST_RUNS = len(SEEDS) * (1 + ROUNDS)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A method and what measuring its release gave; `refused` says why there is no release.

    `runs` are the values of each run where randomness had a part, in the order of their seeds.
    """

    method: Method
    measures: dict[str, float] = field(default_factory=dict)
    intervals: dict[str, Interval] = field(default_factory=dict)
    refused: str | None = None
    seconds: float = 0.0
    runs: tuple[dict[str, float], ...] = ()
    margins: dict[str, Interval] = field(default_factory=dict)
    """How far below and above the values of one run those of the whole may be, where a sample was measured."""

    @cached_property
    def id(self) -> str:
        """The setting as a string, the same in every run."""
        return trial_id(self.method)

    @property
    def promises(self) -> bool:
        """Whether a release of this setting comes with a guarantee."""
        return self.refused is None and self.method.claim.promises

    @property
    def is_settled(self) -> bool:
        """Whether chance had no part, or there were enough runs for intervals."""
        return not self.runs or len(self.runs) >= len(SEEDS)

    @property
    def shows_presence(self) -> bool:
        """Whether a release of this setting shows who is in the table."""
        return self.measures["singled_out"] > 0 or self.method.claim.shows_presence

    def range_of(self, measure: Measure) -> tuple[float, float]:
        """What the value of a measure may be, better end first: its interval, or the value alone."""
        value = self.measures.get(measure.name, nan)
        low, high = self.intervals.get(measure.name, (value, value))
        if isnan(low) or isnan(high):
            return value, nan
        low, high = measure.clip((low, high))
        return (high, low) if measure.direction == "higher" else (low, high)

    def at_worst(self, measure: Measure) -> float:
        """The end of the interval of a measure that nobody would like."""
        return self.range_of(measure)[1]

    def at_best(self, measure: Measure) -> float:
        """The end of the interval of a measure that everybody would like."""
        return self.range_of(measure)[0]

    def first(self, count: int) -> Self:
        """The trial as it was after so many runs."""
        if len(self.runs) <= count:
            return self
        measures, intervals = summarize_values(self.runs[:count], self.margins)
        return replace(self, measures=measures, intervals=intervals, runs=self.runs[:count])

    def with_more(self, other: Self) -> Self:
        """Both with the runs of another trial of the same setting."""
        runs = (*self.runs, *other.runs)
        measures, intervals = summarize_values(runs, self.margins)
        seconds = self.seconds + other.seconds
        return replace(self, measures=measures, intervals=intervals, runs=runs, seconds=seconds)

    def spec(self) -> dict[str, Any]:
        """The trial as the trial file stores it."""
        return {
            "method": self.method.name,
            "parameters": self.method.parameters(),
            "measures": self.measures,
            "intervals": self.intervals,
            "refused": self.refused,
            "seconds": self.seconds,
            "runs": list(self.runs),
            "margins": self.margins,
        }

    @classmethod
    def parse(cls, spec: dict[str, Any]) -> Self:
        """The trial that a trial file stores."""
        given = dict(spec)
        method = make_method(given.pop("method"), given.pop("parameters"))
        intervals = {name: (low, high) for name, (low, high) in given.pop("intervals", {}).items()}
        margins = {name: (below, above) for name, (below, above) in given.pop("margins", {}).items()}
        runs = tuple(given.pop("runs", ()))
        return cls(method=method, intervals=intervals, runs=runs, margins=margins, **given)


def trial_id(method: Method) -> str:
    """A name for a method with its parameters."""
    parameters = ",".join(f"{key}={json.dumps(value)}" for key, value in sorted(method.parameters().items()))
    return f"{method.name}:{parameters}"


def run_trial(table: Table, method: Method, seeds: Sequence[int] = SEEDS, purpose: Purpose = COUNTS) -> Trial:
    """Publish with simulated randomness and measure; randomized methods once for every seed."""
    started = time.perf_counter()
    seeds = seeds if method.randomized else seeds[:1]
    try:
        measured = [_run(table, method, seed, purpose) for seed in seeds]
    except (UnsatisfiableError, ParameterError) as error:
        return Trial(method=method, refused=str(error))
    runs, margins = tuple(values for values, _ in measured), measured[0][1]
    measures, intervals = summarize_values(runs, margins)
    kept, seconds = runs if method.randomized else (), time.perf_counter() - started
    return Trial(method=method, measures=measures, intervals=intervals, seconds=seconds, runs=kept, margins=margins)


def _run(table: Table, method: Method, seed: int, purpose: Purpose) -> tuple[dict[str, float], dict[str, Interval]]:
    """The values of all measures, and how far below and above them those of the whole may be where a sample was
    measured."""
    release = method.publish(table, SimulatedSource(seed))
    found = assess(table, release)
    values = {name: one.value for name, one in found.items()}
    intervals = {name: (one.value, *one.interval) for name, one in found.items() if one.interval}
    margins = {name: (value - low, high - value) for name, (value, low, high) in intervals.items()}
    return values | purpose.measure_more(table, method, release, seed), margins
