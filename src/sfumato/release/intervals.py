"""Intervals of what the rows asked about add up to, by the noise that stands in a release.

Each kind of noise is a class with one question: between what do the rows asked about add up to, if a `shift` is taken
off the worth of each? With none, that is a count or a sum. A mean is the shift at which rows add up to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.channels import Channel
from sfumato.release.content import Content
from sfumato.release.coverage import DEVIATIONS, Coverage

Floats = NDArray[np.float64]
HALVINGS = 40


class Bounded(Protocol):
    """What bounds a total."""

    def ends(self, shift: float = 0.0) -> tuple[float, float]:
        """The least and the most that the rows asked about add up to, with `shift` taken off each."""
        ...


def mean_ends(bounded: Bounded, least: float, most: float) -> tuple[float, float]:
    """All means that are not ruled out: m is if values less m surely add up to more, or to less, than nothing.

    At the true mean they add up to zero, so that the bounds of the mean hold as often as those of a total do.
    """

    def above(mean: float) -> float:
        return bounded.ends(mean)[0]

    def below(mean: float) -> float:
        return -bounded.ends(mean)[1]

    return (_last_ruled_out(above, least, most), _last_ruled_out(below, most, least))


def _last_ruled_out(excess: Callable[[float], float], outer: float, inner: float) -> float:
    """Where a concave excess falls to zero on the way from the outer end, if it is above that there.

    The chord of what is left after halving lies below the excess, so that nothing is ruled out by rounding.
    """
    above, under = excess(outer), excess(inner)
    if above <= 0 or under > 0:
        return outer if above <= 0 else inner
    for _ in range(HALVINGS):
        middle = (outer + inner) / 2
        found = excess(middle)
        if found > 0:
            outer, above = middle, found
        else:
            inner, under = middle, found
    return outer + (inner - outer) * above / (above - under)


class NoisyBoxes:
    """From boxes inside, less their noise, to the boxes touched, and theirs.

    Of counts with noise of deviation σ_i that are worth a_i each, the total has the deviation √Σ (a_i σ_i)², and less
    once the counts agree with those above them. No count is published below zero. What that did to others is undone
    as far as it can be; how far that is not known, so that the interval holds those around either total.
    """

    def __init__(self, release: Content, coverage: Coverage) -> None:
        some = np.flatnonzero(coverage.extent.touched.any(axis=1))
        assert release.deviation is not None
        self.extent = coverage.extent.of_boxes(some)
        self.counts = [coverage.by_class(counts[some]) for counts in (release.counts, release.unclipped)]
        values = np.bincount(coverage.class_of, minlength=coverage.classes)
        self.variance = release.deviation[release.group_of[some]][:, None] ** 2 * values

    def ends(self, shift: float = 0.0) -> tuple[float, float]:
        low, high = self.extent.ends(shift)
        least, most = (DEVIATIONS * math.sqrt(float((self.variance * end**2).sum())) for end in (low, high))
        return (
            min(float((counts * low).sum()) for counts in self.counts) - least,
            max(float((counts * high).sum()) for counts in self.counts) + most,
        )


class Reports:
    """Of reports the unbiased total is Σ a_i, where a is what a report contributes; its variance is at most
    Σ (a_i − ā)², ā being the mean of reports that are worth the same by their quasi-identifiers."""

    def __init__(self, release: Content, coverage: Coverage, channel: Channel) -> None:
        some = np.flatnonzero(coverage.extent.touched.any(axis=1))
        self.extent, self.coverage = coverage.extent.of_boxes(some), coverage
        self.reports = release.counts[some]
        self.channel = channel

    @cached_property
    def _inverse(self) -> Floats:
        """What each report contributes to the count of each value: (reports, values)."""
        return np.stack([self.channel.contributions(one) for one in np.eye(len(self.coverage.class_of))], axis=1)

    def rows(self, release: Content) -> float:
        """How many true values are asked about, as estimated from the reports of boxes that are asked about alike."""
        kinds, place = np.unique(self.extent.touched, axis=0, return_inverse=True)
        reports = np.zeros((len(kinds), self.reports.shape[1]))
        np.add.at(reports, place.reshape(-1), self.reports)
        return float(release.estimated(reports)[kinds[:, self.coverage.class_of]].sum()) if len(kinds) else 0.0

    def total(self, shift: float = 0.0) -> tuple[float, float]:
        """The unbiased total, and its standard deviation."""
        low, high = self.extent.ends(shift)
        worth, place = np.unique((low + high) / 2, axis=0, return_inverse=True)
        reports = np.zeros((len(worth), self.reports.shape[1]))
        np.add.at(reports, place.reshape(-1), self.reports)
        contributions = self.coverage.by_value(worth) @ self._inverse.T  # (kinds of boxes, reports)
        mean = (reports * contributions).sum(axis=1) / np.maximum(reports.sum(axis=1), 1)
        variance = float((reports * (contributions - mean[:, None]) ** 2).sum())
        return float((reports * contributions).sum()), math.sqrt(variance)

    def ends(self, shift: float = 0.0) -> tuple[float, float]:
        total, deviation = self.total(shift)
        return total - DEVIATIONS * deviation, total + DEVIATIONS * deviation


class Drawn:
    """Rows drawn from a model: what they add up to varies by Σ a² − (Σ a)²/n. How wrong the model is, nobody knows."""

    def __init__(self, release: Content, coverage: Coverage) -> None:
        some = np.flatnonzero(coverage.extent.touched.any(axis=1))
        self.extent, self.rows = coverage.extent.of_boxes(some), release.rows
        self.counts = coverage.by_class(release.counts[some])

    def ends(self, shift: float = 0.0) -> tuple[float, float]:
        low, high = self.extent.ends(shift)
        worth = (low + high) / 2
        total, squares = float((self.counts * worth).sum()), float((self.counts * worth**2).sum())
        away = DEVIATIONS * math.sqrt(max(squares - total**2 / max(self.rows, 1), 0))
        return total - away, total + away
