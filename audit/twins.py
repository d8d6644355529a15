"""Broken twins: methods with one fault each, of kinds that were printed or shipped by others. The audit must catch all.

Some faults lie in the method, some in the noise or in the charges; so a twin is a method, a kind of budget, and what
is replaced while it runs.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from audit.cases import CASES, NARROW_OR_NOT, NEXT_TO_EACH_OTHER, Case
from audit.meddling import Forgetful, Meddling, Noiseless, Twin, UnitSensitivity
from audit.neighbours import Pair, schema_of
from audit.transcript import AuditedBudget
from audit.twins_of_models import TWINS_OF_MODELS
from sfumato.methods import DiffGen, DiffMulti, KDTree, PrivTree, QuadTree
from sfumato.methods.growing.regions import Regions
from sfumato.methods.growing.scan import DISCERNIBILITY
from sfumato.methods.trees import diffmulti
from sfumato.methods.trees.diffmulti import allocate, room_of
from sfumato.methods.trees.margins import buy_spreads
from sfumato.methods.trees.privtree import Decisions
from sfumato.methods.trees.spatial_tree import automatic_height
from sfumato.release.kernels import holding_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sfumato.data import Table
    from sfumato.mechanisms.budget import Budget, Ticks
    from sfumato.methods.growing.regions import Candidates
    from sfumato.release import Release


class ZeroTested(Meddling):
    """Parts without rows are counted as empty, so that they get no specializations."""

    def counts(self, exact: NDArray[np.integer], cost: Ticks) -> NDArray[np.int64]:
        noisy = self.budget.counts(exact, cost)
        noisy[np.asarray(exact).sum(axis=1) == 0] = 0
        return noisy


class PrintedZeroTest(DiffMulti):
    """DiffMulti as printed (equation 10): a partition whose exact count is zero is not specialized."""

    def _release(self, table: Table, budget: Budget) -> Release:
        return super()._release(table, ZeroTested(budget))  # type: ignore[arg-type]


class PrintedMidpoint(DiffMulti):
    """DiffMulti as printed for NCP: the cut lies midway between two values of the data."""

    def _choose_cuts(self, regions: Regions, budget: Budget, price: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        axis, position = super()._choose_cuts(regions, budget, price)
        moved = position.copy()
        for region in range(len(regions)):
            values = _members(regions, region)[:, axis[region]]
            below, above = values[values < position[region]], values[values >= position[region]]
            if len(below) and len(above):
                moved[region] = (below.max() + above.min() + 1) // 2
        return axis, moved


class PlainDiscernibility(DiffMulti):
    """Scored by −DM itself, as if one row changed that by at most 1."""

    def _choose_cuts(self, regions: Regions, budget: Budget, price: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        candidates = regions.score_cuts(regions.count_cuts(), DISCERNIBILITY)
        best = budget.choose(-_discernibility(regions, candidates), candidates.starts, price)
        return candidates.axis[best], candidates.position[best]


class PrintedDiscernibility(DiffMulti):
    """Scored by −DM with the printed sensitivity 2|D| + 1: the noise depends on rows elsewhere."""

    def _release(self, table: Table, budget: Budget) -> Release:
        object.__setattr__(self, "_rows", table.n)
        return super()._release(table, budget)

    def _choose_cuts(self, regions: Regions, budget: Budget, price: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        candidates = regions.score_cuts(regions.count_cuts(), DISCERNIBILITY)
        scores, sensitivity = -_discernibility(regions, candidates), 2 * self._rows + 1  # type: ignore[attr-defined]
        best = budget.choose(scores, candidates.starts, price, sensitivity=sensitivity)
        return candidates.axis[best], candidates.position[best]


def _run(regions: Regions, region: int) -> NDArray[np.int64]:
    """The points of a region."""
    return regions.runs.order[regions.runs.starts[region] : regions.runs.ends[region]]


def _members(regions: Regions, region: int) -> NDArray[np.int32]:
    """The positions of a region's points."""
    return regions.points.arrays.positions[_run(regions, region)]


def _discernibility(regions: Regions, candidates: Candidates) -> NDArray[np.int64]:
    """Σ part² of every cut between two positions."""
    region_of = np.searchsorted(candidates.starts, np.arange(len(candidates.scores)), side="right") - 1
    found = []
    for region, axis, position in zip(region_of, candidates.axis, candidates.position, strict=True):
        weights = regions.points.table.weights[_run(regions, region)]
        left = _members(regions, region)[:, axis] < position
        found.append(int(weights[left].sum()) ** 2 + int(weights[~left].sum()) ** 2)
    return np.array(found, dtype=np.int64)


class WrongSensitivity(DiffMulti):
    """NCP's score, which one row changes by up to 1024, taken for one of sensitivity 1."""

    def _release(self, table: Table, budget: Budget) -> Release:
        return super()._release(table, UnitSensitivity(budget))  # type: ignore[arg-type]


class WrongSensitivityOfValues(DiffGen):
    """The same in DiffGen."""

    def _release(self, table: Table, budget: Budget) -> Release:
        return super()._release(table, UnitSensitivity(budget))  # type: ignore[arg-type]


class ExactNumber(DiffMulti):
    """The release says how many of its leaves have rows, counted exactly, for the specializations made."""

    def _release(self, table: Table, budget: Budget) -> Release:
        release = super()._release(table, budget)
        occupied = np.unique(holding_pairs(table.points, release.boxes.arrays)[1])
        return replace(release, provenance=self.provenance(specializations=len(occupied)))


class UnpaidSize(KDTree):
    """The height follows from the exact number of rows."""

    def _release(self, table: Table, budget: Budget) -> Release:
        height = automatic_height(table.n, self.epsilon, table.values)
        return KDTree(epsilon=self.epsilon, height=height)._release(table, budget)


