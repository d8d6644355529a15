"""One setting of one method, tried on a table and measured, or refused by the table."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from scipy.special import stdtrit

from sfumato.data import Table
from sfumato.errors import ParameterError, UnsatisfiableError
from sfumato.measures.measure import measure
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import Method, make_method
from sfumato.privacy.claims import Differential, NoGuarantee, Syntactic

SEEDS = (1, 2, 3)
CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A method's parameters and what measuring its release gave; `refused` says why there is no release."""

    method: str
    parameters: dict[str, Any]
    measures: dict[str, float] = field(default_factory=dict)
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    refused: str | None = None
    seconds: float = 0.0

    @property
    def id(self) -> str:
        """The setting as a string, the same in every run."""
        return trial_id(self.make())

    def make(self) -> Method:
        """The method with these parameters."""
        return make_method(self.method, self.parameters)

    @property
    def promises(self) -> bool:
        """Whether a release of this setting comes with a guarantee."""
        return self.refused is None and not isinstance(self.make().claim, NoGuarantee)

    @property
    def shows_presence(self) -> bool:
        """Whether a release of this setting shows who is in the table."""
        claim = self.make().claim
        if isinstance(claim, Syntactic):
            exact = claim.buckets
        else:
            exact = isinstance(claim, Differential) and claim.exact_people
        return self.measures["singled_out"] > 0 or exact

    def spec(self) -> dict[str, Any]:
        """The trial as the trial file stores it."""
        return asdict(self)


def trial_id(method: Method) -> str:
    """A name for a method with its parameters."""
    parameters = ",".join(f"{key}={json.dumps(value)}" for key, value in sorted(method.parameters().items()))
    return f"{method.name}:{parameters}"


def run_trial(table: Table, method: Method) -> Trial:
    """Publish with simulated randomness and measure; randomized methods several times over."""
    started = time.perf_counter()
    seeds = SEEDS if method.randomized else SEEDS[:1]
    try:
        runs = [_values(table, method, seed) for seed in seeds]
    except (UnsatisfiableError, ParameterError) as error:
        return Trial(method=method.name, parameters=method.parameters(), refused=str(error))
    return Trial(
        method=method.name,
        parameters=method.parameters(),
        measures={name: float(np.mean([run[name] for run in runs])) for name in runs[0]},
        intervals={name: _interval([run[name] for run in runs]) for name in runs[0]} if len(runs) > 1 else {},
        seconds=time.perf_counter() - started,
    )


def _values(table: Table, method: Method, seed: int) -> dict[str, float]:
    release = method.publish(table, SimulatedSource(seed))
    return {name: found.value for name, found in measure(table, release).items()}


def _interval(values: list[float]) -> tuple[float, float]:
    """Student's interval for the mean over seeds."""
    mean, count = float(np.mean(values)), len(values)
    spread = float(np.std(values, ddof=1) / np.sqrt(count) * stdtrit(count - 1, (1 + CONFIDENCE) / 2))
    return mean - spread, mean + spread
