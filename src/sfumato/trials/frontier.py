"""The frontier of a table: every trial, which of them are efficient, which to recommend, and all as a document."""

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.errors import ParameterError
from sfumato.measures.measure import MEASURES
from sfumato.measures.measurement import Measure, References
from sfumato.methods import METHODS, Method
from sfumato.methods.base import EPSILON_GRID, Endpoint
from sfumato.notebook import html_table
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.loss import Pure, exact
from sfumato.release.envelope import refuse_inside_release
from sfumato.trials.document import FrontierDocument, MeasureEntry, PilotEntry, TableEntry, TrialEntry, finite
from sfumato.trials.pilot import PILOT_LIMITS, SHARE, Pilot, find_pilot
from sfumato.trials.recommendation import Chooser, Recommendation
from sfumato.trials.runner import run_trials
from sfumato.trials.store import TrialStore
from sfumato.trials.trial import Trial, trial_id

DEFAULT_PAIR = ("p_loss", "u_loss")
STORE_NAME = "trials.jsonl"
LOOK = "a frontier"
"""What showed measures of the rows."""
ROUNDING = 1e-12
"""Differences below this are floating-point noise, not an advantage."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Frontier:
    """All trials of a table that gave a release, and those the table refused.

    With a `pilot`, its synthetic table is what was tried, and `real` is the table that it stands for.
    """

    table: Table
    trials: tuple[Trial, ...]
    refused: tuple[Trial, ...] = ()
    pair: tuple[str, str] = DEFAULT_PAIR
    pilot: Pilot | None = None
    real: Table | None = None

    @property
    def measures(self) -> dict[str, Measure]:
        """Every measure by name."""
        return MEASURES

    @cached_property
    def references(self) -> References:
        """What to compare measures with: those of the two end points."""
        ends: dict[str | None, dict[str, float]] = {trial.method.endpoint: trial.measures for trial in self.trials}
        unknown = dict.fromkeys(MEASURES, np.nan)
        original, suppressed = (ends.get(end, unknown) for end in get_args(Endpoint))
        return References(overall=self.table.overall, original=original, suppressed=suppressed)

    def to_polars(self) -> pl.DataFrame:
        """A row for each trial: what was tried, whether it is efficient, and the value of every measure."""
        chosen = set(self.efficient())
        return pl.DataFrame(
            {"label": trial.method.label, "claim": trial.method.claim.sentence(), "efficient": trial.id in chosen}
            | {name: trial.measures.get(name) for name in self.measures}
            for trial in self.trials
        )

    def __repr__(self) -> str:
        refused = f", {len(self.refused)} refused" if self.refused else ""
        return f"Frontier of {len(self.trials)} releases{refused}; {self.table!r}"

    def _repr_html_(self) -> str:
        chosen = set(self.efficient())
        rows = [
            (trial.method.label, *(f"{trial.measures[name]:.4g}" for name in self.pair))
            for trial in sorted(self.trials, key=lambda trial: trial.measures[self.pair[0]])
            if trial.id in chosen
        ]
        eyes = "tried on a pilot" if self.pilot else "for the publisher's eyes"
        caption = f"{len(rows)} efficient of {len(self.trials)} releases: {eyes}"
        return html_table(caption, rows, ("release", *(MEASURES[name].title for name in self.pair)))

    def efficient(self, privacy: str | None = None, utility: str | None = None) -> list[str]:
        """The ids of the trials that no other beats on both measures."""
        mask = efficient(self._losses(privacy or self.pair[0]), self._losses(utility or self.pair[1]))
        return [trial.id for trial, chosen in zip(self.trials, mask, strict=True) if chosen]

    def _losses(self, name: str) -> NDArray[np.float64]:
        if name not in MEASURES or MEASURES[name].direction == "none":
            raise ParameterError(f"{name!r} is not a measure with a better direction")
        values = np.array([trial.measures.get(name, np.nan) for trial in self.trials])
        return values if MEASURES[name].direction == "lower" else -values

    def recommend(
        self,
        *,
        max_p_loss: float | None = None,
        max_breach: float | None = None,
        max_query_error: float | None = None,
        allow_exact: bool = False,
    ) -> Recommendation:
        """The release to publish under the given limits; without any, at the knee.

        On a pilot, without limits, that is the most useful release that noise protects at what is left of ε. Releases
        with exact quasi-identifiers show who is in the table and are recommended only if `allow_exact`.
        """
        limits = {"p_loss": max_p_loss, "breach": max_breach, "query_error": max_query_error}
        given = {name: limit for name, limit in limits.items() if limit is not None and limit != np.inf}
        for name, limit in given.items():
            if np.isnan(limit):
                raise ParameterError(f"the limit on {name} is not a number")
        chooser = Chooser(self.table, self.trials, self.references, self.pair, allow_exact, self.pilot)
        chosen = chooser.choose(given)
        return replace(chosen, table=self.real) if self.real else chosen


def efficient(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which points no other is as good as in both and better in one, where lower is better; never one with a NaN."""
    no_worse = (first[:, None] <= first + ROUNDING) & (second[:, None] <= second + ROUNDING)
    better = (first[:, None] < first - ROUNDING) | (second[:, None] < second - ROUNDING)
    dominated = (no_worse & better).any(axis=0)
    return ~(dominated | np.isnan(first) | np.isnan(second))


def default_methods(table: Table, epsilons: Sequence[float] = EPSILON_GRID) -> list[Method]:
    """Every method at the settings it declares for the table, but those that must be asked for."""
    return _settings([kind for kind in METHODS.values() if kind.by_default], table, epsilons)


