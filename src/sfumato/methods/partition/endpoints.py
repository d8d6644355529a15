"""The two ends of every frontier: publish everything as it is, or nothing but the sensitive column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data import Table
from sfumato.mechanisms.noise import Source
from sfumato.methods.base import Method
from sfumato.privacy.claims import NoGuarantee, Syntactic
from sfumato.privacy.requirements import TCloseness
from sfumato.release.boxes import Boxes
from sfumato.release.release import Release


@dataclass(frozen=True, kw_only=True)
class Original(Method):
    """The table as it is, identifiers removed.

    Claim: none.
    Assumes: nothing.
    Cost: O(points).
    Reference: paper li2009 section 4.3.
    """

    name: ClassVar[str] = "original"

    def _publish(self, table: Table, source: Source) -> Release:
        points = np.arange(len(table.points))
        return Release(
            schema=table.schema.public(),
            boxes=Boxes.of_points(table.points),
            weights=table.weights.astype(np.float64),
            group_of=points,
            histograms=table.histograms.astype(np.float64),
            claim=self.claim,
            provenance=self.provenance(),
            kept=table.kept_rows(points),
        )

    @property
    def claim(self) -> NoGuarantee:
        return NoGuarantee(reason="these are the original rows")

    @property
    def label(self) -> str:
        return "Original table"

    @classmethod
    def grid(cls, table: Table) -> Iterator[Original]:
        yield cls()


@dataclass(frozen=True, kw_only=True)
class FullSuppression(Method):
    """Every quasi-identifier suppressed: only the overall distribution of the sensitive attribute is left.

    Claim: every class (there is one) has exactly the distribution of the whole table.
    Assumes: the overall distribution may be known.
    Cost: O(cells).
    Reference: paper li2009 section 4.3, trivial anonymization.
    """

    name: ClassVar[str] = "suppression"

    def _publish(self, table: Table, source: Source) -> Release:
        return Release(
            schema=table.schema.public(),
            boxes=Boxes.whole(table.schema.quasi),
            weights=np.array([float(table.n)]),
            group_of=np.zeros(1, dtype=np.int64),
            histograms=table.overall[None, :].astype(np.float64),
            claim=self.claim,
            provenance=self.provenance(),
            kept=table.kept_rows(np.zeros(len(table.points), dtype=np.int64)),
        )

    @property
    def claim(self) -> Syntactic:
        return Syntactic(requirements=(TCloseness(t=0),))

    @property
    def label(self) -> str:
        return "Full suppression"

    @classmethod
    def grid(cls, table: Table) -> Iterator[FullSuppression]:
        yield cls()
