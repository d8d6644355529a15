"""What a release answers to a question: an estimate, and how far from it the truth can be.

Of exact classes and buckets the bounds are certain. Of noisy counts, randomized values and generated rows they are an
interval, which holds in `COVERAGE` of the cases; the sentence says what it leaves out.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from sfumato.release.certain import ROUNDING, Classes, left_out
from sfumato.release.content import Content
from sfumato.release.coverage import COVERAGE, DEVIATIONS, Coverage, Region
from sfumato.release.expected import expect
from sfumato.release.intervals import Bounded, Drawn, NoisyBoxes, Reports, mean_ends

Kind = Literal["count", "sum", "mean", "share"]
Bounds = Literal["certain", "noise", "drawing", "unknown"]
DIGITS: dict[Kind, int] = {"sum": 12, "mean": 9, "share": 9}
"""Of bounds that hold for certain, how many are shown; of intervals, two of what lies between their ends."""
SLIGHT = 1e-9
"""How far arithmetic may be off."""
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
    """An estimate with its bounds, and what these are, as the sentence says.

    They are `certain`, or hold in 95% of the cases by the `noise` in the release; of rows from a model they tell of the
    chance in `drawing` them and not how far the truth can be; and of rows that nobody vouches for they rest on what is
    `unknown`. A mean or a share of nobody is no number.
    """

    estimate: float
    low: float
    high: float
    bounds: Bounds
    sentence: str
    kind: Kind = "count"

    @property
    def certain(self) -> bool:
        """Whether the bounds hold for certain."""
        return self.bounds == "certain"

    @property
    def hold(self) -> bool:
        """Whether the bounds hold the truth, for certain or as often as they say."""
        return self.bounds in ("certain", "noise")

    @property
    def rounded(self) -> float:
        """The estimate without digits that mean nothing."""
        return (round_by if self.kind == "count" else round_amount)(self.estimate, self.low, self.high)

    def spec(self) -> dict[str, Any]:
        """The answer as JSON shows it."""
        return asdict(self) | {"certain": self.certain, "estimate": self.rounded}


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of the rows in a region: how many there are, or what they are worth, in all or on average."""

    region: Region
    kind: Kind = "count"
    about: str = ""
    """The column that is added up, or the condition whose share is asked for."""


@dataclass(frozen=True, eq=False)
class Found:
    """What a release tells: how many rows are expected, and what they are worth; what bounds that, and why it does."""

    rows: float
    amount: float
    bounded: Bounded
    bounds: Bounds
    why: str
    most: float = math.inf
    """How many rows there can be."""
    measured: bool = False
    """Whether noisy tables tell more than the rows, so that an estimate by these has to lie in the interval."""


def answer(release: Content, question: Question) -> Answer:
    """What a release answers."""
    found = _find(release, question)
    if question.kind == "count":
        return _count(release, found)
    if question.kind == "sum":
        return _sum(release, question, found)
    return _ratio(release, question, found)


def _find(release: Content, question: Question) -> Found:
    region = question.region
    coverage = Coverage.of(region, release.sides)
    if release.channel is not None:
        reports = Reports(release, coverage, release.channel)
        why = f"{_sure()}, by the noise in the sensitive values"
        return Found(
            reports.rows(release), reports.total()[0], reports, "noise", why, most=float(reports.reports.sum())
        )
    told = None if release.measured is None else release.measured.tell(region.parts, region.target)
    if told is not None and release.layout == "counts" and release.measured is not None:
        counted = release.measured.tell([replace(part, worth=1.0) for part in region.parts])
        rows = 0.0 if counted is None else max(counted.amount().amount, 0)
        return Found(rows, told.amount().amount, told, "noise", f"{_sure()}, by the noise in the tables")
    rows, amount = expect(release, region)
    if release.layout == "counts" and release.deviation is not None:
        bounded = NoisyBoxes(release, coverage)
        return Found(rows, amount, bounded, "noise", f"{_sure()}, by the noise in the counts")
    if told is not None:
        return Found(rows, amount, told, "noise", f"{_sure()}, {MADE_FROM}", measured=True)
    if release.deviation is not None:
        return Found(rows, amount, Drawn(release, coverage), "drawing", SAMPLED)
    classes = Classes(release, coverage)
    if not _recodes(release):
        return Found(rows, amount, Either(classes, Drawn(release, coverage)), "unknown", UNKNOWN)
    return Found(rows, amount, classes, "certain", "")


