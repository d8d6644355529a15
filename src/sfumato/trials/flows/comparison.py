"""One setting of synthetic flows, and the evaluations of what it made."""

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.errors import ParameterError
from sfumato.measures.flows.evaluation import Evaluation
from sfumato.trials.repetition import Interval, summarize


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """One setting and the evaluations of what it made: several where the setting was repeated.

    `refused` says why there are none. Runs with the same `options` and `delta` are joined by a line over epsilon;
    `paper` marks the published setting. A run that claims nothing has no epsilon and no delta.
    """

    label: str
    evaluations: Sequence[Evaluation] = ()
    refused: str | None = None
    epsilon: float | None = None
    delta: float | None = None
    options: str = ""
    paper: bool = False

    def __post_init__(self) -> None:
        if not self.evaluations and self.refused is None:
            raise ParameterError(f"the run {self.label!r} has no evaluation; expected at least one")

    def summary(self) -> tuple[dict[str, float], dict[str, Interval]]:
        """The mean of every measure over the repetitions, and intervals where there are several."""
        return summarize([{name: found.value for name, found in one.measurements.items()} for one in self.evaluations])
