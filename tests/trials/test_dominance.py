"""Which points are efficient, against comparing every pair."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import dominated
from sfumato.trials.dominance import ROUNDING, efficient

PLAIN = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 1.0, -1.0, 1e6])
WITH_NAN = st.one_of(PLAIN, st.just(math.nan))


def found(points: list[tuple[float, float]]) -> list[bool]:
    first, second = (np.array([point[i] for point in points], dtype=float) for i in (0, 1))
    return efficient(first, second).tolist()


def expected(points: list[tuple[float, float]]) -> list[bool]:
    return [not beaten for beaten in dominated(points, ROUNDING)]


@given(st.lists(st.tuples(WITH_NAN, WITH_NAN), max_size=30))
def test_efficient_points_are_those_no_other_dominates(points: list[tuple[float, float]]) -> None:
    assert found(points) == expected(points)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_points_does_not_matter(points: list[tuple[float, float]], shuffler: object) -> None:
    order = list(range(len(points)))
    shuffler.shuffle(order)  # type: ignore[attr-defined]
    mask = found(points)
    assert found([points[i] for i in order]) == [mask[i] for i in order]


@pytest.mark.parametrize(
    ("points", "mask"),
    [
        ([], []),
        ([(1, 1)], [True]),
        ([(0, 1), (1, 0), (1, 1)], [True, True, False]),
        ([(0, 1), (0, 1), (0.5, 0.5)], [True, True, True]),
        ([(0, 1), (0, 2), (1, 1)], [True, False, False]),
        ([(math.nan, 0), (1, math.nan), (2, 2)], [False, False, True]),
    ],
)
def test_cases_worked_out_on_paper(points: list[tuple[float, float]], mask: list[bool]) -> None:
    assert found(points) == expected(points) == mask


def test_rounding_errors_do_not_break_a_tie() -> None:
    points = [(0.1 + 0.2, 1.0), (0.3, 1.0), (0.3, 1.0 + 1e-15)]
    assert found(points) == [True, True, True]


NOISE = st.sampled_from([0.0, 1e-14, -1e-14])
NEARLY = st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), NOISE).map(sum)


@given(st.lists(st.tuples(NEARLY, NEARLY), max_size=12))
def test_differences_of_rounding_are_no_advantage(points: list[tuple[float, float]]) -> None:
    assert found(points) == expected(points)


def test_an_infinite_loss_is_a_loss_like_another() -> None:
    points = [(0.0, math.inf), (1.0, 1.0), (2.0, math.inf)]
    assert found(points) == expected(points) == [True, True, False]
    assert found(points[::2]) == expected(points[::2]) == [True, False]
