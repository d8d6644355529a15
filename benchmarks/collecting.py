"""Noise at the client: one update, the whole estimate, perturbing and counting, against the dense way and OpenDP."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.timing import Result, at_most, best_of, ratio
from sfumato.collect.reports import count_reports, write_reports
from sfumato.collect.survey import Survey
from sfumato.estimation.likelihood import likelihood
from sfumato.estimation.solution import GAP
from sfumato.estimation.updates import em
from sfumato.mechanisms.channels import TruncatedGeometric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

PEOPLE = 10**6
REPORTS = 10**7
PEER_CALLS = 2_000


def collecting(_: str) -> Iterator[Result]:
    """Noise at the client: updates, estimates, perturbing and counting, beside the dense way and OpenDP."""
    yield _update(1_000, 20)
    yield _update(5_000, 300)
    yield from _estimate()
    yield _perturb()
    yield _count()


def ages(size: int) -> NDArray[np.float64]:
    """A distribution with two humps, as ages have."""
    value = np.arange(size) / size
    shares = np.exp(-(((value - 0.3) / 0.12) ** 2)) + 0.6 * np.exp(-(((value - 0.65) / 0.15) ** 2)) + 0.01
    return np.asarray(shares / shares.sum())


def _update(size: int, asked: float) -> Result:
    """One Bayesian update with the filter, and with the matrix written out."""
    channel = TruncatedGeometric(size=size, epsilon=0.1)
    shares, matrix = np.full(size, 1 / size), channel.matrix()
    reported = channel.spread(ages(size))

    def dense() -> NDArray[np.float64]:
        return np.asarray(shares * (matrix @ (reported / (shares @ matrix))))

    assert np.allclose(dense(), channel.update(shares, reported))
    with threadpool_limits(1):
        alone = best_of(20, dense)
    peer, ours = min(alone, best_of(20, dense)), best_of(500, lambda: channel.update(shares, reported))
    return ratio(f"one update on {size:,} values against the dense matrix", asked, peer, ours, unit="µs")


def _estimate() -> Iterator[Result]:
    """From a million reports at ε = 0.1 on 100 values to a certified gap, plain and accelerated."""
    channel = TruncatedGeometric(size=100, epsilon=0.1)
    counts = np.random.default_rng(1).multinomial(PEOPLE, channel.spread(ages(100)))
    observed = counts / PEOPLE
    plain, quick = em(channel, observed, gap=GAP, steps=10**7), likelihood(channel, observed, gap=GAP)
    both = plain.reached and quick.reached and max(plain.gap, quick.gap) <= GAP
    yield Result("both estimates reach the gap", f"{GAP:g}", f"{plain.gap:.2g}, {quick.gap:.2g}", bool(both))
    yield ratio(
        f"the estimate to a gap of {GAP:g} ({quick.steps} steps) against plain updates ({plain.steps:,} steps)",
        50,
        best_of(1, lambda: em(channel, observed, gap=GAP, steps=10**7)),
        best_of(10, lambda: likelihood(channel, observed, gap=GAP)),
    )


def _perturb() -> Result:
    """A million values with the operating system's randomness, against OpenDP called for each."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain, distance = dp.atom_domain(T="i32"), dp.absolute_distance(T="i32")
    theirs = dp.m.make_geometric(domain, distance, scale=2.0, bounds=(0, 99))
    channel = TruncatedGeometric(size=100, epsilon=Fraction(1, 2))
    values = np.random.default_rng(2).integers(0, 100, PEOPLE)
    some = [int(value) for value in values[:PEER_CALLS]]
    peer = best_of(3, lambda: [theirs(value) for value in some]) / PEER_CALLS
    ours = best_of(7, lambda: channel.perturb(values)) / PEOPLE
    return ratio("perturbing a value, against OpenDP's bounded geometric", 1_000, peer, ours, unit="µs")


def _count() -> Result:
    survey = Survey(name="age", question="How old are you?", min=0, max=120, epsilon=0.5)
    with tempfile.TemporaryDirectory() as folder:
        reports = np.random.default_rng(3).integers(0, 121, REPORTS)
        file = write_reports(Path(folder) / "reports.parquet", "age", reports)
        seconds = best_of(3, lambda: count_reports(file, survey))
        assert (count_reports(file, survey) == np.bincount(reports, minlength=121)).all()
    return at_most("counting 10 million reports from Parquet", 3, seconds, "s")
