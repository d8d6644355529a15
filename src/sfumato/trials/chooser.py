"""From trials to a recommendation: which are fit, which of them is recommended, and the sentences that say so."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sfumato.data import Table
from sfumato.errors import UnsatisfiableError
from sfumato.measures.measure import MEASURES
from sfumato.measures.measurement import References
from sfumato.methods import Method
from sfumato.trials.advice import Adviser, Progress
from sfumato.trials.choice import Sorted, Standard, candidates, sort_out
from sfumato.trials.pilot import Pilot
from sfumato.trials.reasons import census_sentence, chosen_sentence, grades, nothing_sentence, standard_sentences
from sfumato.trials.recommendation import Recommendation
from sfumato.trials.trial import Trial


@dataclass(frozen=True, kw_only=True)
class Chooser:
    """Trials of a table, what is asked of them, and the settings that another table would be tried at."""

    table: Table
    trials: Sequence[Trial]
    references: References
    standard: Standard
    settings: Callable[[Table], Sequence[Method]]
    pilot: Pilot | None = None
    looked: str | None = None

    def choose(self, *, advise: bool = True, progress: Progress | None = None) -> Recommendation:
        """The most useful of the fit trials that are least poor, or none and perhaps advice.

        `progress` is told what is tried to find that.
        """
        found = sort_out(self.trials, self.standard)
        self._refuse(found)
        offered = candidates(self._least_poor(found.fit), self.standard)
        trial = offered[-1].trial if offered else None
        return Recommendation(
            trial=trial,
            rule=self._rule(found.fit) if trial else "nothing is fit",
            limits=self.standard.limits,
            candidates=offered,
            advice=self._adviser(progress).advise() if advise and not trial else None,
            standard=self.standard,
            verdicts=grades(trial, self.references, self.standard.purpose) if trial else (),
            table=self.table,
            tried=self.table,
            choice=self.pilot.choice if self.pilot else None,
            references=self.references,
            why=tuple(self._why(trial, found)),
        )

    def _least_poor(self, fit: Sequence[Trial]) -> list[Trial]:
        """Those with the fewest poor grades, of all that keep a floor: nothing is recommended that need not be poor."""
        if not self.standard.floor:
            return list(fit)
        graded = [grades(trial, self.references, self.standard.purpose) for trial in fit]
        poor = [sum(one.verdict == "poor" for one in verdicts) for verdicts in graded]
        return [trial for trial, count in zip(fit, poor, strict=True) if count == min(poor)]

    def _refuse(self, found: Sorted) -> None:
        """Refuse to choose where nothing hides who is in the table, or limits leave nothing."""
        judged = (*found.beyond, *found.unsafe, *found.useless, *found.beaten, *found.fit)
        if found.exposing and not judged:
            raise UnsatisfiableError("none of the releases with a guarantee hides who is in the table")
        if found.beyond and len(found.beyond) == len(judged):
            limits = self.standard.limits
            wanted = " and ".join(f"{name} ≤ {limit:g}" for name, limit in limits.items())
            least = {name: min(trial.at_worst(MEASURES[name]) for trial in judged) for name in limits}
            nearest = ", ".join(f"{name} is at least {value:.4g}" for name, value in least.items())
            raise UnsatisfiableError(f"none of {len(judged)} releases has {wanted}; among them {nearest}")

    def _rule(self, fit: Sequence[Trial]) -> str:
        kept = f"keeps the {'floor' if self.standard.floor else 'limits'}"
        kept += " and has the fewest poor grades" if len(self._least_poor(fit)) < len(fit) else ""
        if self.pilot:
            return f"the most useful release that noise protects at what is left of ε and that {kept}"
        return f"the most useful release that {kept}"

    def _adviser(self, progress: Progress | None) -> Adviser:
        return Adviser(
            table=self.table, trials=self.trials, standard=self.standard, settings=self.settings, progress=progress
        )

    def _why(self, trial: Trial | None, found: Sorted) -> list[str]:
        told = [*standard_sentences(self.standard), census_sentence(found)]
        if trial is None:
            return [*told, nothing_sentence(found, self.standard)]
        chosen = chosen_sentence(trial, found.fit, self._least_poor(found.fit), self.standard)
        return [*told, chosen, self._looked_at(trial)]

    def _looked_at(self, chosen: Trial) -> str:
        """What the choice was made on, and whether the claim covers that."""
        if self.pilot:
            alone = f"but {self.looked} had shown measures of the rows before; the claim says so."
            alone = alone if self.looked else "and on nothing else; that is part of the claim."
            return f"It was chosen on a synthetic table that cost ε = {self.pilot.choice.epsilon:g}, {alone}"
        if chosen.method.claim.noise:
            return "It was chosen by looking at the rows, which no ε covers; the headline of its claim says so."
        return "It was chosen by looking at the rows; the claim can be recomputed from the release, however chosen."
