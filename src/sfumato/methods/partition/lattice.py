"""The search for the cheapest vector of levels under requirements.

Vectors are looked at in the order of a lower bound on their cost, so the first that cannot be better than the best so
far ends the search, whatever the requirements are. What fails for good (too few rows even in coarser classes, or a
requirement that coarser classes keep wherever finer ones do) rules out every finer vector unseen: from such a vector
the search climbs to one that fails and of which no coarser one does. Classes are counted from those of a finer
vector, never from rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.methods.partition.level_costs import LevelCosts, Objective
from sfumato.methods.partition.levels import Grouping, Levels, Vector, levels_of, merge
from sfumato.methods.partition.requiring import smallest_class
from sfumato.privacy.requirements import KAnonymity, Population, Requirement
from sfumato.release.histograms import histograms_of

MAX_MERGED = 2**29
"""Classes that are merged in all: a large table is given fewer vectors than a small one."""
FEWEST = 200
"""Vectors of which classes are counted in any case."""
MAX_KEPT = 2**24
"""Classes that are kept to count coarser ones from."""
COUNTS_AT_ONCE = 2**22
TIE = 1e-12
"""Costs that differ by a smaller share are equal but for rounding."""


@dataclass(frozen=True)
class Outcome:
    """What became of a vector: its cost, infinite if it fails, a lower bound, and whether every finer one fails too."""

    cost: float
    bound: float
    for_good: bool = False

    @property
    def holds(self) -> bool:
        """Whether the requirements can be satisfied."""
        return self.cost < np.inf


@dataclass(frozen=True)
class Found:
    """The cheapest vector that was found, and after how many the search stopped, if that was before its end."""

    vector: Vector | None
    stopped_after: int | None = None


class Lattice:
    """All vectors of levels of a table, under requirements and with at most `most` rows left out."""

    def __init__(
        self, table: Table, requirements: Sequence[Requirement], objective: Objective, most: int, limit: int
    ) -> None:
        self.table, self.requirements, self.most, self.limit = table, requirements, most, limit
        self.levels: list[Levels] = levels_of(table)
        self.costs = LevelCosts(table, self.levels, objective)
        self.top: Vector = tuple(len(level.numbers) - 1 for level in self.levels)
        self._seen: dict[Vector, Outcome] = {}
        self._best: tuple[float, Vector] | None = None
        self._failing = np.zeros((0, len(self.top)), dtype=np.int64)
        self._kept_at, self._kept = np.full((1, len(self.top)), -1), [self._finest()]
        self._looked = self._merged = 0

    def _finest(self) -> Grouping:
        """Every point a class of its own."""
        table, none = self.table, np.zeros(0, dtype=np.int64)
        cells = (table.cell_point, table.cell_value, table.cell_weight)
        return Grouping(np.arange(len(table.points)), table.weights, *((none,) * 3 if self.only_size else cells))

    @cached_property
    def only_size(self) -> bool:
        """Whether sensitive values have no say."""
        return all(isinstance(requirement, KAnonymity) for requirement in self.requirements)

    @cached_property
    def min_rows(self) -> int:
        """The rows that every class needs."""
        return smallest_class(self.requirements)

    @cached_property
    def monotone(self) -> bool:
        """Whether a vector that fails does so with every finer one: of classes left out that is not known."""
        secrets = all(bool(axis.secret.all()) for axis in self.table.schema.secrets)
        return self.most == 0 and secrets and all(requirement.merges for requirement in self.requirements)

    def search(self) -> Found:
        """The cheapest vector of all, unless the search stops before."""
        self._descend()
        waiting: list[tuple[float, Vector]] = [(0.0, (0,) * len(self.top))]
        while waiting:
            bound, vector = heappop(waiting)
            if self._best and bound >= self._best[0] * (1 - TIE):
                break
            if self._is_over:
                return Found(self._best_vector, min(self._looked, self.limit))
            self._looked += 1
            if not self._is_ruled_out(vector):
                outcome = self.look_at(vector)
                bound = outcome.bound
                if outcome.for_good:
                    self._climb(vector)
            for coarser in self._coarser(vector):
                heappush(waiting, (max(bound, self.costs.least(coarser)), coarser))
        return Found(self._best_vector)

    @property
    def _best_vector(self) -> Vector | None:
        return self._best[1] if self._best else None

    @property
    def _is_over(self) -> bool:
        return self._looked >= self.limit or self._merged > max(MAX_MERGED, FEWEST * len(self.table.points))

    def _coarser(self, vector: Vector) -> Iterator[Vector]:
        """Vectors with one level more on one axis, each of which is reached from one other only."""
        last = max((axis for axis, level in enumerate(vector) if level), default=0)
        for axis in range(last, len(vector)):
            if vector[axis] < self.top[axis]:
                yield _with(vector, axis, vector[axis] + 1)

    def _descend(self) -> None:
        """From everything at its highest level down, while some column can be finer, that first which gains most."""
        vector, axes = self.top, set(range(len(self.top)))
        if not self.look_at(vector).holds:
            return
        while not self._is_over:
            finer = [(_with(vector, axis, vector[axis] - 1), axis) for axis in sorted(axes) if vector[axis]]
            for candidate, axis in sorted(finer, key=lambda each: self.costs.least(each[0])):
                self._looked += 1
                if not self._is_ruled_out(candidate) and self.look_at(candidate).holds:
                    vector = candidate
                    break
                axes.discard(axis)
            else:
                return

    def _climb(self, vector: Vector) -> None:
        """Rule out a vector that fails for good, with one above it that does while no coarser one fails."""
        for axis in range(len(vector)):
            low, high = vector[axis], self.top[axis]
            while low < high:
                middle = (low + high + 1) // 2
                above = _with(vector, axis, middle)
                if self._is_ruled_out(above) or self.look_at(above).for_good:
                    low = middle
                else:
                    high = middle - 1
            vector = _with(vector, axis, low)
        others = self._failing[~(self._failing <= vector).all(axis=1)]
        self._failing = np.vstack([others, vector])

    def _is_ruled_out(self, vector: Vector) -> bool:
        return bool((self._failing >= vector).all(axis=1).any())

    def look_at(self, vector: Vector) -> Outcome:
        """What becomes of a vector, counted once."""
        if vector not in self._seen:
            outcome = self._seen[vector] = self._outcome(vector)
            best = self._best
            if outcome.holds and (
                best is None
                or outcome.cost < best[0] * (1 - TIE)
                or (outcome.cost <= best[0] * (1 + TIE) and vector < best[1])
            ):
                self._best = (outcome.cost, vector)
        return self._seen[vector]

    def _outcome(self, vector: Vector) -> Outcome:
        classes = self.classes(vector)
        staying, for_good = self.staying(classes)
        bound = self.costs.of_all(vector, classes)
        if staying is None:
            return Outcome(np.inf, bound, for_good)
        return Outcome(bound + self.costs.of_leaving_out(vector, classes, ~staying), bound)

    def classes(self, vector: Vector) -> Grouping:
        """The classes of a vector, from those of the finer one with the fewest that are kept."""
        finer = np.flatnonzero((self._kept_at <= vector).all(axis=1))
        sizes = [len(self._kept[number].points) for number in finer]
        start = self._kept[finer[int(np.argmin(sizes))]]
        self._merged += len(start.points)
        found = merge(start, vector, self.levels, self.table.values)
        if len(self._kept) * len(self.table.points) <= MAX_KEPT:
            self._kept_at = np.vstack([self._kept_at, vector])
            self._kept.append(found)
        return found

    def staying(self, classes: Grouping) -> tuple[NDArray[np.bool_] | None, bool]:
        """Which classes stay when those that fail are left out, none if these are too many; then, whether for good.

        Leaving classes out changes what the others are compared with, so those that stay are looked at again.
        """
        staying = classes.rows >= self.min_rows
        left_out = int(classes.rows[~staying].sum())
        if left_out > self.most:
            return None, True
        while not self.only_size and staying.any():
            failing = self._fail(classes, staying)
            if not failing.any():
                break
            staying &= ~failing
            left_out += int(classes.rows[failing].sum())
            if left_out > self.most:
                return None, self.monotone
        return (staying, False) if staying.any() else (None, False)

    def _fail(self, classes: Grouping, staying: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which of some classes fail a requirement when they are all that is published."""
        values, inside = self.table.values, staying[classes.cell_class]
        owner, value, rows = classes.cell_class[inside], classes.cell_value[inside], classes.cell_rows[inside]
        overall = np.bincount(value, rows, values).astype(np.int64)
        population = Population(overall, self.table.schema.sensitive)
        failing, step = np.zeros(len(staying), dtype=bool), max(COUNTS_AT_ONCE // values, 1)
        for start in range(0, len(staying), step):
            first, end = np.searchsorted(owner, [start, start + step])
            count = min(step, len(staying) - start)
            cells = histograms_of(owner[first:end] - start, value[first:end], rows[first:end], count, values)
            counts = np.asarray(cells)[staying[start : start + count]]
            for requirement in self.requirements:
                places = start + np.flatnonzero(staying[start : start + count])
                failing[places[~requirement.holds(counts, population)]] = True
        return failing


def _with(vector: Vector, axis: int, level: int) -> Vector:
    return (*vector[:axis], level, *vector[axis + 1 :])
