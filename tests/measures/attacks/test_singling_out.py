"""Predicates that pick one row, counted row by row, and the people they pick."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato.measures.attacks.singling_out as singling_out
from brute_force import ReleaseCase, releases, small_table
from sfumato.data import Table
from sfumato.measures.attacks.lines import Lines
from sfumato.measures.attacks.singling_out import Predicates, SinglingOut, SinglingOutByOne
from sfumato.measures.workloads.holdout import hold_out
from sfumato.methods import FullSuppression, Original
from sfumato.release import Boxes
from sfumato.streams import stream


def inside(predicates: Predicates, number: int, lines: Boxes, line: int) -> Fraction:
    """The share of a box that a predicate picks."""
    share = Fraction(1)
    for place, column in enumerate(predicates.columns[number].tolist()):
        if column < 0:
            continue
        wanted, own = predicates.spans.span(number, place), lines.span(line, column)
        values = [*range(own.lo, own.hi + 1), *([-1] if own.missing else [])]
        picked = [code for code in values if (wanted.missing if code < 0 else wanted.lo <= code <= wanted.hi)]
        share *= Fraction(len(picked), len(values))
    return share


@given(releases(), st.sampled_from([SinglingOut(guesses=8), SinglingOut(guesses=8, columns=1), SinglingOutByOne()]))
def test_predicates_pick_one_row(case: ReleaseCase, attack: SinglingOut) -> None:
    lines = Lines.of(case.release)
    found = attack.predicates(lines, np.random.default_rng(1))
    assert len(found) <= attack.guesses
    assert len(Predicates.joined([found, found])) == len(found)
    for number in range(len(found)):
        rows = sum(float(inside(found, number, lines.boxes, line)) * lines.weights[line] for line in range(len(lines)))
        assert 0.5 <= rows < 1.5


@given(releases())
def test_people_are_counted_one_by_one(case: ReleaseCase) -> None:
    table, people = case.case.table, Boxes.of_points(case.case.table.cell_codes)
    attack = SinglingOut(guesses=8)
    guesses = attack.predicates(Lines.of(case.release), stream("singling out", attack.seed))
    cells = list(enumerate(table.cell_weight.tolist()))
    picked = [
        sum(int(inside(guesses, number, people, cell)) * weight for cell, weight in cells)
        for number in range(len(guesses))
    ]
    found = attack.run(table, case.release, table)
    if not picked or all(count == 1 for count in picked):
        assert found is None
    else:
        assert found is not None
        assert found.success == found.control == pytest.approx(picked.count(1) / len(picked))
        assert found.guesses == len(picked)


def test_a_smaller_control_group_is_compared_with_as_many_people() -> None:
    """Over all ways to draw 4 of 7 people, how often a predicate picks exactly one of them."""
    codes = [0, 0, 1, 2, 2, 2, 3]
    whole = small_table(7)
    table = Table(
        schema=whole.schema,
        points=np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]], dtype=np.int32),
        cell_point=np.arange(4),
        cell_value=np.zeros(4, dtype=np.int32),
        cell_weight=np.array([2, 1, 3, 1]),
    )
    spans = [(0, 0), (2, 2), (2, 3), (1, 1), (9, 9)]
    lo, hi = (np.array(side, dtype=np.int32)[:, None] for side in zip(*spans, strict=True))
    guesses = Predicates(spans=Boxes(lo, hi, np.zeros_like(lo, dtype=bool)), columns=np.zeros((5, 1), dtype=np.int64))
    drawn = list(combinations(codes, 4))
    expected = [sum(sum(a <= x <= b for x in four) == 1 for four in drawn) / len(drawn) for a, b in spans]
    assert singling_out._singled_out(guesses, table, 4) == pytest.approx(expected)
    assert singling_out._singled_out(guesses, table, 7).tolist() == [0, 0, 0, 1, 0]


def test_a_copy_singles_out_people_of_the_table_and_suppression_says_nothing() -> None:
    training, control = hold_out(small_table(400), 0.5)
    found = SinglingOut(guesses=80).run(training, Original().publish(training), control)
    assert found is not None
    assert found.success == 1
    assert found.shows
    assert SinglingOut(guesses=80).run(training, FullSuppression().publish(training), control) is None


def test_numbers_beyond_all_others_and_rare_values_are_found() -> None:
    """One person is 20, one is 49, everybody else between 30 and 32; one is a man."""
    table = small_table(40)
    ages = np.array([0, 29, *[10, 11, 12] * 5], dtype=np.int32)
    points = np.unique(np.stack([ages, np.zeros(17, np.int32), np.zeros(17, np.int32)], axis=1), axis=0)
    points[0, 1] = 1
    weights = np.array([1, 5, 5, 5, 1])
    made = Table(
        schema=table.schema,
        points=points.astype(np.int32),
        cell_point=np.arange(5),
        cell_value=np.full(5, 2, dtype=np.int32),
        cell_weight=weights,
    )
    found = SinglingOutByOne().predicates(Lines.of(Original().publish(made)), np.random.default_rng(1))
    spans = zip(found.columns[:, 0].tolist(), found.spans.lo[:, 0].tolist(), found.spans.hi[:, 0].tolist(), strict=True)
    assert set(spans) == {(0, 0, 0), (0, 29, 29), (1, 1, 1)}


def test_a_miscounted_row_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Predicates that pick two rows are no guesses: of a copy they would not single out everybody."""
    training, control = hold_out(small_table(400), 0.5)
    monkeypatch.setattr(singling_out, "ONE", (0.5, 2.5))
    found = SinglingOut(guesses=80).run(training, Original().publish(training), control)
    assert found is not None
    assert found.success < 1
