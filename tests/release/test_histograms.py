"""Histograms that are kept as cells are what the arrays would be, whatever is asked of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.release import histograms as module
from sfumato.release.content import look_alikes
from sfumato.release.histograms import SparseHistograms, cells_of, histograms_of
from sfumato.samples.town import SCHEMA_PATH
from sfumato.trials.pilot import made_up_table

entries = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6), st.integers(0, 3)), min_size=1, max_size=12)


def both(listed: list[tuple[int, int, int]]) -> tuple[np.ndarray, SparseHistograms]:
    group, value, rows = np.array(listed).T
    with pytest.MonkeyPatch.context() as patch:
        array = histograms_of(group, value, rows, 5, 7)
        patch.setattr(module, "MANY", 0)
        patch.setattr(module, "SPARSE", 0)
        sparse = histograms_of(group, value, rows, 5, 7)
    assert isinstance(array, np.ndarray)
    assert isinstance(sparse, SparseHistograms)
    return array, sparse


@given(listed=entries)
def test_whatever_is_asked_is_answered_as_by_an_array(listed: list[tuple[int, int, int]]) -> None:
    array, sparse = both(listed)
    expected = np.zeros((5, 7))
    for group, value, rows in listed:
        expected[group, value] += rows
    np.testing.assert_array_equal(array, expected)
    np.testing.assert_array_equal(np.asarray(sparse), expected)
    assert (len(sparse), sparse.shape, sparse.dtype) == (5, (5, 7), expected.dtype)
    for axis in (None, 0, 1):
        np.testing.assert_array_equal(sparse.sum(axis=axis), expected.sum(axis=axis))
    np.testing.assert_array_equal(sparse.sum(axis=1, keepdims=True), expected.sum(axis=1, keepdims=True))
    some, mask = np.array([3, 0, 3]), np.arange(7) % 2 == 0
    for key in (2, -1, slice(1, 4), some, np.arange(5) > 2, (slice(None), 3), (slice(None), mask), (slice(None), some)):
        np.testing.assert_array_equal(sparse[key], expected[key])
    np.testing.assert_array_equal(sparse[some, some], expected[some, some])
    np.testing.assert_array_equal(np.maximum(sparse, 1) - sparse, np.maximum(expected, 1) - expected)
    np.testing.assert_array_equal(sparse > 0, expected > 0)
    for one, other in zip(cells_of(array), cells_of(sparse), strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_array_is_made_unless_it_would_be_mostly_empty() -> None:
    groups = module.MANY // 1000 + 1
    assert isinstance(histograms_of(np.arange(groups), np.arange(groups) % 1000, None, groups, 1000), SparseHistograms)
    few = np.arange(groups).repeat(1000 // module.SPARSE + 1)
    assert isinstance(histograms_of(few, few % 1000, None, groups, 1000), np.ndarray)
    assert isinstance(histograms_of(np.arange(10), np.arange(10), None, 10, 1000), np.ndarray)


METHODS: tuple[sf.Method, ...] = (
    sf.Mondrian(k=5, l=1.5),
    sf.Mondrian(k=5, l=1.5, recoding="bucketize"),
    sf.Mondrian(k=5, t=0.4, suppress=0.1),
    sf.Original(),
    sf.PrivBayes(epsilon=5),
)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.label)
def test_releases_are_the_same_either_way(method: sf.Method, monkeypatch: pytest.MonkeyPatch) -> None:
    table = sf.read(sf.residents(300), SCHEMA_PATH)
    assert not look_alikes(table.schema.sensitive.labels)
    usual = method.publish(table, SimulatedSource(1))
    monkeypatch.setattr(module, "MANY", 0)
    monkeypatch.setattr(module, "SPARSE", 0)
    sparse = method.publish(table, SimulatedSource(1))
    assert isinstance(sparse.histograms, SparseHistograms)
    np.testing.assert_array_equal(np.asarray(sparse.histograms), usual.histograms)
    assert sparse.violations() == usual.violations()
    assert sparse.to_polars().equals(usual.to_polars())
    assert sparse.answer("age >= 40 and condition = Diabetes") == usual.answer("age >= 40 and condition = Diabetes")
    measured = {name: one.value for name, one in sf.measure(table, sparse).items()}
    assert measured == pytest.approx({name: one.value for name, one in sf.measure(table, usual).items()}, nan_ok=True)
    if method.name == "privbayes":
        assert made_up_table(sparse).digest == made_up_table(usual).digest
