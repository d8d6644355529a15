"""Variances against written-out inverses and against resampling, and how often intervals hold the truth."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given

from sfumato.estimation.intervals import Band, Intervals, cumulate, delta_intervals, first_reaching
from sfumato.estimation.likelihood import likelihood
from sfumato.estimation.unbiased import contributions, unbiased_shares
from sfumato.estimation.variances import cdf_variances, cell_variances, mean_variance, one_report_moves
from sfumato.mechanisms.channels import Channel, make_channel

from .oracle import Floats, drawn, problems, two_humps

if TYPE_CHECKING:
    from numpy.typing import NDArray


def intervals_of(channel: Channel, counts: NDArray[np.int64], values: Floats | None = None) -> Intervals:
    """95% intervals as an estimate has them, before they are cut and widened."""
    likeliest = likelihood(channel, counts / counts.sum()).shares
    axis = np.arange(float(channel.size)) if values is None else values
    return delta_intervals(channel, counts, likeliest, axis, 0.95)


def written_out(channel: Channel) -> Floats:
    """What each report contributes to each share: (reports, values)."""
    if channel.invertible:
        return np.linalg.inv(channel.matrix())
    return np.array([unbiased_shares(channel, report) for report in np.eye(channel.reports)])


@given(problems(most=20))
def test_variances_are_those_of_the_written_out_estimate(problem: tuple[Channel, Floats]) -> None:
    channel, observed = problem
    inverse = written_out(channel)
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
    for size, epsilon in ((1, 1.0), (2, 0.1), (9, 0.5), (30, 2.0), (30, 4.0), (7, 9.0)):
        wave = make_channel("square-wave", size, epsilon)
        assert one_report_moves(wave) == pytest.approx(np.abs(written_out(wave)).max())


@given(problems(names=("square-wave",), most=40))
def test_the_estimate_from_a_square_wave_is_unbiased(problem: tuple[Channel, Floats]) -> None:
    """GH = I says that any distribution of values is estimated by itself on average."""
    channel, observed = problem
    estimate = written_out(channel)
    scale = np.abs(estimate).max()
    np.testing.assert_allclose(channel.matrix() @ estimate, np.eye(channel.size), atol=1e-11 * scale)
    np.testing.assert_allclose(unbiased_shares(channel, observed), observed @ estimate, atol=1e-11 * scale)
    amounts = np.cos(np.arange(channel.size))
    np.testing.assert_allclose(contributions(channel, amounts), estimate @ amounts, atol=1e-10 * scale)


@pytest.mark.parametrize(("size", "epsilon"), [(10, 0.5), (40, 1.0), (121, 3.0), (50, 5.0)])
def test_hardly_any_unbiased_estimate_varies_less(size: int, epsilon: float) -> None:
    """Weighted least squares, whose variance no unbiased linear estimate is below."""
    channel, shares = make_channel("square-wave", size, epsilon), two_humps(size)
    matrix, observed = channel.matrix(), channel.spread(shares)
    weighted = matrix / observed
    least = np.diag(np.linalg.inv(weighted @ matrix.T)) - shares**2
    ours = cell_variances(channel, observed)
    assert (ours >= least * (1 - 1e-9)).all()
    assert np.sqrt(ours / least).mean() < 1.03


def coverage(channel: Channel, true: Floats, reports: int, width: float) -> float:
    """How many shares are within their 95% intervals, when those are `width` times as wide."""
    held = []
    for seed in range(200):
        cells = intervals_of(channel, drawn(channel, true, reports, seed)).cells
        middle, half = (cells.low + cells.high) / 2, width * (cells.high - cells.low) / 2
        held.append(np.mean(np.abs(middle - true) <= half))
    return float(np.mean(held))


@pytest.mark.parametrize("name", ["geometric", "laplace", "randomized-response", "square-wave"])
def test_intervals_hold_the_truth_as_often_as_they_say(name: str) -> None:
    """The mean over 20 correlated cells and 200 draws has a deviation of about 0.5%: 2% is four times that."""
    channel, true = make_channel(name, 20, 1.0), two_humps(20)
    assert abs(coverage(channel, true, 50_000, 1.0) - 0.95) < 0.02
    assert coverage(channel, true, 50_000, 0.8) < 0.93


def test_square_wave_intervals_hold_every_share_every_cumulative_share_and_the_mean() -> None:
    """Ages and 100,000 people. 400 draws hold 95% ± 1.1%, and the worst of 241 is rarely five times that below."""
    channel, true, ages = make_channel("square-wave", 121, 3.0), two_humps(121), np.arange(121.0)
    truth = np.array([*true, *np.cumsum(true)[:-1], true @ ages])
    distances, halves = [], []
    for seed in range(400):
        found = intervals_of(channel, drawn(channel, true, 100_000, seed), ages)
        low = np.array([*found.cells.low, *found.cdf.low[:-1], found.mean[0]])
        high = np.array([*found.cells.high, *found.cdf.high[:-1], found.mean[1]])
        distances.append(np.abs((low + high) / 2 - truth))
        halves.append((high - low) / 2)
    held, narrow = (np.mean(np.array(distances) <= width * np.array(halves), axis=0) for width in (1.0, 0.8))
    assert held.min() > 0.895
    for part in (slice(121), slice(121, 241), slice(241, None)):
        assert abs(held[part].mean() - 0.95) < 0.03
        assert narrow[part].mean() < 0.92
        assert narrow[part].min() < 0.895


def test_a_share_is_never_known_exactly_because_nobody_reported_it() -> None:
    channel = make_channel("geometric", 50, 2.0)
    counts = np.zeros(50, dtype=np.int64)
    counts[10] = 500
    cells = intervals_of(channel, counts).cells
    assert (cells.high - cells.low).min() > 1 / 500


def test_few_reports_are_not_taken_for_certainty() -> None:
    """At the smallest usual batch, reports that nobody sent are not impossible; one report is no certain mean."""
    channel, true = make_channel("geometric", 121, 0.5), two_humps(121)
    cumulative = np.cumsum(true)[:-1]
    held = []
    for seed in range(60):
        cdf = intervals_of(channel, drawn(channel, true, 100, seed)).cdf
        held.append(np.mean((cdf.low[:-1] <= cumulative) & (cumulative <= cdf.high[:-1])))
    assert np.mean(held) > 0.93
    one = np.zeros(121, dtype=np.int64)
    one[43] = 1
    low, high = intervals_of(channel, one).mean
    assert high - low > 5


def band(low: list[float], high: list[float]) -> Intervals:
    ends = Band(low=np.array(low), high=np.array(high))
    return Intervals(confidence=0.95, cells=ends, cdf=ends, mean=(0.0, 1.0))


def test_a_quantile_lies_where_the_band_allows_it() -> None:
    found = band([0.1, 0.3, 0.45, 0.4, 0.9, 1.0], [0.2, 0.5, 0.6, 0.7, 1.0, 1.0])
    assert found.quantile(0.5) == (1, 4)
    assert found.quantile(0.05) == (0, 0)
    assert found.quantile(0.95) == (4, 5)
    assert first_reaching(np.array([0.2, 0.5, 1.0]), 0.5) == 1
    assert first_reaching(np.array([0.2, 0.5, 0.9]), 0.95) == 2


@pytest.mark.parametrize(
    ("name", "epsilon"), [("geometric", 0.5), ("laplace", 0.5), ("randomized-response", 4.0), ("square-wave", 4.0)]
)
def test_quantile_intervals_hold_the_truth_at_least_as_often_as_they_say(name: str, epsilon: float) -> None:
    """A band by itself is held 95% of the time, both of its ends together a little more; the median alone is not."""
    channel, true = make_channel(name, 60, epsilon), two_humps(60)
    place = int(np.searchsorted(np.cumsum(true), 0.5))
    found = [intervals_of(channel, drawn(channel, true, 5_000, seed)) for seed in range(100)]
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


def test_the_last_cumulative_share_is_one() -> None:
    shares = np.full(10, 0.1)
    assert np.cumsum(shares)[-1] != 1
    assert cumulate(shares)[-1] == 1
    assert cumulate(np.array([1.0000000000000002, 0.0])).tolist() == [1, 1]
    assert cumulate(np.array([1.2, -0.1999999])).tolist() == [1.2, 1]
    for name in ("geometric", "laplace", "randomized-response", "square-wave"):
        channel = make_channel(name, 30, 0.3)
        last = intervals_of(channel, drawn(channel, two_humps(30), 999, 1)).cdf
        assert (last.low[-1], last.high[-1]) == (1, 1)
