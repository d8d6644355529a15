"""Mondrian (LeFevre, DeWitt and Ramakrishnan, 2006) under any combination of requirements.

Builds the partitions that li2009 section 5 and cormode2013 section II compare, in both recodings: generalized
rows, or exact quasi-identifiers with the sensitive values of each class detached.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.data.large import LargeTable
from sfumato.errors import ParameterError
from sfumato.mechanisms.noise import Source
from sfumato.methods.base import refuse_kept_columns
from sfumato.methods.partition.decide import Cut, partition
from sfumato.methods.partition.regions import grow_regions
from sfumato.methods.partition.requiring import RequiringMethod, sizes_for, smallest_class
from sfumato.methods.partition.suppress import leave_out
from sfumato.methods.partition.units import refuse_unknown_units
from sfumato.parameters import parameter
from sfumato.privacy.claims import Syntactic
from sfumato.release.boxes import Boxes
from sfumato.release.histograms import histograms_of
from sfumato.release.release import Release

Recoding = Literal["generalize", "bucketize"]

K_GRID = (2, 5, 10, 20, 50, 100, 300, 1000, 5000)
L_GRID = (1.5, 2, 3, 4, 6, 8)
T_GRID = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
DELTA_GRID = (0.5, 1, 2)
MAX_LOOK_AHEAD = 4
FLOOR = 5
"""Classes below this size are not tried under requirements that do not bound the size themselves."""


@dataclass(frozen=True, kw_only=True)
class Mondrian(RequiringMethod):
    """Strict multidimensional partitioning.

    `k`, `l` (probabilistic ℓ-diversity), `t` (with `distance`) and `delta` are short for the requirements of these
    names; `requirements` takes any others. `cut` is `ncp` (the cut that lowers the normalized certainty
    penalty most), `median` (as published: the widest axis at its median) or `purity` (the cut that best separates the
    sensitive values, for those who learn to predict them). With `look_ahead` several ncp cuts in a row are tried, and
    what they lead to decides. `height` is how many cuts may lead to a class. `suppress` is the share of rows
    that may be left out where that makes up for itself in what the others gain.

    Claim: every published class satisfies every requirement.
    Assumes: the adversary knows the quasi-identifiers and nothing else.
    Cost: O(points x axes² x depth) time, O(points x axes) memory.
    Reference: papers li2009 section 5, cormode2013 sections II and III (height); LeFevre, DeWitt and
    Ramakrishnan, Workload-aware anonymization, KDD 2006 (cuts for learning).

    >>> sf.Mondrian(k=10, l=1.5).publish(table).rows
    400.0
    """

    name: ClassVar[str] = "mondrian"
    cut: Cut = parameter(
        default="ncp",
        help="for the least information loss (ncp, the default), at the median of the widest axis, or where sensitive "
        "values are best told apart (purity, for learning)",
    )
    look_ahead: int = parameter(
        default=1,
        help="after how many cuts others are tried still; more is finer and slower, 0 takes the best cut at each step",
        minimum=0,
        maximum=MAX_LOOK_AHEAD,
    )
    height: int | None = parameter(
        default=None,
        help="how many cuts may lead to a class; fewer make classes larger (by default as many as are allowed)",
        minimum=0,
        example=8,
    )
    suppress: float = parameter(
        default=0.0,
        help="the share of rows that may be left out, where a few people make classes wide (none by default)",
        minimum=0,
        below=1,
    )
    recoding: Recoding = parameter(
        default="generalize",
        help="generalized rows (the default), or exact quasi-identifiers with the sensitive values of each bucket",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.suppress and self.recoding == "bucketize":
            raise ParameterError("suppress goes with generalized rows: buckets are not wide, whoever is in them")

    @property
    def takes_large(self) -> bool:
        """Points are published one by one in buckets; who is left out, and how high the tree is, all classes decide."""
        return self.recoding == "generalize" and not self.suppress and self.height is None

    def _publish(self, table: Table, source: Source) -> Release:
        if isinstance(table, LargeTable):
            found = grow_regions(table, self.all_requirements, self.cut, self.look_ahead)
            histograms = histograms_of(found.number, found.value, found.rows, len(found.lo), table.values)
            return self.make_release(table, Boxes(found.lo, found.hi, found.missing), histograms, kept=found.kept)
        if self.recoding == "bucketize":
            refuse_kept_columns(table, "bucketization takes rows apart; use generalization or another role")
        class_of = self._classify(table)
        number = class_of[table.cell_point]
        inside, classes = number >= 0, int(class_of.max()) + 1
        value, rows = table.cell_value[inside], table.cell_weight[inside]
        histograms = histograms_of(number[inside], value, rows, classes, table.values)
        units = table.survey.units(number, classes) if table.survey else {}
        if self.recoding == "generalize":
            staying = class_of >= 0
            boxes = Boxes.around(table.points[staying], class_of[staying], len(histograms))
            return self.make_release(table, boxes, histograms, kept=table.kept_rows(class_of), units=units)
        boxes, weights = Boxes.of_points(table.points), table.weights.astype(np.float64)
        more = {"weights": weights, "group_of": class_of, "layout": "buckets", "units": units}
        return self.make_release(table, boxes, histograms, **more)

    def refuse(self, table: Table) -> None:
        super().refuse(table)
        refuse_unknown_units(table, self.all_requirements)

    def _classify(self, table: Table) -> NDArray[np.int64]:
        """The class of each point, −1 for those left out."""

        def partitioner(some: Table) -> NDArray[np.int64]:
            return partition(some, self.all_requirements, self.cut, look_ahead=self.look_ahead, height=self.height)

        if not self.suppress:
            return partitioner(table)
        return leave_out(table, self.suppress, smallest_class(self.all_requirements), partitioner)

    @property
    def claim(self) -> Syntactic:
        claim = Syntactic(requirements=self.all_requirements, buckets=self.recoding == "bucketize")
        if not self.suppress:
            return claim
        return claim.assuming(
            f"up to {self.suppress:.3g} of the people are left out, who stand at the ends of classes; the requirements "
            "are about those who are published"
        )

    @property
    def series(self) -> str:
        return self.all_requirements[-1].name

    @property
    def label(self) -> str:
        extras = [self.cut] * (self.cut != "ncp") + ["bucketized"] * (self.recoding == "bucketize")
        extras += [f"{self.look_ahead} cuts ahead"] * (self.look_ahead != 1)
        extras += [f"height {self.height}"] * (self.height is not None)
        extras += [f"{self.suppress:g} suppressed"] * (self.suppress > 0)
        return f"Mondrian {' '.join(self._named())}" + (f" ({', '.join(extras)})" if extras else "")

    @classmethod
    def grid(cls, table: Table, epsilons: Sequence[float] = ()) -> Iterator[Self]:
        """k, ℓ, t and δ as far as so many rows allow them, and every second ℓ, t and δ with exact quasi-identifiers.

        Columns to keep rule those out.
        """
        table = table.people
        for recoding in get_args(Recoding)[: 1 if table.schema.keep else None]:
            every = 1 if recoding == "generalize" else 2
            sizes = list(sizes_for(table, K_GRID))
            diverse = [l for l in L_GRID if l * table.commonest <= table.n]
            if recoding == "generalize":  # Buckets of any size can hold one value only.
                yield from (cls(k=k) for k in sizes)
            yield from (cls(k=FLOOR, l=l, recoding=recoding) for l in diverse[::every])
            yield from (cls(k=FLOOR, t=t, distance="jensen-shannon", recoding=recoding) for t in T_GRID[::every])
            yield from (cls(k=FLOOR, delta=delta, recoding=recoding) for delta in DELTA_GRID[::every])
