"""Singling out: predicates that pick one published row, and whether they pick one person (Cohen and Nissim, 2020).

A predicate is made of a published row: its categories, and numbers at least or at most as large as its own, whichever
is rarer. Predicates that pick one row of the release are guesses; a guess is right if it picks exactly one person.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from sfumato.data import Table
from sfumato.measures.attacks.control import ControlledAttack, Risk, compare
from sfumato.measures.attacks.lines import Floats, Lines, keys_of
from sfumato.measures.measurement import Measure
from sfumato.parameters import parameter
from sfumato.release import Boxes, Release
from sfumato.streams import stream

ONE = (0.5, 1.5)
"""A predicate picks one row if the release says so, rounded."""
ROUNDS = 5
"""How often predicates on so many columns are drawn."""
NO_COLUMN = -1


@dataclass(frozen=True, eq=False, kw_only=True)
class Predicates:
    """A span on each of some columns: `spans` and `columns` are (predicates, columns); no column is -1, and last."""

    spans: Boxes
    columns: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, chosen: NDArray[np.generic] | slice) -> Self:
        return type(self)(spans=self.spans[chosen], columns=self.columns[chosen])

    @classmethod
    def joined(cls, parts: list[Self]) -> Self:
        """All of them, each once, in the order they came in."""
        lo, hi = (np.concatenate([getattr(part.spans, side) for part in parts]) for side in ("lo", "hi"))
        missing = np.concatenate([part.spans.missing for part in parts])
        every = cls(spans=Boxes(lo, hi, missing), columns=np.concatenate([part.columns for part in parts]))
        _, first = np.unique(keys_of(every.columns, *every.spans.arrays), return_index=True)
        return every[np.sort(first)]

    @classmethod
    def none(cls, columns: int) -> Self:
        """No predicates on so many columns."""
        return cls(spans=Boxes.of_points(np.empty((0, columns), np.int32)), columns=np.empty((0, columns), np.int64))

    def picking_one(self, lines: Lines) -> Self:
        """Those that pick one of the rows that lines stand for."""
        rows = self.count(lines.boxes, lines.weights, ONE[1])
        return self[(rows >= ONE[0]) & (rows < ONE[1])]

    def count(self, boxes: Boxes, weights: Floats, most: float = np.inf) -> Floats:
        """The rows that each predicate picks; any number above `most` if there are more."""
        from sfumato.measures.attacks.kernels import count_matches

        return count_matches(boxes.arrays, weights, self.spans.arrays, self.columns, most)


@dataclass(frozen=True, kw_only=True)
class SinglingOut(ControlledAttack):
    """Guess predicates on so many columns, or more where these do not single out enough rows."""

    columns: int = parameter(default=3, help="columns that a predicate speaks of", minimum=1)

    name: ClassVar[str] = "singling_out"
    measure: ClassVar[Measure] = Measure(
        "singling_out_risk", "People singled out by predicates", "privacy", "lower", "share of guesses", lowest=-1.0
    ).describe(
        "How much more often a predicate on three or more columns that picks one published row picks exactly one "
        "person of the table than exactly one of as many people who were never in it."
    )

    def run(self, training: Table, release: Release, control: Table) -> Risk | None:
        lines = Lines.of(release)
        if not len(lines.boxes):
            return None
        guesses = self.predicates(lines, stream("singling out", self.seed))
        people = min(training.n, control.n)
        members, others = (_singled_out(guesses, table, people) for table in (training, control))
        return compare(members.sum(), len(members), others.sum(), len(others))

    def predicates(self, lines: Lines, generator: np.random.Generator) -> Predicates:
        """Different predicates that pick one published row.

        Where there are too few on so many columns, they get one column more at a time.
        """
        upper, axes = _upper_halves(lines), len(lines.axes)
        found = tried = Predicates.none(axes)
        for width in range(min(self.columns, axes), axes + 1):
            for _ in range(ROUNDS):
                row = generator.integers(len(lines), size=2 * self.guesses)
                columns = np.argsort(generator.random((len(row), axes)), axis=1)
                columns[:, width:] = NO_COLUMN
                seen, columns = len(tried), -np.sort(-columns, axis=1)
                tried = Predicates.joined([tried, _tails(lines, row, columns, upper)])
                found = Predicates.joined([found, tried[seen:].picking_one(lines)])
                if len(found) >= self.guesses:
                    return found[: self.guesses]
        return found


@dataclass(frozen=True, kw_only=True)
class SinglingOutByOne(SinglingOut):
    """Guess with every predicate on one column that picks one row: a rare value, a number beyond all others."""

    columns: int = parameter(default=1, help="columns that a predicate speaks of", minimum=1, maximum=1)

    name: ClassVar[str] = "singling_out_by_one"
    measure: ClassVar[Measure] = Measure(
        "singling_out_by_one_risk", "People singled out by a value", "privacy", "lower", "share of guesses", lowest=-1.0
    ).describe("The same for predicates on one column: a value that is rare, or a number beyond all others.")

    def predicates(self, lines: Lines, generator: np.random.Generator) -> Predicates:
        parts = []
        for column in range(len(lines.axes)):
            distinct, _ = lines.on([column])
            row, columns = np.arange(len(distinct.boxes)), np.zeros((len(distinct.boxes), 1), dtype=np.int64)
            every = [
                Predicates(spans=distinct.boxes, columns=columns),
                *(_tails(distinct, row, columns, np.full((len(row), 1), upper)) for upper in (True, False)),
            ]
            picking = Predicates.joined(every).picking_one(distinct)
            parts.append(replace(picking, columns=picking.columns + column))
        joined = Predicates.joined(parts)
        return joined[generator.permutation(len(joined))[: self.guesses]]


def _upper_halves(lines: Lines) -> NDArray[np.bool_]:
    """Which lines lie above the middle of the published rows on each axis: (lines, axes)."""
    middles = (lines.boxes.lo + lines.boxes.hi) / 2
    above = np.empty(middles.shape, dtype=bool)
    for axis, middle in enumerate(middles.T):
        known = np.flatnonzero(lines.boxes.lo[:, axis] <= lines.boxes.hi[:, axis])
        order = known[np.argsort(middle[known], kind="stable")]
        upto = np.cumsum(lines.weights[order])
        median = middle[order[np.searchsorted(upto, upto[-1] / 2)]] if len(order) else 0.0
        above[:, axis] = middle > median
    return above


def _tails(lines: Lines, row: NDArray[np.int64], columns: NDArray[np.int64], upper: NDArray[np.bool_]) -> Predicates:
    """Predicates from rows: the categories of some columns, and numbers from its own on, up or down."""
    lo, hi, missing = (side[row[:, None], columns] for side in lines.boxes.arrays)
    numeric = np.array([axis.spaced for axis in lines.axes])[columns] & (lo <= hi)
    last = np.array([axis.size - 1 for axis in lines.axes], dtype=np.int32)[columns]
    up = upper[row[:, None], columns]
    some = columns != NO_COLUMN
    spans = Boxes(np.where(numeric & ~up, 0, lo) * some, np.where(numeric & up, last, hi) * some, missing & some)
    return Predicates(spans=spans, columns=columns)


def _singled_out(guesses: Predicates, table: Table, people: int) -> Floats:
    """The chance that each predicate picks exactly one of so many people, drawn from those of the table.

    If that is all of them, it does or it does not.
    """
    boxes, weights = Boxes.of_points(table.cell_codes), table.cell_weight.astype(np.float64)
    if people == table.n:
        return np.asarray(guesses.count(boxes, weights, ONE[1]) == 1, dtype=np.float64)
    counts = np.rint(guesses.count(boxes, weights)).astype(np.int64)
    return np.asarray(hypergeom.pmf(1, table.n, counts, people))
