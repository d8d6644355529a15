"""Claims: what a release promises, and on which assumptions. No release exists without one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Any, ClassVar, Literal, Self, get_args

from sfumato.errors import ReleaseError
from sfumato.privacy.loss import Approximate
from sfumato.privacy.requirements import Counts, Population, Requirement, parse_requirement

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
Noise = Literal["counts", "values"]
Recoding = Literal["generalize", "bucketize", "noise"]


@dataclass(frozen=True, kw_only=True)
class Check:
    """A requirement that was recomputed, and how the published classes violate it."""

    requirement: Requirement
    violations: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Claim(ABC):
    """A promise about a release."""

    kind: ClassVar[str]
    promises: ClassVar[bool] = True
    """Whether anything is promised at all."""
    verifiable: ClassVar[bool] = False
    """Whether a recipient can recompute the claim from what is published."""
    noise: ClassVar[Noise | None] = None
    """What the promise rests on: noise in counts (or rows sampled from them), noise on every value, or no noise."""
    assumptions: tuple[str, ...] = ()

    @property
    def cost(self) -> Approximate | None:
        """What a release under this claim takes from the privacy budget, if anything."""
        return None

    @property
    def neighbours(self) -> Neighbours | None:
        """Between which tables noise hides the difference, if there is noise."""
        return None

    @property
    def shows_presence(self) -> bool:
        """Whether everything about people but their sensitive values is published as it is."""
        return False

    @property
    def recoding(self) -> Recoding | None:
        """What is done to values to keep the promise."""
        return "noise" if self.noise else None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know to make sense of the claim."""
        return self.assumptions

    def assuming(self, *more: str) -> Self:
        """The same claim under further assumptions."""
        return replace(self, assumptions=(*self.assumptions, *more))

    def fits(self, layout: str) -> bool:
        """Whether a release in this layout can keep the claim."""
        return True

    def checks(self, counts: Counts, population: Population) -> list[Check]:
        """Every requirement, recomputed from the published classes; none where nothing can be verified."""
        return []

    def violations(self, counts: Counts, population: Population) -> list[str]:
        """A sentence for each requirement that some class fails."""
        return [sentence for check in self.checks(counts, population) for sentence in check.violations]

    def exceeds(self, local: LocalDP) -> list[str]:
        """A sentence for each promise that goes beyond what noise on every value keeps."""
        return [f"noise on every value promises local differential privacy, not {self}"]

    @abstractmethod
    def sentence(self) -> str:
        """The promise in words."""

    @abstractmethod
    def form(self, span: float) -> str:
        """What a recipient gets, in words; a value spans the share `span` of its attribute's range on average."""

    @abstractmethod
    def spec(self) -> dict[str, Any]:
        """The claim as `release.json` stores it."""

    @classmethod
    @abstractmethod
    def parse(cls, spec: Any) -> Self:
        """The claim that a release file stores; a missing part raises KeyError."""


@dataclass(frozen=True, kw_only=True)
class Syntactic(Claim):
    """Every class of the published table satisfies every requirement: anyone can recompute that.

    With `buckets`, a class is a bucket of people whose sensitive values were detached from them; their
    quasi-identifiers are exact, so nothing is promised about who is in the table.
    """

    kind: ClassVar[str] = "syntactic"
    verifiable: ClassVar[bool] = True
    requirements: tuple[Requirement, ...]
    buckets: bool = False
    assumptions: tuple[str, ...] = SYNTACTIC_ASSUMPTIONS

    @property
    def shows_presence(self) -> bool:
        return self.buckets

    @property
    def recoding(self) -> Recoding:
        return "bucketize" if self.buckets else "generalize"

    @property
    def notes(self) -> tuple[str, ...]:
        return (BUCKETS if self.buckets else CLASSES, *self.assumptions)

    def fits(self, layout: str) -> bool:
        return self.buckets == (layout == "buckets")

    def checks(self, counts: Counts, population: Population) -> list[Check]:
        found = []
        for requirement in self.requirements:
            failing = int((~requirement.holds(counts, population)).sum())
            sentence = f"{failing} of {len(counts)} classes fail {requirement}"
            found.append(Check(requirement=requirement, violations=(sentence,) if failing else ()))
        return found

    def sentence(self) -> str:
        return "; ".join((*(requirement.sentence() for requirement in self.requirements), self.notes[0]))

    def form(self, span: float) -> str:
        if self.buckets:
            return (
                "Two tables: the exact quasi-identifiers with a bucket number, and the sensitive values of each bucket."
            )
        return f"One row per person with generalized values, each spanning {span:.1%} of its range on average."

    def spec(self) -> dict[str, Any]:
        return {
            "claim": self.kind,
            "requirements": [requirement.spec() for requirement in self.requirements],
            "buckets": self.buckets,
            "assumptions": list(self.assumptions),
        }

    @classmethod
    def parse(cls, spec: Any) -> Self:
        requirements = tuple(parse_requirement(item) for item in spec["requirements"])
        return cls(requirements=requirements, buckets=bool(spec["buckets"]), assumptions=tuple(spec["assumptions"]))


