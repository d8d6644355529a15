"""Membership: whether a person's row was used at all shows in how near to it, or how dense on it, the release is.

A threshold is chosen on some people and used on others: who is above it is called a member. The share of members called
so, less the share of others called so, is the advantage of that adversary (Yeom et al., 2018).
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sfumato.data import Table
from sfumato.measures.attacks.control import Codes, ControlledAttack, Risk, compare
from sfumato.measures.attacks.lines import Floats, Lines
from sfumato.measures.measurement import Measure
from sfumato.release import Release
from sfumato.streams import stream


@dataclass(frozen=True, kw_only=True)
class Membership(ControlledAttack):
    """Tell members from others by a threshold on distance or density, whichever did better on other people."""

    name: ClassVar[str] = "membership"
    measure: ClassVar[Measure] = Measure(
        "membership_risk", "Membership told", "privacy", "lower", "share of guesses", lowest=-1.0
    ).describe(
        "How much more often people of the table are taken for such than people who were never in it, by an adversary "
        "who knows their whole rows and looks how near the release comes to them."
    )

    def run(self, training: Table, release: Release, control: Table) -> Risk | None:
        lines, generator = Lines.of(release), stream("membership", self.seed)
        twice = replace(self, guesses=2 * self.guesses)
        members, others = (_scores(lines, twice.draw(table, generator)) for table in (training, control))
        apart, _ = lines.on(range(len(release.schema.quasi)))
        if len(apart) < 2 or min(len(members), len(others)) < 2:
            return None
        (known, guessed), (known_others, guessed_others) = _halves(members), _halves(others)
        learned = [_best_threshold(*column) for column in zip(known.T, known_others.T, strict=True)]
        score = int(np.argmax([advantage for advantage, _ in learned]))
        called, called_others = (people[:, score] >= learned[score][1] for people in (guessed, guessed_others))
        return compare(called.sum(), len(called), called_others.sum(), len(called_others))


def _scores(lines: Lines, people: Codes) -> Floats:
    """How near the release comes to each person, and how dense the nearest lines are: (people, 2)."""
    near = lines.near(people)
    density = np.bincount(near.person, (lines.weights / lines.volumes)[near.line], len(people))
    distance = np.zeros(len(people))
    distance[near.person] = near.distance
    return np.stack([-distance, np.where(distance > 0, 0, density)], axis=1).round(9)


def _halves(people: Floats) -> tuple[Floats, Floats]:
    """People to choose a threshold by, and people to guess about."""
    return people[::2], people[1::2]


def _best_threshold(members: Floats, others: Floats) -> tuple[float, float]:
    """The largest advantage over all thresholds, and the threshold that has it."""
    levels = np.unique(np.concatenate([members, others]))
    above = [1 - np.searchsorted(np.sort(scores), levels) / len(scores) for scores in (members, others)]
    best = int(np.argmax(above[0] - above[1]))
    return float(above[0][best] - above[1][best]), float(levels[best])
