"""Undoing local noise: what is believed about a person, a region and everybody."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sfumato.estimation.channel_estimator import ChannelEstimator
from sfumato.mechanisms.channels import Channel, RandomizedResponse, TruncatedGeometric, make_channel
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.privacy.distances import shares, total_variation

if TYPE_CHECKING:
    from numpy.typing import NDArray

TRUE = np.array([0.1, 0.3, 0.05, 0.35, 0.2])
PEOPLE = 200_000


def reported(channel: Channel, truth: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
    """Expected counts of reports."""
    return channel.spread(truth) * rows


def drawn(channel: Channel, values: NDArray[np.int64], seed: int = 3) -> NDArray[np.float64]:
    """Counts of reports in each group, from the true values of its people: (groups, people)."""
    reports = channel.perturb(values.reshape(-1), SimulatedSource(seed)).reshape(values.shape)
    return np.array([np.bincount(group, minlength=channel.reports) for group in reports], dtype=float)


@pytest.mark.parametrize("name", ["geometric", "randomized-response", "laplace"])
def test_everybody_together_is_estimated_well(name: str) -> None:
    channel = make_channel(name, 5, 1)
    estimator = ChannelEstimator(channel, np.round(channel.spread(TRUE) * PEOPLE))
    assert total_variation(estimator.overall[None], TRUE)[0] < 0.02
    assert total_variation(shares(channel.spread(TRUE))[None], TRUE)[0] > 0.1


def test_reports_that_say_nothing_leave_the_uniform_distribution() -> None:
    channel = RandomizedResponse(size=5, epsilon=Fraction(1, 100))
    published = np.random.default_rng(1).multinomial(500, channel.spread(TRUE)).astype(float)
    assert ChannelEstimator(channel, published).overall == pytest.approx(np.full(5, 0.2), abs=1e-9)


@pytest.mark.parametrize("prior", [TRUE, np.array([0.97, 0.01, 0.01, 0.005, 0.005])])
@pytest.mark.parametrize("report", range(5))
def test_who_is_alone_is_believed_exactly_what_bayes_rule_says(prior: NDArray[np.float64], report: int) -> None:
    """However rare the report: it is made use of once."""
    channel = RandomizedResponse(size=5, epsilon=1)
    estimator = ChannelEstimator(channel, reported(channel, prior, PEOPLE), known=prior)
    posterior = prior * channel.matrix()[:, report] / (prior @ channel.matrix()[:, report])
    assert estimator.beliefs(np.eye(5)[report][None])[0] == pytest.approx(posterior)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1, 3])
def test_guessing_by_beliefs_is_never_worse_than_naming_the_commonest(epsilon: float) -> None:
    """As it would be for someone who takes one report for two."""
    channel, prior = RandomizedResponse(size=2, epsilon=epsilon), np.array([0.9, 0.1])
    ill = (np.arange(4_000) % 10 == 0).astype(np.int64)
    groups = drawn(channel, ill[:, None])
    guessed = ChannelEstimator(channel, groups.sum(axis=0), known=prior).beliefs(groups).argmax(axis=1)
    assert (guessed == ill).mean() >= 0.9


@pytest.mark.parametrize(
    ("channel", "people", "least"),
    [
        (RandomizedResponse(size=100, epsilon=2), 50, 0.4),
        (RandomizedResponse(size=20, epsilon=1), 20, 0.25),
        (TruncatedGeometric(size=100, epsilon=Fraction(1, 10)), 50, 0.15),
    ],
)
def test_groups_of_people_with_one_value_are_seen_through(channel: Channel, people: int, least: float) -> None:
    """Rows of other groups tell how much groups differ; one group's few rows among many values would not."""
    true = np.random.default_rng(5).integers(0, channel.size, 200)
    groups = drawn(channel, np.repeat(true[:, None], people, axis=1))
    estimator = ChannelEstimator(channel, groups.sum(axis=0))
    assert (estimator.beliefs(groups).argmax(axis=1) == true).mean() > least
    assert (estimator.overall.argmax() == true).mean() < 0.1


def test_groups_that_are_all_alike_are_believed_to_be_so() -> None:
    channel = RandomizedResponse(size=5, epsilon=Fraction(1, 2))
    values = np.random.default_rng(6).choice(5, size=(500, 8), p=TRUE)
    groups = drawn(channel, values)
    beliefs = ChannelEstimator(channel, groups.sum(axis=0), known=TRUE).beliefs(groups)
    alike = channel.update(np.tile(TRUE, (500, 1)), shares(groups))
    assert total_variation(beliefs, alike).max() < 0.05


def test_a_large_region_is_believed_to_have_its_own_distribution() -> None:
    channel = TruncatedGeometric(size=5, epsilon=1)
    own = np.array([0.6, 0.1, 0.1, 0.1, 0.1])
    estimator = ChannelEstimator(channel, reported(channel, TRUE, PEOPLE))
    believed = estimator.counts(reported(channel, own, 50_000)[None])[0]
    assert believed.sum() == pytest.approx(50_000)
    assert total_variation(shares(believed)[None], own)[0] < 0.02
    assert total_variation(TRUE[None], own)[0] > 0.4


def test_a_few_rows_under_much_noise_hardly_move_an_estimate() -> None:
    """Two equal reports at ε = 0.1 explain themselves 'exactly' by counts of −30 and 125 people."""
    channel = RandomizedResponse(size=5, epsilon=Fraction(1, 10))
    estimator = ChannelEstimator(channel, reported(channel, TRUE, PEOPLE), known=TRUE)
    two = np.array([[2.0, 0, 0, 0, 0]])
    assert np.abs(channel.invert(two)).max() > 50
    assert total_variation(shares(estimator.counts(two)), TRUE)[0] < 0.1


def test_regions_are_estimated_one_by_one_and_empty_ones_stay_empty() -> None:
    channel = TruncatedGeometric(size=5, epsilon=1)
    estimator = ChannelEstimator(channel, reported(channel, TRUE, PEOPLE))
    regions = np.vstack([reported(channel, TRUE, 100), np.zeros(5), np.eye(5)[2]])
    together = estimator.counts(regions)
    for region, found in zip(regions, together, strict=True):
        assert estimator.counts(region[None])[0] == pytest.approx(found)
    assert together[1].tolist() == [0] * 5
    assert together.sum(axis=1) == pytest.approx([100, 0, 1])
