"""Claims that rest on noise: one person more or less (or another) hardly changes what is published."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self, get_args

from sfumato.errors import ReleaseError
from sfumato.privacy.claims.base import Choice, Claim, Neighbours, Noise, parse_amount, parse_assumptions
from sfumato.privacy.loss import Approximate, Concentrated, exact, spell
from sfumato.privacy.odds import beliefs_in_words, guess_in_words, replacing, spell_factor
from sfumato.schema.schema import Protected

CHANGES: dict[Neighbours, str] = {
    "add-remove": "whether any one person is in the table",
    "replace-one": "any one person's row",
    "replace-sensitive": "any one person's sensitive value",
    "replace-origin": "where any one person comes from",
}
HIDDEN: dict[Neighbours, tuple[str, str]] = {
    "add-remove": ("whether one person is in the table", "whether somebody is in the table"),
    "replace-one": ("one person's row", "which of two rows is somebody's"),
    "replace-sensitive": ("one person's sensitive value", "which of two sensitive values is somebody's"),
    "replace-origin": ("where one person comes from", "which of two places somebody comes from"),
}
"""What somebody may not know who knows all else, and what there is to guess."""
GROUPS: dict[Neighbours, str] = {
    "replace-sensitive": "group of people with the same public values",
    "replace-origin": "destination",
}
ONE_ROW = "every person has at most one row"
WHO: dict[Protected, str] = {
    "person": "a person is whoever has the same ",
    "household": "what is protected is a household, all who have the same ",
}
"""How a claim begins to say whom it protects, where the schema names the column."""
WELL_FORMED = ", and every line is well-formed; a file in which one does not is refused, which tells about somebody"
"""How an assumption about what stands in a file ends, where something in it can make the program refuse it."""
DIFFERENTIAL_ASSUMPTIONS = (
    ONE_ROW,
    "domains, bounds, categories and taxonomies in the schema are public knowledge",
    "other releases of the same people add their own epsilon to this one",
)
SENSITIVE_ASSUMPTIONS = (
    f"{ONE_ROW}, and sensitive values are the only secret: who is in the table, and everything "
    "else about them, is public or hidden by other means",
    "the list of possible sensitive values, and the prior over them, are public knowledge",
    "other releases of the same people add their own epsilon and delta to this one",
)
LOCAL_ASSUMPTIONS = (
    "every person sends one report, or the same report whenever asked; a second, fresh one adds its own epsilon",
    "the values that a report may take are public knowledge, and so is everything else that stands beside it",
)
FLOWS_FIT = f"every origin, destination and count in the file fits the places and the domain{WELL_FORMED}"
"""Left out by claims of the first version."""
ORIGIN_ASSUMPTIONS = (
    "every person is counted once, with one origin and one destination; someone counted k times is promised k times "
    "the epsilon",
    "origins are the only secret: how many people go to each destination is public, and the synthetic flows repeat it",
    "the places, the prior, any densities and distances it was made of, and the rules of the domain are public "
    "knowledge, and every origin is one that the domain tells apart",
    FLOWS_FIT,
    "other releases about the same people add their own epsilon and delta to this one",
)


@dataclass(frozen=True, kw_only=True)
class Differential(Claim):
    """One person more or less (or another) hardly changes what is published, whatever the adversary knows."""

    noise: ClassVar[Noise | None] = "counts"
    protects: ClassVar[tuple[str, ...]] = get_args(Neighbours)
    """The neighbours that a claim of this kind may speak of."""
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
    def needed(self) -> tuple[str, ...]:
        if self.neighbours != "replace-origin":
            return super().needed
        return tuple(sentence for sentence in ORIGIN_ASSUMPTIONS if sentence != FLOWS_FIT)

    @property
    def shows_presence(self) -> bool:
        return self.neighbours == "replace-sensitive"

    def sentence(self) -> str:
        failing = f", but for a probability of {self.delta:g}" if self.delta else ""
        return (
            f"{self._about(CHANGES[self.neighbours])} changes the probability of every output by a factor of at most "
            f"{self._factor}{failing} ({self}){self._choosing}"
        )

    @property
    def _factor(self) -> str:
        """e^ε as a number. Flows store this sentence, and keep the words of the first version."""
        return f"e^{self.epsilon:.12g}" if self.neighbours == "replace-origin" else spell_factor(self.epsilon)

    def in_words(self) -> tuple[str, ...]:
        unknown, question = self._hidden
        sentences = (
            f"Whoever knows everything but {unknown}, and {self._beliefs()}.",
            f"{guess_in_words(self.cost, question)}.",
        )
        if self.neighbours != "add-remove":
            return sentences
        return (*sentences, f"{guess_in_words(replacing(self.cost), self._about(HIDDEN['replace-one'][1]))}.")

    def _beliefs(self) -> str:
        return beliefs_in_words(self.cost)

    @property
    def _hidden(self) -> tuple[str, str]:
        unknown, question = HIDDEN[self.neighbours]
        return self._about(unknown), self._about(question)

    def _about(self, person: str) -> str:
        """Words about one person as words about one household, where households are protected."""
        if self.unit == "person":
            return person
        return person.replace("one person", "one household").replace("somebody", "some household")

    @property
    def _choosing(self) -> str:
        return f", with the choice of its setting, which cost {self.choice.epsilon:.12g} of it" if self.choice else ""

    def chosen(self, choice: Choice) -> Self:
        """The choice costs its own ε, so what is promised about both together is the sum."""
        return replace(self, epsilon=spell(exact(self.epsilon) + exact(choice.epsilon)), choice=choice)

    def form(self, span: float) -> str:
        if self.shows_presence:
            return "One row per person with exact quasi-identifiers, and a sensitive value that was drawn anew."
        return "Noisy counts, or rows generated from them: no row stands for a person."

    def _spec(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            **({"delta": self.delta} if self.delta else {}),
            "neighbours": self.neighbours,
            "assumptions": list(self.assumptions),
        }

    @classmethod
    def parse(cls, spec: Any) -> Self:
        amounts = cls._amounts(spec)
        if spec["neighbours"] not in cls.protects:
            raise ReleaseError(f"neighbours is {spec['neighbours']!r}; expected {' or '.join(cls.protects)}")
        return cls(neighbours=spec["neighbours"], assumptions=parse_assumptions(spec), **amounts)

    @classmethod
    def _amounts(cls, spec: Any) -> dict[str, Any]:
        """The numbers in the claim, by the names of the fields that hold them."""
        return {"epsilon": parse_amount(spec, "epsilon")}


@dataclass(frozen=True, kw_only=True)
class PureDP(Differential):
    """ε-differential privacy."""

    kind: ClassVar[str] = "pure-dp"

    @classmethod
    def _amounts(cls, spec: Any) -> dict[str, Any]:
        if "delta" in spec:
            raise ReleaseError("a claim of pure differential privacy has no delta")
        return super()._amounts(spec)

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
    neighbours: Neighbours = "replace-sensitive"
    per_step: float | None = None
    assumptions: tuple[str, ...] = LOCAL_ASSUMPTIONS

    def exceeds(self, epsilon: float, per_step: float | None) -> list[str]:
        asked = (("epsilon", self.epsilon, epsilon), ("per_step", self.per_step, per_step))
        return [
            f"{name} of the claim is {number:g}, but that of the channel is {kept}"
            for name, number, kept in asked
            if number is not None and (kept is None or kept > number)
        ]

    def sentence(self) -> str:
        near = (
            ""
            if self.per_step is None
            else f"; values a step apart, by a factor of at most {spell_factor(self.per_step)}"
        )
        return (
            "whoever holds the reports, any one person's value changes the probability of what they report by a "
            f"factor of at most {self._factor} ({self}){near}"
        )

    @property
    def _hidden(self) -> tuple[str, str]:
        return "the value behind one person's report", "which of two values is behind somebody's report"

    def _spec(self) -> dict[str, Any]:
        return {**super()._spec(), **({} if self.per_step is None else {"per_step": self.per_step})}

    @classmethod
    def _amounts(cls, spec: Any) -> dict[str, Any]:
        near = {"per_step": parse_amount(spec, "per_step")} if "per_step" in spec else {}
        return super()._amounts(spec) | near

    def __str__(self) -> str:
        return f"{self.epsilon:.12g}-local differential privacy"


@dataclass(frozen=True, kw_only=True)
class ApproximateDP(Differential):
    """(ε, δ)-differential privacy; where that follows from ρ of concentrated differential privacy, also ρ."""

    kind: ClassVar[str] = "approximate-dp"
    failing: float
    rho: float | None = None

    @property
    def delta(self) -> float:
        return self.failing

    @property
    def concentrated(self) -> Concentrated | None:
        return None if self.rho is None else Concentrated(exact(self.rho, "rho"))

    def chosen(self, choice: Choice) -> Self:
        """With the ε of a choice, ε and δ no longer follow from ρ alone."""
        return replace(super().chosen(choice), rho=None)

    def _spec(self) -> dict[str, Any]:
        return {**super()._spec(), **({} if self.rho is None else {"rho": self.rho})}

    @classmethod
    def _amounts(cls, spec: Any) -> dict[str, Any]:
        rho = {"rho": parse_amount(spec, "rho")} if "rho" in spec else {}
        return super()._amounts(spec) | {"failing": parse_amount(spec, "delta", below=1.0)} | rho

    def __str__(self) -> str:
        follows = "" if self.rho is None else f", from {self.rho:.6g}-zCDP"
        return f"({self.epsilon:.12g}, {self.delta:g})-differential privacy{follows}"


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

    def _beliefs(self) -> str:
        return beliefs_in_words(self.cost, probabilistic=True)

    def sentence(self) -> str:
        return (
            f"{super().sentence()}; in each {GROUPS[self.neighbours]}, nothing about anybody is told by more than that "
            f"factor, but for a probability of {self.delta:g} (({self.epsilon:.12g}, {self.delta:g})-probabilistic "
            "differential privacy)"
        )
