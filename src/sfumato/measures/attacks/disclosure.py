"""What the best adversary learns from a release that is true, and what of it other people's rows do not tell anyway.

Somebody who has no release names one value for each person: the commonest of all, or the one that a model of other
people's exact rows gives. An adversary with the release names another where that seems better. Counted are the tenth
of people for whom it seems better by most: how much oftener the adversary is right about them than whoever has no
release, as a share of how much oftener anybody could be. Noise makes nobody right, and what is true of everybody is
no breach. Where some values are no secret, naming one of them tells nothing, and the tenth is one of those who have a
secret.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data import Table
from sfumato.measures.attacks.adversaries import Setting, all_beliefs
from sfumato.measures.attacks.careful import Counts, Floats
from sfumato.measures.attacks.control import compare
from sfumato.measures.attacks.naive_bayes import accuracy_of_surest
from sfumato.measures.attacks.panel import Panel, panel_of
from sfumato.measures.base import Attack
from sfumato.measures.measurement import Grade, Mark, Measure, References, grade
from sfumato.release import Release

SHARE = 0.1
"""The share of people about whom a release tells most."""
BESIDE = "lookup beside a model of other people"
SAME = 9
"""Expected gains that agree up to so many digits are the same."""


@dataclass(frozen=True, kw_only=True)
class Disclosed:
    """What an adversary learns: from 0, nothing, to 1, all there is to learn; and 95% confidence about it."""

    value: float
    interval: tuple[float, float]
    adversary: str


NOTHING = Disclosed(value=0.0, interval=(0.0, 0.0), adversary="nobody")


def disclosure(table: Table, release: Release) -> Disclosed:
    """What the best adversary learns that is true, beyond what is true of everybody."""
    panel = panel_of(table)
    return _best(panel, _beliefs(panel, release), np.full(len(panel.people), panel.prior.argmax()))


def disclosure_added(table: Table, release: Release) -> Disclosed:
    """The same beyond what a model of other people's exact rows tells about the same person."""
    panel = panel_of(table)
    return _added(panel, release, _beliefs(panel, release))


def _added(panel: Panel, release: Release, beliefs: dict[str, Floats]) -> Disclosed:
    informed = Setting.at_groups(panel, release).look_up_beside(panel.control)
    return _best(panel, beliefs | {BESIDE: informed}, panel.control.argmax(axis=1))


def _beliefs(panel: Panel, release: Release) -> dict[str, Floats]:
    """What each adversary believes about each group of the panel: (groups, values)."""
    setting = Setting.at_points(panel, release)
    return {name: found[panel.point_of] for name, found in all_beliefs(setting).items()}


def _best(panel: Panel, beliefs: dict[str, Floats], baseline: Counts) -> Disclosed:
    """What the adversary learns who learns most, and of those who learn nothing, the one who may learn most."""
    found = [learned(panel, believed, baseline, name) for name, believed in beliefs.items()]
    return max([NOTHING, *found], key=lambda each: (each.value, each.interval[1]))


def learned(panel: Panel, beliefs: Floats, baseline: Counts, adversary: str) -> Disclosed:
    """How much oftener the value believed is right than the baseline's, where that is expected to help most.

    An adversary who believes b names g, of greatest b, and expects b(g) − b(baseline) more right guesses. Of the people
    where that is greatest (equal ones in proportion), the share guessed right less the share the baseline guesses
    right is divided by the greatest such difference that there can be.
    """
    group, guess = np.arange(len(beliefs)), beliefs.argmax(axis=1)
    secret = np.where(panel.secret, panel.people, 0)
    people, secrets = panel.people.sum(axis=1), secret.sum()
    right, before = secret[group, guess], secret[group, baseline]
    counted = SHARE * secrets
    most = min(1.0, float(secrets - before.sum()) / counted) if counted else 0.0
    if most <= 0:
        return NOTHING
    of_secrets = np.where(panel.secret, beliefs, 0.0)
    taken = _taken(of_secrets[group, guess] - of_secrets[group, baseline], people, counted)
    risk = compare(float(taken @ right), counted, float(taken @ before), counted)
    if risk is None:
        return NOTHING
    low, high = (min(max(end / most, 0.0), 1.0) for end in risk.interval)
    return Disclosed(value=min(max(risk.difference / most, 0.0), 1.0), interval=(low, high), adversary=adversary)


