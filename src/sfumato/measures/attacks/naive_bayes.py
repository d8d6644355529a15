"""The naive Bayes adversary on boxes (cormode2013 section II).

Every box spreads its rows evenly along each axis, or as the release says; from these margins the adversary learns how
each quasi-identifier goes with the sensitive attribute, and guesses everybody's value.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.data import Table
from sfumato.measures.base import Attack
from sfumato.measures.measurement import Grade, Measure, References, grade
from sfumato.parameters import parameter
from sfumato.privacy.distances import shares
from sfumato.release import Release

INTERVALS_AT_ONCE = 2_048


def _judge_breach(value: float, references: References) -> tuple[Grade, str]:
    return grade(value, 0.25, max(1.0, 0.75 * references.original["breach"])), (
        "Against naming the commonest value for everyone, the statistical adversary's hit rate changes by "
        f"{_signed(value)}; with the original table it would change by {_signed(references.original['breach'])}."
    )


def _signed(change: float) -> str:
    percent = round(100 * change)
    return f"{percent:+d}%" if percent else "0%"


@dataclass(frozen=True, kw_only=True)
class NaiveBayes(Attack):
    """Guess with a naive Bayes classifier; `confident` is the share of people counted as surest guesses."""

    confident: float = parameter(default=0.1, help="the share of surest guesses", above=0, maximum=1)

    measures: ClassVar[tuple[Measure, ...]] = (
        Measure("breach", "Breach increase", "privacy", "lower", "ratio", lowest=-1.0).describe(
            "How much more often a statistical adversary guesses a sensitive value right than by always "
            "naming the commonest one: 0 is no better, 1 is twice as often.",
            judge=_judge_breach,
        ),
        Measure("empirical_privacy", "Empirical privacy", "privacy", "higher", "share of people").describe(
            "The share of people whose sensitive value a statistical adversary guesses wrong."
        ),
        Measure("confident_guesses", "Surest guesses right", "privacy", "lower", "share of people").describe(
            "Among the tenth of people the adversary is surest about, the share guessed right."
        ),
    )

    def run(self, table: Table, release: Release) -> dict[str, float]:
        beliefs = self.beliefs(release, table.points)
        guess = beliefs.argmax(axis=1)
        right = table.histograms[np.arange(len(guess)), guess]
        accuracy = float(right.sum() / table.n)
        return {
            "breach": accuracy / float(table.overall.max() / table.n) - 1,
            "empirical_privacy": 1 - accuracy,
            "confident_guesses": accuracy_of_surest(beliefs.max(axis=1), right, table.weights, self.confident),
        }

    def beliefs(self, release: Release, points: NDArray[np.int32]) -> NDArray[np.float64]:
        """Pr[value | quasi-identifiers] at each point, as the classifier sees it: (points, values)."""
        prior = shares(np.maximum(release.overall, 0))
        with np.errstate(divide="ignore"):
            log_prior = np.log(prior)
            score = np.tile(log_prior, (len(points), 1))
            for axis in range(points.shape[1]):
                codes, where = np.unique(points[:, axis], return_inverse=True)
                joint = axis_margin(release, axis, codes) / release.rows
                conditional = np.divide(joint, prior, out=np.zeros_like(joint), where=prior > 0)
                score += np.log(conditional)[where.reshape(-1)]
        hopeless = ~np.isfinite(score).any(axis=1)
        score[hopeless] = log_prior
        score -= score.max(axis=1, keepdims=True)
        return shares(np.exp(score))


def axis_margin(release: Release, axis: int, codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """The rows by code and sensitive value when every box is spread along an axis: (codes, values)."""
    boxes, mass = release.boxes, release.masses(axis)
    lo, hi, missing = (side[:, axis].astype(np.int64) for side in boxes.arrays)
    # One number for each interval: numbers are sorted many times faster than rows of them.
    _, first, interval_of = np.unique((lo << 32) + (hi + 1 << 1) + missing, return_index=True, return_inverse=True)
    intervals = np.stack([lo, hi, missing], axis=1)[first]
    spread = release.weights / release.add_up(axis, mass)
    shape = (len(intervals), len(release.histograms))
    density = csr_array((spread, (interval_of.reshape(-1), release.group_of)), shape=shape) @ release.distributions
    margin = np.zeros((len(codes), density.shape[1]))
    for start in range(0, len(intervals), INTERVALS_AT_ONCE):
        lo, hi, missing = intervals[start : start + INTERVALS_AT_ONCE].T
        inside = (codes[:, None] >= lo) & (codes[:, None] <= hi) | ((codes[:, None] < 0) & (missing == 1))
        margin += inside.astype(np.float64) @ density[start : start + INTERVALS_AT_ONCE]
    return release.estimated(margin * mass[codes, None])


def accuracy_of_surest(
    confidence: NDArray[np.float64], right: NDArray[np.int64], weights: NDArray[np.int64], share: float
) -> float:
    """The accuracy among the surest `share` of people; equally sure people count in proportion."""
    levels, level_of = np.unique(np.round(-confidence, 12), return_inverse=True)
    people = np.bincount(level_of.reshape(-1), weights, len(levels))
    correct = np.bincount(level_of.reshape(-1), right, len(levels))
    before = np.cumsum(people) - people
    taken = np.clip(share * people.sum() - before, 0, people)
    return float((correct * taken / people).sum() / taken.sum())