@dataclass(frozen=True, eq=False)
class Either:
    """The wider of two bounds."""

    one: Bounded
    other: Bounded

    def ends(self, shift: float = 0.0) -> tuple[float, float]:
        """From the lower end of the two to the upper."""
        ends = (self.one.ends(shift), self.other.ends(shift))
        return min(low for low, _ in ends), max(high for _, high in ends)


def _count(release: Content, found: Found) -> Answer:
    if found.bounds in ("drawing", "unknown"):
        low, high = wilson(found.rows, release.rows)
        if found.bounds == "unknown":
            ends = found.bounded.ends()
            low, high = min(low, ends[0]), max(high, ends[1])
        return within(found.rows, low, high, release.rows, found.why, found.bounds)
    low, high = found.bounded.ends()
    if found.bounds == "noise":
        rows = min(max(found.rows, low), max(high, 0), release.rows) if found.measured else found.rows
        return within(rows, low, min(high, found.most), release.rows, found.why, "noise")
    low, high = float(round(low)), float(round(high))
    of = f"{release.rows:,.0f} people"
    absent = f", and {left_out(release):,} more who may have been left out" if left_out(release) else ""
    about = f"About {round_by(found.rows, low, high):,.0f} of {of}{absent}"
    sentence = f"{about}; for certain at least {low:,.0f} and at most {high:,.0f}."
    if low == high:
        sentence = f"Exactly {low:,.0f} of {of}."
    return Answer(estimate=min(max(found.rows, low), high), low=low, high=high, bounds="certain", sentence=sentence)


def _sum(release: Content, question: Question, found: Found) -> Answer:
    low, high = found.bounded.ends()
    least, most = _limits(question.region)
    if least >= 0:
        low, high = max(low, 0.0), max(high, 0.0)
    elif most <= 0:
        low, high = min(low, 0.0), min(high, 0.0)
    return _valued(release, question, found, found.amount, low, high, "adds up to {}")


def _ratio(release: Content, question: Question, found: Found) -> Answer:
    """A mean or a share: what rows are worth over how many there are."""
    least, most = _limits(question.region)
    told, words = found.rows > ROUNDING, "is {} on average" if question.kind == "mean" else "holds for {}"
    if not told or least > most:
        sentence = f"Nobody of {release.rows:,.0f} people is expected to be like that, so there is nothing to average."
        low, high = (least, most) if least <= most else (math.nan, math.nan)
        return Answer(estimate=math.nan, low=low, high=high, bounds=found.bounds, sentence=sentence, kind=question.kind)
    low, high = mean_ends(found.bounded, least, most)
    estimate = min(max(found.amount / found.rows, least), most)
    return _valued(release, question, found, estimate, low, high, words)


def _limits(region: Region) -> tuple[float, float]:
    """The least and the most that a row asked about can be worth at all."""
    if region.of is None:
        worths = [part.worth for part in region.parts]
    else:
        axis, place = region.of, region.target
        assert place is not None
        runs = [run for part in region.parts for run in part.codes[place].runs]
        worths = [float(end[0]) for run in runs for end in axis.worths(np.array(run[:1]))]
        worths += [float(end[0]) for run in runs for end in axis.worths(np.array(run[1:]))]
    return min(worths, default=math.inf), max(worths, default=-math.inf)


