"""Verdicts: a worse value never gets a better grade, and sentences hold the numbers they compare with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import small_table
from sfumato.measures.attacks.belief import revealing
from sfumato.measures.measure import MEASURES
from sfumato.methods import Mondrian
from sfumato.trials.frontier import frontier
from sfumato.trials.recommendation import JUDGED
from sfumato.trials.verdict import References, judge

GRADES = ("good", "fair", "poor")


@st.composite
def references(draw: st.DrawFn) -> References:
    def ends() -> dict[str, float]:
        return {name: draw(st.floats(0.01, 2)) for name in MEASURES}

    return References(
        original=ends(),
        suppressed=ends(),
        least_revealing=draw(st.floats(0.05, 0.69)),
        baseline_guess=draw(st.floats(0.05, 0.95)),
    )


@pytest.mark.parametrize("name", JUDGED)
@given(found=references(), values=st.lists(st.floats(0, 3), min_size=2, max_size=6))
def test_a_worse_value_never_gets_a_better_grade(name: str, found: References, values: list[float]) -> None:
    worse_last = sorted(values, reverse=MEASURES[name].direction == "higher")
    grades = [GRADES.index(judge(name, value, found).grade) for value in worse_last]
    assert grades == sorted(grades)


@pytest.mark.parametrize("name", JUDGED)
@given(found=references())
def test_the_best_value_is_good_and_a_terrible_one_is_poor(name: str, found: References) -> None:
    best, worst = (1e6, 0.0) if MEASURES[name].direction == "higher" else (0.0, 1e6)
    assert judge(name, best, found).grade == "good"
    assert judge(name, worst, found).grade == "poor"


def test_a_verdict_holds_its_measure_value_and_sentence() -> None:
    ends = {"u_loss": 0.04, "query_error": 0.8}
    found = References(original={"breach": 1.5}, suppressed=ends, least_revealing=0.4, baseline_guess=0.25)
    spec = judge("p_loss", 0.1, found).spec()
    assert (spec["measure"], spec["value"], spec["verdict"]) == ("p_loss", 0.1, "good")
    assert "at least 0.400 on this table" in spec["sentence"]
    assert "at 25% of that" in spec["sentence"]
    assert "changes by +50%" in judge("breach", 0.5, found).sentence
    assert "it would change by +150%" in judge("breach", 0.5, found).sentence
    assert "right 25.0% of the time; the release raises that to 40.0%" in judge("guessed_right", 0.4, found).sentence
    assert "those of 1,234 people or more" in judge("smallest_class", 1234, found).sentence
    assert "loses 0.0400; this release loses 50% of that" in judge("u_loss", 0.02, found).sentence
    error = judge("query_error", 0.125, found).sentence
    assert "off by 12.5%; with everything suppressed it would be off by 80%" in error
    assert judge("ncp", 0, found).sentence == "Quasi-identifiers are published exactly."
    assert "spans 30.0% of its attribute's range" in judge("ncp", 0.3, found).sentence


def test_references_come_from_the_end_points() -> None:
    table = small_table()
    front = frontier(table, [Mondrian(k=5)], workers=1)
    found = References.of(front)
    original, suppressed = front.trials[:2]
    assert found.original == original.measures
    assert found.suppressed == suppressed.measures
    assert found.baseline_guess == table.overall.max() / table.n
    assert found.least_revealing == revealing(table.overall)[table.overall.argmax()]
