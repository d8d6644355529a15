"""The two ends of every frontier, on random tables."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings

from sfumato.measures.measure import measure
from sfumato.methods import FullSuppression, Original
from sfumato.privacy.claims import NoGuarantee, Syntactic
from strategies import TableCase, tables


@settings(max_examples=15)
@given(tables(most_rows=14, most_quasi=3, most=5))
def test_the_original_loses_no_utility_and_suppression_tells_nothing(case: TableCase) -> None:
    original = measure(case.table, Original().publish(case.table))
    for name in ("u_loss", "query_error", "mean_query_error", "ncp", "gcp", "suppressed"):
        assert original[name].value == pytest.approx(0, abs=1e-12), name
    nothing = measure(case.table, FullSuppression().publish(case.table))
    for name in ("p_loss", "mean_p_loss", "p_loss_emd", "breach", "realized_t"):
        assert nothing[name].value == pytest.approx(0, abs=1e-12), name
    assert nothing["smallest_class"].value == case.table.n
    assert nothing["guessed_right"].value == pytest.approx(case.table.overall.max() / case.table.n)
    assert original["p_loss"].value >= nothing["p_loss"].value
    assert original["u_loss"].value <= nothing["u_loss"].value + 1e-12


@given(tables(most_rows=14, most_quasi=3, most=5))
def test_the_original_holds_exactly_the_rows(case: TableCase) -> None:
    release = Original().publish(case.table)
    points = np.where(release.boxes.missing, -1, release.boxes.lo)
    found: Counter[object] = Counter()
    for box, group in enumerate(release.group_of):
        for value, count in enumerate(release.histograms[group].astype(int).tolist()):
            found[tuple(points[box].tolist()), value] += count
    assert +found == Counter(case.people)
    assert isinstance(release.claim, NoGuarantee)


@given(tables(most_rows=14, most_quasi=3, most=5))
def test_suppression_is_one_box_around_everything(case: TableCase) -> None:
    release = FullSuppression().publish(case.table)
    assert len(release.boxes) == len(release.histograms) == 1
    assert [release.boxes.span(0, i) for i in range(len(case.case.quasi))] == [
        (0, axis.size - 1, axis.nullable) for axis in case.case.quasi
    ]
    assert isinstance(release.claim, Syntactic)
    assert release.violations() == []
