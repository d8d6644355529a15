"""Additive noise (Kim, 1986; Brand, 2002): normal noise on numbers, for each column by itself or together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.mechanisms.noise import Source
from sfumato.methods.perturb.perturbation import Perturbation, Rows
from sfumato.parameters import parameter
from sfumato.privacy.claims import NoGuarantee

TRIED = 0.3
"""The scale that a frontier tries."""


@dataclass(frozen=True, kw_only=True)
class AdditiveNoise(Perturbation):
    """Numeric quasi-identifiers with normal noise of `scale` standard deviations of the column, rounded to its grid.

    With `correlated` the noise of a row's columns goes together as the columns do, so that their correlations stay.
    Missing values stay missing, and what leaves the range of the column stops at its end.

    Claim: none; in particular this is no noise of differential privacy, for its size is read off the rows.
    Assumes: nothing.
    Cost: O(rows × axes²).
    Reference: Brand, Microdata protection through noise addition, 2002.

    >>> sf.AdditiveNoise(scale=0.3).publish(table).rows
    400.0
    """

    name: ClassVar[str] = "noise"
    title: ClassVar[str] = "Additive noise"
    kind: ClassVar[str | None] = "numeric"
    scale: float = parameter(
        help="the deviation of the noise, as a share of that of the column", above=0, maximum=100, example=0.3,
        label=" {:g}",
    )  # fmt: skip
    correlated: bool = parameter(default=False, help="noise that goes together as the columns do", label=" correlated")

    def _changed(self, table: Table, positions: Rows, source: Source) -> dict[int, Rows]:
        numbers = self.changes(table)
        sizes = np.array([table.schema.quasi[number].size for number in numbers])
        columns = positions[:, numbers]
        known = columns < sizes
        noise = normal(columns.shape, source) @ self._spread(columns, known)
        moved = np.clip(np.floor(columns + noise + 0.5), 0, sizes - 1)
        found = np.where(known, moved, columns).astype(np.int64)
        return dict(zip(numbers, found.T, strict=True))

    def _spread(self, columns: Rows, known: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The matrix that makes independent normal numbers into noise: a root of its covariance."""
        means = (columns * known).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        away = np.where(known, columns - means, 0.0)
        covariance = away.T @ away / len(columns)
        if not self.correlated:
            return self.scale * np.diag(np.sqrt((away**2).sum(axis=0) / np.maximum(known.sum(axis=0), 1)))
        values, vectors = np.linalg.eigh(covariance)
        return np.asarray(self.scale * (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T)

    @property
    def claim(self) -> NoGuarantee:
        return NoGuarantee(
            reason=f"numbers got noise of {self.scale:.3g} of their own spread, which bounds nothing: a person far "
            "from the others stays far from them"
        )

    @classmethod
    def grid(cls, table: Table, epsilons: Sequence[float] = ()) -> Iterator[Self]:
        if cls.suits(table):
            yield cls(scale=TRIED)


def normal(shape: tuple[int, ...], source: Source) -> NDArray[np.float64]:
    """Independent standard normal numbers (Box and Muller, 1958); they promise nothing, and need not be exact."""
    count = int(np.prod(shape))
    radius = np.sqrt(-2 * np.log1p(-source.uniforms(count)))
    return np.asarray((radius * np.cos(2 * np.pi * source.uniforms(count))).reshape(shape))
