"""Transcripts: all that a method learns about a table through its budget, and how likely another table makes it.

Methods look at rows through a budget alone. An `AuditedBudget` writes every answer down with its law; or it gives a
method that runs on a neighbouring table the answers of a transcript, and adds up how much likelier the second table
makes them. If the second run asks for something else, what it looked at was not paid for, and the two tables can be
told apart for certain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from audit.laws import Counts, Decisions, GaussianCounts, Law, Selection, SparseCounts, WeightedSelection
from sfumato.mechanisms.budget import WHOLE, Budget
from sfumato.mechanisms.noise import Source
from sfumato.privacy.loss import Pure

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    from sfumato.mechanisms.budget import Ticks
    from sfumato.privacy.loss import Loss

T = TypeVar("T")


class DivergedError(Exception):
    """A run on the neighbouring table asked its budget for something else."""


@dataclass(frozen=True)
class Entry:
    """A question in public terms, its answer, and the law of the answer where it looks at rows."""

    question: tuple[Any, ...]
    answer: Any
    law: Law | None = None


@dataclass
class Transcript:
    """The entries of one run, in order."""

    entries: list[Entry] = field(default_factory=list)

    def note(self, question: tuple[Any, ...], answer: Callable[[], T], law: Law | None = None) -> T:
        """Write down what was answered."""
        entry = Entry(question, answer(), law)
        self.entries.append(entry)
        return entry.answer  # type: ignore[no-any-return]

    def charge(self, paid: float, pure: bool) -> None:
        """Write down that the decisions since the last charge cost this much together, in ε or ρ."""


@dataclass
class Call:
    """One question whose answer depends on the row: what it may reveal at most (where that is known), what was paid
    for it, and on how many paths the law of the answer is another."""

    kind: str
    reveals: float
    charged: float
    paths: int = 1


@dataclass
class Replay:
    """A transcript read a second time; `log_ratio` is ln P(transcript | second table) − ln P(transcript | first)."""

    transcript: Transcript
    log_ratio: float = 0.0
    calls: list[Call] = field(default_factory=list)
    _place: int = 0
    _undecided: float = 0.0

    def note(self, question: tuple[Any, ...], answer: Callable[[], T], law: Law | None = None) -> T:
        """The answer that was written down, if the question is the same."""
        if self._place == len(self.transcript.entries):
            raise DivergedError(f"{question[0]} is asked after the end")
        entry = self.transcript.entries[self._place]
        self._place += 1
        if not _same(question, entry.question):
            raise DivergedError(f"{question[0]} is asked, but was {entry.question[0]} or differed")
        if isinstance(law, Decisions):
            self._undecided += law.log_ratio(entry.law, entry.answer)  # type: ignore[arg-type]
        elif law is not None:
            self._compare(question, law, entry)
        return _copied(entry.answer)  # type: ignore[no-any-return]

    def charge(self, paid: float, pure: bool) -> None:
        """Decisions are paid for together: what they reveal is known for these answers only."""
        self.log_ratio += self._undecided
        reveals = abs(self._undecided) if pure else self._undecided**2 / 2
        self.calls.append(Call("decisions", reveals, paid))
        self._undecided = 0.0

    def _compare(self, question: tuple[Any, ...], law: Any, entry: Entry) -> None:
        touched = law.touched(entry.law)
        if touched.any():
            self.log_ratio += law.log_ratio(entry.law, entry.answer)
            charged = np.broadcast_to(question[1], touched.shape)[touched].max()
            self.calls.append(Call(question[0], law.distance(entry.law), float(charged), int(touched.sum())))

    @property
    def finished(self) -> bool:
        return self._place == len(self.transcript.entries)

    @property
    def reveals(self) -> float:
        """What all calls together may reveal at most, wherever these answers led."""
        return math.fsum(call.reveals for call in self.calls)


def _same(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> bool:
    return len(ours) == len(theirs) and all(map(np.array_equal, ours, theirs))


def _copied(answer: Any) -> Any:
    if isinstance(answer, tuple):
        return tuple(map(np.copy, answer))
    return answer if answer is None else np.copy(answer)


class AuditedBudget(Budget):
    """A budget whose answers go through a transcript; the laws in it are those that the charges promise."""

    def __init__(
        self, total: Loss, source: Source, notes: Transcript | Replay, spent: NDArray[np.int64] | None = None
    ) -> None:
        super().__init__(total, source, spent)
        self.notes = notes

    def fork(self, parent: NDArray[np.integer]) -> Budget:
        self.notes.note(("fork", parent), lambda: None)
        self._close()
        return self._part(self._spent[parent])

    def apart(self, chosen: NDArray[np.bool_]) -> tuple[Budget, Budget]:
        self.notes.note(("apart", chosen), lambda: None)
        self._close()
        return self._part(self._spent[chosen]), self._part(self._spent[~chosen])

    def _part(self, spent: NDArray[np.int64]) -> Budget:
        return type(self)(self.total, self._source, self.notes, spent)

    def counts(self, exact: NDArray[np.integer], cost: Ticks, *, squared: int = 1) -> NDArray[np.int64]:
        exact = np.array(exact, dtype=np.int64)
        charge = self._promised(cost)
        law = Counts(exact, charge) if self._pure else GaussianCounts(exact, charge / squared)
        question = ("counts", charge, exact.shape, squared)
        return self._asked(question, cost, lambda: Budget.counts(self, exact, cost, squared=squared), law)

    def choose(
        self,
        scores: NDArray[np.int64],
        starts: NDArray[np.int64],
        cost: Ticks,
        *,
        monotone: bool = True,
        sensitivity: int = 1,
        disjoint: bool = False,
    ) -> NDArray[np.int64]:
        charge = self._promised(cost)
        each = self._in_epsilon(charge) / (sensitivity if monotone else 2 * sensitivity)
        law = (
            Selection(scores.copy(), starts, each) if self._pure else WeightedSelection(scores.copy(), starts, 2 * each)
        )
        question = ("choose", charge, starts, len(scores), monotone, sensitivity)
        rules = {"monotone": monotone, "sensitivity": sensitivity, "disjoint": disjoint}
        return self._asked(question, cost, lambda: Budget.choose(self, scores, starts, cost, **rules), law)

    def sparse_counts(
        self, cells: NDArray[np.int64], counts: NDArray[np.int64], domain_size: int, threshold: int, cost: Ticks
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        charge = self._promised(cost)
        law = SparseCounts(cells.copy(), counts.copy(), threshold, self._in_epsilon(charge), not self._pure)
        question = ("sparse counts", charge, domain_size, threshold)
        return self._asked(
            question, cost, lambda: Budget.sparse_counts(self, cells, counts, domain_size, threshold, cost), law
        )

    def spend(self, cost: Ticks, draw: Callable[[Fraction, Source], T]) -> T:
        charge = self._promised(cost)
        self.notes.note(("spend", charge), lambda: None)
        found = super().spend(cost, lambda share, source: draw(share, TracedSource(source, self.notes)))
        self.notes.charge(float(charge[0]), self._pure)
        return found

    def uniforms(self, count: int) -> NDArray[np.float64]:
        return self.notes.note(("uniforms", count), lambda: Budget.uniforms(self, count))

    def _asked(self, question: tuple[Any, ...], cost: Ticks, draw: Callable[[], T], law: Law) -> T:
        if isinstance(self.notes, Replay):
            self._charge(cost)
        return self.notes.note(question, draw, law)

    @property
    def _pure(self) -> bool:
        return isinstance(self.total, Pure)

    def _in_epsilon(self, charge: NDArray[np.float64]) -> float:
        """The ε of a draw that is paid for by ε, or by ε²/2 of ρ."""
        return float(charge[0] if self._pure else np.sqrt(2 * charge[0]))

    def _promised(self, cost: Ticks) -> NDArray[np.float64]:
        """What each path pays, in ε or ρ, whatever noise is drawn for it."""
        return np.broadcast_to(np.asarray(cost) / WHOLE * amount(self.total), self._spent.shape)


def amount(loss: Loss) -> float:
    """The ε or ρ of a loss."""
    return float(loss.epsilon if isinstance(loss, Pure) else loss.rho)


class TracedSource(Source):
    """A source whose Laplace noise can only be used to compare a noisy value with a threshold."""

    protects = False

    def __init__(self, source: Source, notes: Transcript | Replay) -> None:
        self._source, self._notes = source, notes

    def words(self, count: int) -> NDArray[np.uint64]:
        raise NotImplementedError("only decisions by Laplace noise can be followed")

    def laplace(self, epsilon: Fraction, count: int) -> Any:
        return _Noise(self, epsilon, count)

    def decide(self, exact: NDArray[np.int64], threshold: int, epsilon: Fraction) -> NDArray[np.bool_]:
        """Which values are above the threshold after noise."""
        law = Decisions(exact, threshold, float(epsilon))
        question = ("decisions", float(epsilon), len(exact), threshold)
        return self._notes.note(question, lambda: exact + self._source.laplace(epsilon, len(exact)) > threshold, law)


@dataclass(frozen=True)
class _Noise:
    source: TracedSource
    epsilon: Fraction
    count: int

    __array_ufunc__ = None
    """Makes an array hand over the addition."""

    def __radd__(self, exact: NDArray[np.int64]) -> _Noisy:
        assert len(exact) == self.count
        return _Noisy(self, exact.copy())


@dataclass(frozen=True)
class _Noisy:
    noise: _Noise
    exact: NDArray[np.int64]

    def __gt__(self, threshold: int) -> NDArray[np.bool_]:
        return self.noise.source.decide(self.exact, threshold, self.noise.epsilon)
