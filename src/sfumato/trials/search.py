"""Trying settings where they decide: once each, those that may be chosen again, those between them, close rivals more.

Each pass is decided by the results of those before it, taken with as many runs as they had then; so the same trials
lead to the same search, and one that was interrupted goes on from the file of trials.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from sfumato.data import Table
from sfumato.methods import Method
from sfumato.trials.choice import Standard
from sfumato.trials.refinement import finer_settings, undecided, unsettled
from sfumato.trials.runner import Crew
from sfumato.trials.store import TrialStore
from sfumato.trials.trial import ROUNDS, SEEDS, Trial, run_trial, trial_id

Progress = Callable[[Trial, int, int], None]
MAX_TRIALS = 115
"""Settings in all, unless the coarse pass alone has more."""
PASSES, PER_PASS = 4, 10
"""How often settings are sought between others, and how many at a time."""
PER_ROUND = 5
"""How many settings are repeated at a time."""


@dataclass
class Search:
    """Trials of one table, as far as they are done; what is stored is not run again."""

    table: Table
    standard: Standard
    workers: int
    store: TrialStore | None = None
    progress: Progress | None = None
    done: dict[str, Trial] = field(default_factory=dict)
    _stored: dict[str, Trial] = field(default_factory=dict)
    _crew: Crew = field(init=False, repr=False)
    _count: int = 0
    _total: int = 0

    def run(self, methods: Sequence[Method], *, adaptive: bool) -> list[Trial]:
        """Every setting, in order; if the search may adapt, what it adds after them."""
        if self.store:
            self._stored = {trial.id: trial for trial in self.store.load()}
        with Crew(self.table, self.workers, self.standard.purpose) as crew:
            self._crew = crew
            self._try(methods, 1 if adaptive else len(SEEDS))
            if adaptive:
                self.standard = self.standard.on([*self.done.values()])
                self._settle()
                self._refine()
                self._repeat()
        return list(self.done.values())

    def _settle(self) -> None:
        while promising := unsettled(list(self.done.values()), self.standard, PER_ROUND):
            self._try([trial.method for trial in promising], len(SEEDS))

    def _refine(self) -> None:
        for _ in range(PASSES):
            room = min(PER_PASS, MAX_TRIALS - len(self.done))
            finer = finer_settings(list(self.done.values()), self.standard, room) if room > 0 else []
            if not finer:
                return
            self._try(finer, 1)
            self._settle()

    def _repeat(self) -> None:
        for _ in range(ROUNDS):
            close = undecided(list(self.done.values()), self.standard, PER_ROUND)
            for runs in sorted({len(trial.runs) for trial in close}):
                self._try([trial.method for trial in close if len(trial.runs) == runs], runs + len(SEEDS))
            if not close:
                return

    def _try(self, methods: Sequence[Method], runs: int) -> None:
        """Bring every setting to so many runs where chance has a part, from the store as far as that goes."""
        wanted = {trial_id(method): method for method in methods}
        known = {key: self._known(key, runs) for key in wanted}
        self._total += len(wanted)
        for trial in known.values():
            if trial and _is_done(trial, runs):
                self._tell(trial)
        missing: dict[int, list[Method]] = {}
        for key, trial in known.items():
            if not trial or not _is_done(trial, runs):
                missing.setdefault(len(trial.runs) if trial else 0, []).append(wanted[key])
        for before, some in missing.items():
            with closing(self._crew.run(some, range(before + 1, runs + 1))) as running:
                for trial in running:
                    known[trial.id] = self._add(known[trial.id], trial)
        self.done |= {key: trial for key, trial in known.items() if trial}

    def _known(self, key: str, runs: int) -> Trial | None:
        """What is known of a setting, with no more than so many runs."""
        found = [trial for trial in (self._stored.get(key), self.done.get(key)) if trial]
        return max(found, key=lambda trial: len(trial.runs)).first(runs) if found else None

    def _add(self, before: Trial | None, trial: Trial) -> Trial:
        whole = before.with_more(trial) if before else trial
        if self.store:
            self.store.add(whole)
        self._tell(whole)
        return whole

    def _tell(self, trial: Trial) -> None:
        self._count += 1
        if self.progress:
            self.progress(trial, self._count, self._total)


def settle(table: Table, trials: Sequence[Trial], standard: Standard) -> list[Trial]:
    """Trials of a search with more runs of those that another standard than the search's may choose."""
    done = {trial.id: trial for trial in trials}
    while promising := unsettled(list(done.values()), standard, PER_ROUND):
        for trial in promising:
            more = run_trial(table, trial.method, SEEDS[len(trial.runs) :], standard.purpose)
            done[trial.id] = trial.with_more(more)
    return list(done.values())


def _is_done(trial: Trial, runs: int) -> bool:
    """Whether a trial needs no run more."""
    return not trial.runs or len(trial.runs) >= runs
