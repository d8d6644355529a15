"""Linkability: whoever knows two halves of a person's columns finds that they belong together.

Of the published rows nearest to one half and of those nearest to the other, is there one in common? Rows that are
equally near all count, so that nothing depends on their order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from sfumato.data import Table
from sfumato.errors import ParameterError
from sfumato.measures.attacks.control import Codes, ControlledAttack, Risk, compare
from sfumato.measures.attacks.lines import Lines
from sfumato.measures.measurement import Measure
from sfumato.parameters import parameter
from sfumato.release import Release
from sfumato.streams import stream

PEOPLE_AT_ONCE = 500


@dataclass(frozen=True, kw_only=True)
class Linkability(ControlledAttack):
    """Link the halves of people by the so many rows nearest to each half.

    `first` names the columns of one half; if it is empty, they are every other quasi-identifier. All other columns, the
    sensitive one among them, are the other half.
    """

    neighbours: int = parameter(default=1, help="published rows that are looked at for each half", minimum=1)
    first: tuple[str, ...] = ()

    name: ClassVar[str] = "linkability"
    measure: ClassVar[Measure] = Measure(
        "linkability_risk", "People's columns linked", "privacy", "lower", "share of guesses", lowest=-1.0
    ).describe(
        "How much more often a published row is the nearest both to one half of a person's columns and to the other "
        "half than for people who were never in the table."
    )

    def run(self, training: Table, release: Release, control: Table) -> Risk | None:
        lines, halves = Lines.of(release), self.halves([axis.name for axis in release.schema.axes])
        generator = stream("linkability", self.seed)
        members, others = (self.draw(table, generator) for table in (training, control))
        linked, linked_others = (self._linked(lines, halves, people) for people in (members, others))
        return compare(linked, len(members), linked_others, len(others))

    def halves(self, names: Sequence[str]) -> tuple[list[int], list[int]]:
        """The columns of the two halves."""
        chosen = self.first or names[-2::-2]
        if not set(chosen) < set(names):
            raise ParameterError(f"first is {', '.join(chosen)}; expected some but not all of {', '.join(names)}")
        first = [i for i, name in enumerate(names) if name in chosen]
        return first, [i for i in range(len(names)) if i not in first]

    def _linked(self, lines: Lines, halves: tuple[list[int], list[int]], people: Codes) -> int:
        """How many people have a line that is near both of their halves."""
        (one, one_of), (other, other_of) = (lines.on(half) for half in halves)
        together = csr_array((np.ones(len(lines)), (one_of, other_of)), shape=(len(one), len(other)))
        linked = 0
        for start in range(0, len(people), PEOPLE_AT_ONCE):
            some = people[start : start + PEOPLE_AT_ONCE]
            near, near_other = (
                part.near(some[:, half], self.neighbours).marked(len(some), len(part))
                for part, half in zip((one, other), halves, strict=True)
            )
            linked += int(((near @ together) * near_other).sum(axis=1).astype(bool).sum())
        return linked