def _settings(
    methods: Sequence[Method | type[Method]], table: Table, epsilons: Sequence[float] = EPSILON_GRID
) -> list[Method]:
    """The given settings, and those that given kinds of methods declare for the table."""
    return [
        setting for each in methods for setting in ([each] if isinstance(each, Method) else each.grid(table, epsilons))
    ]


def frontier(
    table: Table,
    methods: Sequence[Method | type[Method]] | None = None,
    *,
    epsilon: float | None = None,
    folder: Path | str | None = None,
    workers: int | None = None,
    progress: Callable[[Trial, int, int], None] | None = None,
    ledger: Ledger | None = None,
    share: float = SHARE,
    new_pilot: bool = False,
) -> Frontier:
    """Try every method on the table (or just the given ones, with the two end points) and measure the releases.

    What is given is a setting, or a kind of method at all the settings it declares.

    With a `folder`, each trial is stored there as it ends, and a later call goes on where this one stopped.
    `progress` is called with each trial, how many are done, and how many there are.

    With `epsilon`, a `share` of it buys a pilot: a synthetic table, charged to the ledger, on which everything is tried
    in place of the real one. What is recommended then costs the rest, and its claim covers how it was chosen. A pilot
    in the folder is used again, unless a `new_pilot` is asked for.

    >>> front = sf.frontier(table, [sf.Mondrian(k=5), sf.Mondrian(k=20)])
    >>> len(front.trials)
    4
    """
    if folder is not None:
        refuse_inside_release(Path(folder))
    if epsilon is None:
        table.note_look(LOOK)
        settings = default_methods(table) if methods is None else _settings(methods, table)
        return Frontier(table=table, **_tried(table, settings, folder, workers, progress))
    place = Path(folder) if folder is not None else None
    pilot = find_pilot(table, epsilon, folder=place, ledger=ledger or Ledger(), share=share, anew=new_pilot)
    tried, rest = pilot.table, pilot.rest(epsilon)
    settings = default_methods(tried, (rest,)) if methods is None else _settings(methods, tried, (rest,))
    return Frontier(
        table=tried, pilot=pilot, real=table, **_tried(tried, _affordable(settings, rest), folder, workers, progress)
    )


def _affordable(methods: Sequence[Method], epsilon: float) -> list[Method]:
    """The settings that hide who is in the table at no more than ε, and those that need no noise."""
    return [
        method
        for method in methods
        if method.claim.cost is None
        or (method.claim.neighbours == "add-remove" and Pure(exact(epsilon)).approximate().covers(method.claim.cost))
    ]


def _tried(
    table: Table,
    methods: Sequence[Method],
    folder: Path | str | None,
    workers: int | None,
    progress: Callable[[Trial, int, int], None] | None,
) -> dict[str, Any]:
    """The trials of all settings and of the end points, by whether the table allowed them."""
    wanted: dict[str, Method] = {}
    ends = [method for kind in METHODS.values() if kind.endpoint for method in kind.grid(table)]
    for method in (*ends, *methods):
        wanted.setdefault(trial_id(method), method)
    store = TrialStore(Path(folder) / STORE_NAME, table.fingerprint) if folder is not None else None
    stored = {trial.id: trial for trial in (store.load() if store else []) if trial.id in wanted}
    missing = [method for key, method in wanted.items() if key not in stored]
    done: dict[str, Trial] = {}
    with closing(run_trials(table, missing, workers or os.cpu_count() or 1)) as running:
        for trial in chain(stored.values(), running):
            if store and trial.id not in stored:
                store.add(trial)
            done[trial.id] = trial
            if progress:
                progress(trial, len(done), len(wanted))
    trials = [done[key] for key in wanted]
    return {
        "trials": tuple(trial for trial in trials if trial.refused is None),
        "refused": tuple(trial for trial in trials if trial.refused is not None),
    }


def frontier_document(frontier: Frontier, recommendation: Recommendation | None) -> FrontierDocument:
    """The document of a frontier and of what is recommended."""
    table, schema = frontier.table, frontier.table.schema
    shares = (table.overall / table.n).tolist()
    return FrontierDocument(
        table=TableEntry(
            name=schema.name,
            rows=table.n,
            quasi=[axis.name for axis in schema.quasi],
            sensitive=schema.sensitive.name,
            sensitive_shares=list(zip(schema.sensitive.labels, shares, strict=True)),
            unique_share=float(np.count_nonzero(table.weights == 1) / table.n),
            from_data=dict(schema.from_data),
        ),
        pilot=PilotEntry(epsilon=frontier.pilot.choice.epsilon, limits=PILOT_LIMITS) if frontier.pilot else None,
        measures={name: MeasureEntry.of(one, one.marks(frontier.references)) for name, one in MEASURES.items()},
        default_pair=frontier.pair,
        trials=[_trial(trial) for trial in frontier.trials],
        refused=[{"label": trial.method.label, "reason": trial.refused} for trial in frontier.refused],
        efficient=_efficient(frontier),
        recommendation=recommendation.entry() if recommendation else None,
    )


def _trial(trial: Trial) -> TrialEntry:
    method = trial.method
    measures, intervals = finite(trial.measures, trial.intervals, MEASURES)
    return TrialEntry(
        id=trial.id,
        method=method.name,
        label=method.label,
        series=method.series,
        recoding=None if method.endpoint else method.claim.recoding,
        parameters=method.parameters(),
        claim=method.claim.sentence(),
        endpoint=method.endpoint is not None,
        measures=measures,
        intervals=intervals,
        seconds=trial.seconds,
    )


def _efficient(frontier: Frontier) -> dict[str, list[str]]:
    directed = [measure for measure in frontier.measures.values() if measure.direction != "none"]
    privacy, utility = ([one.name for one in directed if one.family == family] for family in ("privacy", "utility"))
    return {f"{one}|{other}": frontier.efficient(one, other) for one in privacy for other in utility}
