"""The frontier of a table: every trial, which of them are efficient, which to recommend, and all as a document."""

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.errors import ParameterError
from sfumato.measures.looks import note_look
from sfumato.measures.measure import MEASURES
from sfumato.measures.measurement import Measure, References
from sfumato.methods import METHODS, Method
from sfumato.methods.base import Endpoint, epsilon_grid
from sfumato.notebook import html_table
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.loss import Pure, exact
from sfumato.publish.publication import looked_at
from sfumato.release.envelope import refuse_inside_release
from sfumato.trials.audience import RISK, Audience, Floor, find_floor
from sfumato.trials.choice import Standard
from sfumato.trials.chooser import Chooser
from sfumato.trials.document import FrontierDocument, MeasureEntry, PilotEntry, TableEntry, TrialEntry, finite
from sfumato.trials.dominance import efficient
from sfumato.trials.pilot import SHARE, Pilot, find_pilot
from sfumato.trials.preview import Preview, preview, sample_rows
from sfumato.trials.purpose import COUNTS, Purpose, purpose_of
from sfumato.trials.recommendation import Recommendation
from sfumato.trials.rehearsal import Rehearsal
from sfumato.trials.search import Progress, Search, settle
from sfumato.trials.store import TrialStore
from sfumato.trials.trial import Trial

