"""Which release to publish, and why, in words that answer: is this number good?

Under limits, the most useful release that keeps them; without any, the knee of the frontier (where giving up
more privacy starts to buy less utility than before) among releases that come nowhere near revealing anyone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sfumato.data import Table
from sfumato.errors import UnsatisfiableError
from sfumato.measures.measure import MEASURES
from sfumato.measures.measurement import References, Verdict
from sfumato.privacy.claims import Choice, Claim, Conditional
from sfumato.privacy.ledger import Ledger
from sfumato.publish.publication import draw, publication_of, publish_to
from sfumato.release import Release
from sfumato.trials.document import RecommendationEntry
from sfumato.trials.pilot import Pilot
from sfumato.trials.trial import Trial


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """A trial, the rule that chose it, and the sentences that go with it."""

    trial: Trial
    rule: str
    limits: dict[str, float]
    why: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    table: Table = field(repr=False, compare=False)
    choice: Choice | None = None
    references: References = field(repr=False, compare=False)

    def publish(self, *, ledger: Ledger | None = None, folder: Path | str = "") -> Release:
        """The recommended release, made with fresh randomness.

        If it is differentially private, its cost is reserved in the ledger first, and left so; `folder` is where it
        will be saved.
        """
        method, table = self.trial.method, self.table
        with publication_of(method, table, folder, ledger=ledger, choice=self.choice) as publication:
            return draw(publication, method, table)

    def save(self, folder: Path | str, *, parquet: bool = False, ledger: Ledger | None = None) -> Path:
        """Publish, and write the release to a new folder; what it costs is charged to the ledger."""
        method, table = self.trial.method, self.table
        _, saved = publish_to(method, table, folder, ledger=ledger, parquet=parquet, choice=self.choice)
        return saved

    @property
    def claim(self) -> Claim:
        """What the release will promise, the choice included."""
        claim = self.trial.method.claim
        if self.choice:
            return claim.chosen(self.choice)
        return Conditional(given=claim, looked=self.table.looked) if claim.noise and self.table.looked else claim

    def entry(self) -> RecommendationEntry:
        """The recommendation as the report needs it."""
        return RecommendationEntry(
            trial=self.trial.id,
            rule=self.rule,
            constraints=self.limits,
            why=self.why,
            recipient=_recipient(self),
            adversary=_adversary(self),
            figures=self.verdicts,
        )


@dataclass(frozen=True)
class Chooser:
    """Trials of a table to choose from by a pair of a privacy measure and a utility measure.

    Releases that show who is in the table are out of the question unless `allow_exact`: no measure of what is
    learned about sensitive values can speak for them.
    """

    table: Table
    trials: Sequence[Trial]
    references: References
    pair: tuple[str, str]
    allow_exact: bool = False
    pilot: Pilot | None = None

    def choose(self, limits: dict[str, float]) -> Recommendation:
        """The release to publish under upper limits on some measures."""
        candidates = [
            trial for trial in self.trials if trial.promises and (self.allow_exact or not trial.shows_presence)
        ]
        kept = [trial for trial in candidates if all(trial.measures[name] <= limit for name, limit in limits.items())]
        if not candidates:
            raise UnsatisfiableError("none of the releases with a guarantee hides who is in the table")
        if not kept:
            raise UnsatisfiableError(_nothing_fits(candidates, limits))
        bounded = {MEASURES[name].family for name in limits}
        privacy, utility = self.pair
        protected = [trial for trial in kept if trial.method.claim.noise]
        if self.pilot and not limits and protected:
            kept = protected
            chosen = min(kept, key=lambda trial: (trial.measures[utility], trial.id))
            rule = "the most useful release that noise protects at what is left of ε"
        elif bounded == {"privacy"}:
            chosen = min(kept, key=lambda trial: (trial.measures[utility], trial.measures[privacy], trial.id))
            rule = "the most useful release within the limits"
        elif bounded == {"utility"}:
            chosen = min(kept, key=lambda trial: (trial.measures[privacy], trial.measures[utility], trial.id))
            rule = "the most private release within the limits"
        else:
            kept = kept if limits else [trial for trial in kept if not self._reveals(trial)] or kept
            chosen = min(kept, key=lambda trial: (self._height(trial), trial.id))
            rule = "the knee" + (" within the limits" if limits else " of the releases in the running")
        judged = [name for name in MEASURES if name in chosen.measures]
        verdicts = (MEASURES[name].verdict(chosen.measures[name], self.references) for name in judged)
        return Recommendation(
            trial=chosen,
            rule=rule,
            limits=limits,
            verdicts=tuple(verdict for verdict in verdicts if verdict),
            table=self.table,
            choice=self.pilot.choice if self.pilot else None,
            references=self.references,
            why=self._why(chosen, rule, limits, len(kept)),
        )

    def _reveals(self, trial: Trial) -> bool:
        """Whether the worst-off person is close to being revealed."""
        privacy, _ = self.pair
        judged = MEASURES[privacy].verdict(trial.measures[privacy], self.references)
        return judged is not None and judged.verdict == "poor"

    def _height(self, trial: Trial) -> float:
        """Both losses as shares of what the two end points lose, added: the knee is lowest."""
        most = {name: max(other.measures[name] for other in self.trials) or 1.0 for name in self.pair}
        return sum(trial.measures[name] / most[name] for name in self.pair)

    def _why(self, chosen: Trial, rule: str, limits: dict[str, float], kept: int) -> tuple[str, ...]:
        promising = [trial for trial in self.trials if trial.promises]
        exposing = [trial for trial in promising if trial.shows_presence]
        verb = "was" if kept == 1 else "were"
        sentences = [
            f"{chosen.method.label} is {rule}: of {len(promising)} releases with a guarantee, {kept} {verb} in the "
            "running."
        ]
        if exposing and chosen not in exposing:
            sentences.append(
                f"{len(exposing)} of the others show who is in the table, up to "
                f"{max(trial.measures['singled_out'] for trial in exposing):.0%} of people beyond doubt; they are "
                "recommended only if that is allowed."
            )
        if limits:
            shown = ", ".join(
                f"{MEASURES[name].title.lower()} at most {limit:g} (it has {chosen.measures[name]:.3g})"
                for name, limit in limits.items()
            )
            sentences.append(f"It keeps the limits: {shown}.")
        elif rule.startswith("the knee"):
            sentences.append(self._shares(chosen))
        return (*sentences, self._looked_at(chosen))

    def _looked_at(self, chosen: Trial) -> str:
        """What the choice was made on, and whether the claim covers that."""
        if self.pilot:
            return (
                f"It was chosen on a synthetic table that cost ε = {self.pilot.choice.epsilon:g}, and on nothing else; "
                "that is part of the claim."
            )
        if chosen.method.claim.noise:
            return "It was chosen by looking at the rows, which no ε covers; the headline of its claim says so."
        return "It was chosen by looking at the rows; the claim can be recomputed from the release, however chosen."

    def _shares(self, chosen: Trial) -> str:
        """What is lost, as shares of what the end points lose."""
        ends = (self.references.original, self.references.suppressed)
        privacy, utility = (
            f"{chosen.measures[name] / most[name]:.0%}" if most[name] > 0 else "none"
            for name, most in zip(self.pair, ends, strict=True)
        )
        return (
            f"Here {privacy} of the privacy loss of the original table remains, and {utility} of the utility loss of "
            "suppressing everything; no other setting that keeps the worst-off person well below being revealed "
            "brings the two together lower."
        )


def _nothing_fits(candidates: list[Trial], limits: dict[str, float]) -> str:
    wanted = " and ".join(f"{name} ≤ {limit:g}" for name, limit in limits.items())
    nearest = ", ".join(
        f"{name} is at least {min(trial.measures[name] for trial in candidates):.4g}" for name in limits
    )
    return f"none of {len(candidates)} releases has {wanted}; among them {nearest}"


def _recipient(recommendation: Recommendation) -> list[str]:
    values, method = recommendation.trial.measures, recommendation.trial.method
    classes = f"{values['classes']:,.0f} classes of {values['average_class']:.1f} people on average"
    return [
        f"{method.label}: {recommendation.table.n:,} people"
        + (", hidden behind noise." if method.claim.noise else f" in {classes}."),
        method.claim.form(values["ncp"]),
        f"Counts over half of every attribute's range are off by {values['query_error']:.1%} (median); counts with "
        f"a few conditions by {values['mean_query_error']:.1%} (mean).",
        f"The sensitive attribute of large groups is estimated with an average divergence of {values['u_loss']:.4f} "
        f"(suppressing everything: {recommendation.references.suppressed['u_loss']:.4f}).",
    ]


def _adversary(recommendation: Recommendation) -> list[str]:
    values, references = recommendation.trial.measures, recommendation.references
    return [
        "Knowing everybody's quasi-identifiers, an adversary who looks people up guesses "
        f"{values['guessed_right']:.1%} of sensitive values right; naming the commonest value for everyone "
        f"gets {references.baseline_guess:.1%}, and the original table {references.original['guessed_right']:.1%}.",
        f"A statistical adversary (naive Bayes) gets {1 - values['empirical_privacy']:.1%} right, and "
        f"{values['confident_guesses']:.1%} among the tenth of people it is surest about.",
        f"For the worst-off person the belief shift is {values['p_loss']:.3f}; on average it is "
        f"{values['mean_p_loss']:.3f}.",
        _standing_out(values),
        *recommendation.claim.in_words(),
    ]


def _standing_out(values: dict[str, float]) -> str:
    """What the release shows of single people."""
    matches = f"{values['unique_matches']:,.0f} people with a combination of values nobody else has"
    if "smallest_class" not in values:
        return f"No row describes a person; by chance {matches} are described exactly."
    return (
        f"The smallest class has {values['smallest_class']:,.0f} people; {values['singled_out']:.1%} of people are "
        f"alone with their published quasi-identifiers, and {matches} stand in the release unchanged."
    )
