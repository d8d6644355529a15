"""The k, ℓ and t that a release turned out to have, from its groups in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

import sfumato.measures.attacks.classes as classes
from brute_force import ReleaseCase, releases, total_variation
from reference import normalized
from sfumato.measures.attacks import RealizedClasses


def check(case: ReleaseCase) -> None:
    found = RealizedClasses().run(case.case.table, case.release)
    shares = [normalized(counts) for counts in case.histograms]
    assert found["smallest_class"] == pytest.approx(float(min(map(sum, case.histograms))))
    assert found["realized_l"] == pytest.approx(float(1 / max(map(max, shares))))
    assert found["realized_t"] == pytest.approx(max(total_variation(p, case.overall) for p in shares), abs=1e-12)


@given(releases())
def test_realized_classes_are_the_weakest_groups(case: ReleaseCase) -> None:
    check(case)


def test_distances_without_their_half_are_noticed(monkeypatch: pytest.MonkeyPatch, two_classes: ReleaseCase) -> None:
    check(two_classes)
    monkeypatch.setattr(classes, "total_variation", lambda p, q: np.abs(p - q).sum(-1))
    with pytest.raises(AssertionError):
        check(two_classes)


@pytest.fixture
def two_classes() -> ReleaseCase:
    from strategies import AxisCase, SchemaCase, TableCase

    number = AxisCase("number", {"kind": "numeric", "min": 0, "max": 1}, (("0",), ("1",)))
    secret = AxisCase("secret", {"kind": "categorical", "values": ["a", "b"]}, (("a",), ("b",)))
    rows = ((0, 0), (0, 0), (0, 0), (0, 1), (1, 0), (1, 1))
    case = TableCase(SchemaCase((number,), secret), rows, tuple((str(x), "ab"[value]) for x, value in rows))
    histograms = ((Fraction(3), Fraction(1)), (Fraction(1), Fraction(1)))
    boxes = (((0, 0, False),), ((1, 1, False),))
    return ReleaseCase(case, boxes, (Fraction(4), Fraction(2)), (0, 1), histograms)


def test_a_case_worked_out_on_paper(two_classes: ReleaseCase) -> None:
    """Classes (3, 1) and (1, 1) of a table (4, 2)."""
    found = RealizedClasses().run(two_classes.case.table, two_classes.release)
    assert found == pytest.approx({"smallest_class": 2, "realized_l": 4 / 3, "realized_t": 2 / 3 - 1 / 2})
