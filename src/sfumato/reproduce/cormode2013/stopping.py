"""t-closeness as cormode2013 prints it: a node further than t from the table is not cut, so that leaves may be further.

Also k-anonymity with a limited height of the tree. Nothing here is a method of the program: what is published as
printed is under no claim.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.mechanisms.noise import Source
from sfumato.methods.base import Method
from sfumato.methods.growing.points import Points
from sfumato.methods.growing.regions import Regions, count_by_class, merge_regions
from sfumato.methods.partition.decide import Cut, sweep_rule
from sfumato.methods.partition.search import Search
from sfumato.privacy.claims import NoGuarantee
from sfumato.privacy.distances import Distance, distance, shares
from sfumato.privacy.requirements import KAnonymity, Population
from sfumato.release import Release
from sfumato.release.boxes import Boxes


@dataclass(frozen=True, kw_only=True)
class StoppedMondrian(Method):
    """Mondrian with at least `k` rows in a class; nodes beyond `t` or at the last level are not cut.

    Claim: none.
    Assumes: nothing.
    Cost: that of Mondrian.
    Reference: paper cormode2013 section III.
    """

    name: ClassVar[str] = "stopped-mondrian"
    k: int
    t: float = np.inf
    distance: Distance = "equal"
    height: int = 1_000
    cut: Cut = "median"

    @property
    def claim(self) -> NoGuarantee:
        return NoGuarantee(reason="cutting stops after a class is too far from the table, so that it may be further")

    def _publish(self, table: Table, source: Source) -> Release:
        class_of = self._grow(table).owners()
        histograms = count_by_class(table, class_of, int(class_of.max()) + 1).astype(np.float64)
        return self.make_release(table, Boxes.around(table.points, class_of, len(histograms)), histograms)

    def _grow(self, table: Table) -> Regions:
        points, requirements = Points.of(table, missing_first=True), (KAnonymity(k=self.k),)
        population = Population(table.overall, table.schema.sensitive)
        search = Search(points.arrays, requirements, population, sweep_rule(requirements, self.cut))
        regions, leaves = Regions.whole(points), []
        for level in range(self.height + 1):
            is_open = self._near(regions, table) if level < self.height else np.zeros(len(regions), dtype=bool)
            leaves.append(regions[~is_open])
            regions = regions[is_open]
            if not len(regions):
                break
            cuts = search.decide(regions.runs, np.zeros((len(regions), 0), dtype=np.int64))
            uncut = np.setdiff1d(np.arange(len(regions)), cuts.region)
            leaves.append(regions[uncut])
            regions, _ = regions[cuts.region].split(cuts.axis, cuts.position)
        return merge_regions(leaves)

    def _near(self, regions: Regions, table: Table) -> NDArray[np.bool_]:
        """The regions that are not further than t from the table."""
        apart = distance(shares(regions.histograms()), shares(table.overall), table.schema.sensitive, self.distance)
        return np.asarray(apart <= self.t)
