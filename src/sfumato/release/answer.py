"""What a release answers to a count query: an estimate, and how far from it the truth can be.

Of exact classes and buckets the bounds are certain. Of noisy counts, randomized values and generated rows they are an
interval, which holds in `COVERAGE` of the cases; the sentence says what it leaves out.
"""

import math
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.channels import Channel
from sfumato.release.content import Content
from sfumato.release.coverage import Coverage
from sfumato.release.measured import NoisyCount

COVERAGE = 0.95
DEVIATIONS = NormalDist().inv_cdf((1 + COVERAGE) / 2)
"""How many standard deviations on either side of a normal variable's mean hold it so often."""
CUT_OFF = NormalDist().inv_cdf(0.995)
"""More of them for noisy counts: no count is published below zero, and what is cut off there adds to the error."""
ROUNDING = 1e-6
SAMPLED = (
    f"by the chance in drawing rows alone, with {COVERAGE:.0%} confidence; how far the model that they were drawn from "
    "is from the truth is not covered"
)
MADE_FROM = "by the noise in the tables that the rows were made from"
UNKNOWN = "if its rows are those of people, or drawn from all of them; what made them it does not say"
RECODING = ("original", "suppression", "mondrian", "anatomy")
"""Methods whose releases hold every row, whether or not they promise anything."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An estimated count with its bounds, which are `certain` or hold in 95% of the cases, as the sentence says."""

    estimate: float
    low: float
    high: float
    certain: bool
    sentence: str

    @property
    def rounded(self) -> float:
        """The estimate without digits that mean nothing."""
        return round_by(self.estimate, self.low, self.high)

    def spec(self) -> dict[str, Any]:
        """The answer as JSON shows it."""
        return asdict(self) | {"estimate": self.rounded}


def round_by(number: float, low: float, high: float) -> float:
    """A count inside its bounds, rounded to the power of ten, at least 1, that is at most a tenth of their distance.

    Its first digit stays, however far the bounds are apart.
    """
    finest = min((high - low) / 10, number)
    unit = 10 ** math.floor(math.log10(finest)) if finest >= 1 else 1
    return float(min(max(round(number / unit) * unit, math.ceil(low - ROUNDING)), max(math.floor(high + ROUNDING), 0)))


def answer(coverage: Coverage, chosen: NDArray[np.bool_], measured: NoisyCount | None = None) -> Answer:
    """How many rows satisfy conditions on the quasi-identifiers and have a chosen sensitive value.

    What was `measured` of them beside the rows, if anything, tells how far off they are.
    """
    release = coverage.release
    if release.channel is not None:
        return _of_reports(coverage, chosen, release.channel)
    if measured is not None and release.layout == "counts":
        return _of_measured(measured.rows, measured, release.rows, "by the noise in the tables")
    estimate = coverage.rows(chosen)
    if release.layout == "counts" and release.deviation is not None:
        return _of_noisy_counts(coverage, chosen, estimate, release.deviation[release.group_of])
    if measured is not None:
        return _of_measured(estimate, measured, release.rows, MADE_FROM)
    if release.deviation is not None:
        return answer_of_sample(estimate, release.rows)
    low, high = _possible(coverage, chosen)
    if not _recodes(release):
        drawn = answer_of_sample(estimate, release.rows)
        return _within(estimate, min(low, drawn.low), max(high, drawn.high), release.rows, UNKNOWN)
    about = f"About {round_by(estimate, low, high):,.0f} of {release.rows:,.0f} people"
    more = f", and {absent:,} more who may have been left out" if (absent := _left_out(release)) else ""
    sentence = f"{about}{more}; for certain at least {low:,.0f} and at most {high:,.0f}."
    if low == high:
        sentence = f"Exactly {low:,.0f} of {release.rows:,.0f} people."
    return Answer(estimate=min(max(estimate, low), high), low=low, high=high, certain=True, sentence=sentence)


def _recodes(release: Content) -> bool:
    """Whether the rows of a release without noise are surely those of people, with coarser values or in buckets."""
    return (
        release.layout != "counts"
        and not release.moved
        and (release.provenance.method in RECODING or (release.claim.promises and release.claim.noise is None))
    )


