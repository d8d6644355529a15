"""Which spelling of dates the texts of a column follow."""

from collections.abc import Sequence
from datetime import datetime

from sfumato.schema.calendar import parse_period

DAYS = (
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%Y.%m.%d", "%d-%m-%Y", "%m-%d-%Y", "%Y%m%d",
    "%d %b %Y", "%d-%b-%Y", "%d %B %Y", "%d. %B %Y", "%b %d, %Y", "%B %d, %Y", "%d%b%Y",
    "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%m/%Y", "%b %Y", "%B %Y",
)  # fmt: skip
CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p")
FIRST_YEAR, LAST_YEAR = 1850, 2150
LOOK = 200


def find_format(texts: Sequence[str]) -> tuple[str, list[str]] | None:
    """The spelling that all texts follow, "" for ISO's, and others that all of them follow as well."""
    if not texts or any(len(text) > 40 or not any(map(str.isdigit, text)) for text in texts[:LOOK]):
        return None
    if all(_is_iso(text) for text in texts[:LOOK]) and all(map(_is_iso, texts)):
        return "", []
    fits = [day + clock for day in DAYS for clock in CLOCKS if _all_follow(day + clock, texts[:LOOK])]
    fits = [pattern for pattern in fits if _all_follow(pattern, texts)]
    return (fits[0], fits[1:]) if fits else None


def _is_iso(text: str) -> bool:
    """Whether a text is a date in ISO's spelling; four digits alone are a number."""
    period = parse_period(text)
    return period is not None and period.unit != "year"


def _all_follow(pattern: str, texts: Sequence[str]) -> bool:
    if pattern == "%Y%m%d" and any(len(text) != 8 for text in texts):
        return False
    try:
        return all(FIRST_YEAR <= datetime.strptime(text, pattern).year <= LAST_YEAR for text in texts)
    except ValueError:
        return False
