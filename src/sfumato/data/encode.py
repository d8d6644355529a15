"""From raw columns to integer codes, with an error that names the first row that does not fit.

Text is encoded through its distinct values, so that labels are looked at once each.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.text import as_text, quote_cell
from sfumato.errors import DataError
from sfumato.schema import MISSING, UNKNOWN, Axis
from sfumato.schema.taxonomy import as_label


def encode_column(raw: pl.Series, axis: Axis, missing: tuple[str, ...], where: str) -> pl.Series:
    """The codes of a column on its axis, as 32-bit integers."""
    raw = raw.alias("raw")  # Polars reads some column names as patterns.
    codes = (
        _encode_numbers(raw, axis, missing)
        if axis.kind == "numeric" and raw.dtype.is_numeric()
        else _encode_text(raw, axis, missing, where)
    )
    wrong = codes == UNKNOWN if axis.nullable else codes < 0
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        place = f"{where}, row {row + 1}, column {axis.name!r}"
        if codes[row] == MISSING:
            raise DataError(f"{place}: the value is missing; if that may happen, declare nullable = true in the schema")
        raise DataError(f"{place}: {quote_cell(raw, row)} is not {axis.expected}")
    return codes.rename(axis.name)


def _encode_numbers(raw: pl.Series, axis: Axis, missing: tuple[str, ...]) -> pl.Series:
    numbers = raw.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    codes = axis.encode(numbers)
    codes[np.isnan(numbers) | _means_missing(numbers, missing)] = MISSING
    return pl.Series(axis.place(codes, numbers))


def _encode_text(raw: pl.Series, axis: Axis, missing: tuple[str, ...], where: str) -> pl.Series:
    text = as_text(raw, f"{where}, column {axis.name!r}").rename("text")
    distinct = text.unique()
    absent = distinct.is_in(missing).fill_null(True).to_numpy()
    values: list[str] | NDArray[np.float64]
    if axis.kind == "numeric":
        values = distinct.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
        absent = absent | _means_missing(values, missing)
    else:
        values = distinct.fill_null("").to_list()
        spellings = set(map(as_label, missing))
        absent = absent | np.array([as_label(value) in spellings for value in values], dtype=bool)
    codes = axis.encode(values)
    codes[absent] = MISSING
    code_of = pl.DataFrame({"text": distinct, "code": axis.place(codes, values)})
    return text.to_frame().join(code_of, on="text", how="left", nulls_equal=True, maintain_order="left")["code"]


def _means_missing(numbers: NDArray[np.float64], missing: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which numbers are spelled as a missing value, however many zeros either has."""
    spelled = pl.Series(missing, dtype=pl.String).cast(pl.Float64, strict=False).drop_nulls().to_numpy()
    return np.isin(numbers, spelled)
