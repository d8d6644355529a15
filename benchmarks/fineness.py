"""How finely Mondrian publishes at the same requirements: against greedy cuts, the median cut and another program.

The penalty is that of what is published (`ncp`) and of the values present (`gcp`), means over people and columns.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import sfumato as sf
from benchmarks import adult, odd_tables, recommendations
from benchmarks.timing import Result, at_most
from sfumato.measures.workloads.information_loss import InformationLoss
from sfumato.methods.partition.decide import partition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KS = (2, 3, 5, 10, 20, 50, 100)
ASKED_GAIN = 0.08
MAX_TIMES = 4
"""How many times as long as greedy cuts looking ahead may take."""
PEER = {"gcp": 0.0274, "discernibility": 889_516}
"""What ARX's local recoding reaches on Adult at k = 10."""
SLACK = 1e-9


@dataclass(frozen=True)
class Losses:
    """What one setting costs on a table: looking ahead, by greedy cuts, and by median cuts."""

    ahead: dict[str, float]
    greedy: dict[str, float]
    median: dict[str, float]

    @classmethod
    def of(cls, table: sf.Table, **parameters: Any) -> Losses:
        """The losses at some parameters of Mondrian; cuts that do not look ahead leave nobody out."""
        plain = {name: value for name, value in parameters.items() if name != "suppress"}
        ways = (parameters, {**plain, "look_ahead": 0}, {**plain, "cut": "median"})
        return cls(*(InformationLoss().run(table, sf.Mondrian(**way).publish(table)) for way in ways))

    def gain(self, over: str, measure: str = "ncp") -> float:
        """By how much looking ahead is below another way to cut."""
        other = getattr(self, over)[measure]
        return 1 - self.ahead[measure] / other if other else 0.0


@dataclass(frozen=True)
class Case:
    """A table under some settings."""

    name: str
    make: Callable[[], sf.Table]

    @cached_property
    def table(self) -> sf.Table:
        return self.make()

    @property
    def has_taxonomies(self) -> bool:
        """Whether values of some column are grouped."""
        axes = [axis for axis in self.table.schema.quasi if axis.kind == "categorical"]
        return any(not child.is_leaf for axis in axes for child in axis.taxonomy.children)

    @cached_property
    def by_size(self) -> list[Losses]:
        """Under k alone, at every k."""
        return [Losses.of(self.table, k=k) for k in KS if 2 * k <= self.table.n]

    def settings(self) -> dict[str, dict[str, Any]]:
        """Settings of k with a requirement on values that the table can satisfy, and with people left out."""
        commonest = self.table.n / self.table.overall.max()
        l = round(min(3.0, 1 + 0.6 * (commonest - 1)), 2)
        close = {"k": 5, "t": 0.1}
        found = {f"k=5, l={l}": {"k": 5, "l": l}} if l * 1.001 < commonest else {}
        return found | {
            "k=5, t=0.1": close,
            "k=5, t=0.1 ordered": close | {"distance": "ordered"},
            "k=5, t=0.1, 3% suppressed": close | {"suppress": 0.03},
            "k=10, 3% suppressed": {"k": 10, "suppress": 0.03},
        }

    def seconds(self, look_ahead: int) -> float:
        """The processor time of all k together, each the shortest of three runs."""
        return sum(min(_timed(self.table, k, look_ahead) for _ in range(3)) for k in KS if 2 * k <= self.table.n)


def _timed(table: sf.Table, k: int, look_ahead: int) -> float:
    started = time.process_time()
    partition(table, (sf.KAnonymity(k=k),), "ncp", look_ahead=look_ahead)
    return time.process_time() - started


def cases() -> list[Case]:
    """Tables with and without taxonomies, most of them of other shapes than Adult."""
    kept = ("town of 5,000", "3,000 people, skewed", "8,000 people, many categories", "6,000 people, 11 columns")
    found = {name: make for name, make in recommendations.tables().items() if name in kept}
    for name in ("5 columns", "7 columns", "12 columns"):
        found[f"Census, {name}"] = lambda name=name: recommendations.census(recommendations.CENSUS_SETS[name], 9_000)
    found |= {
        "Adult": lambda: sf.read(adult.rows(adult.TRAINING_ROWS), adult.schema()),
        "Adult, 10 columns": adult.income_table,
        "Adult, cormode2013": adult.cormode_table,
    }
    return [Case(name, make) for name, make in (found | odd_tables.TABLES).items()]


def _spread(gains: list[float]) -> str:
    return f"{np.mean(gains):.1%} ({min(gains):.1%} to {max(gains):.1%})"


def _under_size(case: Case) -> Result:
    greedy, median, present = (
        [one.gain(over, measure) for one in case.by_size]
        for over, measure in (("greedy", "ncp"), ("median", "ncp"), ("greedy", "gcp"))
    )
    got = f"below greedy {_spread(greedy)}, median {_spread(median)}, greedy by values present {_spread(present)}"
    met = min(*greedy, *median) >= -SLACK
    return Result(f"{case.name}, k from 2 to 100", "at or below the greedy and the median cut", got, met)


def _under_values(case: Case) -> Iterator[Result]:
    for name, parameters in case.settings().items():
        found = Losses.of(case.table, **parameters)
        got = f"{found.ahead['ncp']:.2%}, greedy {found.greedy['ncp']:.2%}, median {found.median['ncp']:.2%}"
        met = found.gain("greedy") >= -SLACK
        yield Result(f"{case.name}, {name}", "at or below the greedy cut without suppression", got, met)


def fineness(peers: str) -> Iterator[Result]:
    """How finely Mondrian publishes many tables at the same requirements, and what all come to."""
    tables = cases()
    for case in tables:
        yield _under_size(case)
        yield from _under_values(case)
    with_groups = [case for case in tables if case.has_taxonomies]
    gains = [float(np.mean([one.gain("greedy") for one in case.by_size])) for case in with_groups]
    what = f"mean gain over greedy cuts on the {len(gains)} tables with taxonomies"
    yield Result(what, f"at least {ASKED_GAIN:.0%}", _spread(gains), float(np.mean(gains)) >= ASKED_GAIN)
    taken = {case.name: case.seconds(1) / case.seconds(0) for case in tables}
    slowest = max(taken, key=taken.__getitem__)
    yield at_most(
        f"time of looking ahead, mean over tables ({slowest} is the slowest)",
        MAX_TIMES,
        float(np.mean([*taken.values()])),
        "x greedy",
    )
    adults = Losses.of(next(case.table for case in tables if case.name == "Adult"), k=10).ahead
    for measure, most in PEER.items():
        yield at_most(f"Adult, k=10, {measure} against ARX's local recoding", most, adults[measure], "")
