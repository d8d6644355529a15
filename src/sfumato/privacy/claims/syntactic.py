"""Claims that anybody can recompute from what is published."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from sfumato.errors import ReleaseError
from sfumato.privacy.claims.base import NO_UNITS, Check, Claim, Recoding, Units, parse_assumptions
from sfumato.privacy.requirements import OfColumn, Population, Requirement, parse_requirement
from sfumato.privacy.requirements.base import Counts

CELLS_AT_ONCE = 2**22
"""Requirements are recomputed for so many counts at a time."""
CLASSES = "people in a class have the same published quasi-identifiers"
HOLLOW = (
    "buckets show exact quasi-identifiers, and no requirement bounds the sensitive values in them, so that they can be "
    "the original table; add one that does (l, t, delta, alpha or beta), or generalize"
)
NOTHING_BOUND = "nothing is promised: the sensitive values of a bucket may all be the same"
BUCKETS = "quasi-identifiers are published exactly and hide nobody's presence; sensitive values stand per bucket"
SYNTACTIC_ASSUMPTIONS = (
    "the adversary knows people's quasi-identifiers and nothing else, and does not reason about why the method cut "
    "where it did and no further",
    "this is the only release of these people; two releases together can promise less than each alone",
)


@dataclass(frozen=True, kw_only=True)
class Syntactic(Claim):
    """Every class of the published table satisfies every requirement: anyone can recompute that.

    With `buckets`, a class is a bucket of people whose sensitive values were detached from them; their
    quasi-identifiers are exact, so nothing is promised about who is in the table; nor is anything promised at all if no
    requirement bounds the sensitive values.
    """

    kind: ClassVar[str] = "syntactic"
    verifiable: ClassVar[bool] = True
    requirements: tuple[Requirement, ...]
    buckets: bool = False
    assumptions: tuple[str, ...] = SYNTACTIC_ASSUMPTIONS

    @property
    def promises(self) -> bool:  # type: ignore[override]
        return not self.hollow

    @property
    def hollow(self) -> str | None:
        bounded = any(requirement.bounds_values for requirement in self.requirements)
        return HOLLOW if self.buckets and not bounded else None

    @property
    def shows_presence(self) -> bool:
        return self.buckets

    @property
    def recoding(self) -> Recoding:
        return "bucketize" if self.buckets else "generalize"

    @property
    def notes(self) -> tuple[str, ...]:
        return (BUCKETS if self.buckets else CLASSES, *super().notes)

    def fits(self, layout: str) -> bool:
        return self.buckets == (layout == "buckets")

    def focused(self, column: str) -> Self:
        of_column = [
            one.named(column)
            if isinstance(one, OfColumn)
            else OfColumn(requirement=one, column=column)
            if one.bounds_values
            else one
            for one in self.requirements
        ]
        return replace(self, requirements=tuple(one for one in of_column if one is not None))

    @property
    def titles(self) -> tuple[str, ...]:
        """The name of each requirement with its parameters."""
        return tuple(check.title for check in self._unchecked)

    @property
    def _unchecked(self) -> list[Check]:
        return [Check(requirement=requirement, buckets=self.buckets) for requirement in self.requirements]

    def checks(self, counts: Counts, population: Population, units: Units = NO_UNITS) -> list[Check]:
        found, step = [], max(CELLS_AT_ONCE // counts.shape[1], 1)
        parts = [slice(start, start + step) for start in range(0, len(counts), step)]
        for check in self._unchecked:
            unit = check.requirement.unit
            sizes = counts if unit == "rows" else units.get(unit, np.zeros(0))[:, None]
            if len(sizes) < len(counts):
                found.append(replace(check, recomputed=False))
                continue
            failing = sum(int((~check.requirement.holds(sizes[part], population)).sum()) for part in parts)
            sentence = f"{failing} of {len(counts)} {'buckets' if self.buckets else 'classes'} fail {check.title}"
            found.append(replace(check, violations=(sentence,) if failing else ()))
        return found

    def sentence(self) -> str:
        chosen = (self.choice.sentence(),) if self.choice else ()
        kept = [check.sentence() for check in self._unchecked]
        return "; ".join((*([NOTHING_BOUND] if self.hollow else []), *kept, self.notes[0], *chosen))

    def form(self, span: float) -> str:
        text = "Two tables: the exact quasi-identifiers with a bucket number, and the sensitive values of each bucket."
        if not self.buckets:
            text = f"One row per person with generalized values, each spanning {span:.1%} of its range on average."
        return text

    def _spec(self) -> dict[str, Any]:
        return {
            "requirements": [requirement.spec() for requirement in self.requirements],
            "buckets": self.buckets,
            "assumptions": list(self.assumptions),
        }

    @classmethod
    def parse(cls, spec: Any) -> Self:
        requirements = tuple(parse_requirement(item) for item in spec["requirements"])
        if not requirements:
            raise ReleaseError("the claim has no requirements, so that it promises nothing")
        return cls(requirements=requirements, buckets=bool(spec["buckets"]), assumptions=parse_assumptions(spec))