STORE_NAME, PILOT_STORE_NAME = "trials.jsonl", "pilot-trials.jsonl"
"""Where trials are stored: those on the rows, for the publisher's eyes, apart from those on a pilot."""
LOOK = "a frontier"
"""What showed measures of the rows."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Frontier:
    """All trials of a table that gave a release, and those the table refused.

    With a `pilot`, its synthetic table is what was tried, and `real` is the table that it stands for.
    """

    table: Table
    trials: tuple[Trial, ...]
    refused: tuple[Trial, ...] = ()
    audience: Audience = "public"
    purpose: Purpose = COUNTS
    kinds: tuple[Method | type[Method], ...] | None = None
    """What was tried, as it was asked for; settings of these were sought where they decide."""
    epsilons: tuple[float, ...] | None = None
    pilot: Pilot | None = None
    real: Table | None = None
    beforehand: bool = False
    ledger: Ledger | None = None

    @property
    def measures(self) -> dict[str, Measure]:
        """Every measure by name."""
        return MEASURES | {self.purpose.measure.name: self.purpose.measure}

    @cached_property
    def references(self) -> References:
        """What to compare measures with: those of the two end points."""
        ends: dict[str | None, dict[str, float]] = {trial.method.endpoint: trial.measures for trial in self.trials}
        unknown = dict.fromkeys(MEASURES, np.nan)
        original, suppressed = (ends.get(end, unknown) for end in get_args(Endpoint))
        columns = (self.table.focused(column).overall for column in self.table.schema.secret_names)
        easiest = max(columns, key=lambda counts: float(counts.max() / counts.sum()))
        return References(overall=easiest, original=original, suppressed=suppressed)

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
        return html_table(caption, rows, ("release", *(self.measures[name].title for name in self.pair)))

    def efficient(self, privacy: str | None = None, utility: str | None = None) -> list[str]:
        """The ids of the trials that no other beats on both measures."""
        mask = efficient(self._losses(privacy or self.pair[0]), self._losses(utility or self.pair[1]))
        return [trial.id for trial, chosen in zip(self.trials, mask, strict=True) if chosen]

    def _losses(self, name: str) -> NDArray[np.float64]:
        if name not in self.measures or self.measures[name].direction == "none":
            raise ParameterError(f"{name!r} is not a measure with a better direction")
        values = np.array([trial.measures.get(name, np.nan) for trial in self.trials])
        return values if self.measures[name].direction == "lower" else -values

    @property
    def pair(self) -> tuple[str, str]:
        """The measures that decide: what is disclosed, and how useful a release is."""
        return RISK.name, self.purpose.measure.name

    def recommend(
        self,
        *,
        audience: Audience | None = None,
        max_p_loss: float | None = None,
        max_breach: float | None = None,
        max_query_error: float | None = None,
        allow_exact: bool = False,
        advise: bool = True,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Recommendation:
        """The most useful release that keeps the floor of an audience and all limits, at the pessimistic end.

        Without an audience it is the frontier's own, unless a limit on privacy takes the place of its floor. On a
        pilot, only what noise protects at what is left of ε is considered. A release with errors above 30%, or above
        `max_query_error`, is of no use and never recommended; where none is left, nothing is, and the recommendation
        has advice in place of a trial, unless not to `advise`; `progress` is told what is tried to find it. Releases
        with exact quasi-identifiers show who is in the table and are recommended only if `allow_exact`.
        """
        limits = {"p_loss": max_p_loss, "breach": max_breach, "query_error": max_query_error}
        given = {name: limit for name, limit in limits.items() if limit is not None}
        for name, limit in given.items():
            if np.isnan(limit):
                raise ParameterError(f"the limit on {name} is not a number")
        floored = audience or not given.keys() & {"p_loss", "breach"}
        standard = Standard(
            floor=find_floor(audience or self.audience) if floored else None,
            purpose=self.purpose,
            limits={name: limit for name, limit in given.items() if limit < np.inf},
            enough=given.get(self.purpose.measure.name, self.purpose.enough),
            allow_exact=allow_exact,
            noise=self.pilot is not None,
        ).on(self.trials)
        looked = None if self.beforehand else (self.real or self.table).looked
        chooser = Chooser(
            table=self.table,
            trials=settle(self.table, self.trials, standard),
            references=self.references,
            standard=standard,
            settings=self._settings,
            pilot=self.pilot,
            looked=looked,
        )
        chosen = replace(
            chooser.choose(advise=advise, progress=progress), beforehand=self.beforehand, ledger=self.ledger
        )
        return replace(chosen, table=self.real) if self.real else chosen

    def _settings(self, table: Table) -> list[Method]:
        """The settings that would be tried on another table, were it asked as this one was."""
        known = [trial.method for trial in (*self.trials, *self.refused)]
        if self.kinds is None:
            return known
        return [self.purpose.told(method) for method in _settings(self.kinds, table, self.epsilons)]


def default_methods(table: Table, epsilons: Sequence[float] | None = None) -> list[Method]:
    """Every method at the settings it declares for the table, but those that must be asked for."""
    return _settings(default_kinds(), table, epsilons)


def default_kinds() -> list[type[Method]]:
    """Every method but those that must be asked for."""
    return [kind for kind in METHODS.values() if kind.by_default]


def _settings(
    methods: Sequence[Method | type[Method]], table: Table, epsilons: Sequence[float] | None = None
) -> list[Method]:
    """The given settings, and those that given kinds of methods declare for the table."""
    usual = epsilon_grid(table.n) if epsilons is None else epsilons
    several = len(table.schema.secrets) > 1
    return [
        setting
        for each in methods
        if isinstance(each, Method) or each.takes_several or not several
        for setting in ([each] if isinstance(each, Method) else each.grid(table, usual))
    ]


def frontier(
    table: Table,
    methods: Sequence[Method | type[Method]] | None = None,
    *,
    audience: Audience = "public",
    predict: str | None = None,
    queries: Sequence[str] | Path | str | None = None,
    epsilon: float | None = None,
    folder: Path | str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    ledger: Ledger | None = None,
    share: float = SHARE,
    new_pilot: bool = False,
    beforehand: bool = False,
) -> Frontier:
    """Try every method on the table (or just the given ones, with the two end points) and measure the releases.

    What is given is a setting, or a kind of method at all the settings it declares. If there are no single settings
    among them, more are tried between those that are near the floor of the `audience`, and close rivals once more.
    How useful a release is, is judged by counts in general, by a column to `predict` from the others, or by `queries`
    of one's own, given as a list or as the path of a file with one on each line; methods that can make use of knowing
    that are told.

    With a `folder`, each trial is stored there as it ends, and a later call goes on where this one stopped.
    `progress` is called with each trial, how many are done, and how many there are.

    With `epsilon`, a `share` of it buys a pilot: a synthetic table, charged to the ledger, on which everything is tried
    in place of the real one. What is recommended then costs the rest, and its claim covers how it was chosen. A pilot
    in the folder, or that of the same table in memory, is used again, unless a `new_pilot` is asked for. If measures of
    the same rows were seen before, all these claims say so, unless ε and share were chosen `beforehand`. Without
    `epsilon`, the frontier itself shows such measures, and the ledger notes that.

    >>> front = sf.frontier(table, [sf.Mondrian(k=5), sf.Mondrian(k=20)])
    >>> len(front.trials)
    4
    """
    if folder is not None:
        refuse_inside_release(Path(folder))
    purpose = purpose_of(predict, queries)
    purpose.check(table.schema)
    asked = Asked(methods, find_floor(audience), purpose, folder, workers, progress)
    if epsilon is None:
        if beforehand:
            raise ParameterError("without a pilot there is nothing to choose beforehand; give epsilon")
        note_look(table, LOOK, ledger)
        return Frontier(table=table, ledger=ledger, **asked.tried(table))
    place, ledger = Path(folder) if folder is not None else None, ledger or Ledger()
    pilot = find_pilot(table, epsilon, folder=place, ledger=ledger, share=share, anew=new_pilot, beforehand=beforehand)
    looked_at(table, ledger)
    tried = asked.tried(pilot.table, pilot.rest(epsilon))
    return Frontier(table=pilot.table, pilot=pilot, real=table, beforehand=beforehand, ledger=ledger, **tried)


@dataclass(frozen=True)
class Asked:
    """What is to be tried, for whom and for what."""

    methods: Sequence[Method | type[Method]] | None
    floor: Floor
    purpose: Purpose
    folder: Path | str | None
    workers: int | None
    progress: Progress | None

    def tried(self, table: Table, rest: float | None = None) -> dict[str, Any]:
        """The trials of all settings and of the end points, by whether the table allowed them; no ε above `rest`."""
        self.purpose.check_on(table)
        epsilons = None if rest is None else (rest,)
        kinds = None if self.methods is None else tuple(self.methods)
        settings = default_methods(table, epsilons) if kinds is None else _settings(kinds, table, epsilons)
        settings = [each if each in (kinds or ()) else self.purpose.told(each) for each in settings]
        adaptive = kinds is None or not any(isinstance(kind, Method) for kind in kinds)
        ends = [method for kind in METHODS.values() if kind.endpoint for method in kind.grid(table)]
        trials = self._search(table, noise=rest is not None).run(
            [*ends, *_affordable(settings, rest)], adaptive=adaptive
        )
        return {
            "trials": tuple(trial for trial in trials if trial.refused is None),
            "refused": tuple(trial for trial in trials if trial.refused is not None),
            "audience": self.floor.audience,
            "purpose": self.purpose,
            "kinds": kinds or tuple(default_kinds()) if adaptive else None,
            "epsilons": epsilons,
        }

    def _search(self, table: Table, *, noise: bool) -> Search:
        file = PILOT_STORE_NAME if noise else STORE_NAME
        name = " ".join(filter(None, (table.fingerprint, self.purpose.key)))
        more = frozenset({self.purpose.measure.name})
        store = None if self.folder is None else TrialStore(Path(self.folder) / file, name, more)
        standard = Standard(floor=self.floor, purpose=self.purpose, noise=noise)
        return Search(table, standard, self.workers or os.cpu_count() or 1, store, self.progress)


def _affordable(methods: Sequence[Method], epsilon: float | None) -> list[Method]:
    """The settings that hide who is in the table at no more than ε, where there is an end to it, or need no noise."""
    if epsilon is None:
        return list(methods)
    return [
        method
        for method in methods
        if method.claim.cost is None
        or (method.claim.neighbours == "add-remove" and Pure(exact(epsilon)).approximate().covers(method.claim.cost))
    ]


def frontier_document(
    frontier: Frontier, recommendation: Recommendation | None, command: Callable[[Method], str] | None = None
) -> FrontierDocument:
    """The document of a frontier and of what is recommended; `command` says how a setting is published."""
    table, schema = frontier.table, frontier.table.schema
    standard = recommendation.standard if recommendation else Standard(floor=None)
    eligible = {trial.id for trial in frontier.trials if standard.admits(trial)}
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
        pilot=_pilot(frontier.pilot) if frontier.pilot else None,
        measures={
            name: MeasureEntry.of(one, one.marks(frontier.references)) for name, one in frontier.measures.items()
        },
        default_pair=frontier.pair,
        trials=[
            replace(_trial(trial, frontier.measures, command), eligible=trial.id in eligible)
            for trial in _as_recommended(frontier, recommendation)
        ],
        refused=[{"label": trial.method.label, "reason": trial.refused} for trial in frontier.refused],
        efficient=_efficient(frontier, eligible),
        recommendation=recommendation.entry() if recommendation else None,
        previews=_previews(frontier, recommendation) if recommendation else (),
        sample=sample_rows(table),
    )


def _as_recommended(frontier: Frontier, recommendation: Recommendation | None) -> list[Trial]:
    """The trials, those that a recommendation had to repeat with all their runs."""
    offered = recommendation.candidates if recommendation else ()
    known = {candidate.trial.id: candidate.trial for candidate in offered}
    return [known.get(trial.id, trial) for trial in frontier.trials]


def _previews(frontier: Frontier, recommendation: Recommendation) -> list[Preview]:
    """The candidates, each once."""
    several = {candidate.trial.id: candidate.trial for candidate in recommendation.candidates}
    return [preview(frontier.table, trial) for trial in several.values()]


def _pilot(pilot: Pilot) -> PilotEntry:
    return PilotEntry(epsilon=pilot.choice.epsilon, limits=pilot.limits, rehearsal=Rehearsal.kept())


def _trial(trial: Trial, about: dict[str, Measure], command: Callable[[Method], str] | None) -> TrialEntry:
    method = trial.method
    measures, intervals = finite(trial.measures, trial.intervals, about)
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
        command=command(method) if command and trial.promises else None,
    )


def _efficient(frontier: Frontier, eligible: Collection[str]) -> dict[str, list[str]]:
    """Efficient are those that nothing beats that could be recommended."""
    rivals = replace(
        frontier, trials=tuple(trial for trial in frontier.trials if trial.id in eligible or trial.method.endpoint)
    )
    directed = [measure for measure in frontier.measures.values() if measure.direction != "none"]
    privacy, utility = ([one.name for one in directed if one.family == family] for family in ("privacy", "utility"))
    return {f"{one}|{other}": rivals.efficient(one, other) for one in privacy for other in utility}
