"""A survey: what is asked, on which axis, under how much noise, and until when. All of it is public.

The same description serves people who answer in a browser, files of values to perturb and files of reports to
estimate from.
"""

import re
import tomllib
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.files import read_text
from sfumato.mechanisms.channels import Channel, make_channel
from sfumato.privacy.loss import exact

NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
MAX_QUESTION = 500
MAX_NUMBER = 2**53 - 1
"""What a browser still counts exactly."""
MAX_VALUES = 100_000
REQUIRED = ("name", "question", "min", "max", "epsilon")
OPTIONAL = ("step", "mechanism", "smallest_batch", "ends")


@dataclass(frozen=True, kw_only=True)
class Survey:
    """A question whose answer is a whole number `min, min + step, …, max`, and the noise each answer gets.

    `epsilon` is as the mechanism counts it: per step for geometric and Laplace noise, for the whole axis otherwise.
    Results appear from `smallest_batch` reports on; from `ends` on no report is taken.

    >>> survey = sf.local.Survey(name="visits", question="How often?", min=0, max=9, epsilon=1)
    >>> survey.answers().tolist()[-1]
    9
    """

    name: str
    question: str
    min: int
    max: int
    epsilon: float | Fraction
    step: int = 1
    mechanism: str = "geometric"
    smallest_batch: int = 100
    ends: datetime | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not NAME.fullmatch(self.name):
            raise ParameterError(
                f"the name of a survey is {self.name!r}; expected up to 64 lowercase letters, digits and hyphens"
            )
        if not isinstance(self.question, str) or not _is_valid_question(self.question):
            raise ParameterError(f"the question of {self.name!r} must be text of 1 to {MAX_QUESTION} characters")
        for key in ("min", "max", "step", "smallest_batch"):
            number = getattr(self, key)
            if isinstance(number, bool) or not isinstance(number, int) or abs(number) > MAX_NUMBER:
                raise ParameterError(f"{key} is {number!r}; expected a whole number below 2^53")
        if self.step < 1 or self.smallest_batch < 1:
            key = "step" if self.step < 1 else "smallest_batch"
            raise ParameterError(f"{key} is {getattr(self, key)}; expected at least 1")
        if self.max < self.min or (self.max - self.min) % self.step:
            raise ParameterError(f"max is {self.max}; expected a whole number of steps of {self.step} above {self.min}")
        if self.size > MAX_VALUES:
            raise ParameterError(f"{self.size:,} values are too many for a survey; expected at most {MAX_VALUES:,}")
        if self.ends is not None and (not isinstance(self.ends, datetime) or self.ends.tzinfo is None):
            raise ParameterError(f"ends is {self.ends!r}; expected a date and time with a time zone")
        make_channel(self.mechanism, self.size, self.epsilon)

    @property
    def size(self) -> int:
        """How many answers are possible."""
        return (self.max - self.min) // self.step + 1

    @cached_property
    def channel(self) -> Channel:
        """What turns an answer into a report."""
        return make_channel(self.mechanism, self.size, self.epsilon)

    @property
    def lowest_report(self) -> int:
        """The smallest number that may be reported; a square wave reaches beyond the axis on both sides."""
        return self.min - (self.channel.reports - self.size) // 2 * self.step

    @property
    def highest_report(self) -> int:
        return self.lowest_report + (self.channel.reports - 1) * self.step

    def is_open(self, now: datetime | None = None) -> bool:
        """Whether reports are still taken."""
        return self.ends is None or (now or datetime.now(UTC)) < self.ends

    def refuse_few(self, reports: int) -> None:
        """Nothing is estimated from fewer reports than the smallest batch."""
        if reports < self.smallest_batch:
            raise ParameterError(
                f"the survey {self.name!r} has {reports:,} reports; expected at least {self.smallest_batch:,} before "
                "anything is shown"
            )

    def answers(self) -> NDArray[np.int64]:
        """Every possible answer, in rising order."""
        return self.min + self.step * np.arange(self.size, dtype=np.int64)

    def perturb(self, answers: NDArray[np.integer]) -> NDArray[np.int64]:
        """A report for each answer, drawn from the operating system."""
        given = np.asarray(answers)
        codes = (given.astype(np.int64) - self.min) // self.step
        wrong = np.flatnonzero((codes < 0) | (codes >= self.size) | (self.min + self.step * codes != given))
        if len(wrong):
            expected = describe_range(self.min, self.max, self.step)
            raise ParameterError(f"the answer {given[wrong[0]]} is not {expected}")
        return self.lowest_report + self.step * self.channel.perturb(codes)

    def spec(self) -> dict[str, Any]:
        """The survey as files, databases and browsers spell it; ε is a fraction, so that all count the same."""
        ends = None if self.ends is None else self.ends.isoformat()
        given = {key: getattr(self, key) for key in (*REQUIRED, *OPTIONAL)}
        return {**given, "epsilon": str(self.channel.exact_epsilon), "ends": ends}

    @classmethod
    def parse(cls, spec: Any) -> Self:
        """The survey that a file or a request spells."""
        if not isinstance(spec, dict):
            raise ParameterError("a survey is a table of keys and values")
        absent = [key for key in REQUIRED if key not in spec]
        if absent:
            raise ParameterError(f"the survey has no {absent[0]!r}; expected {', '.join(REQUIRED)}")
        known = (*REQUIRED, *OPTIONAL)
        unknown = [key for key in spec if key not in known]
        if unknown:
            raise ParameterError(f"{unknown[0]!r} is not part of a survey; expected {', '.join(known)}")
        return cls(**{**spec, "epsilon": exact(spec["epsilon"]), "ends": _parse_end(spec.get("ends"))})


def describe_range(lowest: int, highest: int, step: int) -> str:
    """What a number on a grid looks like, in words."""
    return f"a whole number from {lowest} to {highest}" + ("" if step == 1 else f" in steps of {step}")


def read_survey(path: Path | str) -> Survey:
    """The survey that a TOML file describes.

    >>> lines = ["name = 'visits'", "question = 'How often?'", "min = 0", "max = 9", "epsilon = 1"]
    >>> with open("visits.toml", "w") as file:
    ...     written = file.write("\\n".join(lines))
    >>> sf.local.read_survey("visits.toml").max
    9
    """
    place = Path(path)
    text = read_text(place, "the survey", ParameterError)
    try:
        return Survey.parse(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ParameterError(f"{place}: not valid TOML, {error}") from error
    except ParameterError as error:
        raise ParameterError(f"{place}: {error}") from error


def _is_valid_question(question: str) -> bool:
    try:
        question.encode()
    except UnicodeEncodeError:
        return False
    return 0 < len(question.strip()) <= MAX_QUESTION


def _parse_end(end: Any) -> datetime | None:
    """A day ends the survey when it begins, in UTC; so does a time without a zone."""
    if isinstance(end, str):
        try:
            end = datetime.fromisoformat(end)
        except ValueError as error:
            raise ParameterError(f"ends is {end!r}; expected a date such as 2027-01-31") from error
    if isinstance(end, date) and not isinstance(end, datetime):
        end = datetime.combine(end, time())
    if end is None:
        return None
    if not isinstance(end, datetime):
        raise ParameterError(f"ends is {end!r}; expected a date such as 2027-01-31")
    return end if end.tzinfo else end.replace(tzinfo=UTC)