class ExactMargins(QuadTree):
    """Rows are spread inside boxes by margins without noise."""

    def _release(self, table: Table, budget: Budget) -> Release:
        release = super()._release(table, budget)
        return replace(release, spreads=buy_spreads(table, Noiseless(budget), 1, table.n, 0))  # type: ignore[arg-type]


class PublicTotal(QuadTree):
    """Published counts are scaled to the exact number of rows."""

    def _release(self, table: Table, budget: Budget) -> Release:
        release = super()._release(table, budget)
        factor = table.n / release.rows
        return replace(release, weights=release.weights * factor, histograms=release.histograms * factor)


class OccupiedOnly(QuadTree):
    """Noise is added to the cells that occur; the others are published as empty."""

    def _release(self, table: Table, budget: Budget) -> Release:
        return super()._release(table, NoiseOnOccupied(budget))  # type: ignore[arg-type]


class NoiseOnOccupied(Meddling):
    """Empty cells stay empty."""

    def counts(self, exact: NDArray[np.integer], cost: Ticks) -> NDArray[np.int64]:
        return np.where(np.asarray(exact) > 0, self.budget.counts(exact, cost), 0)


class Quieter(AuditedBudget):
    """All noise is 0.7 times as large as the charge promises."""

    def _share(self, price: int | np.integer) -> Fraction:
        return super()._share(price) * Fraction(10, 7)


def stopping_early() -> AbstractContextManager[Any]:
    """Regions with fewer than two rows, counted exactly, are not split any more."""
    widths = Regions.widths.func  # type: ignore[attr-defined]
    return patch.object(
        Regions, "widths", property(lambda regions: np.where(regions.counts()[:, None] < 2, 1, widths(regions)))
    )


@contextmanager
def exactly_shared() -> Iterator[None]:
    """Specializations are shared out by exact counts (equation 10 without its noise)."""
    counted: list[NDArray[np.int64]] = []

    def room(regions: Regions, levels: int) -> NDArray[np.int64]:
        counted.append(regions.counts())
        return room_of(regions, levels)

    def share(left: int, weight: NDArray[np.float64], room: NDArray[np.int64]) -> NDArray[np.int64]:
        return allocate(left, counted[-1].astype(np.float64), room)

    with patch.object(diffmulti, "room_of", room), patch.object(diffmulti, "allocate", share):
        yield


def full_price_decisions() -> AbstractContextManager[Any]:
    """Every decision of a path gets the whole ε, as if only one of them could leak."""
    within = Decisions.within
    return patch.object(Decisions, "within", staticmethod(lambda epsilon: replace(within(epsilon), epsilon=epsilon)))


def _diffmulti(kind: type[DiffMulti], pair: Pair, h: int = 1, **more: Any) -> Case:
    return Case(kind(epsilon=1.0, h=h, **more), pair)


LINE = schema_of(x=8)
APART = Pair(LINE, ((0, 0),) * 9, (7, 1))
BETWEEN = Pair(LINE, ((0, 0),) * 9, (3, 1))
SECOND = Pair(LINE, (*((0, 0),) * 9, (7, 0)), (7, 1))
TWINS = (
    Twin("printed zero test", _diffmulti(PrintedZeroTest, APART, h=5, utility="dm")),
    Twin("printed midpoint cut", _diffmulti(PrintedMidpoint, APART, utility="ncp")),
    Twin("forgotten charge", Case(KDTree(epsilon=1.0, height=1), NEXT_TO_EACH_OTHER), Forgetful),
    Twin("−DM with sensitivity 1", _diffmulti(PlainDiscernibility, BETWEEN, utility="dm")),
    Twin("−DM with sensitivity 2|D|+1", _diffmulti(PrintedDiscernibility, BETWEEN, utility="dm")),
    Twin("NCP with sensitivity 1", _diffmulti(WrongSensitivity, NARROW_OR_NOT, utility="ncp")),
    Twin(
        "NCP with sensitivity 1, DiffGen",
        Case(WrongSensitivityOfValues(epsilon=1.0, h=1, utility="ncp"), NARROW_OR_NOT),
    ),
    Twin(
        "specializations shared by exact counts",
        _diffmulti(DiffMulti, Pair(LINE, ((0, 0),), (7, 1)), h=5, utility="max"),
        replaced=exactly_shared,
    ),
    Twin("specializations made, counted exactly", _diffmulti(ExactNumber, APART, h=3, utility="max")),
    Twin("stop rule on exact counts", Case(KDTree(epsilon=1.0, height=3), SECOND), replaced=stopping_early),
    Twin("stop rule on exact counts, PrivTree", Case(PrivTree(epsilon=1.0), SECOND), replaced=stopping_early),
    Twin(
        "every PrivTree decision at full price",
        Case(PrivTree(epsilon=1.0), Pair(LINE, (), (7, 1))),
        replaced=full_price_decisions,
    ),
    *TWINS_OF_MODELS,
    Twin("height from the exact number of rows", Case(UnpaidSize(epsilon=1.0), Pair(LINE, ((3, 0),) * 79, (4, 1)))),
    Twin("margins without noise", Case(ExactMargins(epsilon=1.0, height=1), APART)),
    Twin("counts scaled to the exact total", Case(PublicTotal(epsilon=1.0, height=2), APART)),
    Twin("noise on occupied cells only", Case(OccupiedOnly(epsilon=1.0, height=2), APART)),
)
TRIED_WITH_LESS_NOISE = ("quad-tree", "kd-tree", "privtree", "diffmulti (dm)", "diffgen (max)", "dpcube", "marginals")
QUIETER = tuple(
    Twin(f"noise × 0.7: {case.name}", case, Quieter) for case in CASES if case.name in TRIED_WITH_LESS_NOISE
)
