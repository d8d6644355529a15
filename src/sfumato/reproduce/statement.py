"""A checkable statement of a paper, and how rows of an experiment judge it.

A number with an interval that allows both verdicts judges nothing: the statement is then left open.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sfumato.report.reproduction.document import Scalar, Verdict
from sfumato.reproduce.rows import Measured, NotMeasuredError, Rows

MAX_TOLD = 3
"""Readings that a finding tells; the rows have all of them."""


@dataclass(frozen=True)
class Finding:
    """What was measured, in words, and what follows."""

    measured: str
    verdict: Verdict


Judge = Callable[[Rows], Finding]


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What a paper states, where, and how it is judged; without a judge it cannot be checked, and `why` says so."""

    place: str
    says: str
    printed: str = "–"
    experiment: str = ""
    judge: Judge | None = None
    why: str = ""


Entry = tuple[str, str, str, Judge] | tuple[str, str, str, Judge, str]
"""Where, what and which number a paper states, how it is judged, and why it comes out so."""


def about(experiment: str, *entries: Entry) -> Iterator[Statement]:
    """Statements that the rows of one experiment judge."""
    for place, says, printed, judge, *why in entries:
        yield Statement(place=place, says=says, printed=printed, judge=judge, why="".join(why), experiment=experiment)


def found(measured: object, holds: bool) -> Finding:
    """A finding without doubt."""
    return Finding(str(measured), "holds" if holds else "fails")


def at_least(number: Measured, least: float, text: str = "") -> Finding:
    """Whether a number reaches a bound; open where the interval allows both."""
    verdict: Verdict = "holds" if number.low >= least else "fails" if number.high < least else "open"
    return Finding(text or str(number), verdict)


def at_most(number: Measured, most: float, text: str = "") -> Finding:
    """Whether a number stays within a bound; open where the interval allows both."""
    return at_least(number.scaled(-1), -most, text or str(number))


def near(number: Measured, printed: float, tolerance: float, text: str = "") -> Finding:
    """Whether a number, or some number in its interval, is the printed one up to a tolerance."""
    holds = number.low - tolerance <= printed <= number.high + tolerance
    return found(text or number, holds)


def prints(printed: float, tolerance: float, name: str, series: str | None = None, **setting: Scalar) -> Judge:
    """Whether one row has the printed value, up to a tolerance."""
    return lambda rows: near(rows.of(name, series, **setting), printed, tolerance)


def falls(numbers: Sequence[Measured], text: str = "") -> Finding:
    """Whether numbers fall from the first to the last, no step rising by more than intervals allow."""
    shown = text or ", ".join(f"{one.value:.3g}" for one in numbers)
    first, last = numbers[0], numbers[-1]
    if any(after.low > before.high for before, after in pairwise(numbers)) or last.value >= first.value:
        return Finding(shown, "fails")
    return Finding(shown, "holds" if last.high < first.low else "open")


def rises(numbers: Sequence[Measured], text: str = "") -> Finding:
    """Whether numbers rise from the first to the last."""
    shown = text or ", ".join(f"{one.value:.3g}" for one in numbers)
    return falls([one.scaled(-1) for one in numbers], shown)


def any_reading(findings: dict[str, Finding]) -> Finding:
    """Holds where some reading of the text makes it hold; these are told first, and a few of all."""
    order = sorted(findings, key=lambda reading: ("holds", "open", "fails").index(findings[reading].verdict))
    told = [f"{reading}: {findings[reading].measured}" for reading in order]
    holding = sum(finding.verdict == "holds" for finding in findings.values())
    rest = [f"{holding} of {len(told)} readings hold"] if len(told) > MAX_TOLD else []
    return Finding("; ".join([*told[:MAX_TOLD], *rest]), findings[order[0]].verdict)


def share_below(lower: Rows, upper: Rows, x: str, y: str, *, steps: int = 200) -> float:
    """Over the x that both curves reach, where one lies strictly below the other: a share of that range."""
    one, other = lower.sorted(x), upper.sorted(x)
    start = max(one.numbers(x)[0], other.numbers(x)[0])
    end = min(one.numbers(x)[-1], other.numbers(x)[-1])
    if end <= start:
        raise NotMeasuredError("a common range")
    grid = np.linspace(start, end, steps)
    below = np.interp(grid, one.numbers(x), one.numbers(y)) < np.interp(grid, other.numbers(x), other.numbers(y))
    return float(below.mean())
