"""Broken twins of what lies around the methods: each puts a leak between file and folder, and must be caught."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import polars as pl

from audit.blackbox.cases import SCENES
from sfumato.data import Table
from sfumato.errors import DataError
from sfumato.mechanisms.budget import Budget
from sfumato.mechanisms.noise import Source, SystemSource
from sfumato.methods import base
from sfumato.publish import publication
from sfumato.trials.frontier import Frontier
from sfumato.trials.recommendation import Recommendation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from fractions import Fraction

    from numpy.typing import NDArray

    from audit.blackbox.scene import Scene
    from sfumato.release import Release
    from sfumato.schema import Axis

MANY = 1_000
HALF = 0.5
STREAM = 100_000
RECOMMEND = Frontier.recommend
DRAW, FROM_ROWS, LAPLACE, COUNTS = publication.draw, Table.from_rows, Source.laplace, Budget.counts


@dataclass(frozen=True)
class Twin:
    """A fault by name, the scene in which it shows, and what is replaced while it is played."""

    fault: str
    scene: Scene
    replaced: Callable[[], AbstractContextManager[Any]]


def _one_draw(self: Source, epsilon: Fraction, count: int) -> NDArray[np.int64]:
    """The same noise for every cell."""
    return np.repeat(LAPLACE(self, epsilon, 1), count)


class Rewound(SystemSource):
    """Randomness that the second of two releases uses once more."""

    made = 0
    stream: NDArray[np.uint64]

    def __init__(self) -> None:
        if type(self).made % 2 == 0:
            type(self).stream = SystemSource().words(STREAM)
        type(self).made += 1
        self._used = 0

    def words(self, count: int) -> NDArray[np.uint64]:
        self._used += count
        return type(self).stream[self._used - count : self._used].copy()


def _exact_from_many(self: Budget, exact: NDArray[np.integer], cost: Any) -> NDArray[np.int64]:
    noisy = COUNTS(self, exact, cost)
    return np.array(exact, dtype=np.int64) if np.sum(exact) >= MANY else noisy


def _refuse_one_value(rows: Any, schema: Any) -> Table:
    table = FROM_ROWS(rows, schema)
    if np.count_nonzero(table.overall) < 2:
        raise DataError("the sensitive column holds one value only")
    return table


def _refuse_few(rows: Any, schema: Any) -> Table:
    table = FROM_ROWS(rows, schema)
    if table.n < 1:
        raise DataError("the table has no rows")
    return table


def telling(what: Callable[[Table], Any]) -> Callable[[], AbstractContextManager[Any]]:
    """A publication that writes a fact about the rows into `release.json`."""

    def draw(place: Any, method: Any, table: Table, **more: Any) -> Release:
        release = DRAW(place, method, table, **more)
        told = {**release.provenance.parameters, "note": what(table)}
        return replace(release, provenance=replace(release.provenance, parameters=told))

    return lambda: patch.object(publication, "draw", draw)


def _draw_occupied(place: Any, method: Any, table: Table, **more: Any) -> Release:
    """Only classes in which somebody is."""
    release = DRAW(place, method, table, **more)
    boxes, points = release.boxes, table.points
    inside = (points[:, None] >= boxes.lo[None]) & (points[:, None] <= boxes.hi[None])
    kept = inside.all(axis=2).any(axis=0)
    if not kept.any() or kept.all():
        return release
    return replace(
        release,
        boxes=boxes[kept],
        weights=release.weights[kept],
        histograms=release.histograms[kept],
        group_of=np.arange(int(kept.sum())),
    )


def _draw_again(place: Any, method: Any, table: Table, **more: Any) -> Release:
    """Until the total is right."""
    release = DRAW(place, method, table, **more)
    for _ in range(200):
        if abs(float(release.rows) - table.n) <= HALF:
            break
        release = DRAW(place, method, table, **more)
    return release


@contextmanager
def _every_row(_: int = 0) -> Iterator[None]:
    """All rows of a person are kept."""
    from sfumato.data import engine

    with patch.object(engine, "keep_rows_of_people", lambda codes, *_, **__: pl.repeat(True, codes.height, eager=True)):
        yield


@contextmanager
def _nobody_is_somebody() -> Iterator[None]:
    """Every row without a name is a person's of its own."""
    from sfumato.data import engine

    named = engine.as_names

    def name_all(*what: Any) -> pl.Series:
        return pl.Series([name or f"nobody {number}" for number, name in enumerate(named(*what))], dtype=pl.String)

    with patch.object(engine, "as_names", name_all):
        yield


@contextmanager
def _refuse_brackets() -> Iterator[None]:
    """A value with a bracket is refused, whatever the schema says."""
    from sfumato.data import engine

    encode = engine.encode_values

    def refuse(raw: pl.Series, axis: Axis, *more: Any) -> pl.Series:
        if raw.str.contains("[", literal=True).any():
            raise DataError(f"{axis.name}: a value with a bracket")
        return encode(raw, axis, *more)

    with patch.object(engine, "encode_values", refuse):
        yield


@contextmanager
def _real_choice() -> Iterator[None]:
    """A frontier that buys a pilot and then looks at the rows: quad-tree if somebody tests positive, else PrivTree."""

    def choose(self: Frontier, **asked: Any) -> Recommendation:
        told = RECOMMEND(self, **asked)
        name = "quad-tree" if self.real is not None and self.real.overall[1] else "privtree"
        return replace(told, trial=next(trial for trial in self.trials if trial.method.name == name))

    with patch.object(Frontier, "recommend", choose):
        yield


def _scene(name: str) -> Scene:
    return next(scene for scene in SCENES if scene.name == name)


SMALL, MIXED = _scene("quad-tree, 40 rows"), _scene("600 rows, many positive")
TWINS = (
    Twin("one draw of noise for all cells", MIXED, lambda: patch.object(Source, "laplace", _one_draw)),
    Twin("randomness that is used again", _scene("two releases"), lambda: patch.object(base, "SystemSource", Rewound)),
    Twin("the exact number of rows in release.json", SMALL, telling(lambda table: table.n)),
    Twin("no noise from 1,000 rows", _scene("5,000 rows"), lambda: patch.object(Budget, "counts", _exact_from_many)),
    Twin("a table with one value is refused", SMALL, lambda: patch.object(Table, "from_rows", _refuse_one_value)),
    Twin("an empty table is refused", _scene("nobody but one"), lambda: patch.object(Table, "from_rows", _refuse_few)),
    Twin("a digest of the rows", SMALL, telling(lambda table: int(table.digest[:8], 16))),
    Twin("the values that occur", SMALL, telling(lambda table: np.flatnonzero(table.overall).tolist())),
    Twin("a remark where somebody is alone", SMALL, telling(lambda table: bool((table.cell_weight == 1).any()))),
    Twin(
        "only classes that are not empty",
        _scene("an empty corner"),
        lambda: patch.object(publication, "draw", _draw_occupied),
    ),
    Twin("drawn again until the total is right", SMALL, lambda: patch.object(publication, "draw", _draw_again)),
    Twin("the setting follows the rows, not the pilot", _scene("pilot, choice and release"), _real_choice),
    Twin("every row of a person", _scene("five rows a person"), _every_row),
    Twin("every row of a household", _scene("five rows a household"), _every_row),
    Twin("every row of nobody counts as a person", _scene("nobody's name"), _nobody_is_somebody),
    Twin("a value with a bracket is refused", _scene("a cell off the schema"), _refuse_brackets),
)
