"""Members told from others by how near the release comes to them."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato.measures.attacks.membership as membership
from brute_force import small_table
from sfumato.data import Table
from sfumato.measures.attacks.membership import Membership
from sfumato.measures.workloads.holdout import hold_out, split
from sfumato.methods import FullSuppression, Mondrian, Original


def apart(table: Table) -> tuple[Table, Table]:
    """The people at every other point, and the rest: nobody is like anybody of the other part."""
    even = table.cell_point % 2 == 0
    return table.reweight(table.cell_weight * even), table.reweight(table.cell_weight * ~even)


def test_a_copy_gives_away_everybody_whom_nobody_else_is_like() -> None:
    training, control = apart(small_table(400))
    found = Membership().run(training, Original().publish(training), control)
    assert found is not None
    assert (found.success, found.control) == (1, 0)


def test_thresholds_are_the_best_of_all() -> None:
    generator = np.random.default_rng(1)
    for _ in range(50):
        members, others = generator.integers(0, 6, 8) / 2.0, generator.integers(0, 5, 5) / 2.0
        advantage, threshold = membership._best_threshold(members, others)
        every = [(members >= level).mean() - (others >= level).mean() for level in np.arange(0, 4, 0.25)]
        assert advantage == pytest.approx(max(every))
        assert (members >= threshold).mean() - (others >= threshold).mean() == pytest.approx(advantage)


def mean_advantage() -> float:
    """The mean over 40 releases of people who are in neither of the two groups."""
    found = []
    for seed in range(1, 41):
        rest, published = split(small_table(600, seed), 3, seed)[0]
        training, control = hold_out(rest, 0.5, seed)
        risk = Membership().run(training, Mondrian(k=2).publish(published), control)
        found.append(risk.difference if risk else 0.0)
    return float(np.mean(found))


def test_nobody_shows_in_a_release_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A difference of shares of 100 people deviates by 0.07 at most, the mean of 40 by 0.011: 0.04 is beyond 3.5
    deviations, less than 1e-3. Thresholds chosen by the people they are used on are beyond it."""
    assert abs(mean_advantage()) < 0.04
    monkeypatch.setattr(membership, "_halves", lambda people: (people, people))
    assert mean_advantage() > 0.04


def test_nothing_is_said_of_suppressed_tables_and_of_too_few_people() -> None:
    training, control = hold_out(small_table(90), 0.5)
    assert Membership().run(training, FullSuppression().publish(training), control) is None
    one = control.reweight(np.eye(1, len(control.cell_weight), dtype=np.int64)[0])
    assert Membership().run(training, Original().publish(training), one) is None
