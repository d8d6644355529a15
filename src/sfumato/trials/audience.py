"""Who receives a release, and what may at most be disclosed about people by it: a floor under everybody's privacy."""

from dataclasses import dataclass, replace
from typing import Literal, Self

from sfumato.errors import ParameterError
from sfumato.measures.measure import MEASURES
from sfumato.measures.measurement import Measure
from sfumato.trials.document import FloorEntry

Audience = Literal["public", "contract", "inside"]
RISK: Measure = MEASURES["disclosure_added"]
"""What a floor is laid on: how many of the people most exposed the release itself gives away."""


@dataclass(frozen=True, kw_only=True)
class Floor:
    """The largest `disclosure_added` that an audience may cause."""

    audience: Audience
    whom: str
    most: float
    raised_from: float | None = None

    def raised(self, least: float) -> Self:
        """The floor where suppressing everything comes to `least`: on few people no figure below means anything."""
        return replace(self, most=least, raised_from=self.most) if least > self.most else self

    def sentence(self) -> str:
        """The floor in words and in a number."""
        return (
            f"For {self.whom}: of the tenth of people about whom a release tells most, an adversary may be right about "
            f"at most {100 * self.most:.3g} in 100 more than without it ({RISK.name} at most {self.most:.3g}, at the "
            f"pessimistic end).{self._raised_sentence()}"
        )

    def _raised_sentence(self) -> str:
        if self.raised_from is None:
            return ""
        return (
            f" Usually that is {self.raised_from:g}; on so few people suppressing everything comes to {self.most:.3g}, "
            "and no figure below that means anything."
        )

    def entry(self) -> FloorEntry:
        """The floor as the report needs it."""
        return FloorEntry(audience=self.audience, measure=RISK.name, most=self.most, sentence=self.sentence())


FLOORS: dict[Audience, Floor] = {
    floor.audience: floor
    for floor in (
        Floor(audience="public", whom="anybody at all", most=0.1),
        Floor(audience="contract", whom="recipients bound by a contract", most=0.2),
        Floor(audience="inside", whom="colleagues who work with such data anyway", most=0.3),
    )
}


def find_floor(audience: str) -> Floor:
    """The floor of an audience."""
    found = [floor for floor in FLOORS.values() if floor.audience == audience]
    if not found:
        raise ParameterError(f"{audience!r} is not an audience; expected one of {', '.join(FLOORS)}")
    return found[0]


def risk_words(value: str) -> str:
    """What a value of the risk means, as a part of a sentence."""
    return f"an adversary is right about {value} more of the people most exposed"
