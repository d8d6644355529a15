"""A budget that keeps its own account of every path, apart from the program's, and what each draw looked at."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.mechanisms.budget import WHOLE, Budget
from sfumato.mechanisms.noise import SimulatedSource, Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sfumato.data import Table
    from sfumato.methods.base import DPMethod
    from sfumato.release import Release


@dataclass(frozen=True)
class Draw:
    """One draw: its kind, the ticks that each path paid, and what it looked at."""

    kind: str
    cost: tuple[int, ...]
    seen: Any


class RecordingBudget(Budget):
    """`paid` are the ticks of each path, added up here; `book` lists all budgets that grew from the first."""

    def __init__(
        self,
        total: Any,
        source: Source,
        spent: NDArray[np.int64] | None = None,
        paid: NDArray[np.int64] | None = None,
        book: list[RecordingBudget] | None = None,
    ) -> None:
        super().__init__(total, source, spent)
        self.paid = np.zeros(1, dtype=np.int64) if paid is None else paid
        self.divided = False
        self.draws: list[Draw] = []
        self.book = [] if book is None else book
        self.book.append(self)

    def fork(self, parent: NDArray[np.integer]) -> RecordingBudget:
        super().fork(parent)
        return self._part(parent)

    def apart(self, chosen: NDArray[np.bool_]) -> tuple[Budget, Budget]:
        super().apart(chosen)
        return self._part(chosen), self._part(~chosen)

    def _part(self, which: NDArray[Any]) -> RecordingBudget:
        self.divided = True
        return RecordingBudget(self.total, self._source, self._spent[which], self.paid[which], self.book)

    def counts(self, exact: NDArray[np.integer], cost: Any, *, squared: int = 1) -> NDArray[np.int64]:
        self._note("counts", cost, np.array(exact))
        return super().counts(exact, cost, squared=squared)

    def choose(
        self, scores: NDArray[np.int64], starts: NDArray[np.int64], cost: Any, **options: Any
    ) -> NDArray[np.int64]:
        self._note("choose", cost, np.array(scores))
        return super().choose(scores, starts, cost, **options)

    def spend(self, cost: Any, draw: Callable[[Fraction, Source], Any]) -> Any:
        self._note("spend", cost, None)
        return super().spend(cost, draw)

    def _note(self, kind: str, cost: Any, seen: Any) -> None:
        ticks = np.broadcast_to(np.asarray(cost, dtype=np.int64), self.paid.shape)
        self.paid = self.paid + ticks
        self.draws.append(Draw(kind, tuple(ticks.tolist()), seen))

    @property
    def ends(self) -> list[int]:
        """What every path paid that was divided no further."""
        return [int(paid) for budget in self.book if not budget.divided for paid in budget.paid]

    @property
    def most(self) -> int:
        """What the dearest path paid."""
        return max(int(paid) for budget in self.book for paid in budget.paid)

    @property
    def all_draws(self) -> list[Draw]:
        """Every draw, in order, but those for no path at all."""
        return [draw for budget in self.book for draw in budget.draws if draw.cost]


def recorded(method: DPMethod, table: Table, source: Source | int = 1) -> tuple[Release, RecordingBudget]:
    """A release with simulated noise, and the account of what it paid."""
    chance = source if isinstance(source, Source) else SimulatedSource(source)
    budget = RecordingBudget(method.total, chance)
    return method._release(table, budget), budget


class FixedNoise(SimulatedSource):
    """A source whose Laplace noise is always the same number."""

    def __init__(self, noise: int) -> None:
        super().__init__(1)
        self.noise = noise

    def laplace(self, epsilon: Fraction, count: int) -> NDArray[np.int64]:
        return np.full(count, self.noise)


__all__ = ["WHOLE", "Draw", "FixedNoise", "RecordingBudget", "recorded"]
