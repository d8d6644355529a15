"""From raw columns to integer codes, and an error that names a value that does not fit.

Text is encoded through its distinct values, so that labels are looked at once each.
"""

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.text import as_text, quote_cell
from sfumato.errors import DataError
from sfumato.schema import MISSING, UNKNOWN, Axis, DateAxis
from sfumato.schema.taxonomy import as_label


def encode_column(raw: pl.Series, axis: Axis, missing: tuple[str, ...], where: str) -> pl.Series:
    """The codes of a column on its axis, as 32-bit integers; the first row that does not fit is refused."""
    codes = encode_values(raw, axis, missing, where)
    wrong = find_unfit(codes, axis)
    if wrong.any():
        place = int(wrong.arg_max() or 0)
        refuse_value(raw, codes[place], place, axis, f"{where}, row {place + 1}")
    return codes


def encode_values(raw: pl.Series, axis: Axis, missing: tuple[str, ...], where: str) -> pl.Series:
    """The same, with `UNKNOWN` and `MISSING` where they may not be."""
    if isinstance(axis, DateAxis) and axis.unit != "hour" and isinstance(raw.dtype, pl.Datetime):
        raw = raw.dt.date()  # so that every day is looked at once
    raw = raw.alias("raw")  # Polars reads some column names as patterns.
    codes = (
        _encode_numbers(raw, axis, missing)
        if axis.kind == "numeric" and raw.dtype.is_numeric()
        else _encode_text(raw, axis, missing, where)
    )
    return codes.rename(axis.name)


def find_unfit(codes: pl.Series, axis: Axis) -> pl.Series:
    """Which codes of a column tell that a value does not fit."""
    return codes == UNKNOWN if axis.nullable else codes < 0


def refuse_value(raw: pl.Series, code: int, place: int, axis: Axis, row: str) -> NoReturn:
    """Say what does not fit about the value in a place of a column."""
    where = f"{row}, column {axis.name!r}"
    if code == MISSING:
        raise DataError(f"{where}: the value is missing; if that may happen, declare nullable = true in the schema")
    raise DataError(f"{where}: {quote_cell(raw, place)} is not {axis.expected}")


def _encode_numbers(raw: pl.Series, axis: Axis, missing: tuple[str, ...]) -> pl.Series:
    numbers = raw.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    codes = axis.encode(numbers)
    codes[np.isnan(numbers) | _means_missing(numbers, missing)] = MISSING
    return pl.Series(axis.place(codes, numbers))


def _encode_text(raw: pl.Series, axis: Axis, missing: tuple[str, ...], where: str) -> pl.Series:
    place = f"{where}, column {axis.name!r}"
    if raw.dtype.is_float() or raw.dtype.is_nested() or raw.dtype == pl.Object:
        raw = as_text(raw, place).alias(raw.name)
    distinct = raw.unique()
    code_of = pl.DataFrame({"raw": distinct, "code": _codes_of(as_text(distinct, place), axis, missing)})
    return raw.to_frame().join(code_of, on="raw", how="left", nulls_equal=True, maintain_order="left")["code"]


def _codes_of(text: pl.Series, axis: Axis, missing: tuple[str, ...]) -> NDArray[np.int32]:
    absent = text.is_in(missing).fill_null(True).to_numpy()
    values: list[str] | NDArray[np.float64]
    if axis.kind == "numeric":
        values = text.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
        absent = absent | _means_missing(values, missing)
    else:
        values = text.fill_null("").to_list()
        spellings = set(map(as_label, missing))
        absent = absent | np.array([as_label(value) in spellings for value in values], dtype=bool)
    codes = axis.encode(values)
    codes[absent] = MISSING
    return axis.place(codes, values)


def _means_missing(numbers: NDArray[np.float64], missing: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which numbers are spelled as a missing value, however many zeros either has."""
    return np.isin(numbers, spelled_numbers(missing))


def spelled_numbers(missing: Sequence[str]) -> NDArray[np.float64]:
    """The numbers that mean a missing value."""
    return pl.Series(missing, dtype=pl.String).cast(pl.Float64, strict=False).drop_nulls().to_numpy()
