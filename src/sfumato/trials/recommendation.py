"""Which release to publish, and why: a trial with the sentences that go with it, or advice where there is none."""

from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Self

from sfumato.data import Table
from sfumato.errors import ParameterError, UnsatisfiableError
from sfumato.measures.measurement import References, Verdict
from sfumato.privacy.claims import Choice, Claim
from sfumato.privacy.ledger import Ledger
from sfumato.publish.publication import Publication, draw, promise, publication_of
from sfumato.release import Release
from sfumato.trials.advice import Advice
from sfumato.trials.choice import Candidate, Role, Standard
from sfumato.trials.document import RecommendationEntry, UseEntry
from sfumato.trials.reasons import adversary_sentences, grades, recipient_sentences
from sfumato.trials.trial import Trial

NOTHING = "nothing recommended"


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """A trial, the rule that chose it, and the sentences that go with it; no trial where none is fit to publish.

    `candidates` are the safest, the balanced and the most useful release that are fit; the most useful is recommended.
    Where there are none, `advice` says what makes the table hard, and which edit of its schema would help.
    `table` is what will be published; `tried` is what was measured, a pilot's table where the choice is paid for.
    """

    trial: Trial | None
    rule: str
    limits: dict[str, float]
    why: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    candidates: tuple[Candidate, ...] = ()
    advice: Advice | None = None
    standard: Standard = field(default_factory=lambda: Standard(floor=None), repr=False)
    table: Table = field(repr=False, compare=False)
    tried: Table = field(repr=False, compare=False)
    choice: Choice | None = None
    references: References = field(repr=False, compare=False)
    beforehand: bool = False
    ledger: Ledger | None = field(default=None, repr=False, compare=False)

    @property
    def chosen(self) -> Trial:
        """The recommended trial, where there is one."""
        if self.trial is None:
            more = f"; {self.advice.sentence}" if self.advice else ""
            raise UnsatisfiableError(f"{NOTHING}: {' '.join(self.why)}{more}")
        return self.trial

    def instead(self, role: Role) -> Self:
        """The recommendation of another candidate."""
        found = [candidate.trial for candidate in self.candidates if candidate.role == role]
        if not found:
            roles = ", ".join(candidate.role for candidate in self.candidates) or "none"
            raise ParameterError(f"there is no candidate {role!r}; expected one of {roles}")
        return replace(
            self, trial=found[0], rule=role, verdicts=grades(found[0], self.references, self.standard.purpose)
        )

    def publish(self, *, ledger: Ledger | None = None, folder: Path | str = "") -> Release:
        """The recommended release, made with fresh randomness.

        If it is differentially private, its cost is reserved in the ledger first, and left so; `folder` is where it
        will be saved.
        """
        with self._publication(folder, ledger) as publication:
            return draw(publication, self.chosen.method, self.table)

    def save(self, folder: Path | str, *, parquet: bool = False, ledger: Ledger | None = None) -> Path:
        """Publish, and write the release to a new folder; what it costs is charged to the ledger."""
        with self._publication(folder, ledger) as publication:
            release = draw(publication, self.chosen.method, self.table)
            return publication.write(release, suffix=".parquet" if parquet else ".csv")

    def _publication(self, folder: Path | str, ledger: Ledger | None) -> Publication:
        method, table, ledger = self.chosen.method, self.table, ledger or self.ledger
        return publication_of(method, table, folder, ledger=ledger, choice=self.choice, beforehand=self.beforehand)

    @property
    def claim(self) -> Claim:
        """What the release will promise, the choice included."""
        return promise(self.chosen.method.claim, self.choice, self.table.looked, beforehand=self.beforehand)

    def entry(self) -> RecommendationEntry:
        """The recommendation as the report needs it."""
        standard, trial = self.standard, self.trial
        floor, purpose = standard.floor, standard.purpose
        return RecommendationEntry(
            status="recommended" if trial else NOTHING,
            trial=trial.id if trial else None,
            claim=self.claim.sentence() if trial else None,
            rule=self.rule,
            constraints=self.limits,
            why=self.why,
            recipient=recipient_sentences(trial, self.tried.n, self.references) if trial else (),
            adversary=adversary_sentences(trial, self.claim, self.references) if trial else (),
            figures=self.verdicts,
            floor=floor.entry() if floor else None,
            use=UseEntry(measure=purpose.measure.name, enough=standard.enough if isfinite(standard.enough) else None),
            candidates=[candidate.entry() for candidate in self.candidates],
            advice=self.advice.entry() if self.advice else None,
        )
