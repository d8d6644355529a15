"""Beliefs: what someone who knows how noisy the counts are makes of them, between a group's shares and all shares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.privacy.claims import PureDP
from sfumato.release import Boxes, Provenance, Release
from sfumato.schema import Schema

Floats = np.ndarray[Any, np.dtype[np.float64]]


def release_of(histograms: list[list[float]], deviation: list[float] | None) -> Release:
    """A box for each group along an axis."""
    counts = np.array(histograms, dtype=np.float64)
    columns = {
        "x": {"role": "quasi", "kind": "numeric", "min": 0, "max": max(len(counts) - 1, 0)},
        "s": {"role": "sensitive", "kind": "categorical", "values": [f"v{i}" for i in range(counts.shape[1])]},
    }
    return Release(
        schema=Schema.parse({"columns": columns}),
        boxes=Boxes.of_points(np.arange(len(counts), dtype=np.int32)[:, None]),
        weights=counts.sum(axis=1),
        group_of=np.arange(len(counts)),
        histograms=counts,
        claim=PureDP(epsilon=1),
        provenance=Provenance(method="by hand"),
        layout="counts",
        deviation=None if deviation is None else np.array(deviation, dtype=np.float64),
    )


def slow_belief(histogram: list[float], overall: list[float], deviation: float) -> list[float]:
    """q + max(0, 1 − values · deviation² / weight² / |x − q|²) · (x − q), and q where there is nothing to go by."""
    weight = sum(max(count, 0) for count in histogram)
    q = [count / sum(overall) for count in overall]
    if weight == 0:
        return q
    x = [max(count, 0) / weight for count in histogram]
    distance = sum((a - b) ** 2 for a, b in zip(x, q, strict=True))
    if distance == 0:
        return q
    trusted = max(0.0, 1 - len(q) * deviation**2 / weight**2 / distance)
    return [b + trusted * (a - b) for a, b in zip(x, q, strict=True)]


counts = st.lists(
    st.lists(st.one_of(st.just(0.0), st.floats(0.01, 1e4)), min_size=3, max_size=3), min_size=1, max_size=5
).filter(lambda rows: sum(map(sum, rows)) > 0)
noises = st.one_of(st.just(0.0), st.floats(1e-6, 1e5))


@given(counts, st.data())
def test_beliefs_are_those_of_their_definition(histograms: list[list[float]], data: st.DataObject) -> None:
    deviation = [data.draw(noises) for _ in histograms]
    release = release_of(histograms, deviation)
    overall = [sum(column) for column in zip(*histograms, strict=True)]
    expected = [slow_belief(row, overall, noise) for row, noise in zip(histograms, deviation, strict=True)]
    assert release.beliefs == pytest.approx(np.array(expected), abs=1e-9)
    assert release.beliefs.sum(axis=1) == pytest.approx(1)
    assert release.beliefs.min() >= -1e-12


def test_the_definition_tells_other_estimates_apart() -> None:
    """The check's own check: the shares themselves, or half way to all shares, are something else."""
    release = release_of([[30.0, 10], [10, 30]], [6, 6])
    believed = 1 - 2 * 36 / 1_600 / (2 * 0.25**2)
    assert release.beliefs[0] == pytest.approx([0.5 + believed * 0.25, 0.5 - believed * 0.25])
    assert believed == pytest.approx(0.64)
    assert release.beliefs[0] != pytest.approx(release.distributions[0], abs=0.05)


@given(counts)
def test_without_noise_the_shares_are_believed(histograms: list[list[float]]) -> None:
    release = release_of(histograms, None)
    assert np.array_equal(release.beliefs, release.distributions)
    silent = release_of(histograms, [0.0] * len(histograms))
    counted = silent.weights > 0
    assert silent.beliefs[counted] == pytest.approx(silent.distributions[counted], abs=1e-12)


@given(counts)
def test_with_nothing_but_noise_all_shares_are_believed(histograms: list[list[float]]) -> None:
    release = release_of(histograms, [1e9] * len(histograms))
    everyone = release.overall / release.overall.sum()
    assert release.beliefs == pytest.approx(np.tile(everyone, (len(histograms), 1)), abs=1e-12)


@given(counts, noises, noises)
def test_more_noise_means_less_belief(histograms: list[list[float]], one: float, other: float) -> None:
    """On its way from a group's shares to all shares, a belief never turns back."""
    less, more = (release_of(histograms, [noise] * len(histograms)) for noise in sorted((one, other)))
    everyone = less.overall / less.overall.sum()
    near, far = (np.abs(release.beliefs - everyone).sum(axis=1) for release in (more, less))
    assert (near <= far + 1e-12).all()
    whole = np.abs(less.distributions - everyone).sum(axis=1)
    assert (far[less.weights > 0] <= whole[less.weights > 0] + 1e-12).all()


def test_groups_without_rows_are_believed_to_be_like_all() -> None:
    for deviation in ([0.0, 0.0], [3.0, 3.0]):
        release = release_of([[6.0, 2.0], [0.0, 0.0]], deviation)
        assert release.beliefs[1].tolist() == [0.75, 0.25]


def test_a_synthetic_point_is_not_mistaken_for_certainty() -> None:
    """One sampled row of four values: its spread by chance alone explains it, so nothing is believed of it."""
    rows = release_of([[1.0, 0, 0, 0], [25, 25, 25, 25]], [0.5, 5.0])
    everyone = rows.overall / rows.overall.sum()
    assert rows.beliefs[0] == pytest.approx(everyone)
    assert replace(rows, deviation=None).beliefs[0].tolist() == [1, 0, 0, 0]


def test_posteriors_are_beliefs() -> None:
    """A person's posterior is the belief of the box that holds them."""
    release = release_of([[30.0, 10], [10, 30], [0, 0]], [6, 0, 6])
    points = np.array([[0], [1], [2]], dtype=np.int32)
    assert release.posteriors(points) == pytest.approx(release.beliefs)
    assert release.posteriors(points)[1].tolist() == [0.25, 0.75]
    certain = replace(release, deviation=None)
    assert certain.posteriors(points)[:2] == pytest.approx(certain.distributions[:2])


def test_noisy_says_whether_a_row_stands_for_a_person() -> None:
    assert release_of([[1.0, 2.0]], [1.0]).noisy
    assert not release_of([[1.0, 2.0]], None).noisy
