"""The one-run audit of a program that claims differential privacy (Steinke, Nasr and Jagielski, 2023).

Canaries go into the table or stay out by fair coins, the program runs once, and from its output the coins are guessed.
Too many right guesses contradict the claim; `one_run.proof.md` says how many are too many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.audit.bound import chance, lower_bound
from sfumato.audit.canaries import Codes, choose_canaries, flip_coins, spell_column
from sfumato.audit.guesses import Plan, are_scouts, choose_plan, count_right
from sfumato.audit.output import publishing, read_output
from sfumato.audit.scores import Evidence, Weighted
from sfumato.data.encode import encode_column
from sfumato.data.source import read_frame
from sfumato.errors import ParameterError
from sfumato.mechanisms.noise import Source, SystemSource
from sfumato.methods.base import DPMethod, Method
from sfumato.schema import Schema

Generator = Callable[[pl.DataFrame], Any]
"""Takes the rows of a table and returns rows like them: a frame, the path of a file, or a release."""
Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is, and of how much."""
STEPS = 3
USUAL_CANARIES, MIN_CANARIES = 1_000, 20
CONFIDENCE = 0.95
MAX_EPSILON = 1_000.0
MAX_CANARIES = 20_000


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What one run showed of a claim: how many guesses were right, and the ε that follows from it."""

    epsilon: float
    delta: float
    confidence: float
    canaries: int
    guesses: int
    right: int
    plan: Plan
    simulated: bool
    answers: pl.DataFrame = field(repr=False, compare=False)
    """Every canary with its coin, its score and the guess: for the publisher's eyes only."""

    @property
    def guessable(self) -> int:
        """Canaries that are no scouts."""
        return self.canaries - int(are_scouts(self.canaries).sum())

    @property
    def bound(self) -> float:
        """The ε that the program exceeds with the stated confidence."""
        return lower_bound(
            self.right, self.guesses, delta=self.delta, canaries=self.guessable, confidence=self.confidence
        )

    @property
    def chance(self) -> float:
        """The probability of so many right guesses, at most, if the claim holds."""
        return chance(self.right, self.guesses, epsilon=self.epsilon, delta=self.delta, canaries=self.guessable)

    @property
    def contradicted(self) -> bool:
        """Whether the program loses more privacy than it claims."""
        return self.bound > self.epsilon

    def sentence(self) -> str:
        """What was found, in words."""
        delta = f" and δ = {self.delta:g}" if self.delta else ""
        claim = f"claimed ε = {self.epsilon:g}{delta}"
        if not self.bound:
            return f"{claim}; the guesses were hardly better than chance: nothing contradicts the claim"
        found = f"ε ≥ {self.bound:.3g} with {100 * self.confidence:.12g}% confidence"
        if self.contradicted:
            return f"{claim}; the claim is broken: {found}"
        return f"{claim}; at least {found}: nothing contradicts the claim"

    def spec(self) -> dict[str, Any]:
        """The figures, without the canaries."""
        return {
            "claim": {"epsilon": self.epsilon, "delta": self.delta},
            "bound": self.bound,
            "confidence": self.confidence,
            "contradicted": self.contradicted,
            "chance": self.chance,
            "canaries": self.canaries,
            "scouts": self.canaries - self.guessable,
            "guesses": self.guesses,
            "right": self.right,
            "plan": asdict(self.plan),
            "simulated": self.simulated,
            "sentence": self.sentence(),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Trap:
    """A table with canaries in it: what the program gets, and what the auditor knows."""

    schema: Schema
    people: Codes
    canaries: Codes
    included: NDArray[np.bool_]
    rows: pl.DataFrame

    @staticmethod
    def lay(source: Any, schema: Schema, count: int, coins: Source) -> Trap:
        """Choose canaries, flip their coins, and put them among the people, everybody in random order."""
        axes = schema.axes
        frame, where = read_frame(source, [axis.name for axis in axes])
        encoded = [encode_column(frame[axis.name], axis, schema.missing, where).to_numpy() for axis in axes]
        people = np.stack(encoded, axis=1).astype(np.int32)
        canaries = choose_canaries(people, axes, count, coins)
        if len(canaries) < MIN_CANARIES:
            raise ParameterError(
                f"the schema has {len(canaries)} different rows; an audit needs {MIN_CANARIES} canaries at the least"
            )
        included = flip_coins(len(canaries), coins)
        spelled = {axis.name: spell_column(canaries[:, number], axis) for number, axis in enumerate(axes)}
        present = np.concatenate([np.ones(len(people), dtype=bool), included])
        order = coins.permutation(len(present))
        rows = _stack(frame, pl.DataFrame(spelled))[order[present[order]]]
        if schema.person_column:
            rows = rows.with_row_index(schema.person_column)  # every row is somebody else's
        return Trap(schema=schema, people=people, canaries=canaries, included=included, rows=rows)

    def judge(self, output: Weighted) -> tuple[Plan, NDArray[np.int8], NDArray[np.float64]]:
        """The plan that the scouts chose, and the guess and the score of every canary."""
        people = Weighted.distinct(self.people)
        evidence = Evidence(axes=self.schema.axes, canaries=self.canaries, people=people, output=output)
        scores, scouts = evidence.score_all(), are_scouts(len(self.canaries))
        plan = choose_plan({name: score[scouts] for name, score in scores.items()}, self.included[scouts])
        score = scores[plan.score]
        guesses = np.zeros(len(score), dtype=np.int8)
        guesses[~scouts] = plan.guess(score[~scouts])
        return plan, guesses, score


def audit_generator(
    source: Any,
    schema: Schema | Mapping[str, Any] | Path | str,
    generator: Generator | Method,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    canaries: int = USUAL_CANARIES,
    confidence: float = CONFIDENCE,
    coins: Source | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Run a generator once on the table with canaries in it, and say how private it can be at most.

    The generator takes a Polars frame and returns rows: a frame, the path of a file, or a release. A method of this
    package can be given as it is, and then its own claim is audited unless another is stated. `coins` other than the
    operating system's are for tests.

    >>> found = sf.audit_generator("town.csv", "town.toml", lambda rows: rows, epsilon=1)
    >>> found.contradicted, found.bound > 3
    (True, True)
    """
    schema = _as_schema(schema)
    epsilon, delta = _claim(generator, epsilon, delta)
    _check(epsilon, delta, confidence, canaries)
    coins, tell = coins or SystemSource(), progress or _keep_quiet
    tell("choosing canaries", 0, STEPS)
    trap = Trap.lay(source, schema, canaries, coins)
    run = publishing(generator, schema) if isinstance(generator, Method) else generator
    tell("running the program", 1, STEPS)
    output = read_output(run(trap.rows), schema, coins)
    tell("guessing", 2, STEPS)
    plan, guesses, score = trap.judge(output)
    return Audit(
        epsilon=epsilon,
        delta=delta,
        confidence=confidence,
        canaries=len(trap.canaries),
        guesses=int(np.count_nonzero(guesses)),
        right=count_right(guesses, trap.included),
        plan=plan,
        simulated=not coins.protects,
        answers=_answers(trap, guesses, score),
    )


def _keep_quiet(text: str, done: int, total: int) -> None:
    pass


def _claim(generator: Generator | Method, epsilon: float | None, delta: float | None) -> tuple[float, float]:
    """What is claimed for adding or removing one row, as stated or as the method says of itself."""
    if epsilon is None and isinstance(generator, DPMethod):
        return generator.claim.epsilon, generator.claim.delta if delta is None else delta
    if epsilon is None:
        raise ParameterError("the claim to audit is missing; expected epsilon, and delta if there is one")
    return epsilon, delta or 0.0


def _check(epsilon: float, delta: float, confidence: float, canaries: int) -> None:
    for name, value, low, high in (
        ("epsilon", epsilon, 0, MAX_EPSILON),
        ("delta", delta, 0, 1),
        ("confidence", confidence, 0.5, 1),
    ):
        if not (low <= value < high):
            raise ParameterError(f"{name} is {value:g}; expected a number from {low:g} to below {high:g}")
    if not MIN_CANARIES <= canaries <= MAX_CANARIES:
        raise ParameterError(f"canaries is {canaries}; expected a number from {MIN_CANARIES} to {MAX_CANARIES:,}")


def _as_schema(schema: Schema | Mapping[str, Any] | Path | str) -> Schema:
    if isinstance(schema, Mapping):
        return Schema.parse(dict(schema))
    return schema if isinstance(schema, Schema) else Schema.load(schema)


def _stack(people: pl.DataFrame, canaries: pl.DataFrame) -> pl.DataFrame:
    """People and canaries in one frame: numbers where the people have numbers, text elsewhere."""
    kinds = pl.Schema({name: kind if kind.is_numeric() else pl.String() for name, kind in people.schema.items()})
    return pl.concat([people.cast(kinds), canaries.cast(kinds)])


def _answers(trap: Trap, guesses: NDArray[np.int8], score: NDArray[np.float64]) -> pl.DataFrame:
    """Every canary with its coin, its part in the audit, its score and the guess."""
    axes = trap.schema.axes
    spelled = {axis.name: spell_column(trap.canaries[:, number], axis) for number, axis in enumerate(axes)}
    scouts = are_scouts(len(score))
    words = np.where(scouts, "scout", np.array(["out", "no guess", "in"])[guesses + 1])
    return pl.DataFrame(
        {**spelled, "canary_included": trap.included, "canary_score": score, "canary_guess": words.tolist()}
    )
