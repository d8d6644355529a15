"""What faults are made of: a fault by name, and budgets as faulty methods use them."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.transcript import AuditedBudget

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from audit.cases import Case
    from sfumato.mechanisms.budget import Budget, Ticks


@dataclass(frozen=True)
class Twin:
    """A fault by name."""

    fault: str
    case: Case
    kind: type[AuditedBudget] = AuditedBudget
    replaced: Callable[[], AbstractContextManager[Any]] = nullcontext


class Meddling:
    """A budget as a faulty method uses it: answers are changed after looking at the rows once more."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget

    def __getattr__(self, name: str) -> Any:
        return getattr(self.budget, name)

    def fork(self, parent: NDArray[np.integer]) -> Meddling:
        return type(self)(self.budget.fork(parent))

    def apart(self, chosen: NDArray[np.bool_]) -> tuple[Meddling, Meddling]:
        one, other = self.budget.apart(chosen)
        return type(self)(one), type(self)(other)


class UnitSensitivity(Meddling):
    """Selection as if every score had sensitivity 1 and moved the same way as the others."""

    def choose(self, scores: NDArray[np.int64], starts: NDArray[np.int64], cost: Ticks, **_: Any) -> NDArray[np.int64]:
        return self.budget.choose(scores, starts, cost)


class Noiseless(Meddling):
    """Counts are told as they are."""

    def counts(self, exact: NDArray[np.integer], cost: Ticks) -> NDArray[np.int64]:
        return np.asarray(exact, dtype=np.int64)

    def variance(self, cost: Ticks) -> NDArray[np.float64]:
        return np.zeros(np.shape(cost))


class Forgetful(AuditedBudget):
    """Counts are not charged, so that there is more left for the next ones."""

    def counts(self, exact: NDArray[np.integer], cost: Ticks, *, squared: int = 1) -> NDArray[np.int64]:
        spent = self._spent
        noisy = super().counts(exact, cost, squared=squared)
        self._spent = spent
        return noisy
