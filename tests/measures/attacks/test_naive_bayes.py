"""The naive Bayes adversary: margins summed over every position of every box, products in exact fractions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato.measures.attacks.naive_bayes as attack
from brute_force import ReleaseCase, accuracy, as_box, made_of, naive_bayes, releases, surest_accuracy, table_shares
from sfumato.errors import ParameterError
from sfumato.measures.attacks import NaiveBayes
from sfumato.methods import FullSuppression, Original
from sfumato.release import Boxes
from strategies import AxisCase, SchemaCase, TableCase, tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.release import Release


def check(case: ReleaseCase, confident: float = 0.1) -> None:
    """Compare every belief and every value with the definition."""
    table = case.case.table
    points = [tuple(point) for point in table.points.tolist()]
    expected = {point: naive_bayes(case, point) for point in points}
    found = NaiveBayes().beliefs(case.release, table.points)
    assert found == pytest.approx(np.array([expected[point] for point in points], dtype=float), abs=1e-9)

    values = NaiveBayes(confident=confident).run(table, case.release)
    least, most = accuracy(case.case, expected)
    commonest = float(max(table_shares(case.case)))
    assert 1 - most - 1e-9 <= values["empirical_privacy"] <= 1 - least + 1e-9
    assert least / commonest - 1 - 1e-9 <= values["breach"] <= most / commonest - 1 + 1e-9
    assert values["breach"] == pytest.approx((1 - values["empirical_privacy"]) / commonest - 1)
    least, most = surest_accuracy(case.case, expected, confident)
    assert least - 1e-9 <= values["confident_guesses"] <= most + 1e-9


@given(releases(), st.sampled_from([0.1, 0.25, 0.5, 1.0]))
def test_beliefs_and_guesses_are_those_of_the_definition(case: ReleaseCase, confident: float) -> None:
    check(case, confident)


@given(tables(most_rows=14))
def test_at_the_root_the_adversary_is_no_better_than_naming_the_commonest_value(case: TableCase) -> None:
    found = NaiveBayes().run(case.table, FullSuppression().publish(case.table))
    assert found["breach"] == pytest.approx(0, abs=1e-12)
    assert found["empirical_privacy"] == pytest.approx(1 - float(max(table_shares(case))), abs=1e-12)
    assert found["confident_guesses"] == pytest.approx(float(max(table_shares(case))), abs=1e-12)


def people(rows: list[tuple[int, int, int]]) -> TableCase:
    """Rows of two numbers 0..3, the first perhaps missing, and a value a or b."""
    spelled = tuple((str(i),) for i in range(4))
    axes = [AxisCase(name, {"kind": "numeric", "min": 0, "max": 3}, spelled) for name in ("x", "y")]
    axes[0] = AxisCase("x", {**axes[0].spec, "nullable": True}, spelled)
    secret = AxisCase("secret", {"kind": "categorical", "values": ["a", "b"]}, (("a",), ("b",)))
    texts = tuple((str(x) if x >= 0 else None, str(y), "ab"[value]) for x, y, value in rows)
    return TableCase(SchemaCase(tuple(axes), secret), tuple(rows), texts)


@pytest.fixture
def classes() -> ReleaseCase:
    """Two classes of different width, the first with a missing value in it."""
    case = people([(-1, 0, 0), (1, 0, 0), (1, 1, 0), (2, 1, 1), (2, 3, 1), (3, 3, 0), (3, 3, 1)])
    left, right = ((0, 1, True), (0, 3, False)), ((2, 3, False), (1, 3, False))
    return made_of(case, [(left, 0, 0)] * 3 + [(right, 1, 1)] * 3 + [(right, 1, 0)])


def test_a_case_worked_out_on_paper(classes: ReleaseCase) -> None:
    """At (2, 1): a has x-margin (1/2)/4 and y-margin (3/4 + 1/3)/4; b has (3/2)/3 and (3/3)/3."""
    a, b = 4 / 7 * (1 / 8) * (13 / 48), 3 / 7 * (1 / 2) * (1 / 3)
    found = NaiveBayes().beliefs(classes.release, np.array([[2, 1]], dtype=np.int32))
    assert found[0] == pytest.approx([a / (a + b), b / (a + b)])


def test_where_every_likelihood_is_zero_the_prior_remains() -> None:
    case = people([(0, 0, 0), (0, 0, 0), (0, 0, 1), (3, 3, 1), (3, 3, 1)])
    elsewhere = made_of(case, [(as_box((0, 0)), 0, 0)] * 2 + [(as_box((0, 0)), 0, 1)])
    found = NaiveBayes().beliefs(elsewhere.release, np.array([[3, 3], [0, 3], [0, 0]], dtype=np.int32))
    assert found == pytest.approx(np.array([[2 / 3, 1 / 3]] * 3))
    check(elsewhere)


def test_one_impossible_condition_rules_a_value_out() -> None:
    """At (0, 3), b never goes with x = 0, and a never with y = 3 or x = 3."""
    case = people([(0, 0, 0), (0, 3, 0), (3, 3, 1)])
    release = made_of(case, [(as_box((0, 0)), 0, 0), (as_box((0, 3)), 1, 0), (as_box((3, 3)), 2, 1)])
    found = NaiveBayes().beliefs(release.release, np.array([[0, 3], [3, 3], [3, 0]], dtype=np.int32))
    assert found == pytest.approx(np.array([[1, 0], [0, 1], [2 / 3, 1 / 3]]))


def without_missing(release: Release, axis: int, codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """Missing values get nothing, and widths do not count them."""
    boxes = release.boxes
    margin = np.zeros((len(codes), release.histograms.shape[1]))
    for box in range(len(boxes)):
        inside = (codes >= boxes.lo[box, axis]) & (codes <= boxes.hi[box, axis])
        width = boxes.hi[box, axis] - boxes.lo[box, axis] + 1
        margin[inside] += release.weights[box] / width * release.distributions[release.group_of[box]]
    return margin


def undivided(release: Release, axis: int, codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """The weight is not divided by the width."""
    boxes = release.boxes
    margin = np.zeros((len(codes), release.histograms.shape[1]))
    for box in range(len(boxes)):
        span = boxes.span(box, axis)
        inside = (codes >= span.lo) & (codes <= span.hi) | ((codes < 0) & span.missing)
        margin[inside] += release.weights[box] * release.distributions[release.group_of[box]]
    return margin


def shifted(release: Release, axis: int, codes: NDArray[np.int32], whole=attack.axis_margin) -> NDArray[np.float64]:
    return whole(release, axis, np.where(codes > 0, codes - 1, codes))


@pytest.mark.parametrize("twin", [without_missing, undivided, shifted])
def test_a_broken_kernel_is_noticed(monkeypatch: pytest.MonkeyPatch, classes: ReleaseCase, twin: object) -> None:
    check(classes)
    monkeypatch.setattr(attack, "axis_margin", twin)
    with pytest.raises(AssertionError):
        check(classes)


def test_a_prior_counted_once_per_axis_is_noticed(monkeypatch: pytest.MonkeyPatch, classes: ReleaseCase) -> None:
    whole = attack.axis_margin
    monkeypatch.setattr(
        attack, "axis_margin", lambda release, axis, codes: whole(release, axis, codes) * release.overall
    )
    with pytest.raises(AssertionError):
        check(classes)


def test_of_equally_sure_people_each_counts_in_part() -> None:
    """Two points, 8 and 2 rows, the same certainty; the surest tenth is one row, right at the mean rate."""
    rows = [(0, 0, 0)] * 8 + [(1, 1, 1)] + [(1, 1, 0)]
    case = people(rows)
    whole = made_of(case, [(((0, 3, True), (0, 3, False)), 0, value) for _, _, value in rows])
    assert NaiveBayes().run(case.table, whole.release)["confident_guesses"] == pytest.approx(0.9)
    check(whole)


def test_margins_add_up_to_the_rows(classes: ReleaseCase) -> None:
    codes = np.array([-1, 0, 1, 2, 3], dtype=np.int32)
    margin = attack.axis_margin(classes.release, 0, codes)
    assert margin.sum(axis=0) == pytest.approx(classes.release.overall)
    assert margin[0] == pytest.approx([1.0, 0.0])


def test_many_intervals_are_taken_in_parts(monkeypatch: pytest.MonkeyPatch, classes: ReleaseCase) -> None:
    codes = np.array([-1, 0, 1, 2, 3], dtype=np.int32)
    at_once = attack.axis_margin(classes.release, 0, codes)
    monkeypatch.setattr(attack, "INTERVALS_AT_ONCE", 1)
    assert attack.axis_margin(classes.release, 0, codes) == pytest.approx(at_once)


def test_on_the_original_a_single_axis_gives_the_point_itself() -> None:
    case = people([(x, 0, value) for x, value in [(0, 0), (0, 0), (0, 1), (1, 1), (2, 1)]])
    original = Original().publish(case.table)
    assert isinstance(original.boxes, Boxes)
    expected = case.table.histograms / case.table.weights[:, None]
    assert NaiveBayes().beliefs(original, case.table.points) == pytest.approx(expected)


@pytest.mark.parametrize("share", [0, -0.1, 1.5, float("nan")])
def test_a_share_of_people_out_of_range_is_refused(share: float) -> None:
    with pytest.raises(ParameterError, match="confident is"):
        NaiveBayes(confident=share)
