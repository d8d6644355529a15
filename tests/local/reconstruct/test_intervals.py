"""Variances against written-out inverses and against resampling, and how often intervals hold the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from local.reconstruct.oracle import Floats, drawn, problems, two_humps
from sfumato.errors import ParameterError
from sfumato.local.reconstruct import Intervals, likelihood
from sfumato.local.reconstruct.bootstrap import resampled
from sfumato.local.reconstruct.intervals import Band, delta_intervals, percentile_intervals, reaches
from sfumato.local.reconstruct.variances import cdf_variances, cell_variances, mean_variance, one_report_moves
from sfumato.privacy.channels import Channel, make_channel

INVERTIBLE = ("geometric", "laplace", "randomized-response")


@given(problems(names=INVERTIBLE, most=20))
def test_variances_are_those_of_the_inverse_matrix(problem: tuple[Channel, Floats]) -> None:
    channel, observed = problem
    inverse = np.linalg.inv(channel.matrix())
    values = np.arange(channel.size) ** 2 / max(1, channel.size)
    # Around the means, so that the written-out covariance keeps its digits too.
    centred = inverse - observed @ inverse
    covariance = (centred.T * observed) @ centred
    sums = np.tril(np.ones((channel.size, channel.size)))
    scale = np.abs(inverse).max() ** 2
    np.testing.assert_allclose(cell_variances(channel, observed), np.diag(covariance), rtol=1e-6, atol=1e-9 * scale)
    np.testing.assert_allclose(
        cdf_variances(channel, observed), np.diag(sums @ covariance @ sums.T), rtol=1e-6, atol=1e-9 * scale
    )
    assert mean_variance(channel, observed, values) == pytest.approx(
        values @ covariance @ values, rel=1e-5, abs=1e-9 * scale
    )
    assert one_report_moves(channel) == pytest.approx(np.abs(inverse).max(), rel=1e-7)


def test_the_variance_of_a_mean_does_not_depend_on_where_values_begin() -> None:
    channel, observed, values = make_channel("geometric", 40, 0.1), np.full(40, 1 / 40), np.arange(40.0)
    far = mean_variance(channel, observed, values + 1e9)
    assert far == pytest.approx(mean_variance(channel, observed, values), rel=1e-6)


def test_one_forged_report_weighs_two_hundred_people() -> None:
    """At ε = 0.1: (1 + α²) / (1 − α)² of the middle of the diagonal."""
    decay = np.exp(-0.1)
    moved = one_report_moves(make_channel("geometric", 100, 0.1))
    assert moved == pytest.approx((1 + decay**2) / (1 - decay) ** 2)
    assert moved == pytest.approx(200.83, abs=0.01)
    assert one_report_moves(make_channel("square-wave", 100, 0.1)) is None
    with pytest.raises(ParameterError, match="use the bootstrap"):
        cell_variances(make_channel("square-wave", 4, 1.0), np.full(8, 1 / 8))


@pytest.mark.parametrize("name", INVERTIBLE)
def test_resampling_shows_the_same_variation(name: str) -> None:
    """A deviation from 2,000 draws is exact to 1.6%; 8% is five times that. A twin 20% off is found."""
    channel = make_channel(name, 15, 0.7)
    counts = drawn(channel, two_humps(15), 30_000, 1)
    observed, values = counts / 30_000, np.arange(15.0)
    draws = resampled(counts, channel.invert, np.random.default_rng(2), 2_000)
    seen = {
        "cells": draws.std(axis=0) / np.sqrt(cell_variances(channel, observed) / 30_000),
        "cdf": np.cumsum(draws, axis=1).std(axis=0)[:-1] / np.sqrt(cdf_variances(channel, observed)[:-1] / 30_000),
        "mean": (draws @ values).std() / np.sqrt(mean_variance(channel, observed, values) / 30_000),
    }
    for ratio in seen.values():
        np.testing.assert_allclose(ratio, 1.0, atol=0.08)
        with pytest.raises(AssertionError):
            np.testing.assert_allclose(0.8 * ratio, 1.0, atol=0.08)
    delta = delta_intervals(channel, counts, values, 0.95)
    percentile = percentile_intervals(draws, values, 0.95)
    width = delta.cells.high - delta.cells.low
    np.testing.assert_allclose(percentile.cells.high - percentile.cells.low, width, rtol=0.15)
    assert (percentile.method, delta.method) == ("bootstrap", "delta")
    assert percentile.mean == pytest.approx(delta.mean, abs=0.15 * (delta.mean[1] - delta.mean[0]))


def coverage(channel: Channel, true: Floats, reports: int, width: float) -> float:
    """How many shares are within their 95% intervals, when those are `width` times as wide."""
    held = []
    for seed in range(200):
        cells = delta_intervals(channel, drawn(channel, true, reports, seed), np.arange(float(len(true))), 0.95).cells
        middle, half = (cells.low + cells.high) / 2, width * (cells.high - cells.low) / 2
        held.append(np.mean(np.abs(middle - true) <= half))
    return float(np.mean(held))


@pytest.mark.parametrize("name", INVERTIBLE)
def test_intervals_hold_the_truth_as_often_as_they_say(name: str) -> None:
    """The mean over 20 correlated cells and 200 draws has a deviation of about 0.5%: 2% is four times that."""
    channel, true = make_channel(name, 20, 1.0), two_humps(20)
    assert abs(coverage(channel, true, 50_000, 1.0) - 0.95) < 0.02
    assert coverage(channel, true, 50_000, 0.8) < 0.93


def test_a_share_is_never_known_exactly_because_nobody_reported_it() -> None:
    channel = make_channel("geometric", 50, 2.0)
    counts = np.zeros(50, dtype=np.int64)
    counts[10] = 500
    cells = delta_intervals(channel, counts, np.arange(50.0), 0.95).cells
    assert (cells.high - cells.low).min() > 1 / 500


def band(low: list[float], high: list[float]) -> Intervals:
    ends = Band(low=np.array(low), high=np.array(high))
    return Intervals(confidence=0.95, method="delta", cells=ends, cdf=ends, mean=(0.0, 1.0))


def test_a_quantile_lies_where_the_band_allows_it() -> None:
    found = band([0.1, 0.3, 0.45, 0.4, 0.9, 1.0], [0.2, 0.5, 0.6, 0.7, 1.0, 1.0])
    assert found.quantile(0.5) == (1, 4)
    assert found.quantile(0.05) == (0, 0)
    assert found.quantile(0.95) == (4, 5)
    assert reaches(np.array([0.2, 0.5, 1.0]), 0.5) == 1
    assert reaches(np.array([0.2, 0.5, 0.9]), 0.95) == 2


@pytest.mark.parametrize(("name", "epsilon"), [("geometric", 0.5), ("laplace", 0.5), ("randomized-response", 4.0)])
def test_quantile_intervals_hold_the_truth_at_least_as_often_as_they_say(name: str, epsilon: float) -> None:
    """A band by itself is held 95% of the time, both of its ends together a little more; the median alone is not."""
    channel, true = make_channel(name, 60, epsilon), two_humps(60)
    place = int(np.searchsorted(np.cumsum(true), 0.5))
    found = [delta_intervals(channel, drawn(channel, true, 5_000, seed), np.arange(60.0), 0.95) for seed in range(100)]
    ends = np.array([intervals.quantile(0.5) for intervals in found])
    assert ((ends[:, 0] <= place) & (place <= ends[:, 1])).sum() >= 93
    assert (ends.mean(axis=1).round() == place).sum() < 90
    assert (ends[:, 1] - ends[:, 0]).mean() < 20


def test_ends_are_cut_to_what_is_possible_and_hold_the_point() -> None:
    shares = np.array([0.5, 0.5, 0.0])
    found = band([-0.2, 0.6, 0.1], [0.1, 0.7, 0.3]).around(shares, np.array([0.0, 1.0, 2.0]))
    np.testing.assert_allclose(found.cells.low, [0.0, 0.5, 0.0])
    np.testing.assert_allclose(found.cells.high, [0.5, 0.7, 0.3])
    assert found.mean == (0.0, 1.0)
    assert replace(found, mean=(-3.0, 7.0)).around(shares, np.array([0.0, 1.0, 2.0])).mean == (0.0, 2.0)


def test_resampling_repeats_itself_for_a_seed_and_needs_two_repeats() -> None:
    channel = make_channel("square-wave", 8, 1.0)
    counts = drawn(channel, two_humps(8), 5_000, 1)

    def solve(observed: Floats) -> Floats:
        return likelihood(channel, observed, gap=1e-5).shares

    first, again, other = (resampled(counts, solve, np.random.default_rng(seed), 3) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    with pytest.raises(ParameterError, match="at least 2"):
        resampled(counts, solve, np.random.default_rng(0), 1)
