"""One spelling per value, whatever type its column has.

A column's type follows from all its cells: one person without a number turns everybody's whole numbers into floats. So
that no value changes because of somebody else's, text is made of the value alone: 2.0 is "2", and true is "true".
"""

from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
import polars as pl

from sfumato.errors import DataError, quote

PLAIN = (bool, int, float, str)
SHARED = (*PLAIN, bytes)
"""Types of Python's that a column holds cell by cell; of others, all cells have a say in what it makes of them."""
WHOLE = 2.0**63
"""Floats below are spelled as the whole numbers that they are."""
MAX_ZEROS = 400
NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?$"
SHORTEST = r"^(?:0|-?[1-9][0-9]*)\z"
LEADING_ZERO = r"^[+-]?0[0-9]"
"""Digits that start with a zero, such as postcodes, are names and not numbers."""
UNREADABLE = (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError, NotImplementedError)
NOT_TEXT = "backslashreplace"
"""What is no text is spelled by its bytes, so that two names that differ stay two."""
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
"""Of the years 1 to 9999, counted from 1970; a column can hold days that no calendar spells."""
MISSING_TYPE = "NAType"
"""Of what pandas writes for a missing value of any type."""
PER_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9}


def as_text(raw: pl.Series, place: str) -> pl.Series:
    """The column as text without spaces around it; only its type can make this refuse."""
    try:
        return spell(raw).str.strip_chars()
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{place}: {raw.dtype} is not a type of plain values") from error


def quote_cell(raw: pl.Series, row: int) -> str:
    """One cell as a message shows it."""
    return quote(spell(raw[row : row + 1])[0] if raw.dtype.is_temporal() else raw[row])


def as_names(raw: pl.Series, missing: Sequence[str], place: str) -> pl.Series:
    """Whose each row is, in one spelling per person, or nothing: 7, 7.0, +7 and 7e0 are one, 07 is another."""
    names, nobody = _name(as_text(raw, place)), pl.Series(names_of_nobody(missing))
    return names.set(names.is_in(nobody.implode()), None)


def names_of_nobody(missing: Sequence[str]) -> list[str]:
    """The names that say of no row whose it is."""
    return _name(pl.Series(["", *missing], dtype=pl.String).str.strip_chars()).to_list()


def column_of(cells: Sequence[Any]) -> pl.Series:
    """Python values as a column: of their type if they have one and it is a plain one, else as text cell by cell."""
    kinds = set(map(type, cells)) - {type(None)}
    if not kinds <= {bool, float, str, bytes}:
        cells = [_plain(cell) for cell in cells]
        kinds = set(map(type, cells)) - {type(None)}
    if len(kinds) <= 1 and kinds <= set(PLAIN):
        try:
            return pl.Series(cells)
        except UNREADABLE:
            pass  # Half a character.
    text = np.full(len(cells), None, dtype=object)
    for kind in kinds:
        places = [place for place, cell in enumerate(cells) if type(cell) is kind]
        text[places] = _texts([cells[place] for place in places])
    return pl.Series(text.tolist(), dtype=pl.String)


def _texts(cells: list[Any]) -> list[str | None]:
    """The text of values of one of the types that a column can share."""
    try:
        return spell(pl.Series(cells)).to_list()
    except UNREADABLE:
        return [str(cell).encode(errors=NOT_TEXT).decode() for cell in cells]


def _plain(cell: Any) -> Any:
    """A value as one of a type that a column can share, made of nothing but itself, whatever it is."""
    if type(cell) is int:
        return cell if -WHOLE <= cell < WHOLE else str(Decimal(cell))
    if cell is None or type(cell) in SHARED:
        return cell
    try:
        convert = next(each for kinds, each in CONVERSIONS if isinstance(cell, kinds))
        return _plain(convert(cell))
    except Exception:
        return type(cell).__name__


def _decimal(number: Decimal) -> str | None:
    """A decimal with the digits that it needs, as a column of decimals would have it."""
    if number.is_nan():
        return None
    if not number.is_finite() or abs(number.adjusted()) > MAX_ZEROS:
        return str(number)
    digits = f"{number:f}" if number else "0"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _moment(moment: datetime) -> str | None:
    """A date and time as a column of such would have it, with the time zone if it has one."""
    if moment != moment:
        return None
    beyond = f"{getattr(moment, 'nanosecond', 0):03d}".replace("000", "")
    return f"{moment.date().isoformat()} {_clock(moment.time(), beyond)}{moment.strftime('%z')}"


