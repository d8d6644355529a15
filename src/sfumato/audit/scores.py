"""Scores: how much more of a canary is in the output than would be there whatever its coin showed.

An output shows a row in its full agreement, in its pairs and triples of values, or in its neighbourhood, depending on
what a program counts; there is one score for each. Which one is used is decided before the coins that count.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sfumato.audit.canaries import Codes, apart, count_agreeing
from sfumato.schema import Axis

WIDE, GROUPS = 16, 8
"""Axes of more positions than this are also looked at in so many groups."""
REACH = 0.2
"""The distance over which a neighbour's weight falls by a factor of e."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Weighted:
    """Rows with weights."""

    codes: Codes
    weights: NDArray[np.float64]

    @staticmethod
    def distinct(codes: Codes) -> "Weighted":
        """Every distinct row, weighted by how often it occurs."""
        found, counts = np.unique(codes, axis=0, return_counts=True)
        return Weighted(codes=found, weights=counts.astype(np.float64))


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """What an auditor sees: the output, and what was in the input for certain (people) or by a coin (canaries)."""

    axes: Sequence[Axis]
    canaries: Codes
    people: Weighted
    output: Weighted

    @property
    def scale(self) -> float:
        """Rows of the output for each row that was expected in the input."""
        return float(self.output.weights.sum() / (self.people.weights.sum() + len(self.canaries) / 2))

    def score_all(self) -> dict[str, NDArray[np.float64]]:
        """Every score of every canary; the higher, the likelier it was in the input."""
        axes = range(len(self.axes))
        found = {
            "exact": self._agreement([tuple(axes)]),
            "triples": self._agreement(combinations(axes, min(3, len(axes)))),
            "pairs": self._agreement(combinations(axes, min(2, len(axes)))),
            "neighbours": self._neighbours(),
        }
        if any(axis.size > WIDE for axis in self.axes):
            coarse = self._coarse()
            found["coarse"] = coarse._agreement([tuple(axes)])
            found["coarse triples"] = coarse._agreement(combinations(axes, min(3, len(axes))))
            found["coarse pairs"] = coarse._agreement(combinations(axes, min(2, len(axes))))
        return found

    def _agreement(self, sets: Iterable[tuple[int, ...]]) -> NDArray[np.float64]:
        """Rows that agree with a canary on a set of columns, standardized, summed over the sets."""

        def count(chosen: list[int], rows: Weighted) -> NDArray[np.float64]:
            sizes = [self.axes[axis].size for axis in chosen]
            return count_agreeing(self.canaries[:, chosen], rows.codes[:, chosen], sizes, rows.weights)

        parts = [self._standardize(partial(count, list(columns))) for columns in sets]
        return np.asarray(np.sum(parts, axis=0))

    def _neighbours(self) -> NDArray[np.float64]:
        """Rows near a canary, each weighted by e^(−distance / reach), standardized.

        A distance is a sum over the axes, so its weight is a product, and each axis is looked up by distinct value.
        """

        def count(rows: Weighted) -> NDArray[np.float64]:
            columns = [np.unique(column, return_inverse=True) for column in rows.codes.T]

            def near(canary: NDArray[np.int32]) -> float:
                weights = rows.weights.copy()
                for code, (values, where), axis in zip(canary.tolist(), columns, self.axes, strict=True):
                    weights *= np.exp(-apart(code, values, axis) / REACH)[where.reshape(-1)]
                return float(weights.sum())

            return np.fromiter(map(near, self.canaries), dtype=np.float64, count=len(self.canaries))

        return self._standardize(count)

    def _standardize(self, count: Callable[[Weighted], NDArray[np.float64]]) -> NDArray[np.float64]:
        """(found − expected) / √(expected + 1), where the expected count has half of every canary."""
        halves = Weighted(codes=self.canaries, weights=np.full(len(self.canaries), 0.5))
        expected = self.scale * (count(self.people) + count(halves))
        return (count(self.output) - expected) / np.sqrt(expected + 1)

    def _coarse(self) -> "Evidence":
        """The same with wide axes cut into groups."""

        def group(codes: Codes) -> Codes:
            found = codes.copy()
            for number, axis in enumerate(self.axes):
                if axis.size > WIDE:
                    grouped = found[:, number].astype(np.int64) * GROUPS // axis.size
                    found[:, number] = np.where(found[:, number] < 0, -1, grouped)
            return found

        return Evidence(
            axes=self.axes,
            canaries=group(self.canaries),
            people=Weighted(codes=group(self.people.codes), weights=self.people.weights),
            output=Weighted(codes=group(self.output.codes), weights=self.output.weights),
        )