def _taken(expected: Floats, people: Counts, counted: float) -> Floats:
    """Which share of each group is among the so many people of greatest expected gain."""
    levels, level_of = np.unique(-np.round(expected, SAME), return_inverse=True)
    there = np.bincount(level_of.reshape(-1), people, len(levels))
    before = np.cumsum(there) - there
    return np.asarray((np.clip(counted - before, 0, there) / there)[level_of.reshape(-1)])


def _judge(value: float, references: References) -> tuple[Grade, str]:
    original = references.original.get("disclosure", 1.0)
    return grade(value, original / 4, original * 3 / 4), (
        "Of the tenth of people about whom the release tells most, the best adversary is right about "
        f"{value:.0%} more than naming the commonest value for everyone ({references.baseline_guess:.1%} right); the "
        f"original table: {original:.0%} more."
    )


def _judge_added(value: float, references: References) -> tuple[Grade, str]:
    return grade(value, 0.1, 0.3), (
        "Of the tenth of people about whom the release tells most, the best adversary is right about "
        f"{value:.0%} more than somebody who knows only other people's exact rows; with the original table: "
        f"{references.original.get('disclosure_added', 1.0):.0%} more."
    )


def _scale(references: References) -> list[Mark]:
    return [
        Mark(value=0.0, text="nothing that other people's rows do not tell"),
        Mark(value=0.1, text="one in ten of those most exposed is told apart"),
        Mark(value=0.5, text="every second of them is"),
        Mark(value=1.0, text="the tenth most exposed are known for certain"),
    ]


def _measures_of(name: str, who: str) -> tuple[Measure, Measure]:
    unit = "share of people"
    return (
        Measure(f"{name}_guesses", f"Values guessed right by {who}", "privacy", "lower", unit, optional=True).describe(
            f"The share of people whose sensitive value {who} guesses right."
        ),
        Measure(f"{name}_surest", f"Surest guesses of {who}", "privacy", "lower", unit, optional=True).describe(
            f"Among the tenth of people {who} is surest about, the share guessed right."
        ),
    )


def _guesses(panel: Panel, beliefs: Floats, name: str) -> dict[str, float]:
    """How often an adversary is right, about everybody and about those whose value seems surest."""
    right, people = panel.people[np.arange(len(beliefs)), beliefs.argmax(axis=1)], panel.people.sum(axis=1)
    return {
        f"{name}_guesses": float(right.sum() / people.sum()),
        f"{name}_surest": accuracy_of_surest(beliefs.max(axis=1), right, people, SHARE),
    }


@dataclass(frozen=True, kw_only=True)
class Disclosure(Attack):
    """The best of all adversaries that apply, judged by what is true."""

    measures: ClassVar[tuple[Measure, ...]] = (
        Measure("disclosure_added", "What the release itself discloses", "privacy", "lower", "share").describe(
            "Of the tenth of people about whom the release tells most, how many more the best adversary is right about "
            "than somebody who knows only the exact rows of other people: 0 is nobody, 1 is all of them. What is "
            "misleading, and what would be known without these people's rows, does not count.",
            judge=_judge_added,
            scale=_scale,
        ),
        Measure("disclosure", "What can be learned from the release", "privacy", "lower", "share").describe(
            "The same beyond what is true of everybody: how many more the best adversary is right about than by naming "
            "the commonest value for all. Part of it would be known from other people's rows as well.",
            judge=_judge,
        ),
        *_measures_of("fitted", "a model fitted to the release"),
        *_measures_of("definetti", "the deFinetti adversary"),
    )

    def run(self, table: Table, release: Release) -> dict[str, float]:
        panel = panel_of(table)
        beliefs = _beliefs(panel, release)
        commonest = np.full(len(panel.people), panel.prior.argmax())
        found = {
            "disclosure_added": _added(panel, release, beliefs).value,
            "disclosure": _best(panel, beliefs, commonest).value,
        }
        for name in {"fitted", "definetti"} & set(beliefs):
            found |= _guesses(panel, beliefs[name], name)
        return found
