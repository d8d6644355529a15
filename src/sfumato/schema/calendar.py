"""Periods of the calendar, numbered from the year 1 on: hours, days, ISO weeks, months, quarters and years.

A week belongs to the month, the quarter and the year in which its Thursday lies, as ISO 8601 has it: a year has then
52 or 53 whole weeks.
"""

import re
from calendar import monthrange
from datetime import date, datetime
from typing import NamedTuple

UNITS = ("hour", "day", "week", "month", "quarter", "year")
HOURS = 24
WEEK = 7
THURSDAY = 4

_PERIOD = re.compile(
    r"(?P<year>\d{4})(?:-Q(?P<quarter>[1-4])|-W(?P<week>\d\d)(?:-(?P<weekday>[1-7]))?"
    r"|-(?P<month>\d\d)(?:-(?P<day>\d\d)(?:[T ](?P<hour>[01]\d|2[0-3])"
    r"(?::[0-5]\d(?::[0-5]\d(?:\.\d+)?)?)? ?(?:Z|UTC|[-+]\d\d:?\d\d)?)?)?)?\Z",
    re.ASCII,
)


class Period(NamedTuple):
    """One hour, day, week, month, quarter or year by its number."""

    unit: str
    number: int

    @property
    def first_day(self) -> int:
        """The ordinal of the first day."""
        unit, number = self
        if unit in ("hour", "day"):
            return number // HOURS if unit == "hour" else number
        if unit == "week":
            return number * WEEK + 1
        months = number * {"month": 1, "quarter": 3, "year": 12}[unit]
        return date(months // 12, months % 12 + 1, 1).toordinal()

    @property
    def last_day(self) -> int:
        """The ordinal of the last day."""
        unit, number = self
        if unit in ("hour", "day", "week"):
            return self.first_day + (WEEK - 1 if unit == "week" else 0)
        length = {"month": 1, "quarter": 3, "year": 12}[unit]
        year, month = divmod(number * length + length - 1, 12)
        return date(year, month + 1, monthrange(year, month + 1)[1]).toordinal()

    def __str__(self) -> str:
        unit, number = self
        if unit == "week":
            year, week, _ = date.fromordinal(number * WEEK + THURSDAY).isocalendar()
            return f"{year:04d}-W{week:02d}"
        day = date.fromordinal(self.first_day)
        if unit == "hour":
            return f"{day.isoformat()}T{number % HOURS:02d}"
        quarter = f"{day.year:04d}-Q{(day.month + 2) // 3}"
        return {"day": day.isoformat(), "month": day.isoformat()[:7], "quarter": quarter, "year": quarter[:4]}[unit]

    def within(self, unit: str) -> tuple[int, int]:
        """The first and last period of a unit that lie in this one, or the one in which this lies."""
        rank = UNITS.index(self.unit) - UNITS.index(unit)
        if rank == 0:
            return self.number, self.number
        if rank < 0:
            hour = self.number % HOURS if self.unit == "hour" else 0
            day = self.number * WEEK + THURSDAY if self.unit == "week" else self.first_day
            return (_number_of(unit, day, hour),) * 2
        if unit == "hour":
            return self.first_day * HOURS, self.last_day * HOURS + HOURS - 1
        if unit == "week":
            return -(-(self.first_day - THURSDAY) // WEEK), (self.last_day - THURSDAY) // WEEK
        return _number_of(unit, self.first_day, 0), _number_of(unit, self.last_day, 0)

    @property
    def begins(self) -> int:
        """The hour with which it begins."""
        return self.number if self.unit == "hour" else self.first_day * HOURS


def period_at(unit: str, moment: datetime) -> Period:
    """The period of a unit in which a moment lies."""
    return Period(unit, _number_of(unit, moment.toordinal(), moment.hour))


def parse_period(text: str) -> Period | None:
    """The period that a text spells: `2024`, `2024-Q1`, `2024-03`, `2024-W09`, `2024-03-01`, `2024-03-01T14:30`."""
    match = _PERIOD.match(text)
    if match is None:
        return None
    part = {name: int(digits) for name, digits in match.groupdict().items() if digits}
    year, finest = part["year"], match.lastgroup
    try:
        if "week" in part:
            ordinal = date.fromisocalendar(year, part["week"], part.get("weekday", THURSDAY)).toordinal()
            return Period("day", ordinal) if finest == "weekday" else Period("week", (ordinal - 1) // WEEK)
        ordinal = date(year, part.get("month", 1), part.get("day", 1)).toordinal()
    except ValueError:
        return None
    if finest == "hour":
        return Period("hour", ordinal * HOURS + part["hour"])
    if finest in ("day", "month"):
        return Period("day", ordinal) if finest == "day" else Period("month", year * 12 + part["month"] - 1)
    return Period("quarter", year * 4 + part["quarter"] - 1) if finest == "quarter" else Period("year", year)


def _number_of(unit: str, ordinal: int, hour: int) -> int:
    if unit in ("hour", "day", "week"):
        return {"hour": ordinal * HOURS + hour, "day": ordinal, "week": (ordinal - 1) // WEEK}[unit]
    day = date.fromordinal(ordinal)
    month = day.year * 12 + day.month - 1
    return {"month": month, "quarter": month // 3, "year": day.year}[unit]
