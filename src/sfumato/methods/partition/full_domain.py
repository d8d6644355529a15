"""Full-domain recoding (Samarati, 2001; LeFevre, DeWitt and Ramakrishnan, Incognito, 2005): one level for each column.

Every value of a column is generalized to the same level of its taxonomy, so the whole column reads alike; of all
vectors of levels the one that loses least is published.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from sfumato.data import Table
from sfumato.errors import ParameterError, UnsatisfiableError
from sfumato.mechanisms.noise import Source
from sfumato.methods.partition.decide import check_root
from sfumato.methods.partition.lattice import Found, Lattice
from sfumato.methods.partition.level_costs import Objective
from sfumato.methods.partition.levels import Vector, classes_of
from sfumato.methods.partition.requiring import RequiringMethod, sizes_for
from sfumato.methods.positions import boxes_of_positions
from sfumato.parameters import parameter
from sfumato.privacy.claims import Syntactic
from sfumato.privacy.requirements import Population
from sfumato.release.histograms import histograms_of
from sfumato.release.release import Release

K_GRID = (5, 10, 50, 300)
L_GRID = (1.5, 3)
FLOOR = 5
"""Classes below this size are not tried under requirements that do not bound the size themselves."""
LEFT_OUT = 0.02
"""The share of rows that may be left out in one of the settings that are tried."""
STOPPED = "level vectors"
"""What is counted where a search stopped before its end."""


@dataclass(frozen=True, kw_only=True)
class FullDomain(RequiringMethod):
    """One level of generalization for each whole column: of all vectors of levels, the one that loses least.

    Requirements are asked for as those of Mondrian. `suppress` is the share of rows that may be left out: all classes
    that fail are, until none does. `measure` says what is lost: `ncp` (the share of its range that a value spans),
    `discernibility` (the rows that look like a row) or `precision` (the share of the height of its taxonomy that a
    value has gone up). A row left out counts as one of which nothing is known.

    Claim: every published class satisfies every requirement.
    Assumes: the adversary knows the quasi-identifiers and nothing else.
    Cost: O(classes log classes) for each vector that cannot be ruled out; there are as many as the product of levels,
    and after `limit` of them the best so far is taken, which the release then says.
    Reference: LeFevre, DeWitt and Ramakrishnan, Incognito, SIGMOD 2005; Kohlmayer et al., Flash, 2012.

    >>> sf.FullDomain(k=10, suppress=0.02).publish(table).rows >= 392
    True
    """

    name: ClassVar[str] = "full-domain"
    suppress: float = parameter(
        default=0.0,
        help="the share of rows that may be left out, with the classes that fail (none by default)",
        minimum=0,
        below=1,
    )
    measure: Objective = parameter(
        default="ncp",
        help="what the levels lose least of: the range that values span (ncp, the default), rows that look alike "
        "(discernibility), or steps up taxonomies (precision)",
    )
    limit: int = parameter(default=100_000, help="after how many vectors of levels the best so far is taken", minimum=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        for requirement in self.all_requirements:
            if requirement.unit != "rows":
                raise ParameterError(
                    f"{requirement} counts {requirement.unit}, and {self.name} counts rows; use mondrian"
                )

    def _publish(self, table: Table, source: Source) -> Release:
        if not self.suppress:
            check_root(table, self.all_requirements, Population(table.overall, table.schema.sensitive))
        lattice = Lattice(table, self.all_requirements, self.measure, int(self.suppress * table.n), self.limit)
        found = lattice.search()
        if found.vector is None:
            raise UnsatisfiableError(self._why_not(table, found))
        made = {} if found.stopped_after is None else {STOPPED: found.stopped_after}
        return self._release(table, lattice, found.vector, made)

    def _why_not(self, table: Table, found: Found) -> str:
        asked = " and ".join(map(str, self.all_requirements))
        which = "no levels" if found.stopped_after is None else f"none of the first {found.stopped_after:,} levels"
        return (
            f"{which} of this table's columns satisfy {asked} with at most {int(self.suppress * table.n):,} of its "
            f"{table.n:,} rows left out"
        )

    def _release(self, table: Table, lattice: Lattice, vector: Vector, made: dict[str, int]) -> Release:
        staying, _ = lattice.staying(lattice.classes(vector))
        assert staying is not None
        keys = classes_of(np.arange(len(table.points)), vector, lattice.levels)
        _, first, class_of = np.unique(keys, return_index=True, return_inverse=True)
        class_of = np.where(staying, np.cumsum(staying) - 1, -1)[class_of.reshape(-1)]
        number = class_of[table.cell_point]
        inside = number >= 0
        histograms = histograms_of(
            number[inside], table.cell_value[inside], table.cell_weight[inside], int(staying.sum()), table.values
        )
        chosen = list(zip(lattice.levels, vector, strict=True))
        where = [known.value_of[first[staying]] for known in lattice.levels]
        low = np.column_stack([known.lo[level][at] for (known, level), at in zip(chosen, where, strict=True)])
        high = np.column_stack([known.hi[level][at] for (known, level), at in zip(chosen, where, strict=True)])
        boxes, kept = boxes_of_positions(low, high, table.schema.quasi), table.kept_rows(class_of)
        return self.make_release(table, boxes, histograms, kept=kept, provenance=self.provenance(**made))

    @property
    def claim(self) -> Syntactic:
        claim = Syntactic(requirements=self.all_requirements)
        if not self.suppress:
            return claim
        return claim.assuming(
            f"up to {self.suppress:.3g} of the people are left out, who would stand in classes that fail; the "
            "requirements are about those who are published"
        )

    @property
    def label(self) -> str:
        extras = [f"{self.suppress:g} suppressed"] * (self.suppress > 0) + [self.measure] * (self.measure != "ncp")
        extras += [f"of {self.limit:,}"] * (self.limit != type(self).limit)
        return f"Full domain {' '.join(self._named())}" + (f" ({', '.join(extras)})" if extras else "")

    @classmethod
    def grid(cls, table: Table, epsilons: Sequence[float] = ()) -> Iterator[Self]:
        """k and ℓ as far as so many rows allow them, and one k with a few rows left out."""
        table = table.people
        yield from (cls(k=k) for k in sizes_for(table, K_GRID))
        yield from (cls(k=k, suppress=LEFT_OUT) for k in sizes_for(table, K_GRID[:2]))
        yield from (cls(k=FLOOR, l=l) for l in L_GRID if l * table.commonest <= table.n)
