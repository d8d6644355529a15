"""Trying a few settings on another version of a table, measured by no more than it takes to judge them.

How useful a release is, is quickly measured; what it discloses is not, and is measured only where it can decide.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sfumato.data import Table
from sfumato.errors import SfumatoError
from sfumato.measures.measure import MEASURES, assess
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import FullSuppression, Method
from sfumato.release import Release
from sfumato.trials.audience import RISK, find_floor
from sfumato.trials.choice import Standard
from sfumato.trials.repetition import summarize_values
from sfumato.trials.trial import MOST_RUNS, SEEDS, Trial, trial_id

Settings = Callable[[Table], Sequence[Method]]
"""The settings that a frontier of a table begins with."""
SHOWN = "singled_out"
"""The measure that tells whether a release shows who is in the table."""


@dataclass(frozen=True, kw_only=True)
class Nearest:
    """The setting that came nearest, the share of what is allowed that it uses up, and whether it seems fit."""

    trial: Trial
    nearness: float
    fit: bool


@dataclass(frozen=True, kw_only=True)
class Run:
    """A setting once published, and what was measured so far."""

    method: Method
    seed: int
    release: Release
    values: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Probes:
    """Settings that came near to what is asked of a table, to be tried on other versions of it."""

    methods: Sequence[Method]
    standard: Standard
    settings: Settings | None = None
    """If given, only what a frontier of the same table would begin with is tried, so that it finds what is found."""

    def nearest(self, table: Table, against: Table | None = None) -> Nearest | None:
        """The setting that comes nearest in one run; `against` is what its release is compared with, if not the table.

        A setting comes no nearer than its use, so once another is nearer than that, its risk does not matter.
        """
        against = against or table
        standard, best = self._standard(against), None
        for run in sorted(self._runs(table, against), key=lambda run: self._share_of_use(run)):
            if best and self._share_of_use(run) >= best.nearness:
                break
            trial = self._trial(run.method, [self._with_risk(run, against)])
            if standard.admits(trial) and (best is None or standard.share_used(trial) < best.nearness):
                best = Nearest(trial=trial, nearness=standard.share_used(trial), fit=standard.keeps_all(trial))
        return best

    def fit(self, table: Table) -> Trial | None:
        """The nearest setting that is fit for sure on a table, however often a frontier may repeat it."""
        standard = self._standard(table)
        runs = [run for run in self._runs(table, table) if self._share_of_use(run) <= 1]
        once = [self._trial(run.method, [self._with_risk(run, table)]) for run in runs]
        for trial in sorted(filter(standard.keeps_all, once), key=lambda one: (standard.share_used(one), one.id)):
            if found := self._lasting(table, trial, standard):
                return found
        return None

    def _lasting(self, table: Table, trial: Trial, standard: Standard) -> Trial | None:
        """The trial with the runs that it begins with, if it is fit then and with all that it may get later."""
        values = [dict(trial.measures)]
        for seed in range(2, MOST_RUNS + 1) if trial.method.randomized else ():
            run = self._run(table, trial.method, seed, table)
            if run is None:
                return None
            values.append(self._with_risk(run, table))
            if len(values) % len(SEEDS) == 0 and not standard.is_fit(self._trial(trial.method, values)):
                return None
        return self._trial(trial.method, values[: len(SEEDS)])

    def _runs(self, table: Table, against: Table) -> Iterator[Run]:
        """One run of every setting."""
        usual = {trial_id(method) for method in (self.settings(table) if self.settings else self.methods)}
        tried = (self._run(table, probe, SEEDS[0], against) for probe in self.methods if trial_id(probe) in usual)
        return (run for run in tried if run)

    def _run(self, table: Table, method: Method, seed: int, against: Table) -> Run | None:
        """A setting published once, and how useful that is; nothing where the table refuses it."""
        purpose = self.standard.purpose
        quick = {SHOWN} | ({purpose.measure.name} & MEASURES.keys())
        try:
            release = method.publish(table, SimulatedSource(seed))
            values = _measured(against, release, quick) | purpose.measure_more(against, method, release, seed)
        except SfumatoError:
            return None
        return Run(method=method, seed=seed, release=release, values=values)

    def _with_risk(self, run: Run, against: Table) -> dict[str, float]:
        return run.values | _measured(against, run.release, {RISK.name, *self.standard.limits} - run.values.keys())

    def _share_of_use(self, run: Run) -> float:
        return run.values[self.standard.purpose.measure.name] / (self.standard.enough or 1.0)

    def _trial(self, method: Method, runs: Sequence[dict[str, float]]) -> Trial:
        measures, intervals = summarize_values(runs)
        kept = tuple(runs) if method.randomized else ()
        return Trial(method=method, measures=measures, intervals=intervals, runs=kept)

    def _standard(self, table: Table) -> Standard:
        """What is asked of a release of another table: a floor that had to be raised is raised as far as that needs."""
        floor = self.standard.floor
        if floor is None or floor.raised_from is None:
            return self.standard
        suppressed = self._run(table, FullSuppression(), SEEDS[0], table)
        ends = [self._trial(suppressed.method, [self._with_risk(suppressed, table)])] if suppressed else []
        return replace(self.standard, floor=find_floor(floor.audience)).on(ends)


def _measured(table: Table, release: Release, names: set[str]) -> dict[str, float]:
    return {name: one.value for name, one in assess(table, release, only=names).items()} if names else {}
