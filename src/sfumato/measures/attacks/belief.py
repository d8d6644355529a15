"""The adversary who looks a person up: how far the release moves what can be believed about them.

Builds P_loss of li2009 section 4.1: the distance between the overall distribution of the sensitive attribute
and the distribution in the class that holds the person, for the worst-off person and on average. Where counts are
noisy, the class is believed as far as people show that it is true: noise is nothing that is learned.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.measures.attacks.adversaries import Setting
from sfumato.measures.attacks.experience import Experience
from sfumato.measures.base import Attack
from sfumato.measures.measurement import Grade, Mark, Measure, References, grade
from sfumato.privacy.distances import jensen_shannon, shares, total_variation
from sfumato.release import Release


def revealed_shift(overall: NDArray[np.int64]) -> NDArray[np.float64]:
    """The belief shift of a person whose value becomes known for certain, for each sensitive value."""
    return jensen_shannon(np.eye(len(overall)), shares(overall))


def _range_of_revealing(references: References) -> tuple[float, float]:
    """The belief shift when the commonest value and when the rarest value is revealed."""
    revealed = revealed_shift(references.overall)[references.overall > 0]
    return float(revealed.min()), float(revealed.max())


def _judge_shift(value: float, references: References) -> tuple[Grade, str]:
    _, rarest = _range_of_revealing(references)
    if not rarest:
        return "good", "Everybody has the same value; there is nothing to reveal."
    return grade(value, rarest / 4, rarest * 3 / 4), (
        f"Revealing the rarest value outright shifts beliefs by {rarest:.3f} on this table; for the worst-off person "
        f"the shift is {value / rarest:.0%} of that."
    )


def _scale_of_shift(references: References) -> list[Mark]:
    commonest, rarest = _range_of_revealing(references)
    return [
        Mark(value=0.0, text="nothing is learned about anyone"),
        Mark(value=commonest, text="the commonest value revealed outright"),
        Mark(value=rarest, text="the rarest value revealed outright"),
    ]


def _judge_guesses(value: float, references: References) -> tuple[Grade, str]:
    base = references.baseline_guess
    most = references.original.get("guessed_right", 1.0) - base
    return grade(value - base, most / 4, most * 3 / 4), (
        f"Naming the commonest value for everyone is right {base:.1%} of the time; looking people up in the release, "
        f"{value:.1%}."
    )


def _beliefs(table: Table, release: Release, prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """What to believe at each point: what its class says and, where that is noisy, as far as it is true."""
    if release.deviation is None:
        return release.posteriors(table.points, prior)
    people, shown = table.weights.astype(np.float64), Experience(people=table.histograms.astype(np.float64))
    return Setting(release=release, points=table.points, people=people, prior=prior, shown=shown).looked_up()


@dataclass(frozen=True, kw_only=True)
class BeliefShift(Attack):
    """Look up everyone's class and compare its distribution with the overall one."""

    measures: ClassVar[tuple[Measure, ...]] = (
        Measure(
            "p_loss", "Worst-case belief shift", "privacy", "lower", "of at most 0.693", highest=math.log(2)
        ).describe(
            "How far the release moves what can be believed about the sensitive value of the worst-off "
            "person, away from what is true of everybody (Jensen-Shannon divergence). What is noise moves nothing.",
            judge=_judge_shift,
            scale=_scale_of_shift,
        ),
        Measure(
            "mean_p_loss", "Average belief shift", "privacy", "lower", "of at most 0.693", highest=math.log(2)
        ).describe("The same belief shift, averaged over all people."),
        Measure("p_loss_emd", "Worst-case belief shift (EMD)", "privacy", "lower", "share").describe(
            "The share of probability that the release moves between sensitive values for the worst-off "
            "person (earth mover's distance, all values equally far apart)."
        ),
        Measure("guessed_right", "Values guessed right by lookup", "privacy", "lower", "share of people").describe(
            "The share of people whose sensitive value is the commonest one in the class they are found in.",
            judge=_judge_guesses,
        ),
    )

    def run(self, table: Table, release: Release) -> dict[str, float]:
        prior = shares(table.overall)
        beliefs = _beliefs(table, release, prior)
        shift = jensen_shannon(beliefs, prior)
        right = table.histograms[np.arange(len(table.points)), beliefs.argmax(axis=1)].sum()
        return {
            "p_loss": float(shift.max()),
            "mean_p_loss": float(np.average(shift, weights=table.weights)),
            "p_loss_emd": float(total_variation(beliefs, prior).max()),
            "guessed_right": float(right / table.n),
        }