def _clock(clock: time, beyond: str = "") -> str:
    """Hours, minutes, seconds, and what there is of thousandths and beyond."""
    spelled = clock.replace(tzinfo=None).isoformat("microseconds") + beyond
    return spelled if beyond else spelled.removesuffix("000").removesuffix(".000")


CONVERSIONS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (Enum, lambda cell: cell.value),
    (str, str.__str__),
    ((bytes, bytearray), bytes),
    (np.bool_, bool),
    ((int, np.integer), int),
    ((float, np.floating), float),
    (Decimal, _decimal),
    (datetime, _moment),
    (date, date.isoformat),
    (time, _clock),
    (timedelta, timedelta.total_seconds),
    (object, lambda cell: None if type(cell).__name__ == MISSING_TYPE else str(cell)),
)
"""Of what types values are that have a plain one's meaning; all others are spelled as they print."""


def spell(raw: pl.Series) -> pl.Series:
    """Every value of a column as text, in the spelling that it has alone; of a type that holds no plain ones, none."""
    if raw.dtype == pl.Binary:
        return raw.map_elements(lambda value: value.decode(errors=NOT_TEXT), return_dtype=pl.String)
    if raw.dtype.is_float():
        numbers = raw.cast(pl.Float64).fill_nan(None).alias("n").to_frame()
        whole = (pl.col("n") == pl.col("n").floor()) & (pl.col("n").abs() < WHOLE)
        digits = pl.col("n").cast(pl.Int64, strict=False).cast(pl.String)
        return numbers.select(pl.when(whole).then(digits).otherwise(pl.col("n").cast(pl.String)))["n"]
    if isinstance(raw.dtype, pl.Decimal) and raw.dtype.scale:
        return raw.cast(pl.String).str.replace(r"\.?0+$", "")
    if isinstance(raw.dtype, pl.Duration):
        return spell(raw.to_physical() / PER_SECOND[raw.dtype.time_unit])
    if isinstance(raw.dtype, pl.Date | pl.Datetime):
        return _spelled_dates(raw, raw.dtype)
    if raw.dtype == pl.Time:
        return raw.dt.to_string("%T%.f")
    if raw.dtype.is_nested():
        raise pl.exceptions.InvalidOperationError("several values in one cell")
    return raw.cast(pl.String)


def _spelled_dates(raw: pl.Series, kind: pl.Date | pl.Datetime) -> pl.Series:
    """Dates as the calendar has them; those that it does not have, as the numbers that stand for them."""
    day, zoned = (
        (1, False) if isinstance(kind, pl.Date) else (86_400 * PER_SECOND[kind.time_unit], bool(kind.time_zone))
    )
    first, last = max(FIRST_DAY * day, -(2**63)), min((LAST_DAY + 1) * day - 1, 2**63 - 1)
    count = raw.to_physical()
    known = count.is_between(first, last)
    pattern = "%F" if day == 1 else "%F %T%.f%z" if zoned else "%F %T%.f"
    return raw.set(~known, None).dt.to_string(pattern).zip_with(known.fill_null(True), count.cast(pl.String))


def _name(text: pl.Series) -> pl.Series:
    if (text.str.len_bytes() != text.str.len_chars()).any():
        text = text.str.normalize("NFC")
    odd = text.str.contains(NUMBER) & ~text.str.contains(SHORTEST) & ~text.str.contains(LEADING_ZERO)
    places = odd.fill_null(False).arg_true()
    return text.scatter(places, [_shortest(number) for number in text[places]]) if len(places) else text


def _shortest(number: str) -> str:
    """A number without needless signs, zeros and exponents."""
    mantissa, _, power = number.lower().partition("e")
    whole, _, fraction = mantissa.lstrip("+-").partition(".")
    digits = (whole + fraction).lstrip("0")
    kept = digits.rstrip("0")
    zeros = int(power or 0) - len(fraction) + len(digits) - len(kept)
    sign = "-" if number.startswith("-") and kept else ""
    return f"{sign}{kept or 0}" + ("0" * zeros if 0 <= zeros <= MAX_ZEROS else f"e{zeros}") * bool(kept)
