"""Pilots rehearsed on sample data: how far their figures were from those on the people themselves.

Nobody may be told how far a pilot is from the rows it stands for. On sample data everybody may: the figures kept beside
this module were measured once with simulated noise, and every report of a pilot shows them.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from sfumato.data import Table
from sfumato.measures.measure import MEASURES
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import Method, PrivBayes
from sfumato.trials.pilot import SHARE, made_up_table, split_off
from sfumato.trials.trial import run_trial

KEPT = Path(__file__).with_name("rehearsal.json")
COMPARED = ("disclosure_added", "query_error", "u_loss", "p_loss", "breach")
"""Measures of which is told how far those of pilots are from the real ones."""


@dataclass(frozen=True, kw_only=True)
class RehearsedFigure:
    """A measure of one setting: in truth, and on each pilot."""

    setting: str
    measure: str
    real: float
    tried: Sequence[float]


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """Pilots of sample data, all at the same ε."""

    name: str
    rows: int
    epsilon: float
    figures: Sequence[RehearsedFigure]

    @classmethod
    def kept(cls) -> Self:
        """The rehearsal that is kept with the program."""
        found = json.loads(KEPT.read_text(encoding="utf-8"))
        return cls(**{**found, "figures": [RehearsedFigure(**figure) for figure in found["figures"]]})

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"


def rehearse(table: Table, epsilon: float, settings: Sequence[Method], pilots: int) -> Rehearsal:
    """Try settings on a table of nobody and on so many pilots of it, and compare what is measured."""
    part = PrivBayes(epsilon=split_off(epsilon, SHARE))
    tables = [made_up_table(part.publish(table, SimulatedSource(seed))) for seed in range(1, pilots + 1)]
    figures = []
    for setting in settings:
        real, *tried = (run_trial(each, setting).measures for each in (table, *tables))
        figures += [
            RehearsedFigure(
                setting=setting.label, measure=MEASURES[name].title, real=real[name], tried=[one[name] for one in tried]
            )
            for name in COMPARED
        ]
    return Rehearsal(name=table.schema.name, rows=table.n, epsilon=epsilon, figures=figures)
