"""Claims about a setting that was chosen by looking at the rows, which no ε covers."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from sfumato.errors import ReleaseError
from sfumato.privacy.claims.base import NO_UNITS, Check, Choice, Claim, Neighbours, Noise, Recoding, Units, parse_claim
from sfumato.privacy.loss import Approximate, Concentrated
from sfumato.privacy.requirements import Population
from sfumato.privacy.requirements.base import Counts
from sfumato.schema.schema import Protected

NOT_COVERED = "choosing its setting is not covered"


@dataclass(frozen=True, kw_only=True)
class Conditional(Claim):
    """What noise would promise had the setting been fixed beforehand; how it was chosen may tell about anybody.

    A frontier on real rows picks a setting as a function of them without noise. The setting stands in the release, so
    one person more or less can show in it, whatever ε is. Only a choice on a pilot, or one made before anybody looked,
    is covered.
    """

    kind: ClassVar[str] = "conditional"
    given: Claim
    looked: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "assumptions", self.given.assumptions)
        object.__setattr__(self, "unit", self.given.unit)

    @property
    def needed(self) -> tuple[str, ...]:
        return self.given.needed

    @property
    def noise(self) -> Noise | None:  # type: ignore[override]
        return self.given.noise

    @property
    def cost(self) -> Approximate | None:
        return self.given.cost

    @property
    def concentrated(self) -> Concentrated | None:
        return self.given.concentrated

    @property
    def neighbours(self) -> Neighbours | None:
        return self.given.neighbours

    @property
    def shows_presence(self) -> bool:
        return self.given.shows_presence

    @property
    def recoding(self) -> Recoding | None:
        return self.given.recoding

    @property
    def notes(self) -> tuple[str, ...]:
        return (self._warning, *self.given.notes)

    @property
    def _warning(self) -> str:
        return (
            f"{NOT_COVERED}: {self.looked} showed measures of data under its name, or of the same rows, before it was "
            "chosen"
        )

    def under(self, assumptions: tuple[str, ...]) -> Self:
        return replace(self, given=self.given.under(assumptions))

    def protecting(self, unit: Protected) -> Self:
        return replace(self, given=self.given.protecting(unit))

    def chosen(self, choice: Choice) -> Self:
        return replace(self, given=self.given.chosen(choice))

    def fits(self, layout: str) -> bool:
        return self.given.fits(layout)

    def checks(self, counts: Counts, population: Population, units: Units = NO_UNITS) -> list[Check]:
        return self.given.checks(counts, population, units)

    def exceeds(self, epsilon: float, per_step: float | None) -> list[str]:
        return self.given.exceeds(epsilon, per_step)

    def sentence(self) -> str:
        return f"{self._warning}; had it been fixed beforehand: {self.given.sentence()}"

    def in_words(self) -> tuple[str, ...]:
        first, *more = self.given.in_words()
        return (f"Had its setting been fixed beforehand: {first[0].lower()}{first[1:]}", *more)

    def form(self, span: float) -> str:
        return self.given.form(span)

    def _spec(self) -> dict[str, Any]:
        return {"looked": self.looked, "given": self.given.spec()}

    @classmethod
    def parse(cls, spec: Any) -> Self:
        given = parse_claim(spec["given"])
        if not given.noise:
            raise ReleaseError(f"choosing is covered or not where noise is; {given} rests on none")
        if isinstance(given, Conditional):
            raise ReleaseError("the claim is conditional twice")
        return cls(given=given, looked=str(spec["looked"]))

    def __str__(self) -> str:
        return f"{self.given}, {NOT_COVERED}"


def choice_of(claim: Claim) -> Choice | None:
    """How the choice of the setting was paid for, if it was."""
    return choice_of(claim.given) if isinstance(claim, Conditional) else claim.choice
