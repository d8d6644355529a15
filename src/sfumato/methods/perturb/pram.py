"""The post-randomization method (Gouweleeuw, Kooiman, Willenborg and de Wolf, 1998) on categorical quasi-identifiers.

The sensitive column is left alone: what PRAM by a public matrix is for it, with the ε that such a matrix keeps, is
randomized response, which `local` publishes and undoes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from sfumato.data import Table
from sfumato.mechanisms.noise import Source
from sfumato.methods.perturb.perturbation import Perturbation, Rows
from sfumato.parameters import parameter
from sfumato.privacy.claims import NoGuarantee

TRIED = 0.8
"""How likely a value is kept where a frontier tries it."""


@dataclass(frozen=True, kw_only=True)
class PRAM(Perturbation):
    """Categorical quasi-identifiers kept with probability `keep`, and else drawn anew, each column by itself.

    The value that is drawn is any of the column's, all equally likely; with `invariant` as likely as it is in the
    table, so that counts of single columns stay what they were on average. Numbers stay as they are.

    Claim: none about a person. Of one value among m that is drawn anew with equal chances it holds that any two true
    values make a published one at most 1 + m · keep / (1 − keep) times as likely as each other; but who knows a
    person's numbers and other values is not held back by that.
    Assumes: nothing.
    Cost: O(rows × axes).
    Reference: Gouweleeuw et al., Post randomisation for statistical disclosure control, 1998.

    >>> sf.PRAM(keep=0.8).publish(table).rows
    400.0
    """

    name: ClassVar[str] = "pram"
    title: ClassVar[str] = "PRAM"
    kind: ClassVar[str | None] = "categorical"
    keep: float = parameter(
        help="how likely a value stays as it is without being drawn", minimum=0, maximum=1, example=0.8, label=" {:g}"
    )
    invariant: bool = parameter(
        default=False,
        help="draw values as often as they occur, so that counts stay right on average",
        label=" invariant",
    )

    def _changed(self, table: Table, positions: Rows, source: Source) -> dict[int, Rows]:
        return {number: self._drawn(table, number, positions[:, number], source) for number in self.changes(table)}

    def _drawn(self, table: Table, number: int, column: Rows, source: Source) -> Rows:
        size = table.schema.quasi[number].positions
        weights = np.bincount(column, minlength=size) if self.invariant else np.ones(size)
        upto = np.cumsum(weights)
        drawn = np.searchsorted(upto, source.uniforms(len(column)) * upto[-1], side="right")
        return np.where(source.uniforms(len(column)) < self.keep, column, np.minimum(drawn, size - 1))

    @property
    def claim(self) -> NoGuarantee:
        return NoGuarantee(
            reason=f"categories were kept with probability {self.keep:.3g} and else drawn anew, each by itself; "
            "numbers are as they were, and who knows several values of a person may still find the row"
        )

    @classmethod
    def grid(cls, table: Table, epsilons: Sequence[float] = ()) -> Iterator[Self]:
        if cls.suits(table):
            yield cls(keep=TRIED, invariant=True)
