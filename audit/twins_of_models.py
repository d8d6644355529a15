"""Broken twins of methods that model a table: choices, steps and tables that are not paid for, or not enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from audit.cases import Case
from audit.meddling import Forgetful, Meddling, Noiseless, Twin, UnitSensitivity
from audit.neighbours import Pair, schema_of
from audit.transcript import AuditedBudget
from sfumato.mechanisms.budget import WHOLE
from sfumato.methods import PrivBayes, Synthesis, Tables
from sfumato.methods.models.measuring import WEIGHTS
from sfumato.methods.models.steps import find_steps
from sfumato.methods.positions import MAX_STEPS

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from sfumato.data import Table
    from sfumato.mechanisms.budget import Budget, Ticks
    from sfumato.release import Release
    from sfumato.schema import Axis


class WronglyMonotone(PrivBayes):
    """Scores of which some rise while others fall, taken for monotone ones."""

    def _release(self, table: Table, budget: Budget) -> Release:
        return super()._release(table, UnitSensitivity(budget))  # type: ignore[arg-type]


class UnpaidChoices(Meddling):
    """The best candidate is taken as it is, at no cost."""

    def choose(
        self, scores: NDArray[np.int64], starts: NDArray[np.int64], cost: Ticks, **rules: Any
    ) -> NDArray[np.int64]:
        return np.array([int(np.argmax(scores))])


class FreelyChosen(Synthesis):
    """Tables are chosen by exact scores."""

    def _release(self, table: Table, budget: Budget) -> Release:
        return super()._release(table, UnpaidChoices(budget))  # type: ignore[arg-type]


class ShortChanges(Meddling):
    """Numbers get noise as if one row changed them by a vector of half its length."""

    def counts(self, exact: NDArray[np.integer], cost: Ticks, *, squared: int = 1) -> NDArray[np.int64]:
        return self.budget.counts(exact, cost, squared=max(squared // 4, 1))


class HalfTheNoise(Tables):
    """Interactions are taken for shorter than they are."""

    def _release(self, table: Table, budget: Budget) -> Release:
        return super()._release(table, ShortChanges(budget))  # type: ignore[arg-type]


class UnpaidTotal(Meddling):
    """The smallest of all counts, the number of rows, is told as it is, at no cost."""

    def counts(self, exact: NDArray[np.integer], cost: Ticks, *, squared: int = 1) -> NDArray[np.int64]:
        return np.asarray(exact) if np.size(exact) == 1 else self.budget.counts(exact, cost, squared=squared)


class FreeTotal(Tables):
    """One interaction is not paid for."""

    def _release(self, table: Table, budget: Budget) -> Release:
        return super()._release(table, UnpaidTotal(budget))  # type: ignore[arg-type]


class PlainSensitivity(Meddling):
    """Selection as if no table weighed more than those that nobody asked for."""

    def choose(
        self, scores: NDArray[np.int64], starts: NDArray[np.int64], cost: Ticks, **rules: Any
    ) -> NDArray[np.int64]:
        return self.budget.choose(scores, starts, cost, **{**rules, "sensitivity": max(WEIGHTS)})


class WeighedForNothing(Synthesis):
    """Tables that are wanted count more, but one row is said to change all scores as before."""

    def _release(self, table: Table, budget: Budget) -> Release:
        return super()._release(table, PlainSensitivity(budget))  # type: ignore[arg-type]


def exact_steps() -> AbstractContextManager[Any]:
    """Steps of wide axes follow from counts without noise."""

    def find(axis: Axis, positions: Any, weights: Any, budget: Budget, price: int, **more: Any) -> NDArray[np.int64]:
        return find_steps(axis, positions, weights, Noiseless(budget), price, **more)  # type: ignore[arg-type]

    return patch("sfumato.methods.models.synthesis.find_steps", find)


class Unpaying(AuditedBudget):
    """Every count gets the noise of the whole budget."""

    def counts(self, exact: NDArray[np.integer], cost: Ticks, *, squared: int = 1) -> NDArray[np.int64]:
        spent, self._spent = self._spent, np.zeros_like(self._spent)
        noisy = super().counts(exact, WHOLE, squared=squared)
        self._spent = spent
        return noisy


class UnpaidSteps(AuditedBudget):
    """What many intervals hold is not charged, so that it is left for what follows."""

    def counts(self, exact: NDArray[np.integer], cost: Ticks) -> NDArray[np.int64]:
        spent = self._spent
        noisy = super().counts(exact, cost)
        if np.asarray(exact).shape[1] == MAX_STEPS:
            self._spent = spent
        return noisy


APART = Pair(schema_of(x=8), ((0, 0),) * 9, (7, 1))
TIED = Pair(schema_of(x=2, y=2), ((0, 0, 0), (1, 1, 1)) * 20, (0, 1, 1))
TWINS_OF_MODELS = (
    Twin(
        "PrivBayes scores taken for monotone",
        Case(
            WronglyMonotone(epsilon=1.0, theta=0.01), Pair(schema_of(x=2, y=2), ((0, 0, 0), (1, 1, 1)) * 8, (0, 1, 1))
        ),
    ),
    Twin("tables chosen by exact scores", Case(FreelyChosen(epsilon=30.0), TIED)),
    Twin(
        "wanted tables weighed with the sensitivity of others", Case(WeighedForNothing(epsilon=30.0, predict="x"), TIED)
    ),
    Twin(
        "steps chosen by exact counts",
        Case(Synthesis(epsilon=30.0), Pair(schema_of(x=5_000), ((7, 0),) * 40, (2_500, 1))),
        replaced=exact_steps,
    ),
    Twin(
        "steps not paid for",
        Case(Synthesis(epsilon=30.0), Pair(schema_of(x=5_000), ((7, 0),) * 40, (7, 1))),
        UnpaidSteps,
    ),
    Twin("tables not paid for under ρ", Case(Synthesis(epsilon=30.0, delta=1e-3), TIED), Forgetful),
    Twin("an interaction that is not paid for", Case(FreeTotal(epsilon=1.0, delta=1e-3), APART)),
    Twin("interactions taken for shorter than they are", Case(HalfTheNoise(epsilon=1.0, delta=1e-3), APART)),
    Twin("tables that are not paid for", Case(Tables(epsilon=1.0, ways=1), APART), Unpaying),
)
