"""The pilot: a synthetic table bought with a share of ε, on which anything may be tried.

Whoever compares measures of the real rows and then publishes the best setting has looked at the rows, and no ε covers
that: the setting is a function of them without noise. A pilot is a release of its own, at a share ε₁ of the whole ε.
All that is computed from it alone (trials, attacks, workloads, the report, the chosen setting) is post-processing and
costs nothing more. The chosen setting is then published on the real rows at ε − ε₁. Both together compose, the second
chosen after seeing the first, to ε (adaptive sequential composition).

A pilot is bought once for a table: it is kept as a release folder beside the trials, and the ledger knows it by the
name in its `release.json` and by a keyed digest of the rows it was made from. It is made by PrivBayes, whatever the
table: of the private methods it keeps most of the relations by which settings differ, on any number of columns.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from sfumato.data import Table
from sfumato.errors import ParameterError
from sfumato.methods import PrivBayes
from sfumato.privacy.claims import Choice, Differential
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.loss import exact
from sfumato.publish.publication import draw, publication_of
from sfumato.release import Release

SHARE = 0.15
"""Of ε, what a pilot costs unless told otherwise."""
FOLDER = "pilot"
PILOT_LIMITS = (
    "Rare groups: what few people share is hidden by the pilot's own noise, so how a release treats them shows only "
    "on the rows themselves.",
    "The worst-off person: the largest belief shift and the largest gain are those of synthetic people.",
    "Fine detail: methods that model a table as the pilot's own method does look a little better than they are.",
)
"""What a pilot cannot tell."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Pilot:
    """A synthetic table that was paid for."""

    release: Release

    def __post_init__(self) -> None:
        if not isinstance(self.release.claim, Differential) or self.release.provenance.id is None:
            raise ParameterError("a pilot is a differentially private release that was charged to a ledger")

    @property
    def choice(self) -> Choice:
        """What choosing on it adds to a claim."""
        claim, name = self.release.claim, self.release.provenance.id
        assert isinstance(claim, Differential)
        assert name
        return Choice(epsilon=claim.epsilon, pilot=name)

    @cached_property
    def table(self) -> Table:
        """Its rows, to be tried and measured like any table."""
        counts = self.release.histograms.round().astype(np.int64)
        if not counts.any():
            raise ParameterError("the pilot has no rows: so small an epsilon tells nothing about so few people")
        points = np.where(self.release.boxes.missing, -1, self.release.boxes.lo).astype(np.int32)
        order = np.lexsort(points.T[::-1])
        point, value = np.nonzero(counts[order])
        return Table(
            schema=self.release.schema,
            points=np.ascontiguousarray(points[order]),
            cell_point=point,
            cell_value=value.astype(np.int32),
            cell_weight=counts[order][point, value],
        )

    def rest(self, epsilon: float) -> float:
        """What is left of ε for the release itself."""
        left = exact(epsilon) - exact(self.choice.epsilon)
        if left <= 0:
            raise ParameterError(
                f"epsilon is {epsilon:g}, but the pilot alone cost {self.choice.epsilon:g}; give a larger epsilon"
            )
        return float(left)


def find_pilot(table: Table, epsilon: float, *, folder: Path | None, ledger: Ledger, share: float, anew: bool) -> Pilot:
    """The pilot of a table: the one in the folder if it was bought for the same rows, else a new one."""
    if table.schema.from_data:
        names = ", ".join(table.schema.from_data)
        raise ParameterError(
            f"the bounds or values of {names} were read off the rows, so that no pilot would promise anything; if they "
            "are public knowledge, delete from_data in the schema"
        )
    part = exact(share, "the pilot's share")
    if part >= 1:
        raise ParameterError(f"the pilot's share is {float(part):g}; expected a number above 0 and below 1")
    kept = folder / FOLDER if folder else None
    if kept and kept.exists() and not anew:
        pilot = Pilot(release=Release.load(kept))
        if not ledger.charged(pilot.choice.pilot, table.schema.name, table.digest):
            raise ParameterError(
                f"{kept}: this pilot was bought for other rows, or is not in the ledger {ledger.path}; choose another "
                "folder, or have a new pilot bought"
            )
        return pilot
    method = PrivBayes(epsilon=float(exact(epsilon) * part))
    with publication_of(method, table, kept or "", ledger=ledger, replace_release=anew, beforehand=True) as publication:
        release = draw(publication, method, table)
        if kept:
            publication.write(release)
    return Pilot(release=release)
