"""The shape of a release: narrow boxes tell how values lie in wide ones, and nothing is told that is not there."""

from __future__ import annotations

import numpy as np
import pytest

from asking import region
from brute_force import small_table
from sfumato.estimation import shape
from sfumato.estimation.shape import Side, even_spread, fit_shape
from sfumato.measures.workloads import ConjunctiveCounts, HalfDomainCounts
from sfumato.methods import Mondrian
from sfumato.release.expected import expect
from sfumato.schema.codes import Codes


def side(spans: list[tuple[int, int, bool]], size: int) -> Side:
    lo, hi, missing = (np.array(each) for each in zip(*spans, strict=True))
    return Side(lo, hi, missing.astype(bool), size)


def test_one_box_is_spread_evenly() -> None:
    boxes = side([(0, 9, True)], 10)
    found = fit_shape([boxes], np.array([[3.0, 4.0]]))
    below = found.spreads[0].up_to(np.arange(12))
    assert below == pytest.approx(np.tile(np.arange(12) / 11, (2, 1)))


def test_narrow_boxes_tell_where_values_lie_in_wide_ones() -> None:
    """90 rows at 0, 10 at 9, and a wide box: most narrow rows are below 5, so most of the wide one's are."""
    boxes = side([(0, 0, False), (9, 9, False), (0, 9, False)], 10)
    spread = fit_shape([boxes], np.array([[90.0], [10.0], [20.0]])).spreads[0]
    assert float(spread.up_to(np.array([5]))[0, 0]) > 0.8
    assert float(even_spread(10).up_to(np.array([5]))[0, 0]) == pytest.approx(5 / 11)


def test_sensitive_values_have_shapes_of_their_own() -> None:
    """Those with the first value lie low and the others high, also in a box that has both."""
    boxes = side([(0, 4, False), (5, 9, False), (0, 9, False)], 10)
    counts = np.array([[50.0, 1.0], [1.0, 50.0], [10.0, 10.0]])
    found = fit_shape([boxes], counts)
    low = found.spreads[0].up_to(np.array([5]))[:, 0]
    shares = [(found.rows_by_class(counts, chosen)[2] * low).sum() / 10 for chosen in np.eye(2, dtype=bool)]
    assert shares[0] > 0.6
    assert shares[1] < 0.4


def test_rows_are_dealt_out_to_classes_without_loss() -> None:
    release = Mondrian(k=5).publish(small_table(90))
    every = np.ones(release.histograms.shape[1], dtype=bool)
    assert release.shape.rows_by_class(release.counts, every).sum(axis=1) == pytest.approx(release.weights)


def test_many_sensitive_values_start_in_fewer_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shape, "MAX_CLASSES", 3)
    found = fit_shape([side([(0, 4, False), (5, 9, False)], 10)], np.arange(20.0).reshape(2, 10))
    assert len(found.values) == 3
    assert found.values.sum(axis=1) == pytest.approx(np.ones(3))


@pytest.mark.parametrize("k", [2, 5, 30])
@pytest.mark.parametrize("workload", [HalfDomainCounts(count=60), ConjunctiveCounts(count=60, dimensions=2)])
def test_many_queries_at_once_are_answered_as_one_by_one(
    k: int, workload: HalfDomainCounts | ConjunctiveCounts
) -> None:
    table = small_table(90)
    release = Mondrian(k=k).publish(table)
    queries = workload.queries(table)
    found = release.careful_counts_in(queries.regions, queries.first, queries.last)
    values = np.arange(table.values)
    for i in range(len(queries.truth)):
        spans = [queries.regions.span(i, axis) for axis in range(len(table.schema.quasi))]
        asked = [Codes.of([span]) for span in spans]
        chosen = (queries.first[i] <= values) & (values <= queries.last[i])
        assert found[i] == pytest.approx(expect(release, region(table.schema, asked, chosen))[0], abs=1e-9)


def test_a_shape_that_is_upside_down_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of the test above sees a kernel that takes the wrong classes."""
    table = small_table(90)
    release = Mondrian(k=30).publish(table)
    queries = ConjunctiveCounts(count=60, dimensions=2).queries(table)
    asked = queries.regions, queries.first, queries.last
    right = release.careful_counts_in(*asked)
    twin = shape.Shape(release.shape.spreads[::-1], release.shape.likely, release.shape.values)
    monkeypatch.setitem(release.__dict__, "shape", twin)
    assert release.careful_counts_in(*asked) != pytest.approx(right)
