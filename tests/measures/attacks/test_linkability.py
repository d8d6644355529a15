"""Halves of people that one published row links, against looking at every row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato.measures.attacks.linkability as linkability
from brute_force import ReleaseCase, apart, releases, small_table
from sfumato.errors import ParameterError
from sfumato.measures.attacks.lines import Lines
from sfumato.measures.attacks.linkability import Linkability
from sfumato.measures.workloads.holdout import hold_out
from sfumato.methods import FullSuppression, Original


def linked(lines: Lines, halves: tuple[list[int], list[int]], person: list[int]) -> bool:
    """Whether a line is nearest by both halves."""
    common = np.ones(len(lines), dtype=bool)
    for half in halves:
        part, which = lines.on(half)
        axes, codes = [lines.axes[i] for i in half], [person[i] for i in half]
        distances = np.array([apart(axes, part.boxes, line, codes) for line in range(len(part))])
        common &= (distances <= distances.min() + 1e-9)[which]
    return bool(common.any())


@given(releases(), st.integers(1, 5))
def test_links_are_those_of_looking_at_every_row(case: ReleaseCase, at_once: int) -> None:
    table, lines, attack = case.case.table, Lines.of(case.release), Linkability()
    halves = attack.halves([axis.name for axis in lines.axes])
    people = np.repeat(table.cell_codes, table.cell_weight, axis=0)
    right = sum(linked(lines, halves, person) for person in people.tolist())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linkability, "PEOPLE_AT_ONCE", at_once)
        found = attack.run(table, case.release, table)
    if right == len(people):
        assert found is None
    else:
        assert found is not None
        assert found.success == found.control == pytest.approx(right / len(people))


def test_every_other_column_is_in_the_first_half_unless_they_are_named() -> None:
    names = ["age", "job", "sex", "town", "ill"]
    assert Linkability().halves(names) == ([1, 3], [0, 2, 4])
    assert Linkability(first=("age", "job")).halves(names) == ([0, 1], [2, 3, 4])
    assert Linkability().halves(["age", "ill"]) == ([0], [1])
    for wrong in (("height",), tuple(names)):
        with pytest.raises(ParameterError, match="expected some but not all"):
            Linkability(first=wrong).halves(names)


def test_a_copy_links_everybody_it_copies_and_suppression_says_nothing() -> None:
    training, control = hold_out(small_table(400), 0.5)
    found = Linkability().run(training, Original().publish(training), control)
    assert found is not None
    assert found.success == 1
    assert found.shows
    swapped = Linkability().run(training, Original().publish(control), control)
    assert swapped is None
    assert Linkability().run(training, FullSuppression().publish(training), control) is None


def test_more_neighbours_link_more() -> None:
    training, control = hold_out(small_table(400), 0.5)
    release = Original().publish(control)
    links = [Linkability(neighbours=rows).run(control, release, training) for rows in (1, 20, 40)]
    controls = [found.control for found in links if found]
    assert len(controls) > 1
    assert controls == sorted(controls)
    assert controls[0] < controls[-1]
