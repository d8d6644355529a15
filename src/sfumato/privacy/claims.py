"""Claims: what a release promises, and on which assumptions. No release exists without one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar, Literal, Self, get_args

from sfumato.errors import ReleaseError
from sfumato.privacy.requirements import Population, Requirement, parse_requirement
from sfumato.privacy.requirements.base import Counts

CLASSES = "people in a class have the same published quasi-identifiers"
BUCKETS = "quasi-identifiers are published exactly and hide nobody's presence; sensitive values stand per bucket"
SYNTACTIC_ASSUMPTIONS = (
    "the adversary knows people's quasi-identifiers and nothing else, and does not reason about why the method cut "
    "where it did and no further",
    "this is the only release of these people; two releases together can promise less than each alone",
)
Neighbours = Literal["add-remove", "replace-one", "replace-sensitive", "replace-origin"]
CHANGES: dict[Neighbours, str] = {
    "add-remove": "whether any one person is in the table",
    "replace-one": "any one person's row",
    "replace-sensitive": "any one person's sensitive value",
    "replace-origin": "where any one person comes from",
}
GROUPS: dict[Neighbours, str] = {
    "replace-sensitive": "group of people with the same public values",
    "replace-origin": "destination",
}
DIFFERENTIAL_ASSUMPTIONS = (
    "every person has at most one row",
    "domains, bounds, categories and taxonomies in the schema are public knowledge",
    "other releases of the same people add their own epsilon to this one",
)
SENSITIVE_ASSUMPTIONS = (
    "every person has at most one row, and sensitive values are the only secret: who is in the table, and everything "
    "else about them, is public or hidden by other means",
    "the list of possible sensitive values, and the prior over them, are public knowledge",
    "other releases of the same people add their own epsilon and delta to this one",
)
LOCAL_ASSUMPTIONS = (
    "every person sends one report, or the same report whenever asked; a second, fresh one adds its own epsilon",
    "the values that a report may take are public knowledge, and so is everything else that stands beside it",
)


@dataclass(frozen=True, kw_only=True)
class Claim(ABC):
    """A promise about a release."""

    kind: ClassVar[str]
    assumptions: tuple[str, ...] = ()

    def assuming(self, *more: str) -> Self:
        """The same claim under further assumptions."""
        return replace(self, assumptions=(*self.assumptions, *more))

    @abstractmethod
    def sentence(self) -> str:
        """The promise in words."""

    @abstractmethod
    def spec(self) -> dict[str, Any]:
        """The claim as `release.json` spells it."""


@dataclass(frozen=True, kw_only=True)
class Syntactic(Claim):
    """Every class of the published table satisfies every requirement: anyone can recompute that.

    With `buckets`, a class is a bucket of people whose sensitive values were detached from them; their
    quasi-identifiers are exact, so nothing is promised about who is in the table.
    """

    kind: ClassVar[str] = "syntactic"
    requirements: tuple[Requirement, ...]
    buckets: bool = False
    assumptions: tuple[str, ...] = SYNTACTIC_ASSUMPTIONS

    def violations(self, counts: Counts, population: Population) -> list[str]:
        """A sentence for each requirement that some class fails."""
        found = []
        for requirement in self.requirements:
            failing = ~requirement.holds(counts, population)
            if failing.any():
                found.append(f"{int(failing.sum())} of {len(counts)} classes fail {requirement}")
        return found

    def sentence(self) -> str:
        classes = BUCKETS if self.buckets else CLASSES
        return "; ".join((*(requirement.sentence() for requirement in self.requirements), classes))

    def spec(self) -> dict[str, Any]:
        return {
            "claim": self.kind,
            "requirements": [requirement.spec() for requirement in self.requirements],
            "buckets": self.buckets,
            "assumptions": list(self.assumptions),
        }


@dataclass(frozen=True, kw_only=True)
class Differential(Claim):
    """One person more or less (or another) hardly changes what is published, whatever the adversary knows."""

    epsilon: float
    neighbours: Neighbours = "add-remove"
    assumptions: tuple[str, ...] = DIFFERENTIAL_ASSUMPTIONS

    @property
    def delta(self) -> float:
        """The probability with which the promise may fail."""
        return 0.0

    @property
    def exact_people(self) -> bool:
        """Whether everything about people but their sensitive values is published as it is."""
        return self.neighbours == "replace-sensitive"

    def sentence(self) -> str:
        failing = f", but for a probability of {self.delta:g}" if self.delta else ""
        return (
            f"{CHANGES[self.neighbours]} changes the probability of every output by a factor of at most "
            f"e^{self.epsilon:.12g}{failing} ({self})"
        )

    def spec(self) -> dict[str, Any]:
        return {
            "claim": self.kind,
            "epsilon": self.epsilon,
            **({"delta": self.delta} if self.delta else {}),
            "neighbours": self.neighbours,
            "assumptions": list(self.assumptions),
        }


@dataclass(frozen=True, kw_only=True)
class PureDP(Differential):
    """ε-differential privacy."""

    kind: ClassVar[str] = "pure-dp"

    def __str__(self) -> str:
        return f"{self.epsilon:.12g}-differential privacy"


@dataclass(frozen=True, kw_only=True)
class LocalDP(PureDP):
    """ε-local differential privacy: every value got noise of its own.

    Where that happened before it left its owner, nobody need be trusted. With `per_step`, values that lie near each
    other are protected better: those that are d steps of the axis apart change the probability of every report by a
    factor of at most e^(per_step · d) (d-privacy).
    """

    kind: ClassVar[str] = "local-dp"
    neighbours: Neighbours = "replace-sensitive"
    per_step: float | None = None
    assumptions: tuple[str, ...] = LOCAL_ASSUMPTIONS

    def sentence(self) -> str:
        near = (
            ""
            if self.per_step is None
            else (f"; values that are d steps apart, by a factor of at most e^({self.per_step:.12g} d)")
        )
        return (
            "whoever holds the reports, any one person's value changes the probability of what they report by a "
            f"factor of at most e^{self.epsilon:.12g} ({self}){near}"
        )

    def spec(self) -> dict[str, Any]:
        return {**super().spec(), **({} if self.per_step is None else {"per_step": self.per_step})}

    def __str__(self) -> str:
        return f"{self.epsilon:.12g}-local differential privacy"


@dataclass(frozen=True, kw_only=True)
class ApproximateDP(Differential):
    """(ε, δ)-differential privacy."""

    kind: ClassVar[str] = "approximate-dp"
    failing: float

    @property
    def delta(self) -> float:
        return self.failing

    def __str__(self) -> str:
        return f"({self.epsilon:.12g}, {self.delta:g})-differential privacy"


@dataclass(frozen=True, kw_only=True)
class ProbabilisticDP(ApproximateDP):
    """(ε, δ)-probabilistic differential privacy in every group of people with the same public values.

    In each group, what is published tells anybody's values apart by more than e^ε with probability at most δ. It
    implies (ε, δ)-differential privacy of everything published together.
    """

    kind: ClassVar[str] = "probabilistic-dp"
    neighbours: Neighbours = "replace-sensitive"
    assumptions: tuple[str, ...] = SENSITIVE_ASSUMPTIONS

    def sentence(self) -> str:
        return (
            f"{super().sentence()}; in each {GROUPS[self.neighbours]}, nothing about anybody is told by more than that "
            f"factor, but for a probability of {self.delta:g} (({self.epsilon:.12g}, {self.delta:g})-probabilistic "
            "differential privacy)"
        )


@dataclass(frozen=True, kw_only=True)
class NoGuarantee(Claim):
    """Nothing is promised, and why."""

    kind: ClassVar[str] = "none"
    reason: str

    def assuming(self, *more: str) -> Self:
        return self

    def sentence(self) -> str:
        return f"nothing is promised: {self.reason}"

    def spec(self) -> dict[str, Any]:
        return {"claim": self.kind, "reason": self.reason}


def parse_claim(spec: Any) -> Claim:
    """The claim that a release file spells."""
    try:
        if spec["claim"] == Syntactic.kind:
            requirements = tuple(parse_requirement(item) for item in spec["requirements"])
            return Syntactic(
                requirements=requirements, buckets=bool(spec["buckets"]), assumptions=tuple(spec["assumptions"])
            )
        if spec["claim"] in (PureDP.kind, LocalDP.kind, ApproximateDP.kind, ProbabilisticDP.kind):
            return _differential(spec)
        if spec["claim"] == NoGuarantee.kind:
            return NoGuarantee(reason=str(spec["reason"]))
    except (KeyError, TypeError) as error:
        raise ReleaseError("the claim is incomplete") from error
    raise ReleaseError(f"{spec['claim']!r} is not a known claim")


def _differential(spec: Any) -> Differential:
    pure = spec["claim"] in (PureDP.kind, LocalDP.kind)
    limits = {"epsilon": inf, **({} if pure else {"delta": 1.0}), **({"per_step": inf} if "per_step" in spec else {})}
    for name, limit in limits.items():
        amount = spec[name]
        if isinstance(amount, bool) or not isinstance(amount, int | float) or not 0 < amount < limit:
            raise ReleaseError(f"{name} of the claim is {amount!r}; expected a number above 0 and below {limit:g}")
    if "delta" in spec and "delta" not in limits:
        raise ReleaseError("a claim of pure differential privacy has no delta")
    if spec["neighbours"] not in get_args(Neighbours):
        raise ReleaseError(f"neighbours is {spec['neighbours']!r}; expected {' or '.join(get_args(Neighbours))}")
    if spec["claim"] == LocalDP.kind and spec["neighbours"] != LocalDP.neighbours:
        raise ReleaseError(f"neighbours is {spec['neighbours']!r}; expected {LocalDP.neighbours}")
    if spec["claim"] == ProbabilisticDP.kind and spec["neighbours"] not in GROUPS:
        raise ReleaseError(f"neighbours is {spec['neighbours']!r}; expected {' or '.join(GROUPS)}")
    assumptions = tuple(map(str, spec["assumptions"]))
    if spec["claim"] == PureDP.kind:
        return PureDP(epsilon=spec["epsilon"], neighbours=spec["neighbours"], assumptions=assumptions)
    if spec["claim"] == LocalDP.kind:
        return LocalDP(
            epsilon=spec["epsilon"],
            per_step=spec.get("per_step"),
            neighbours=spec["neighbours"],
            assumptions=assumptions,
        )
    kind = ProbabilisticDP if spec["claim"] == ProbabilisticDP.kind else ApproximateDP
    return kind(epsilon=spec["epsilon"], failing=spec["delta"], neighbours=spec["neighbours"], assumptions=assumptions)
