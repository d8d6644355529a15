"""A survey: what is asked, on which axis, under how much noise, and until when. All of it is public.

The same description serves people who answer in a browser, files of values to perturb and files of reports to
estimate from.
"""

import re
import tomllib
from dataclasses import MISSING, asdict, dataclass, fields
from datetime import UTC, date, datetime
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
NOT_UNICODE = re.compile(r"[\ud800-\udfff]")
MAX_NUMBER = 2**53 - 1
"""What a browser still counts exactly."""
MAX_VALUES = 100_000
MAX_IN_BROWSER = 4
"""What all reports of a browser to one site may be worth together: the cap that its page keeps."""
HUNDRED = 100


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
        text = self.question if isinstance(self.question, str) else ""
        if not 0 < len(text.strip()) <= MAX_QUESTION or NOT_UNICODE.search(text):
            raise ParameterError(
                f"the question of {self.name!r} must be Unicode text of 1 to {MAX_QUESTION} characters"
            )
        for key in ("min", "max", "step", "smallest_batch"):
            number = getattr(self, key)
            if isinstance(number, bool) or not isinstance(number, int) or abs(number) > MAX_NUMBER:
                raise ParameterError(f"{key} is {number!r}; expected a whole number below 2^53")
            if key in ("step", "smallest_batch") and number < 1:
                raise ParameterError(f"{key} is {number}; expected at least 1")
        if self.max < self.min or (self.max - self.min) % self.step:
            raise ParameterError(f"max is {self.max}; expected a whole number of steps of {self.step} above {self.min}")
        if self.size > MAX_VALUES:
            raise ParameterError(f"{self.size:,} values are too many for a survey; expected at most {MAX_VALUES:,}")
        if self.ends is not None and (not isinstance(self.ends, datetime) or self.ends.tzinfo is None):
            raise ParameterError(f"ends is {self.ends!r}; expected a date and time with a time zone")
        make_channel(self.mechanism, self.size, self.epsilon)

    @property
    def axis(self) -> range:
        """Every possible answer."""
        return range(self.min, self.max + 1, self.step)

    @property
    def size(self) -> int:
        """How many answers are possible."""
        return len(self.axis)

    @cached_property
    def channel(self) -> Channel:
        """What turns an answer into a report."""
        return make_channel(self.mechanism, self.size, self.epsilon)

    @property
    def worth(self) -> Fraction:
        """What a report counts for in a browser: ε or, where ε is per step, ε · max(1, values / 100).

        A finer unit makes any ε per step as small as one likes for the same noise; what a hundredth of the range loses
        does not change with the unit.
        """
        per_step = self.channel.claim.per_step is not None
        return self.channel.exact_epsilon * (max(Fraction(self.size, HUNDRED), Fraction(1)) if per_step else 1)

    @cached_property
    def reports(self) -> range:
        """Every number that may be reported; a square wave reaches beyond the axis on both sides."""
        beyond = (self.channel.reports - self.size) // 2 * self.step
        return range(self.min - beyond, self.max + beyond + 1, self.step)

    @property
    def lowest_report(self) -> int:
        return self.reports[0]

    @property
    def highest_report(self) -> int:
        return self.reports[-1]

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
        return np.array(self.axis, dtype=np.int64)

    def perturb(self, answers: NDArray[np.integer]) -> NDArray[np.int64]:
        """A report for each answer, drawn from the operating system."""
        given = np.asarray(answers)
        wrong = given[~np.isin(given, self.answers())]
        if len(wrong):
            raise ParameterError(f"the answer {wrong[0]} is not {describe_range(self.axis)}")
        codes = (given.astype(np.int64) - self.min) // self.step
        return self.lowest_report + self.step * self.channel.perturb(codes)

    def spec(self) -> dict[str, Any]:
        """The survey as files, databases and browsers spell it; ε is a fraction, so that all count the same."""
        ends = None if self.ends is None else self.ends.isoformat()
        return {**asdict(self), "epsilon": str(self.channel.exact_epsilon), "ends": ends}

    @classmethod
    def parse(cls, spec: Any) -> Self:
        """The survey that a file or a request spells."""
        if not isinstance(spec, dict):
            raise ParameterError("a survey is a table of keys and values")
        known = {field.name: field.default for field in fields(cls)}
        required = [key for key, default in known.items() if default is MISSING]
        for key in required:
            if key not in spec:
                raise ParameterError(f"the survey has no {key!r}; expected {', '.join(required)}")
        for key in spec:
            if key not in known:
                raise ParameterError(f"{key!r} is not part of a survey; expected {', '.join(known)}")
        return cls(**{**spec, "epsilon": exact(spec["epsilon"]), "ends": _parse_end(spec.get("ends"))})


def describe_range(values: range) -> str:
    """What a number on a grid looks like, in words."""
    return f"a whole number from {values[0]} to {values[-1]}" + (
        "" if values.step == 1 else f" in steps of {values.step}"
    )


def read_survey(path: Path | str) -> Survey:
    """The survey that a TOML file describes.

    >>> lines = ["name = 'visits'", "question = 'How often?'", "min = 0", "max = 9", "epsilon = 1"]
    >>> with open("visits.toml", "w") as file:
    ...     written = file.write("\\n".join(lines))
    >>> sf.local.read_survey("visits.toml").max
    9
    """
    text = read_text(Path(path), "the survey", ParameterError)
    try:
        return Survey.parse(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ParameterError(f"{Path(path)}: not valid TOML, {error}") from error
    except ParameterError as error:
        raise ParameterError(f"{Path(path)}: {error}") from error


def _parse_end(end: Any) -> datetime | None:
    """A day ends the survey when it begins, in UTC; so does a time without a zone."""
    if end is None:
        return None
    try:
        found = datetime.fromisoformat(str(end) if isinstance(end, date | str) else "")
    except ValueError as error:
        raise ParameterError(f"ends is {end!r}; expected a date such as 2027-01-31") from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)
