"""Undoing local noise: what is believed about a row, a large group and everybody."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sfumato.privacy.channels import RandomizedResponse, TruncatedGeometric, make_channel
from sfumato.privacy.distances import shares, total_variation
from sfumato.release.undoing import Undoing

TRUE = np.array([0.1, 0.3, 0.05, 0.35, 0.2])
PEOPLE = 200_000


def reported(channel: TruncatedGeometric | RandomizedResponse, truth: np.ndarray, rows: int) -> np.ndarray:  # type: ignore[type-arg]
    """Expected counts of reports."""
    return channel.spread(truth) * rows


@pytest.mark.parametrize("name", ["geometric", "randomized-response", "laplace"])
def test_everybody_together_is_estimated_well(name: str) -> None:
    channel = make_channel(name, 5, 1)
    undoing = Undoing(channel, np.round(channel.spread(TRUE) * PEOPLE))
    assert total_variation(undoing.overall[None], TRUE)[0] < 0.02
    assert total_variation(shares(channel.spread(TRUE))[None], TRUE)[0] > 0.1


def test_reports_that_say_nothing_leave_the_uniform_distribution() -> None:
    channel = RandomizedResponse(size=5, epsilon=Fraction(1, 100))
    published = np.random.default_rng(1).multinomial(500, channel.spread(TRUE)).astype(float)
    assert Undoing(channel, published).overall == pytest.approx(np.full(5, 0.2), abs=1e-9)


@pytest.mark.parametrize("report", range(5))
def test_a_single_row_is_believed_as_bayes_rule_says(report: int) -> None:
    channel = RandomizedResponse(size=5, epsilon=1)
    undoing = Undoing(channel, reported(channel, TRUE, PEOPLE), known=TRUE)
    posterior = TRUE * channel.matrix()[:, report] / (TRUE @ channel.matrix()[:, report])
    belief = undoing.counts(np.eye(5)[report][None])[0]
    assert belief == pytest.approx(posterior)


def test_a_large_group_is_believed_to_have_its_own_distribution() -> None:
    channel = TruncatedGeometric(size=5, epsilon=1)
    own = np.array([0.6, 0.1, 0.1, 0.1, 0.1])
    undoing = Undoing(channel, reported(channel, TRUE, PEOPLE))
    believed = undoing.counts(reported(channel, own, 50_000)[None])[0]
    assert believed.sum() == pytest.approx(50_000)
    assert total_variation(shares(believed)[None], own)[0] < 0.02
    assert total_variation(TRUE[None], own)[0] > 0.4


def test_a_few_rows_under_much_noise_hardly_move_a_belief() -> None:
    """Two equal reports at ε = 0.1 explain themselves 'exactly' by counts of −30 and 125 people."""
    channel = RandomizedResponse(size=5, epsilon=Fraction(1, 10))
    undoing = Undoing(channel, reported(channel, TRUE, PEOPLE), known=TRUE)
    two = np.array([[2.0, 0, 0, 0, 0]])
    assert np.abs(channel.invert(two)).max() > 50
    assert total_variation(shares(undoing.counts(two)), TRUE)[0] < 0.1


def test_groups_are_estimated_one_by_one_and_empty_ones_stay_empty() -> None:
    channel = TruncatedGeometric(size=5, epsilon=1)
    undoing = Undoing(channel, reported(channel, TRUE, PEOPLE))
    groups = np.vstack([reported(channel, TRUE, 100), np.zeros(5), np.eye(5)[2]])
    together = undoing.counts(groups)
    for group, found in zip(groups, together, strict=True):
        assert undoing.counts(group[None])[0] == pytest.approx(found)
    assert together[1].tolist() == [0] * 5
    assert together.sum(axis=1) == pytest.approx([100, 0, 1])
