"""What every claim is: a promise about a release, and on which assumptions it rests."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.privacy.loss import MAX_AMOUNT, MAX_CHARACTERS, Approximate, Concentrated
from sfumato.privacy.requirements import Population, Requirement
from sfumato.privacy.requirements.base import Counts
from sfumato.schema.schema import Protected
from sfumato.schema.weight import Unit

Neighbours = Literal["add-remove", "replace-one", "replace-sensitive", "replace-origin"]
Noise = Literal["counts", "values"]
Recoding = Literal["generalize", "bucketize", "noise"]
Units = Mapping[Unit, NDArray[np.float64]]
NO_UNITS: Units = {}
CLAIMS: dict[str, type["Claim"]] = {}
"""Every kind of claim by the name that a release file gives it."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """A requirement that was recomputed, and how the published classes violate it."""

    requirement: Requirement
    violations: tuple[str, ...] = ()
    buckets: bool = False
    recomputed: bool = True
    """Whether what it counts is at hand: households are never published, and weights only where the schema says so."""

    @property
    def title(self) -> str:
        """What was recomputed."""
        return self.requirement.title(buckets=self.buckets)

    def sentence(self) -> str:
        """What holds if there are no violations, in words."""
        return self.requirement.sentence_in_buckets() if self.buckets else self.requirement.sentence()


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The setting was chosen on a pilot, a synthetic table that was released at a cost of its own."""

    epsilon: float
    pilot: str

    def sentence(self) -> str:
        """How the setting was chosen, in words."""
        return f"its setting was chosen on a synthetic table under {self.epsilon:.12g}-differential privacy"


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
    choice: Choice | None = None
    """How the choice of the setting was paid for, where it was made on a pilot."""
    unit: Protected = "person"
    """Whose rows the promise is about."""

    def __init_subclass__(cls) -> None:
        if "kind" in cls.__dict__:
            CLAIMS[cls.kind] = cls

    @property
    def needed(self) -> tuple[str, ...]:
        """What every promise of this kind takes for granted: a claim that leaves it out says too much."""
        return type(self).assumptions

    @property
    def hollow(self) -> str | None:
        """Why a release under this claim hides nothing, and what to add, where that is so whatever the rows are."""
        return None

    @property
    def cost(self) -> Approximate | None:
        """What a release under this claim takes from the privacy budget, if anything."""
        return None

    @property
    def concentrated(self) -> Concentrated | None:
        """What it costs as ρ, where that adds up to less than its ε and δ do."""
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
        return (*self.assumptions, *((self.choice.sentence(),) if self.choice else ()))

    def chosen(self, choice: Choice) -> Self:
        """The same promise about the release and the choice of its setting together."""
        return replace(self, choice=choice)

    def protecting(self, unit: Protected) -> Self:
        """The same promise about the rows of a person, or of a household."""
        return replace(self, unit=unit)

    def assuming(self, *more: str) -> Self:
        """The same claim under further assumptions."""
        return self.under((*self.assumptions, *more))

    def bare(self) -> Self:
        """The same promise under nothing but what every promise of this kind takes for granted."""
        return self.under(self.needed)

    def under(self, assumptions: tuple[str, ...]) -> Self:
        """The same promise under these assumptions alone."""
        return replace(self, assumptions=assumptions)

    def fits(self, layout: str) -> bool:
        """Whether a release in this layout can keep the claim."""
        return True

    def focused(self, column: str) -> Self:
        """What is promised about one of several sensitive columns."""
        return self

    def checks(self, counts: Counts, population: Population, units: Units = NO_UNITS) -> list[Check]:
        """Every requirement, recomputed from the published classes; none where nothing can be verified.

        `units` has sizes of classes in other units than rows, as far as they are known.
        """
        return []

    def violations(self, counts: Counts, population: Population) -> list[str]:
        """A sentence for each requirement that some class fails."""
        return [sentence for check in self.checks(counts, population) for sentence in check.violations]

    def exceeds(self, epsilon: float, per_step: float | None) -> list[str]:
        """A sentence for each promise that goes beyond what noise on every value keeps."""
        return [f"noise on every value promises local differential privacy, not {self}"]

    @abstractmethod
    def sentence(self) -> str:
        """The promise in words."""

    def in_words(self) -> tuple[str, ...]:
        """What anybody can come to know at most, where that follows from noise: two or three sentences."""
        return ()

    @abstractmethod
    def form(self, span: float) -> str:
        """What a recipient gets, in words; a value spans the share `span` of its attribute's range on average."""

    def spec(self) -> dict[str, Any]:
        """The claim as `release.json` stores it."""
        more = {"choice": {"epsilon": self.choice.epsilon, "pilot": self.choice.pilot}} if self.choice else {}
        whose = {} if self.unit == "person" else {"unit": self.unit}
        return {"claim": self.kind, **self._spec(), **whose, **more}

    @abstractmethod
    def _spec(self) -> dict[str, Any]:
        """What is stored besides the kind of the claim and how its setting was chosen."""

    @classmethod
    @abstractmethod
    def parse(cls, spec: Any) -> Self:
        """The claim that a release file stores, but for its choice; a missing part raises KeyError."""


def parse_claim(spec: Any) -> Claim:
    """The claim that a release file stores."""
    try:
        if spec["claim"] not in CLAIMS:
            raise ReleaseError(f"{spec['claim']!r} is not a known claim")
        claim = CLAIMS[spec["claim"]].parse(spec)
        if "unit" in spec:
            if spec["unit"] not in get_args(Protected):
                raise ReleaseError(f"unit is {spec['unit']!r}; expected {' or '.join(get_args(Protected))}")
            claim = claim.protecting(spec["unit"])
        if "choice" not in spec:
            return claim
        choice = Choice(epsilon=parse_amount(spec["choice"], "epsilon"), pilot=str(spec["choice"]["pilot"]))
    except (KeyError, TypeError) as error:
        raise ReleaseError("the claim is incomplete") from error
    return replace(claim, choice=choice)


def parse_assumptions(spec: Any) -> tuple[str, ...]:
    """The sentences of the claim that say what it takes for granted."""
    sentences = spec["assumptions"]
    if not isinstance(sentences, list) or not all(isinstance(sentence, str) for sentence in sentences):
        raise ReleaseError(
            f"assumptions of the claim is {repr(sentences)[:MAX_CHARACTERS]}; expected a list of sentences"
        )
    return tuple(sentences)


def parse_amount(spec: Any, name: str, below: float = inf) -> float:
    """A number of the claim."""
    amount = spec[name]
    is_number = isinstance(amount, int | float) and not isinstance(amount, bool)
    if not is_number or not 0 < amount <= MAX_AMOUNT or not amount < below:
        shown, most = repr(amount)[:MAX_CHARACTERS], f"below {below:g}" if below < inf else f"at most {MAX_AMOUNT:,}"
        raise ReleaseError(f"{name} of the claim is {shown}; expected a number above 0 and {most}")
    return float(amount) if isinstance(amount, float) else int(amount)
