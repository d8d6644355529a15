"""Claims: what a release promises, and on which assumptions. No release exists without one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from sfumato.errors import ReleaseError
from sfumato.privacy.requirements import Requirement, parse_requirement

if TYPE_CHECKING:
    from sfumato.privacy.requirements import Population
    from sfumato.privacy.requirements.base import Counts

CLASSES = "people in a class have the same published quasi-identifiers"
BUCKETS = "quasi-identifiers are published exactly and hide nobody's presence; sensitive values stand per bucket"
SYNTACTIC_ASSUMPTIONS = (
    "the adversary knows people's quasi-identifiers and nothing else, and does not reason about why the method cut "
    "where it did and no further",
    "this is the only release of these people; two releases together can promise less than each alone",
)


@dataclass(frozen=True, kw_only=True)
class Claim(ABC):
    """A promise about a release."""

    kind: ClassVar[str]

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

    def assuming(self, *more: str) -> Syntactic:
        """The same claim under further assumptions."""
        return replace(self, assumptions=(*self.assumptions, *more))

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
class NoGuarantee(Claim):
    """Nothing is promised, and why."""

    kind: ClassVar[str] = "none"
    reason: str

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
        if spec["claim"] == NoGuarantee.kind:
            return NoGuarantee(reason=str(spec["reason"]))
    except (KeyError, TypeError) as error:
        raise ReleaseError("the claim in release.json is incomplete") from error
    raise ReleaseError(f"{spec['claim']!r} is not a known claim")
