"""Mechanisms with finitely many outputs, output by output: private selection, and the shapes a PrivTree can take."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain, combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.laws import Decisions
from audit.transcript import AuditedBudget
from sfumato.mechanisms.noise import SystemSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from audit.laws import Law
    from audit.neighbours import Pair
    from sfumato.data import Table
    from sfumato.methods.base import DPMethod


def winning(scores: Sequence[int], alpha: Fraction) -> list[Fraction]:
    """P(candidate j wins) for every j, exactly, with noise P(Z = z) = (1 − α) αᶻ and the first of equals winning.

    By inclusion and exclusion over the rivals that reach the value v of j, summed over all v from the best score on.
    """
    best = max(scores)
    found = []
    for j, own in enumerate(scores):
        rivals = [best - score + (i > j) for i, score in enumerate(scores) if i != j]
        subsets = chain.from_iterable(combinations(rivals, size) for size in range(len(scores)))
        total = sum(
            (-1) ** len(subset) * alpha ** sum(subset) * (1 - alpha) / (1 - alpha ** (len(subset) + 1))
            for subset in subsets
        )
        found.append(alpha ** (best - own) * total)
    return found


def largest_selection_ratio(candidates: int, spread: int, alpha: Fraction, steps: tuple[int, ...]) -> Fraction:
    """The largest P(j | scores) / P(j | other scores), either way, over all scores below `spread` and all changes."""
    largest = Fraction(1)
    for scores in product(range(spread), repeat=candidates):
        ours = winning(scores, alpha)
        for change in product(steps, repeat=candidates):
            theirs = winning([score + step for score, step in zip(scores, change, strict=True)], alpha)
            largest = max(largest, *(max(p / q, q / p) for p, q in zip(ours, theirs, strict=True)))
    return largest


class OpenError(Exception):
    """So many decisions are to be made next."""


class CompleteError(Exception):
    """All decisions are made."""


class Dictated:
    """Notes that dictate decisions, and add up how likely they are."""

    def __init__(self, answers: Sequence[tuple[bool, ...]]) -> None:
        self.waiting = list(answers)
        self.log_probability = 0.0

    def note(self, question: tuple[Any, ...], answer: Callable[[], Any], law: Law | None = None) -> Any:
        """The next dictated decisions."""
        if question[0] == "spend":
            return None
        if not isinstance(law, Decisions):
            raise TypeError(f"{question[0]} cannot be dictated, only decisions")
        if not self.waiting:
            raise OpenError(len(law.exact))
        found = np.array(self.waiting.pop(0))
        self.log_probability += float(law.log_probabilities(found).sum())
        return found

    def charge(self, paid: float, pure: bool) -> None:
        """All decisions of a spend are made."""
        raise CompleteError


def shapes(method: DPMethod, pair: Pair) -> Iterator[tuple[float, float]]:
    """ln P of every sequence of decisions on both tables."""
    waiting: list[list[tuple[bool, ...]]] = [[]]
    while waiting:
        answers = waiting.pop()
        found = _log_probability(method, pair.without, answers)
        if isinstance(found, float):
            other = _log_probability(method, pair.added, answers)
            yield found, other if isinstance(other, float) else -math.inf
        else:
            waiting += [[*answers, more] for more in product((False, True), repeat=found)]


def _log_probability(method: DPMethod, table: Table, answers: Sequence[tuple[bool, ...]]) -> float | int:
    """ln P of these decisions, or how many more there are to make."""
    notes = Dictated(answers)
    try:
        method._release(table, AuditedBudget(method.total, SystemSource(), notes))  # type: ignore[arg-type]
    except CompleteError:
        return notes.log_probability
    except OpenError as more:
        return int(more.args[0])
    raise TypeError(f"{method.name} makes no decisions")
