"""The sentences of a recommendation. Each follows from the trials it is about, and from nothing else."""

from collections.abc import Sequence

from sfumato.measures.measure import MEASURES
from sfumato.measures.measurement import References, Verdict
from sfumato.privacy.claims import Claim
from sfumato.trials.audience import RISK, risk_words
from sfumato.trials.choice import Sorted, Standard, risk
from sfumato.trials.purpose import Purpose, percent
from sfumato.trials.trial import Trial


def standard_sentences(standard: Standard) -> list[str]:
    """What was asked of a release."""
    asked = [standard.floor.sentence()] if standard.floor else []
    if standard.limits:
        shown = ", ".join(
            f"{MEASURES[name].title.lower()} at most {limit:g}" for name, limit in standard.limits.items()
        )
        asked.append(f"The limits are, at the pessimistic end: {shown}.")
    if standard.enough < float("inf"):
        asked.append(f"It is of use where, at worst, {standard.purpose.sentence(standard.enough, 'at most ')}.")
    return asked


def census_sentence(found: Sorted) -> str:
    """How many releases there were, by what became of them."""
    parts = (
        (found.exposing, "shows who is in the table", "show who is in the table"),
        (found.unprotected, "is not protected by noise", "are not protected by noise"),
        (found.beyond, "may break the limits", "may break the limits"),
        (found.unsafe, "may not keep the floor", "may not keep the floor"),
        (found.useless, "keeps all that but may be of too little use", "keep all that but may be of too little use"),
        (found.beaten, "is worse than others after one run", "are worse than others after one run"),
        (found.fit, "keeps everything that is asked", "keep everything that is asked"),
    )
    told = [f"{len(trials)} {one if len(trials) == 1 else several}" for trials, one, several in parts if trials]
    total = sum(len(trials) for trials, _, _ in parts)
    return f"Of {total} releases with a guarantee, {', '.join(told)}." if total else "No release has a guarantee."


def chosen_sentence(trial: Trial, fit: Sequence[Trial], least_poor: Sequence[Trial], standard: Standard) -> str:
    """Why this one of those that are fit, of which some have the fewest poor grades."""
    best = f"is the most useful of these {len(fit)}" if len(fit) > 1 else "is that one"
    if len(least_poor) < len(fit):
        best = "alone of these has the fewest poor grades"
        if len(least_poor) > 1:
            best = f"is the most useful of the {len(least_poor)} of these with the fewest poor grades"
    return (
        f"{trial.method.label} {best}: at worst, {standard.purpose.sentence(standard.use(trial))}, and "
        f"{risk_words(percent(risk(trial)))}."
    )


def nothing_sentence(found: Sorted, standard: Standard) -> str:
    """How near the releases came, where none is fit."""
    safe = found.useless
    if safe:
        best = min(safe, key=lambda trial: (standard.use(trial), trial.id))
        near = f"of those that keep the floor the most useful is {best.method.label}, with which, at worst, "
        return f"Nothing is recommended: {near}{standard.purpose.sentence(standard.use(best))}."
    if found.unsafe:
        best = min(found.unsafe, key=lambda trial: (risk(trial), trial.id))
        return (
            f"Nothing is recommended: no release keeps the floor; with the safest, {best.method.label}, "
            f"{risk_words(percent(risk(best)))}, at worst."
        )
    return "Nothing is recommended: there is no release to judge by the floor."


def grades(trial: Trial, references: References, purpose: Purpose) -> tuple[Verdict, ...]:
    """Every figure of a release that can be judged."""
    known = MEASURES | {purpose.measure.name: purpose.measure}
    judged = (one.verdict(trial.measures[name], references) for name, one in known.items() if name in trial.measures)
    return tuple(verdict for verdict in judged if verdict)


def recipient_sentences(trial: Trial, rows: int, references: References) -> list[str]:
    """What a recipient gets."""
    values, method = trial.measures, trial.method
    classes = f"{values['classes']:,.0f} classes of {values.get('average_class', 0):.1f} people on average"
    return [
        f"{method.label}: {rows:,} people" + (", hidden behind noise." if method.claim.noise else f" in {classes}."),
        method.claim.form(values.get("ncp", 0.0)),
        "Counts over half of the range of up to five attributes, a typical one of "
        f"{percent(values['query_selectivity'])} of people, are off by {values['query_error']:.1%} (median); counts "
        f"with a few narrower conditions by {values['mean_query_error']:.1%} (mean).",
        f"The sensitive attribute of large groups is estimated with an average divergence of {values['u_loss']:.4f} "
        f"(suppressing everything: {references.suppressed['u_loss']:.4f}).",
    ]


def adversary_sentences(trial: Trial, claim: Claim, references: References) -> list[str]:
    """What an adversary learns, beside what the original table would tell."""
    values, original = trial.measures, references.original
    return [
        f"Of the tenth of people about whom the release tells most, {risk_words(percent(values[RISK.name]))}; with the "
        f"original table, about {percent(original[RISK.name])} more.",
        "Knowing everybody's quasi-identifiers, an adversary who looks people up guesses "
        f"{values['guessed_right']:.1%} of sensitive values right; naming the commonest value for everyone "
        f"gets {references.baseline_guess:.1%}, and the original table {original['guessed_right']:.1%}.",
        f"A statistical adversary (naive Bayes) gets {1 - values['empirical_privacy']:.1%} right, and "
        f"{values['confident_guesses']:.1%} among the tenth of people it is surest about; with the original table, "
        f"{1 - original['empirical_privacy']:.1%} and {original['confident_guesses']:.1%}.",
        f"For the worst-off person the belief shift is {values['p_loss']:.3f} (with the original table "
        f"{original['p_loss']:.3f}); on average it is {values['mean_p_loss']:.3f} ({original['mean_p_loss']:.3f}).",
        _standing_out(values),
        *claim.in_words(),
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