def _valued(
    release: Content, question: Question, found: Found, estimate: float, low: float, high: float, words: str
) -> Answer:
    """An amount with its bounds, rounded outwards; an interval by noise is widened to hold the estimate."""
    if found.bounds == "certain" or found.measured:
        estimate = min(max(estimate, low), high)
    low, high = min(low, estimate), max(high, estimate)
    low, high = _out(low, high, DIGITS[question.kind]) if found.bounds == "certain" else _out(low, high, 2)
    spell = spell_share if question.kind == "share" else spell_amount
    rows = f"about {max(found.rows, 0):,.0f} of {release.rows:,.0f} people"
    shown = f"exactly {spell(low)}" if low == high else f"about {spell(round_amount(estimate, low, high))}"
    told = f"{question.about} {words.format(shown)}, over {rows}"
    if low == high:
        sentence = f"{told}."
    elif found.bounds == "certain":
        sentence = f"{told}; for certain at least {spell(low)} and at most {spell(high)}."
    else:
        sentence = f"{told}; between {spell(low)} and {spell(high)} {found.why}."
    return Answer(estimate=estimate, low=low, high=high, bounds=found.bounds, sentence=sentence, kind=question.kind)


def spell_amount(number: float) -> str:
    """A number in the words of an answer."""
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:,.12g}"


def spell_share(number: float) -> str:
    """A share in the words of an answer."""
    return f"{100 * number:.10g}%"


def _out(low: float, high: float, digits: int) -> tuple[float, float]:
    """Bounds rounded outwards, to so many digits of what lies between them, or of themselves if that is all digits."""
    size = max(abs(low), abs(high))
    if not (size > 0 and math.isfinite(size)):
        return low, high
    if high - low <= size * SLIGHT:
        return (round(low, 8 - math.floor(math.log10(size))),) * 2
    place = digits - 1 - math.floor(math.log10(size if digits > 2 else high - low))
    unit = 10.0**place
    return round(math.floor(low * unit + SLIGHT) / unit, place), round(math.ceil(high * unit - SLIGHT) / unit, place)


def round_by(number: float, low: float, high: float) -> float:
    """A count inside its bounds, rounded to the power of ten, at least 1, that is at most a tenth of their distance.

    Its first digit stays, however far the bounds are apart.
    """
    finest = min((high - low) / 10, number)
    unit = 10 ** math.floor(math.log10(finest)) if finest >= 1 else 1
    return float(min(max(round(number / unit) * unit, math.ceil(low - ROUNDING)), max(math.floor(high + ROUNDING), 0)))


def round_amount(number: float, low: float, high: float) -> float:
    """The same for an amount, of which any power of ten will do."""
    finest = min((high - low) / 10, abs(number))
    if not (finest > 0 and math.isfinite(finest)):
        return number
    place = -math.floor(math.log10(finest))
    return float(min(max(round(number, place), low), high))


def _sure() -> str:
    return f"with {COVERAGE:.0%} confidence"


def _recodes(release: Content) -> bool:
    """Whether the rows of a release without noise are surely those of people, with coarser values or in buckets."""
    return (
        release.layout != "counts"
        and not release.moved
        and (release.provenance.method in RECODING or (release.claim.promises and release.claim.noise is None))
    )


def within(estimate: float, low: float, high: float, rows: float, why: str, bounds: Bounds) -> Answer:
    """An interval, cut to what counts can be and widened to hold the estimate, its ends rounded outwards."""
    estimate = max(estimate, 0.0)
    low, high = float(math.floor(max(min(low, estimate), 0.0))), float(math.ceil(max(high, estimate)))
    unit = 10 ** max(math.floor(math.log10(max(high - low, 1) / 10)), 0)
    low, high = math.floor(low / unit) * unit, math.ceil(high / unit) * unit
    sentence = (
        f"About {round_by(estimate, low, high):,.0f} of {rows:,.0f} people; between {low:,.0f} and {high:,.0f} {why}."
    )
    return Answer(estimate=estimate, low=float(low), high=float(high), bounds=bounds, sentence=sentence)


def answer_of_sample(count: float, rows: float) -> Answer:
    """The Wilson interval of a share among generated rows, times the rows."""
    return within(count, *wilson(count, rows), rows, SAMPLED, "drawing")


def wilson(count: float, rows: float) -> tuple[float, float]:
    """The ends of that interval."""
    share, noise = count / max(rows, 1), DEVIATIONS**2 / max(rows, 1)
    middle = (share + noise / 2) / (1 + noise)
    away = math.sqrt(max(noise * share * (1 - share) + noise**2 / 4, 0)) / (1 + noise)
    return rows * (middle - away), rows * (middle + away)
