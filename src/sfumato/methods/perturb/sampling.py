"""Sampling: a share of the rows, as they are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from sfumato.data import Table
from sfumato.mechanisms.noise import Source
from sfumato.methods.base import Method, refuse_kept_columns
from sfumato.methods.perturb.perturbation import release_of_rows
from sfumato.methods.positions import positions_of
from sfumato.parameters import parameter
from sfumato.privacy.claims import NoGuarantee
from sfumato.release.release import Release

TRIED = 0.1
"""The share that a frontier tries."""


@dataclass(frozen=True, kw_only=True)
class Sampling(Method):
    """A share of the rows drawn at random and published as they are; the others are left out.

    Claim: none. Who is in the sample is published exactly; that nobody knows who is in it is all there is.
    Assumes: nothing.
    Cost: O(rows log rows).
    Reference: Willenborg and de Waal, Elements of statistical disclosure control, 2001, section 1.4.

    >>> sf.Sampling(share=0.25).publish(table).rows
    100.0
    """

    name: ClassVar[str] = "sampling"
    title: ClassVar[str] = "Sampling"
    randomized: ClassVar[bool] = True
    share: float = parameter(
        help="the share of rows that are published, of which there is one at least",
        above=0, maximum=1, example=0.1, label=" {:g}",
    )  # fmt: skip

    def refuse(self, table: Table) -> None:
        super().refuse(table)
        refuse_kept_columns(table, "sampling chooses among rows that look alike without looking at it")

    def _publish(self, table: Table, source: Source) -> Release:
        chosen = np.sort(source.permutation(table.n)[: max(int(self.share * table.n + 0.5), 1)])
        cell = np.searchsorted(np.cumsum(table.cell_weight), chosen, side="right")
        return release_of_rows(self, table, positions_of(table)[table.cell_point[cell]], table.cell_value[cell])

    @property
    def claim(self) -> NoGuarantee:
        return NoGuarantee(
            reason=f"a share of {self.share:.3g} of the rows is published as it is, and a person who is alone with "
            "their values is found if their row was drawn"
        )

    @classmethod
    def grid(cls, table: Table, epsilons: Sequence[float] = ()) -> Iterator[Self]:
        if not table.schema.keep:
            yield cls(share=TRIED)
