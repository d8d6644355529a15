"""The attack: which statistic of what is seen tells best whether the person was there, and how well it does.

Runs of both tables are cut in two. On one half everything may be tried: each number that is seen, differences of two
(which noise that is shared leaves exact, at one ε or at twice that), and the scores of a fitted forest; each with a
threshold. The best of these is then scored on the other half. If it answers with probability p on one table and q on
the other, no ε below ln(p/q) holds; Clopper and Pearson's bounds for p and q make that right with probability 1 −
`failing`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from audit.empirical import Bound, lower_bound, pure_epsilon

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from audit.blackbox.scene import Seen

MAX_PAIRED = 60
"""Numbers of which all differences are tried: those that are seen most often and vary."""
TREES = 100
ABSENT = -1e6
"""Stands for a number that is not there."""


@dataclass(frozen=True)
class Found:
    """The best statistic, and the ε that it shows."""

    statistic: str
    bound: Bound

    @property
    def epsilon(self) -> float:
        return self.bound.epsilon


def attack(
    without: Sequence[Seen], present: Sequence[Seen], failing: float, seed: int = 0, delta: float = 0.0
) -> Found:
    """The bound on ε that the best statistic gives; it is too large with probability at most `failing`.

    A claim that may fail with probability `delta` allows p ≤ e^ε q + δ, so that p − δ takes the place of p.
    """
    names, tables = _matrices(without, present)
    half = len(without) // 2
    training, test = [table[:half] for table in tables], [table[half:] for table in tables]
    best, score = max(
        ((name, _deviation(trained)) for name, trained in _statistics(names, training, training, seed)),
        key=lambda found: abs(found[1]),
        default=("nothing that varies", 0.0),
    )
    if not score:
        return Found(best, Bound(0.0, 0.0, 0, 0, half))
    sign = 1 if score > 0 else -1
    fitted, tested = (
        next(values for name, values in _statistics(names, training, shown, seed) if name == best)
        for shown in (training, test)
    )
    joined = np.stack([sign * np.concatenate([fitted[which], tested[which]]) for which in (0, 1)])
    return Found(
        best,
        lower_bound(
            joined, failing, lambda least, most: pure_epsilon(least - delta, most), training=half / len(without)
        ),
    )


def _matrices(without: Sequence[Seen], present: Sequence[Seen]) -> tuple[list[str], list[NDArray[np.float64]]]:
    names = sorted({name for seen in (*without, *present) for name in seen})
    tables = [np.array([[seen.get(name, ABSENT) for name in names] for seen in runs]) for runs in (without, present)]
    varies = np.ptp(np.concatenate(tables), axis=0) > 0
    return [name for name, kept in zip(names, varies, strict=True) if kept], [table[:, varies] for table in tables]


def _statistics(
    names: list[str], training: list[NDArray[np.float64]], shown: list[NDArray[np.float64]], seed: int
) -> Iterator[tuple[str, list[NDArray[np.float64]]]]:
    """Every statistic by name, on the runs that are `shown`; what has to be fitted is fitted on `training`."""
    for place, name in enumerate(names):
        yield name, [table[:, place] for table in shown]
    often = np.argsort(-np.mean(np.concatenate(training) != ABSENT, axis=0), kind="stable")[:MAX_PAIRED]
    for one, other in combinations(often.tolist(), 2):
        yield f"{names[one]} − {names[other]}", [table[:, one] - table[:, other] for table in shown]
        yield f"twice {names[other]} − {names[one]}", [2 * table[:, other] - table[:, one] for table in shown]
    if names:
        yield "forest", _forest_scores(training, shown, seed)


def _forest_scores(
    training: list[NDArray[np.float64]], shown: list[NDArray[np.float64]], seed: int
) -> list[NDArray[np.float64]]:
    from sklearn.ensemble import RandomForestClassifier

    rows, there = np.concatenate(training), np.repeat([0, 1], [len(table) for table in training])
    forest = RandomForestClassifier(TREES, min_samples_leaf=5, oob_score=True, random_state=seed).fit(rows, there)
    if shown is training:
        return np.split(np.nan_to_num(forest.oob_decision_function_[:, 1], nan=0.5), [len(training[0])])
    return [np.asarray(forest.predict_proba(table)[:, 1]) for table in shown]


def _deviation(statistic: list[NDArray[np.float64]]) -> float:
    """The largest difference of the two distribution functions, above 0 if the person makes the statistic larger."""
    joined = np.sort(np.concatenate(statistic))
    without, present = (np.searchsorted(np.sort(runs), joined, side="right") / len(runs) for runs in statistic)
    apart = without - present
    return float(apart[np.argmax(np.abs(apart))])
