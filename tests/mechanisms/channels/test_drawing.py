"""The realized channels are the promised ones: χ² over all rows, and a twin with ε × 1.3 is rejected."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.mechanisms.channels import CHANNELS, Channel, TruncatedGeometric, make_channel
from sfumato.mechanisms.noise import SimulatedSource, Source, SystemSource

from ..pearson import deviation
from ..scripted import Scripted

if TYPE_CHECKING:
    from numpy.typing import NDArray

DRAWS = 60_000
SIZE = 7
"""Square waves and their twins reach equally far on this axis, so that the same reports are possible."""


def deviation_of(channel: Channel, drawn: Channel, source: Source) -> tuple[float, float]:
    """χ² of all rows of a channel when reports are drawn from another one, and what it may be at most."""
    values = np.repeat(np.arange(channel.size), DRAWS)
    reports = drawn.perturb(values, source).reshape(channel.size, DRAWS)
    counts = [np.bincount(row, minlength=channel.reports) for row in reports]
    return deviation(counts, DRAWS * channel.matrix())


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(1)])
@pytest.mark.parametrize("kind", ["secure", "seeded"])
def test_the_realized_channel_is_the_promised_one(name: str, epsilon: Fraction, kind: str) -> None:
    """The twin closest to the limit, randomized response at ε = 1/4, is 7.5 standard deviations beyond it."""
    source = SystemSource() if kind == "secure" else SimulatedSource(11)
    channel = make_channel(name, SIZE, epsilon)
    found, most = deviation_of(channel, channel, source)
    assert found <= most
    twin = make_channel(name, SIZE, epsilon * Fraction(13, 10))
    assert twin.reports == channel.reports
    found, most = deviation_of(channel, twin, source)
    assert found > most


@pytest.mark.parametrize("name", CHANNELS)
def test_a_single_value_is_always_reported(name: str) -> None:
    channel = make_channel(name, 1, Fraction(1, 2))
    reports = channel.perturb(np.zeros(100, dtype=np.int64))
    assert reports.min() >= 0
    assert reports.max() < channel.reports
    assert channel.claim.epsilon == 0


class Counting(Source):
    """Counts the words that a draw takes from another source."""

    protects = False

    def __init__(self, inner: Source) -> None:
        self.inner, self.taken = inner, []  # type: tuple[Source, list[int]]

    def words(self, count: int) -> NDArray[np.uint64]:
        self.taken.append(count)
        return self.inner.words(count)


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 5_000), Fraction(1, 3), Fraction(15)])
def test_the_work_does_not_depend_on_the_value(name: str, epsilon: Fraction) -> None:
    channel = make_channel(name, 30, epsilon)
    taken = []
    for value in (0, 1, 15, 29):
        source = Counting(SimulatedSource(3))
        channel.perturb(np.full(2_000, value), source)
        taken.append(source.taken)
    assert all(work == taken[0] for work in taken)


def test_the_farthest_report_is_possible() -> None:
    """Words beyond every table: the draw starts anew again and again, until it reaches the other end."""
    channel = TruncatedGeometric(size=100, epsilon=3)
    beyond = [2**64 - 1, 0] + [2**64 - 1] * 200
    assert channel.perturb(np.array([0]), Scripted(*beyond, *[0] * 50)).tolist() == [99]


def test_reports_never_leave_the_axis_and_the_ends_collect_the_rest() -> None:
    channel = TruncatedGeometric(size=3, epsilon=Fraction(1, 100))
    reports = channel.perturb(np.ones(5_000, dtype=np.int64), SimulatedSource(2))
    assert set(reports.tolist()) == {0, 1, 2}
    assert np.bincount(reports)[1] < 100


@pytest.mark.parametrize("values", [[-1], [0, 3], [7]])
def test_values_off_the_axis_are_refused(values: list[int]) -> None:
    with pytest.raises(ParameterError, match="is not on the axis; expected from 0 to 2"):
        TruncatedGeometric(size=3, epsilon=1).perturb(np.array(values))


def test_no_value_gives_no_report() -> None:
    assert len(TruncatedGeometric(size=3, epsilon=1).perturb(np.array([], dtype=np.int64))) == 0


def test_averaging_fresh_reports_reveals_a_value() -> None:
    """Why a client must remember its report: at ε = 0.5, 20 fresh ones mostly tell the true age."""
    channel = TruncatedGeometric(size=100, epsilon=Fraction(1, 2))
    fresh = channel.perturb(np.full(20 * 2_000, 42), SimulatedSource(5)).reshape(2_000, 20)
    belief = np.log(channel.matrix())[:, fresh].sum(axis=2).argmax(axis=0)
    once = np.log(channel.matrix())[:, fresh[:, 0]].argmax(axis=0)
    assert (belief == 42).mean() > 0.6
    assert (once == 42).mean() < 0.3


@pytest.mark.parametrize("name", ["geometric", "randomized-response", "square-wave"])
def test_with_hardly_any_noise_a_value_is_reported_at_once(name: str) -> None:
    """1 − e^(−10⁶) has 434,294 nines; they are not worked out."""
    channel = make_channel(name, 5, 10**6)
    assert channel.perturb(np.arange(5), Scripted(*[2**64 - 2] * 15, *[0] * 60)).tolist() == [0, 1, 2, 3, 4]
