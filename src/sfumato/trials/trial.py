"""One setting of one method, tried on a table and measured, or refused by the table."""

import json
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from sfumato.data import Table
from sfumato.errors import ParameterError, UnsatisfiableError
from sfumato.measures.measure import measure
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import Method, make_method
from sfumato.trials.repetition import Interval, summarize

SEEDS = (1, 2, 3)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A method and what measuring its release gave; `refused` says why there is no release."""

    method: Method
    measures: dict[str, float] = field(default_factory=dict)
    intervals: dict[str, Interval] = field(default_factory=dict)
    refused: str | None = None
    seconds: float = 0.0

    @cached_property
    def id(self) -> str:
        """The setting as a string, the same in every run."""
        return trial_id(self.method)

    @property
    def promises(self) -> bool:
        """Whether a release of this setting comes with a guarantee."""
        return self.refused is None and self.method.claim.promises

    @property
    def shows_presence(self) -> bool:
        """Whether a release of this setting shows who is in the table."""
        return self.measures["singled_out"] > 0 or self.method.claim.shows_presence

    def spec(self) -> dict[str, Any]:
        """The trial as the trial file stores it."""
        return {
            "method": self.method.name,
            "parameters": self.method.parameters(),
            "measures": self.measures,
            "intervals": self.intervals,
            "refused": self.refused,
            "seconds": self.seconds,
        }

    @classmethod
    def parse(cls, spec: dict[str, Any]) -> Self:
        """The trial that a trial file stores."""
        given = dict(spec)
        method = make_method(given.pop("method"), given.pop("parameters"))
        intervals = {name: (low, high) for name, (low, high) in given.pop("intervals", {}).items()}
        return cls(method=method, intervals=intervals, **given)


def trial_id(method: Method) -> str:
    """A name for a method with its parameters."""
    parameters = ",".join(f"{key}={json.dumps(value)}" for key, value in sorted(method.parameters().items()))
    return f"{method.name}:{parameters}"


def run_trial(table: Table, method: Method) -> Trial:
    """Publish with simulated randomness and measure; randomized methods several times over."""
    started = time.perf_counter()
    seeds = SEEDS if method.randomized else SEEDS[:1]
    try:
        measures, intervals = summarize(
            [measure(table, method.publish(table, SimulatedSource(seed))) for seed in seeds]
        )
    except (UnsatisfiableError, ParameterError) as error:
        return Trial(method=method, refused=str(error))
    return Trial(method=method, measures=measures, intervals=intervals, seconds=time.perf_counter() - started)
