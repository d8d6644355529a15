"""Belief shift: everybody looked up in every box, by hand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given

import sfumato.measures.attacks.belief as belief
from brute_force import ReleaseCase, accuracy, as_box, jensen_shannon, looked_up, made_of, releases, table_shares
from brute_force import total_variation as moved
from sfumato.measures.attacks import BeliefShift
from sfumato.measures.attacks.belief import revealed_shift
from sfumato.privacy.distances import jensen_shannon as natural
from sfumato.release import Release
from strategies import AxisCase, SchemaCase, TableCase

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check(case: ReleaseCase) -> None:
    """Compare every value with the definition."""
    found = BeliefShift().run(case.case.table, case.release)
    prior = table_shares(case.case)
    points = {point for point, _ in case.case.people}
    beliefs = {point: looked_up(case, point) for point in points}
    shift = {point: jensen_shannon(beliefs[point], prior) for point in points}
    assert found["p_loss"] == pytest.approx(max(shift.values()), abs=1e-9)
    mean = sum(shift[point] for point, _ in case.case.people) / len(case.case.people)
    assert found["mean_p_loss"] == pytest.approx(mean, abs=1e-9)
    assert found["p_loss_emd"] == pytest.approx(max(moved(beliefs[point], prior) for point in points), abs=1e-9)
    least, most = accuracy(case.case, beliefs)
    assert least - 1e-9 <= found["guessed_right"] <= most + 1e-9


@given(releases())
def test_belief_shift_is_what_looking_everybody_up_gives(case: ReleaseCase) -> None:
    check(case)


def people(rows: list[tuple[int, int]]) -> TableCase:
    """Rows of a number 0..3 and a value a, b or c."""
    number = AxisCase("number", {"kind": "numeric", "min": 0, "max": 3}, tuple((str(i),) for i in range(4)))
    secret = AxisCase("secret", {"kind": "categorical", "values": ["a", "b", "c"]}, (("a",), ("b",), ("c",)))
    texts = tuple((str(point), "abc"[value]) for point, value in rows)
    return TableCase(SchemaCase((number,), secret), tuple(rows), texts)


@pytest.fixture
def halves() -> ReleaseCase:
    """0 and 1 in one class with a, a, a, b; 2 and 3 in another with b, c."""
    case = people([(0, 0), (0, 0), (1, 0), (1, 1), (2, 1), (3, 2)])
    return made_of(
        case,
        [(((0, 1, False),), 0, value) for value in (0, 0, 0, 1)] + [(((2, 3, False),), 1, value) for value in (1, 2)],
    )


def test_a_case_worked_out_on_paper(halves: ReleaseCase) -> None:
    """Overall (1/2, 1/3, 1/6); the classes are (3/4, 1/4, 0) and (0, 1/2, 1/2)."""
    found = BeliefShift().run(halves.case.table, halves.release)

    def distance(p: tuple[float, ...], q: tuple[float, ...]) -> float:
        middle = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
        terms = [a * math.log(a / m) for side in (p, q) for a, m in zip(side, middle, strict=True) if a]
        return sum(terms) / 2

    near = distance((3 / 4, 1 / 4, 0), (1 / 2, 1 / 3, 1 / 6))
    far = distance((0, 1 / 2, 1 / 2), (1 / 2, 1 / 3, 1 / 6))
    assert found["p_loss"] == pytest.approx(far)
    assert found["mean_p_loss"] == pytest.approx((4 * near + 2 * far) / 6)
    assert found["p_loss_emd"] == pytest.approx(1 / 2)
    assert found["guessed_right"] == pytest.approx((3 + 1) / 6)


def in_bits(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    return natural(p, q) / math.log(2)


def one_code_off(
    release: Release, points: NDArray[np.int32], known: Any = None, whole: Any = Release.posteriors
) -> NDArray[np.float64]:
    return whole(release, points - (points > 0))


def against_uniform(counts: NDArray[np.generic]) -> NDArray[np.float64]:
    return np.full(counts.shape, 1 / counts.shape[-1])


@pytest.mark.parametrize(
    ("place", "name", "twin"),
    [
        (belief, "jensen_shannon", in_bits),
        (belief, "shares", against_uniform),
        (belief, "total_variation", lambda p, q: 2 * np.abs(p - q).sum(-1)),
        (Release, "posteriors", one_code_off),
    ],
)
def test_a_broken_twin_is_noticed(
    monkeypatch: pytest.MonkeyPatch, halves: ReleaseCase, place: object, name: str, twin: object
) -> None:
    check(halves)
    monkeypatch.setattr(place, name, twin)
    with pytest.raises(AssertionError):
        check(halves)


def test_people_count_by_their_rows_not_by_their_points() -> None:
    case = people([(0, 0), (0, 0), (0, 0), (1, 1)])
    exact = made_of(case, [(as_box((0,)), 0, 0)] * 3 + [(as_box((1,)), 1, 1)])
    check(exact)
    found = BeliefShift().run(case.table, exact.release)
    assert found["guessed_right"] == 1.0
    by_points = np.mean(revealed_shift(case.table.overall)[:2])
    assert found["mean_p_loss"] != pytest.approx(by_points, abs=1e-3)


def test_revealing_a_value_costs_what_the_paper_prints(adult) -> None:
    """li2009: 0.692 for Armed-Forces and 0.488 for Craft-repair, to the three digits printed."""
    cost = dict(zip(adult.schema.sensitive.labels, revealed_shift(adult.overall), strict=True))
    assert cost["Armed-Forces"] == pytest.approx(0.692, abs=5e-4)
    assert cost["Craft-repair"] == pytest.approx(0.488, abs=5e-4)