@dataclass(frozen=True, kw_only=True)
class Differential(Claim):
    """One person more or less (or another) hardly changes what is published, whatever the adversary knows."""

    noise: ClassVar[Noise | None] = "counts"
    protects: ClassVar[tuple[str, ...]] = get_args(Neighbours)
    """The neighbours that a claim of this kind may speak of."""
    numbers: ClassVar[dict[str, str]] = {"epsilon": "epsilon"}
    """The numbers in a stored claim, and the fields that hold them."""
    epsilon: float
    neighbours: Neighbours = "add-remove"
    assumptions: tuple[str, ...] = DIFFERENTIAL_ASSUMPTIONS

    @property
    def delta(self) -> float:
        """The probability with which the promise may fail."""
        return 0.0

    @property
    def cost(self) -> Approximate:
        """ε and δ as they are written: 0.1 means one tenth."""
        return Approximate(Fraction(str(self.epsilon)), Fraction(str(self.delta)))

    @property
    def shows_presence(self) -> bool:
        return self.neighbours == "replace-sensitive"

    def sentence(self) -> str:
        failing = f", but for a probability of {self.delta:g}" if self.delta else ""
        return (
            f"{CHANGES[self.neighbours]} changes the probability of every output by a factor of at most "
            f"e^{self.epsilon:.12g}{failing} ({self})"
        )

    def form(self, span: float) -> str:
        if self.shows_presence:
            return "One row per person with exact quasi-identifiers, and a sensitive value that was drawn anew."
        return "Noisy counts, or rows generated from them: no row stands for a person."

    def spec(self) -> dict[str, Any]:
        return {
            "claim": self.kind,
            "epsilon": self.epsilon,
            **({"delta": self.delta} if self.delta else {}),
            "neighbours": self.neighbours,
            "assumptions": list(self.assumptions),
        }

    @classmethod
    def parse(cls, spec: Any) -> Self:
        if "delta" in spec and "delta" not in cls.numbers:
            raise ReleaseError("a claim of pure differential privacy has no delta")
        stored = {name: field for name, field in cls.numbers.items() if name in spec or name != "per_step"}
        amounts = {field: _amount(spec, name) for name, field in stored.items()}
        if spec["neighbours"] not in cls.protects:
            raise ReleaseError(f"neighbours is {spec['neighbours']!r}; expected {' or '.join(cls.protects)}")
        return cls(neighbours=spec["neighbours"], assumptions=tuple(map(str, spec["assumptions"])), **amounts)


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
    noise: ClassVar[Noise | None] = "values"
    protects: ClassVar[tuple[str, ...]] = ("replace-sensitive",)
    numbers: ClassVar[dict[str, str]] = {"epsilon": "epsilon", "per_step": "per_step"}
    neighbours: Neighbours = "replace-sensitive"
    per_step: float | None = None
    assumptions: tuple[str, ...] = LOCAL_ASSUMPTIONS

    def exceeds(self, local: LocalDP) -> list[str]:
        asked = (("epsilon", self.epsilon, local.epsilon), ("per_step", self.per_step, local.per_step))
        return [
            f"{name} of the claim is {number:g}, but that of the channel is {kept}"
            for name, number, kept in asked
            if number is not None and (kept is None or kept > number)
        ]

    def sentence(self) -> str:
        near = "; values that are d steps apart, by a factor of at most "
        near = "" if self.per_step is None else f"{near}e^({self.per_step:.12g} d)"
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
    numbers: ClassVar[dict[str, str]] = {"epsilon": "epsilon", "delta": "failing"}
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
    protects: ClassVar[tuple[str, ...]] = tuple(GROUPS)
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
    promises: ClassVar[bool] = False
    reason: str

    def assuming(self, *more: str) -> Self:
        return self

    def sentence(self) -> str:
        return f"nothing is promised: {self.reason}"

    def form(self, span: float) -> str:
        return f"Rows or counts without a promise: {self.reason}."

    def spec(self) -> dict[str, Any]:
        return {"claim": self.kind, "reason": self.reason}

    @classmethod
    def parse(cls, spec: Any) -> Self:
        return cls(reason=str(spec["reason"]))


CLAIMS: dict[str, type[Claim]] = {
    kind.kind: kind for kind in (Syntactic, PureDP, LocalDP, ApproximateDP, ProbabilisticDP, NoGuarantee)
}


def parse_claim(spec: Any) -> Claim:
    """The claim that a release file stores."""
    try:
        if spec["claim"] in CLAIMS:
            return CLAIMS[spec["claim"]].parse(spec)
    except (KeyError, TypeError) as error:
        raise ReleaseError("the claim is incomplete") from error
    raise ReleaseError(f"{spec['claim']!r} is not a known claim")


def _amount(spec: Any, name: str) -> float:
    amount, below = spec[name], 1.0 if name == "delta" else inf
    if isinstance(amount, bool) or not isinstance(amount, int | float) or not 0 < amount < below:
        raise ReleaseError(f"{name} of the claim is {amount!r}; expected a number above 0 and below {below:g}")
    return amount
