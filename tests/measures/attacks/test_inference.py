"""Sensitive values from the nearest published rows, against looking at every row."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from brute_force import ReleaseCase, apart, releases, small_table
from sfumato.measures.attacks.inference import Inference
from sfumato.measures.attacks.lines import Lines
from sfumato.measures.workloads.holdout import hold_out
from sfumato.methods import FullSuppression, Original


def bounds(case: ReleaseCase, people: np.ndarray) -> tuple[int, int]:
    """How many sensitive values the nearest rows give, if ties among the commonest are against us, and for us."""
    lines = Lines.of(case.release)
    least = most = 0
    for person in people.tolist():
        quasi, axes = person[:-1], lines.axes[:-1]
        distances = [apart(axes, lines.boxes, line, quasi) for line in range(len(lines))]
        votes: dict[int, float] = {}
        for line in np.flatnonzero(np.array(distances) <= min(distances) + 1e-9).tolist():
            value = -1 if lines.boxes.missing[line, -1] else int(lines.boxes.lo[line, -1])
            votes[value] = votes.get(value, 0) + lines.weights[line]
        best = [value for value, rows in votes.items() if rows > max(votes.values()) - 1e-9]
        least += best == [person[-1]]
        most += person[-1] in best
    return least, most


@given(releases())
def test_guesses_are_those_of_looking_at_every_row(case: ReleaseCase) -> None:
    table = case.case.table
    found = Inference().run(table, case.release, table)
    if found is None:
        return
    people = np.repeat(table.cell_codes, table.cell_weight, axis=0)
    low, high = bounds(case, people)
    assert found.success == found.control
    assert low <= round(found.success * table.n) <= high


def test_a_copy_gives_the_people_it_copies_away_and_nobody_else() -> None:
    training, control = hold_out(small_table(400), 0.5)
    found = Inference().run(training, Original().publish(training), control)
    assert found is not None
    assert found.shows
    other = Inference().run(training, Original().publish(control), control)
    assert other is not None
    assert other.interval[1] < 0
    assert Inference().run(training, FullSuppression().publish(training), control) is None
