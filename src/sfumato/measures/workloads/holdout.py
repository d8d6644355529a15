"""Rows held out: a table split in two, or into folds that take turns as the test.

Rows are dealt out class by class, so that every part has the class frequencies of the whole.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.errors import ParameterError
from sfumato.measures.looks import LOOK, note_look
from sfumato.measures.workloads.learning import Accuracies, Learning
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import Method
from sfumato.streams import stream

DEALT = "its rows were dealt out by a shuffle of all rows"


@dataclass(frozen=True, kw_only=True)
class CrossValidation:
    """The accuracies on each fold."""

    folds: tuple[Accuracies, ...]

    @property
    def mean(self) -> Accuracies:
        """The mean over the folds."""
        lower, release, baseline = np.mean([(fold.lower, fold.release, fold.baseline) for fold in self.folds], axis=0)
        return Accuracies(lower=float(lower), release=float(release), baseline=float(baseline))


def cross_validate(
    table: Table, method: Method, learning: Learning | None = None, *, folds: int = 5, seed: int = 1, noise: int = 1
) -> CrossValidation:
    """Publish all folds but one, learn from the release, test on the one left out; each fold in turn.

    `seed` deals out the rows, `noise` is the seed of the method's randomness.

    >>> found = sf.cross_validate(table, sf.Mondrian(k=5), folds=2)
    >>> 0 < found.mean.release < 1
    True
    """
    note_look(table, LOOK)
    learning = learning or Learning()
    parts: list[tuple[Table, Table]] = table.remember((cross_validate, folds, seed), lambda: split(table, folds, seed))
    found = []
    for fold, (train, test) in enumerate(parts):
        release = method.publish(train, SimulatedSource(noise * folds + fold))
        found.append(learning.accuracy(train, release, test))
    return CrossValidation(folds=tuple(found))


def split(table: Table, folds: int, seed: int = 1) -> list[tuple[Table, Table]]:
    """For each of `folds` parts of the rows, of equal size but for one row, the rest and the part itself."""
    if not 2 <= folds <= table.n:
        raise ParameterError(f"folds is {folds!r}; expected a number from 2 to the {table.n} rows of the table")
    fold_of = np.arange(table.n) % folds
    return [_divide(table, fold_of == fold, seed) for fold in range(folds)]


def hold_out(table: Table, share: float = 1 / 3, seed: int = 1) -> tuple[Table, Table]:
    """The rows to learn from, and a share of all rows to test on; under noise, releases of either promise nothing.

    >>> train, test = sf.hold_out(table, share=0.25)
    >>> train.n, test.n
    (300, 100)
    """
    if not 0 < share < 1:
        raise ParameterError(f"share is {share!r}; expected a number between 0 and 1")
    tests = np.diff(np.floor(np.arange(table.n + 1) * share + 0.5)) > 0
    if tests.all() or not tests.any():
        raise ParameterError(f"share is {share!r}, which leaves no rows of {table.n} to publish or to test on")
    return _divide(table, tests, seed)


def _divide(table: Table, tests: NDArray[np.bool_], seed: int) -> tuple[Table, Table]:
    """The table in two; `tests` says for each row, in random order within its class, whether it is held out."""
    cell_of = np.repeat(np.arange(len(table.cell_weight)), table.cell_weight)
    chance = stream("folds", seed).random(len(cell_of))
    order = np.lexsort((chance, table.cell_value[cell_of]))
    held_out = np.bincount(cell_of[order[tests]], minlength=len(table.cell_weight))
    train, test = (table.reweight(rows) for rows in (table.cell_weight - held_out, held_out))
    return replace(train, derived=DEALT), replace(test, derived=DEALT)
