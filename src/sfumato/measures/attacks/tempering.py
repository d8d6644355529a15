"""How far to follow a model: as far as what is known tells that it is right.

Models that take related columns for independent ones are too sure of themselves, means of many trees not sure enough.
First the beliefs are taken to the power that makes known rows likeliest; then how sure the model is of what it names
is replaced by how often it is right about known rows when it is about as sure (isotonic regression).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sfumato.privacy.distances import Floats, shares

POWERS = np.linspace(0, 1.6, 17)
NOTHING = 1e-12
LEAST_KNOWN = 100.0
"""Rows of a step of the isotonic regression, at least."""
STEPS = 30
ROUNDS = 50
CLEARLY = 3.0
"""A model is followed if that makes the rows likelier by this much log likelihood."""

Seen = Callable[[Floats], Floats]


def temper(beliefs: Floats, prior: Floats, power: float) -> Floats:
    """prior^(1 − T) · belief^T: T = 0 is what is true of everybody, T = 1 the model."""
    base = np.log(np.maximum(prior, NOTHING))
    logs = base + power * (np.log(np.maximum(beliefs, NOTHING)) - base)
    return shares(np.exp(logs - logs.max(axis=1, keepdims=True)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Known:
    """Rows by which a model is judged: what it believes about them, and what they are; both (rows, values).

    `seen` tells how true values come to be counted, where they were randomized.
    """

    beliefs: Floats
    counts: Floats
    seen: Seen | None = None

    def calibrate(self, beliefs: Floats, prior: Floats) -> Floats:
        """Beliefs, as sure as the model deserves."""
        power = self.best_power(prior)
        found = temper(beliefs, prior, power)
        return found if self.seen or not power else self._as_often_right(temper(self.beliefs, prior, power), found)

    def best_power(self, prior: Floats) -> float:
        """The T under which the rows are likeliest, or none if that is hardly likelier."""

        def likelihood(power: float) -> float:
            said = temper(self.beliefs, prior, power)
            return float((self.counts * np.log(np.maximum(self.seen(said) if self.seen else said, NOTHING))).sum())

        best = float(max(POWERS, key=likelihood))
        return best if likelihood(best) > likelihood(0.0) + CLEARLY else 0.0

    def _as_often_right(self, known: Floats, beliefs: Floats) -> Floats:
        """Beliefs whose greatest is how often the greatest one is right about known rows that are as sure."""
        from scipy.optimize import isotonic_regression

        rows = self.counts.sum(axis=1)
        order = np.argsort(known.max(axis=1), kind="stable")
        right = self.counts[np.arange(len(known)), known.argmax(axis=1)]
        size = max(rows.sum() / STEPS, LEAST_KNOWN)
        last = max(rows.sum() // size - 1, 0)
        _, step = np.unique(np.minimum((np.cumsum(rows[order]) - rows[order]) // size, last), return_inverse=True)
        if not step.max(initial=0):
            return beliefs
        weight = np.bincount(step, rows[order])
        sure = np.bincount(step, (rows * known.max(axis=1))[order]) / weight
        often = isotonic_regression(np.bincount(step, right[order]) / weight, weights=weight).x
        greatest = beliefs.max(axis=1)
        wanted = np.clip(greatest + np.interp(greatest, sure, often - sure), 1 / beliefs.shape[1], 1)
        return _with_greatest(beliefs, wanted)


def _with_greatest(beliefs: Floats, wanted: Floats) -> Floats:
    """Beliefs whose greatest one is as wanted, all others in proportion."""
    row, named = np.arange(len(beliefs)), beliefs.argmax(axis=1)
    rest = 1 - beliefs[row, named]
    scale = np.divide(1 - wanted, rest, out=np.zeros_like(rest), where=rest > NOTHING)
    found = beliefs * scale[:, None]
    found[row, named] = np.where(rest > NOTHING, wanted, 1.0)
    return np.asarray(found)


def agree(beliefs: Floats, people: Floats, prior: Floats) -> Floats:
    """Beliefs about so many people each, changed in proportion until they say of everybody what is true."""
    found = beliefs
    for _ in range(ROUNDS):
        mean = shares(people @ found)
        found = shares(found * np.divide(prior, mean, out=np.zeros_like(prior), where=mean > NOTHING))
    return found
