"""t-closeness as cormode2013 prints it: a node further than t from the table is not cut, so that leaves may be further.

Nothing here is a method of the program: what is published as printed is under no claim.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data import Table
from sfumato.mechanisms.noise import Source
from sfumato.methods.base import Method
from sfumato.methods.growing.cuts import Cuts
from sfumato.methods.growing.points import Points, Runs
from sfumato.methods.growing.regions import count_by_class
from sfumato.methods.partition.decide import Cut, grow, number_classes, sweep_rule
from sfumato.methods.partition.search import Search, chosen, count_values
from sfumato.privacy.claims import NoGuarantee
from sfumato.privacy.distances import Distance
from sfumato.privacy.requirements import KAnonymity, Population, TCloseness
from sfumato.release import Release
from sfumato.release.boxes import Boxes


@dataclass(frozen=True, eq=False, kw_only=True)
class StoppingSearch(Search):
    """Cuts of regions that satisfy what their parts need not satisfy."""

    before: TCloseness
    only_size = False

    def best(self, runs: Runs, most: int = 1) -> Cuts:
        cuts, order = super().best(runs, most), runs.order
        ranges = zip(runs.starts, runs.ends, strict=True)
        histograms = np.array([count_values(self.points, order[start:end]) for start, end in ranges])
        near = self.before.holds(histograms, self.population)
        return chosen(cuts, np.flatnonzero(near[cuts.region]))


@dataclass(frozen=True, kw_only=True)
class StoppedMondrian(Method):
    """Mondrian with at least `k` rows in a class; nodes beyond `t` are not cut.

    Claim: none.
    Assumes: nothing.
    Cost: that of Mondrian.
    Reference: paper cormode2013 section III.
    """

    name: ClassVar[str] = "stopped-mondrian"
    k: int
    t: float
    distance: Distance = "equal"
    cut: Cut = "median"

    @property
    def claim(self) -> NoGuarantee:
        return NoGuarantee(reason="cutting stops after a class is too far from the table, so that it may be further")

    def _publish(self, table: Table, source: Source) -> Release:
        points, requirements = Points.of(table, missing_first=True).arrays, (KAnonymity(k=self.k),)
        search = StoppingSearch(
            points=points,
            requirements=requirements,
            population=Population(table.overall, table.schema.sensitive),
            rule=sweep_rule(requirements, self.cut),
            before=TCloseness(t=self.t, distance=self.distance),
        )
        class_of = number_classes(grow(search, table))
        histograms = count_by_class(table, class_of, int(class_of.max()) + 1).astype(np.float64)
        return self.make_release(table, Boxes.around(table.points, class_of, len(histograms)), histograms)
