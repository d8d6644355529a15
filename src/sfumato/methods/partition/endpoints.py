"""The two ends of every frontier: publish everything as it is, or nothing but the sensitive column."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data import Table
from sfumato.mechanisms.noise import Source
from sfumato.methods.base import Endpoint, Method
from sfumato.privacy.claims import NoGuarantee, Syntactic
from sfumato.privacy.requirements import TCloseness
from sfumato.release.boxes import Boxes
from sfumato.release.histograms import histograms_of
from sfumato.release.release import Release


@dataclass(frozen=True, kw_only=True)
class Original(Method):
    """The table as it is, identifiers removed.

    Claim: none.
    Assumes: nothing.
    Cost: O(points).
    Reference: paper li2009 section 4.3.

    >>> release = sf.Original().publish(table)
    """

    name: ClassVar[str] = "original"
    title: ClassVar[str] = "Original table"
    endpoint: ClassVar[Endpoint | None] = "original"

    def _publish(self, table: Table, source: Source) -> Release:
        boxes, points = Boxes.of_points(table.points), len(table.points)
        histograms = histograms_of(table.cell_point, table.cell_value, table.cell_weight, points, table.values)
        units = table.survey.units(table.cell_point, points) if table.survey else {}
        kept = table.kept_rows(np.arange(len(table.points)))
        return self.make_release(table, boxes, histograms, kept=kept, units=units)

    @property
    def claim(self) -> NoGuarantee:
        return NoGuarantee(reason="these are the original rows")


@dataclass(frozen=True, kw_only=True)
class FullSuppression(Method):
    """Every quasi-identifier suppressed: only the overall distribution of the sensitive attribute is left.

    Claim: every class (there is one) has exactly the distribution of the whole table.
    Assumes: the overall distribution may be known.
    Cost: O(cells).
    Reference: paper li2009 section 4.3, trivial anonymization.

    >>> release = sf.FullSuppression().publish(table)
    """

    name: ClassVar[str] = "suppression"
    title: ClassVar[str] = "Full suppression"
    endpoint: ClassVar[Endpoint | None] = "suppressed"

    def _publish(self, table: Table, source: Source) -> Release:
        kept = table.kept_rows(np.zeros(len(table.points), dtype=np.int64))
        overall = table.overall[None, :].astype(np.float64)
        units = table.survey.units(np.zeros(len(table.cell_weight), dtype=np.int64), 1) if table.survey else {}
        return self.make_release(table, Boxes.whole(table.schema.quasi), overall, kept=kept, units=units)

    @property
    def claim(self) -> Syntactic:
        return Syntactic(requirements=(TCloseness(t=0),))
