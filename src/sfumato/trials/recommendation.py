"""Which release to publish, and why, in words that answer: is this number good?

Under limits, the most useful release that keeps them; without any, the knee of the frontier (where giving up
more privacy starts to buy less utility than before) among releases that come nowhere near revealing anyone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sfumato.errors import UnsatisfiableError
from sfumato.privacy.claims import Differential, Syntactic
from sfumato.publish.publication import draw, publish_to
from sfumato.trials.verdict import References, Verdict, judge

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.privacy.ledger import Ledger
    from sfumato.release import Release
    from sfumato.trials.frontier import Frontier
    from sfumato.trials.trial import Trial

CHOSEN = ("its setting was chosen by comparing measures of the same rows",)
JUDGED = ("p_loss", "breach", "guessed_right", "smallest_class", "u_loss", "query_error", "ncp")


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """A trial, the rule that chose it, and the sentences that go with it."""

    trial: Trial
    rule: str
    limits: dict[str, float]
    why: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    frontier: Frontier = field(repr=False, compare=False)

    def publish(self, *, ledger: Ledger | None = None, folder: Path | str = "") -> Release:
        """The recommended release, made with fresh randomness.

        If it is differentially private, its cost is reserved in the ledger first; `folder` is where it will be saved.
        """
        return draw(self.trial.make(), self.frontier.table, ledger=ledger, folder=folder, assumptions=CHOSEN)

    def save(self, folder: Path | str, *, parquet: bool = False, ledger: Ledger | None = None) -> Path:
        """Publish, and write the release to a new folder; what it costs is charged to the ledger."""
        _, saved = publish_to(
            self.trial.make(), self.frontier.table, folder, ledger=ledger, parquet=parquet, assumptions=CHOSEN
        )
        return saved

    def spec(self) -> dict[str, Any]:
        """The recommendation as the report needs it."""
        return {
            "trial": self.trial.id,
            "rule": self.rule,
            "constraints": self.limits,
            "why": list(self.why),
            "recipient": _recipient(self),
            "adversary": _adversary(self),
            "figures": [verdict.spec() for verdict in self.verdicts],
        }


def recommend(frontier: Frontier, limits: dict[str, float], allow_exact: bool) -> Recommendation:
    """The release to publish under upper limits on some measures.

    Releases that show who is in the table are out of the question unless `allow_exact`: no measure of what is
    learned about sensitive values can speak for them.
    """
    privacy, utility = frontier.pair
    candidates = [trial for trial in frontier.trials if trial.promises and (allow_exact or not trial.shows_presence)]
    kept = [trial for trial in candidates if all(trial.measures[name] <= limit for name, limit in limits.items())]
    if not kept:
        raise UnsatisfiableError(_nothing_fits(candidates, limits))
    references = References.of(frontier)
    bounded = {frontier.measures[name].family for name in limits}
    if bounded == {"privacy"}:
        chosen = min(kept, key=lambda trial: (trial.measures[utility], trial.measures[privacy], trial.id))
        rule = "the most useful release within the limits"
    elif bounded == {"utility"}:
        chosen = min(kept, key=lambda trial: (trial.measures[privacy], trial.measures[utility], trial.id))
        rule = "the most private release within the limits"
    else:
        if not limits:
            kept = [trial for trial in kept if judge("p_loss", trial.measures["p_loss"], references).grade != "poor"]
        chosen = min(kept, key=lambda trial: (_height(frontier, trial), trial.id))
        rule = "the knee" + (" within the limits" if limits else " of the releases in the running")
    verdicts = tuple(judge(name, chosen.measures[name], references) for name in JUDGED if name in chosen.measures)
    return Recommendation(
        trial=chosen,
        rule=rule,
        limits=limits,
        verdicts=verdicts,
        frontier=frontier,
        why=_why(frontier, chosen, rule, limits, len(kept), references),
    )


def _height(frontier: Frontier, trial: Trial) -> float:
    """Both losses as shares of what the two end points lose, added: the knee is lowest."""
    privacy, utility = frontier.pair
    most = {name: max(other.measures[name] for other in frontier.trials) or 1.0 for name in (privacy, utility)}
    return trial.measures[privacy] / most[privacy] + trial.measures[utility] / most[utility]


def _nothing_fits(candidates: list[Trial], limits: dict[str, float]) -> str:
    wanted = " and ".join(f"{name} ≤ {limit:g}" for name, limit in limits.items())
    nearest = ", ".join(
        f"{name} is at least {min(trial.measures[name] for trial in candidates):.4g}" for name in limits
    )
    return f"none of {len(candidates)} releases has {wanted}; among them {nearest}"


def _why(
    frontier: Frontier, chosen: Trial, rule: str, limits: dict[str, float], kept: int, references: References
) -> tuple[str, ...]:
    privacy, utility = frontier.pair
    label = chosen.make().label
    promising = [trial for trial in frontier.trials if trial.promises]
    exposing = [trial for trial in promising if trial.shows_presence]
    verb = "was" if kept == 1 else "were"
    sentences = [f"{label} is {rule}: of {len(promising)} releases with a guarantee, {kept} {verb} in the running."]
    if exposing and chosen not in exposing:
        sentences.append(
            f"{len(exposing)} of the others show who is in the table, up to "
            f"{max(trial.measures['singled_out'] for trial in exposing):.0%} of people beyond doubt; they are "
            "recommended only if that is allowed."
        )
    if limits:
        shown = ", ".join(
            f"{frontier.measures[name].title.lower()} at most {limit:g} (it has {chosen.measures[name]:.3g})"
            for name, limit in limits.items()
        )
        sentences.append(f"It keeps the limits: {shown}.")
    else:
        sentences.append(
            f"Here {_share(chosen.measures[privacy], references.original[privacy])} of the privacy loss of the "
            f"original table remains, and {_share(chosen.measures[utility], references.suppressed[utility])} of the "
            "utility loss of suppressing everything; no other setting that keeps the worst-off person well below being "
            "revealed brings the two together lower."
        )
    sentences.append(
        "The setting was picked by looking at measures of the same data; the saved release names that among its "
        "assumptions."
    )
    return tuple(sentences)


def _share(value: float, whole: float) -> str:
    return f"{value / whole:.0%}" if whole > 0 else "none"


def _recipient(recommendation: Recommendation) -> list[str]:
    values, method = recommendation.trial.measures, recommendation.trial.make()
    table = recommendation.frontier.table
    claim = method.claim
    if isinstance(claim, Differential) and claim.exact_people:
        form = "One row per person with exact quasi-identifiers, and a sensitive value that was drawn anew."
    elif isinstance(claim, Differential):
        form = "Noisy counts, or rows generated from them: no row stands for a person."
    elif isinstance(claim, Syntactic) and claim.buckets:
        form = "Two tables: the exact quasi-identifiers with a bucket number, and the sensitive values of each bucket."
    else:
        form = f"One row per person with generalized values, each spanning {values['ncp']:.1%} of its range on average."
    classes = f"{values['classes']:,.0f} classes of {values['average_class']:.1f} people on average"
    return [
        f"{method.label}: {table.n:,} people"
        + (", hidden behind noise." if isinstance(claim, Differential) else f" in {classes}."),
        form,
        f"Counts over half of every attribute's range are off by {values['query_error']:.1%} (median); counts with "
        f"a few conditions by {values['mean_query_error']:.1%} (mean).",
        f"The sensitive attribute of large groups is estimated with an average divergence of {values['u_loss']:.4f} "
        f"(suppressing everything: {recommendation.frontier.reference('suppression', 'u_loss'):.4f}).",
    ]


def _adversary(recommendation: Recommendation) -> list[str]:
    values, frontier = recommendation.trial.measures, recommendation.frontier
    baseline = frontier.table.overall.max() / frontier.table.n
    original = frontier.reference("original", "guessed_right")
    return [
        "Knowing everybody's quasi-identifiers, an adversary who looks people up guesses "
        f"{values['guessed_right']:.1%} of sensitive values right; naming the commonest value for everyone "
        f"gets {baseline:.1%}, and the original table {original:.1%}.",
        f"A statistical adversary (naive Bayes) gets {1 - values['empirical_privacy']:.1%} right, and "
        f"{values['confident_guesses']:.1%} among the tenth of people it is surest about.",
        f"For the worst-off person the belief shift is {values['p_loss']:.3f}; on average it is "
        f"{values['mean_p_loss']:.3f}.",
        _standing_out(values),
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
