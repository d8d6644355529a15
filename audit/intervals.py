"""How often the answers of noisy releases hold the truth: 2,000 random counts for every method and kind of budget.

Conditions cut boxes, and the interval of an answer then reaches from the boxes inside to those touched, so that it
holds more often than it says. How often the noise alone is held is seen where nothing is cut: the rows of the boxes
inside the conditions are asked about instead. An interval that is `NARROWED`, the broken twin, must be caught.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import sfumato as sf
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.release.answer import Question, answer
from sfumato.release.coverage import Coverage, Part, Region
from sfumato.release.intervals import NoisyBoxes
from sfumato.release.kernels import holding_pairs
from sfumato.samples.town import SCHEMA_PATH
from sfumato.schema.codes import Codes, merge_runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sfumato.data import Table
    from sfumato.release import Release
    from sfumato.schema import Axis

PEOPLE, RELEASES, QUESTIONS = 5_000, 40, 50
MOST_CONDITIONS = 3
LEAST = 0.93
NARROWED = 0.4
BUDGETS: tuple[dict[str, float], ...] = (
    {"epsilon": 0.1},
    {"epsilon": 1.0},
    {"epsilon": 5.0},
    {"epsilon": 1.0, "delta": 1e-6},
)
TREES = (sf.QuadTree, sf.KDTree, sf.HybridTree, sf.PrivTree, sf.RPS, sf.DiffGen, sf.DPCube)


@dataclass(frozen=True)
class Setting:
    """A method, and how much of each interval is kept."""

    method: sf.Method
    narrowed: float = 1.0

    def shares(self, seed: int | None) -> tuple[float, float, int]:
        """How often answers hold the truth, how often the noise alone is held, and of how many answers."""
        first = int(np.random.default_rng(seed).integers(2**31))
        held, alone = [], []
        for number in range(first, first + RELEASES):
            release, generator = self.method.publish(town(), SimulatedSource(number)), np.random.default_rng(number)
            for _ in range(QUESTIONS):
                one, other = self._ask(release, random_region(release, generator))
                held += one
                alone += other
        return float(np.mean(held)), float(np.mean(alone)) if alone else float(np.mean(held)), len(held)

    def _ask(self, release: Release, region: Region) -> tuple[list[bool], list[bool]]:
        found = answer(release, Question(region))
        if not found.hold:
            return [], []
        held = [self._holds(found.low, found.high, true_count(town(), region))]
        if release.layout != "counts" or release.measured is not None:
            return held, []
        boxes = NoisyBoxes(release, Coverage.of(region, release.sides))
        boxes.extent = boxes.extent._replace(touched=boxes.extent.inside)
        inside = Coverage.of(region, release.sides).extent.inside.any(axis=1)
        if not inside.any():
            return held, []
        return held, [self._holds(*boxes.ends(), count_in_boxes(release, inside, region))]

    def _holds(self, low: float, high: float, truth: float) -> bool:
        middle, half = (low + high) / 2, self.narrowed * (high - low) / 2
        return bool(abs(truth - middle) <= half)


@cache
def town() -> Table:
    """The people whom all releases are about."""
    return sf.read(sf.residents(PEOPLE), SCHEMA_PATH)


def random_region(release: Release, generator: np.random.Generator) -> Region:
    """Conditions on a few columns: a range of numbers, or half of the categories."""
    axes = release.schema.axes
    asked = set(generator.choice(len(axes), int(generator.integers(1, MOST_CONDITIONS + 1)), replace=False).tolist())
    codes = [
        random_codes(axis, generator) if place in asked else Codes.of([axis.everything])
        for place, axis in enumerate(axes)
    ]
    return Region(release.schema, (Part(tuple(codes)),))


def random_codes(axis: Axis, generator: np.random.Generator) -> Codes:
    if axis.kind == "numeric":
        low, high = sorted(generator.integers(0, axis.size, 2).tolist())
        return Codes(((low, high),))
    some = np.flatnonzero(generator.random(axis.size) < 0.5).tolist() or [int(generator.integers(axis.size))]
    return Codes(merge_runs((code, code) for code in some))


def true_count(table: Table, region: Region) -> float:
    """The rows of the table that are asked about."""
    (part,) = region.parts
    held = np.logical_and.reduce([codes.hold(table.points[:, i]) for i, codes in enumerate(region.quasi(part))])
    chosen = region.chosen(part)[table.cell_value]
    return float(table.cell_weight[held[table.cell_point] & chosen].sum())


def count_in_boxes(release: Release, inside: np.ndarray, region: Region) -> float:
    """The rows of the table in some boxes that have a value asked about."""
    table, held = town(), np.zeros(len(town().points), dtype=bool)
    held[holding_pairs(table.points, release.boxes[inside].arrays)[0]] = True
    chosen = region.chosen(region.parts[0])[table.cell_value]
    return float(table.cell_weight[held[table.cell_point] & chosen].sum())


def settings() -> Iterator[Setting]:
    for budget in BUDGETS:
        for kind in TREES:
            yield Setting(kind(**budget))
        yield Setting(sf.DiffMulti(h=20, **budget))
        yield Setting(sf.Tables(**budget))
        yield Setting(sf.Synthesis(**budget))
        if "delta" not in budget:
            yield Setting(sf.LocalNoise(**budget))


INTERVALS = (*settings(), Setting(sf.Tables(epsilon=1), NARROWED), Setting(sf.DiffGen(epsilon=5), NARROWED))
