"""Risks from counted guesses: Newcombe's published intervals, their coverage, and who is guessed about."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given

from brute_force import small_table
from sfumato.errors import ParameterError
from sfumato.measures.attacks.control import Risk, compare, wilson
from sfumato.measures.attacks.inference import Inference
from strategies import TableCase, tables

NEWCOMBE = [
    ((56, 70), (48, 80), (0.0524, 0.3339)),
    ((9, 10), (3, 10), (0.1705, 0.8090)),
    ((6, 7), (2, 7), (0.0582, 0.8062)),
    ((5, 56), (0, 29), (-0.0381, 0.1926)),
    ((0, 10), (0, 20), (-0.1611, 0.2775)),
    ((10, 10), (0, 10), (0.6075, 1.0)),
]
"""Table II of Newcombe (1998), method 10: two shares, and the 95% interval of their difference."""


@pytest.mark.parametrize(("one", "other", "interval"), NEWCOMBE)
def test_intervals_are_those_that_newcombe_published(
    one: tuple[int, int], other: tuple[int, int], interval: tuple[float, float]
) -> None:
    found = compare(*one, *other)
    assert found is not None
    assert found.difference == pytest.approx(one[0] / one[1] - other[0] / other[1])
    assert found.interval == pytest.approx(interval, abs=6e-5)
    assert found.shows == (interval[0] > 0)


def test_wilsons_limits() -> None:
    """Of 81 in 263, the limits 0.2553 and 0.3662 (Newcombe, 1998)."""
    assert wilson(81 / 263, 263) == pytest.approx((0.2553, 0.3662), abs=6e-5)
    assert wilson(0.0, 20)[0] == pytest.approx(0)
    assert wilson(1.0, 20)[1] == pytest.approx(1)


def covered(narrower: float = 1.0) -> float:
    """How often the interval holds the difference of 0.3 and 0.2, by 200 guesses each."""
    generator = np.random.default_rng(3)
    held = 0
    for one, other in zip(generator.binomial(200, 0.3, 2_000), generator.binomial(200, 0.2, 2_000), strict=True):
        found = compare(one, 200, other, 200)
        assert found is not None
        low, high = (found.difference + narrower * (end - found.difference) for end in found.interval)
        held += low <= 0.1 <= high
    return held / 2_000


def test_the_interval_holds_as_often_as_it_says() -> None:
    """At 95%, fewer than 93.5% of 2,000 fail with a probability below 0.002; a narrower one does."""
    assert covered() > 0.935
    assert covered(narrower=0.8) < 0.935


def test_nothing_is_said_without_guesses_or_without_room_above_the_control() -> None:
    assert compare(0, 0, 0, 0) is None
    assert compare(5, 5, 0, 0) is None
    assert compare(9, 10, 10, 10) is None
    assert compare(10, 10, 9, 10) is not None


def test_a_risk_as_the_share_of_what_the_control_leaves() -> None:
    found = compare(90, 100, 50, 100)
    assert found is not None
    assert found.residual == pytest.approx(0.8)
    assert Risk(success=1, control=1, difference=0, interval=(0, 0), guesses=1).residual == 0
    assert found.spec()["interval"] == list(found.interval)


@given(tables(most_rows=12))
def test_everybody_is_drawn_once_if_there_are_enough_guesses(case: TableCase) -> None:
    drawn = Inference().draw(case.table, np.random.default_rng(1))
    size = case.case.sensitive.size
    people = Counter((*point, -1 if value == size else value) for point, value in case.people)
    assert Counter(map(tuple, drawn.tolist())) == people
    assert set(map(tuple, case.table.cell_codes.tolist())) == set(people)


def test_guesses_have_a_seed_of_their_own() -> None:
    table = small_table()
    one, same, other = (Inference(guesses=20).draw(table, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()
    assert len(one) == 20


@pytest.mark.parametrize("wrong", [{"guesses": 0}, {"guesses": 1.5}, {"seed": -1}])
def test_parameters_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Inference(**wrong)