def _possible(coverage: Coverage, chosen: NDArray[np.bool_]) -> tuple[float, float]:
    """Bounds that hold whatever the rows are. In a group of n rows, of which I surely and T possibly satisfy the
    conditions and m have a chosen value, both is true of at least max(0, I + m − n) and at most min(T, m) rows.

    Rows that were suppressed, whether they are published so or left out, can be anywhere.
    """
    release = coverage.release
    groups = len(release.histograms)
    inside, touched, rows = (
        np.bincount(release.group_of, release.weights * some, groups)
        for some in (coverage.inside, coverage.touched, np.ones(len(release.boxes)))
    )
    values = release.histograms[:, chosen].sum(axis=1)
    low = np.maximum(inside + values - rows, 0).sum()
    high = np.minimum(touched, values).sum()
    if release.suppressed is not None:
        high += release.suppressed[chosen].sum()
    if chosen.any():
        high += _left_out(release)
    return float(round(low)), float(round(high))


def _left_out(release: Content) -> int:
    """How many people may be missing from a release whose method may leave out a share of them.

    Of n people at most s·n are left out; where m are published, that is at most m·s/(1 − s).
    """
    share = release.provenance.parameters.get("suppress")
    if not isinstance(share, int | float) or not 0 < share < 1:
        return 0
    return math.floor(release.rows * share / (1 - share) + ROUNDING)


def _within(estimate: float, low: float, high: float, rows: float, why: str) -> Answer:
    """An interval, cut to what counts can be and widened to hold the estimate, its ends rounded outwards."""
    estimate = max(estimate, 0.0)
    low, high = float(math.floor(max(min(low, estimate), 0.0))), float(math.ceil(max(high, estimate)))
    unit = 10 ** max(math.floor(math.log10(max(high - low, 1) / 10)), 0)
    low, high = math.floor(low / unit) * unit, math.ceil(high / unit) * unit
    sentence = (
        f"About {round_by(estimate, low, high):,.0f} of {rows:,.0f} people; between {low:,.0f} and {high:,.0f} {why}."
    )
    return Answer(estimate=estimate, low=float(low), high=float(high), certain=False, sentence=sentence)


def answer_of_sample(count: float, rows: float) -> Answer:
    """The Wilson interval of a share among generated rows, times the rows."""
    share, noise = count / max(rows, 1), DEVIATIONS**2 / max(rows, 1)
    middle = (share + noise / 2) / (1 + noise)
    away = math.sqrt(max(noise * share * (1 - share) + noise**2 / 4, 0)) / (1 + noise)
    return _within(count, rows * (middle - away), rows * (middle + away), rows, SAMPLED)


def _of_measured(estimate: float, measured: NoisyCount, rows: float, why: str) -> Answer:
    """What rows count, inside the interval of what was measured of them."""
    away = DEVIATIONS * measured.deviation
    low = max(measured.rows - measured.fewer - away, 0)
    high = max(measured.rows + measured.more + away, 0)
    return _within(min(max(estimate, low), high, rows), low, high, rows, f"with {COVERAGE:.0%} confidence, {why}")


def _of_noisy_counts(
    coverage: Coverage, chosen: NDArray[np.bool_], estimate: float, deviation: NDArray[np.float64]
) -> Answer:
    """From the boxes inside, less their noise, to the boxes touched, and their noise; `deviation` is that of each box.

    A sum of m counts with noise of deviation σ_i has the deviation √Σ σ_i², and less once the counts agree with those
    above them.
    """
    release = coverage.release
    ends = []
    for some, sign in ((coverage.inside, -1), (coverage.touched, 1)):
        noise = math.sqrt(chosen.sum() * (deviation[some] ** 2).sum())
        ends.append(release.counts[some][:, chosen].sum() + sign * CUT_OFF * noise)
    why = f"with {COVERAGE:.0%} confidence, by the noise in the counts"
    return _within(estimate, ends[0], ends[1], release.rows, why)


def _of_reports(coverage: Coverage, chosen: NDArray[np.bool_], channel: Channel) -> Answer:
    """Of n reports the unbiased estimate is Σ a_i, where a is what a report contributes; its variance is at most
    Σ (a_i − ā)²."""
    release = coverage.release
    published = coverage.histogram()
    estimate = float(release.estimated(published[None])[0, chosen].sum())
    rows = published.sum()
    contributions = channel.contributions(chosen.astype(np.float64))
    total = float(published @ contributions)
    away = DEVIATIONS * math.sqrt(max(published @ (contributions - total / max(rows, 1)) ** 2, 0))
    why = f"with {COVERAGE:.0%} confidence, by the noise in the sensitive values"
    return _within(estimate, total - away, min(total + away, rows), release.rows, why)
