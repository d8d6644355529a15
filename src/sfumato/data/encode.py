"""From raw columns to integer codes, and an error that names a value that does not fit.

Text is encoded through its distinct values, so that labels are looked at once each.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NoReturn

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.text import as_text, quote_cell
from sfumato.errors import DataError
from sfumato.schema import MISSING, UNKNOWN, Axis, DateAxis
from sfumato.schema.axis import MISSING_LABEL
from sfumato.schema.numeric import COMMA, POINT, NumericAxis
from sfumato.schema.taxonomy import as_label


def encode_column(raw: pl.Series, axis: Axis, missing: tuple[str, ...], where: str) -> pl.Series:
    """The codes of a column on its axis, as 32-bit integers; the first row that does not fit is refused."""
    codes = encode_values(raw, axis, missing, where)
    wrong = find_unfit(codes, axis)
    if wrong.any():
        place = int(wrong.arg_max() or 0)
        refuse_value(raw, codes[place], place, axis, f"{where}, row {place + 1}")
    return codes


def encode_values(
    raw: pl.Series, axis: Axis, missing: tuple[str, ...], where: str, placed: Counter[str] | None = None
) -> pl.Series:
    """The same, with `UNKNOWN` and `MISSING` where they may not be; `placed` counts values that others stand for."""
    if isinstance(axis, DateAxis) and axis.unit != "hour" and isinstance(raw.dtype, pl.Datetime):
        raw = raw.dt.date()  # so that every day is looked at once
    raw = raw.alias("raw")  # Polars reads some column names as patterns.
    if axis.kind == "numeric" and raw.dtype.is_numeric():
        codes, off = _encode_numbers(raw, axis, missing)
    else:
        codes, off = _encode_text(raw, axis, missing, where)
    if off and placed is not None:
        placed[axis.name] += off
    return codes.rename(axis.name)


def find_unfit(codes: pl.Series, axis: Axis) -> pl.Series:
    """Which codes of a column tell that a value does not fit."""
    return codes == UNKNOWN if axis.nullable else codes < 0


def refuse_value(raw: pl.Series, code: int, place: int, axis: Axis, row: str) -> NoReturn:
    """Say what does not fit about the value in a place of a column."""
    raise DataError(f"{row}, column {axis.name!r}: {describe_misfit(quote_cell(raw, place), code, axis)}")


def describe_misfit(shown: str, code: int, axis: Axis) -> str:
    """What does not fit about a value, as a message shows it, with this code."""
    if code == MISSING:
        return "the value is missing; if that may happen, declare nullable = true in the schema"
    return f"{shown} is not {axis.expected}"


def _encode_numbers(raw: pl.Series, axis: Axis, missing: tuple[str, ...]) -> tuple[pl.Series, int]:
    numbers = raw.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    codes = axis.encode(numbers)
    codes[np.isnan(numbers) | _means_missing(numbers, missing)] = MISSING
    placed = axis.place(codes, numbers)
    return pl.Series(placed), 0 if placed is codes else int((placed != codes).sum())


def _encode_text(raw: pl.Series, axis: Axis, missing: tuple[str, ...], where: str) -> tuple[pl.Series, int]:
    place = f"{where}, column {axis.name!r}"
    if raw.dtype.is_float() or raw.dtype.is_nested() or raw.dtype == pl.Object:
        raw = as_text(raw, place).alias(raw.name)
    distinct = raw.unique()
    codes, placed = _codes_of(as_text(distinct, place), axis, missing)
    code_of = pl.DataFrame({"raw": distinct, "code": placed})
    found = raw.to_frame().join(code_of, on="raw", how="left", nulls_equal=True, maintain_order="left")["code"]
    if placed is codes or not (off := placed != codes).any():
        return found, 0
    odd = code_of.filter(off).select("raw")
    return found, raw.to_frame().join(odd, on="raw", how="semi", nulls_equal=True).height


def _codes_of(text: pl.Series, axis: Axis, missing: tuple[str, ...]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The codes of values as they are, and where the schema puts them."""
    absent = text.is_in([*missing, MISSING_LABEL]).fill_null(True).to_numpy()
    values: list[str] | NDArray[np.float64]
    if axis.kind == "numeric":
        if isinstance(axis, NumericAxis) and axis.decimal == COMMA:
            text = text.str.replace(COMMA, POINT, literal=True)
        values = text.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
        absent = absent | _means_missing(values, missing)
    else:
        values = text.fill_null("").to_list()
        spellings = set(map(as_label, missing))
        absent = absent | np.array([as_label(value) in spellings for value in values], dtype=bool)
    codes = axis.encode(values)
    codes[absent] = MISSING
    return codes, axis.place(codes, values)


def _means_missing(numbers: NDArray[np.float64], missing: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which numbers are spelled as a missing value, however many zeros either has."""
    return np.isin(numbers, spelled_numbers(missing))


def spelled_numbers(missing: Sequence[str]) -> NDArray[np.float64]:
    """The numbers that mean a missing value."""
    return pl.Series(missing, dtype=pl.String).cast(pl.Float64, strict=False).drop_nulls().to_numpy()
