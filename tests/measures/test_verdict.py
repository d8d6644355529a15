"""Verdicts: a worse value never gets a better grade, and sentences hold the numbers they compare with."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import small_table
from sfumato.measures.attacks.belief import revealed_shift
from sfumato.measures.measure import MEASURES
from sfumato.measures.measurement import References, Verdict
from sfumato.methods import Mondrian
from sfumato.trials.frontier import frontier

GRADES = ("good", "fair", "poor")
JUDGED = [name for name, measure in MEASURES.items() if measure.judge]


@st.composite
def references(draw: st.DrawFn) -> References:
    def ends() -> dict[str, float]:
        return {name: draw(st.floats(0.01, 2)) for name in MEASURES}

    overall = draw(st.lists(st.integers(1, 100), min_size=2, max_size=6))
    return References(overall=np.array(overall), original=ends(), suppressed=ends())


def judge(name: str, value: float, references: References) -> Verdict:
    verdict = MEASURES[name].verdict(value, references)
    assert verdict
    return verdict


def test_these_measures_tell_good_from_bad() -> None:
    privacy = {"disclosure", "disclosure_added", "p_loss", "guessed_right", "breach", "smallest_class"}
    assert set(JUDGED) == privacy | {"u_loss", "query_error", "ncp"}


@pytest.mark.parametrize("name", JUDGED)
@given(found=references(), values=st.lists(st.floats(0, 3), min_size=2, max_size=6))
def test_a_worse_value_never_gets_a_better_grade(name: str, found: References, values: list[float]) -> None:
    worse_last = sorted(values, reverse=MEASURES[name].direction == "higher")
    grades = [GRADES.index(judge(name, value, found).verdict) for value in worse_last]
    assert grades == sorted(grades)


@pytest.mark.parametrize("name", JUDGED)
@given(found=references())
def test_the_best_value_is_good_and_a_terrible_one_is_poor(name: str, found: References) -> None:
    best, worst = (1e6, 0.0) if MEASURES[name].direction == "higher" else (0.0, 1e6)
    assert judge(name, best, found).verdict == "good"
    assert judge(name, worst, found).verdict == "poor"


def test_a_verdict_holds_its_measure_value_and_sentence() -> None:
    """Of four equally common values, one that becomes certain costs ln 2 + 3/8 ln 3 − 5/8 ln 5 + ... = 0.380."""
    ends = {"u_loss": 0.04, "query_error": 0.8, "query_selectivity": 0.043}
    found = References(overall=np.full(4, 7), original={"breach": 1.5}, suppressed=ends)
    whole = math.log(1 / 0.625) / 2 + (0.25 * math.log(0.25 / 0.625) + 0.75 * math.log(2)) / 2
    judged = judge("p_loss", whole / 4, found)
    assert (judged.measure, judged.value, judged.verdict) == ("p_loss", whole / 4, "good")
    assert f"shifts beliefs by {whole:.3f} on this table" in judged.sentence
    assert "the shift is 25% of that" in judged.sentence
    assert "changes by +50%" in judge("breach", 0.5, found).sentence
    assert "it would change by +150%" in judge("breach", 0.5, found).sentence
    guessed = judge("guessed_right", 0.4, found).sentence
    assert "right 25.0% of the time; looking people up in the release, 40.0%" in guessed
    assert "those of 1,234 people or more" in judge("smallest_class", 1234, found).sentence
    assert "loses 0.0400; this release loses 50% of that" in judge("u_loss", 0.02, found).sentence
    error = judge("query_error", 0.125, found).sentence
    assert (
        "A typical count, of 4.3% of people, is off by 12.5%; with everything suppressed it would be off by 80%"
        in error
    )
    assert judge("ncp", 0, found).sentence == "Quasi-identifiers are published exactly."
    assert "spans 30.0% of its attribute's range" in judge("ncp", 0.3, found).sentence
    assert MEASURES["classes"].verdict(3, found) is None


def test_the_worst_off_person_is_compared_with_the_rarest_value() -> None:
    """Where 94% share a value, to reveal it costs next to nothing; most releases would be poor beside that."""
    found = References(overall=np.array([940, 60]), original={}, suppressed={})
    commonest, rarest = revealed_shift(found.overall)
    assert commonest < 0.03 < 0.5 < rarest
    assert judge("p_loss", 2 * commonest, found).verdict == "good"
    assert judge("p_loss", 0.8 * rarest, found).verdict == "poor"


def test_references_come_from_the_end_points() -> None:
    table = small_table()
    front = frontier(table, [Mondrian(k=5)], workers=1)
    found = front.references
    original, suppressed = front.trials[:2]
    assert found.original == original.measures
    assert found.suppressed == suppressed.measures
    assert found.baseline_guess == table.overall.max() / table.n


def test_marks_are_the_end_points_unless_a_measure_has_its_own() -> None:
    overall = np.array([5, 0, 3, 1])
    nowhere = References(
        overall=overall, original={"u_loss": 0.0, "suppressed": 0.0}, suppressed={"u_loss": math.inf, "suppressed": 0.0}
    )
    assert [(mark.value, mark.text) for mark in MEASURES["u_loss"].marks(nowhere)] == [(0.0, "the original table")]
    assert MEASURES["suppressed"].marks(nowhere) == []
    costs = revealed_shift(overall)[[0, 3]]
    assert [mark.value for mark in MEASURES["p_loss"].marks(nowhere)] == pytest.approx([0, *costs])


def test_an_interval_is_cut_to_what_the_measure_can_take() -> None:
    assert MEASURES["ncp"].clip((-0.5, 1.5)) == (0.0, 1.0)
    assert MEASURES["classes"].clip((-0.5, 1.5)) == (0.0, 1.5)
    assert MEASURES["breach"].clip((-0.5, 1.5)) == (-0.5, 1.5)
