"""Published labels: from those in a file to boxes, and from boxes to labels.

Every distinct label is parsed once, every distinct row of labels is one class. Labels may be in our own
spelling or in another tool's.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.keys import pack
from sfumato.data.text import spell
from sfumato.errors import DataError, ReleaseError, quote
from sfumato.release.boxes import Boxes
from sfumato.schema import MISSING, Axis, Span
from sfumato.schema.taxonomy import ANY


class ParsedColumn(NamedTuple):
    """A column of labels: its distinct generalized values in rising order, and the one each row has."""

    spans: NDArray[np.int32]  # (distinct, 3): lo, hi, missing
    code: NDArray[np.int64]  # (rows,)


def parse_labels(
    raw: pl.Series,
    axis: Axis,
    where: str,
    missing: tuple[str, ...] = ("",),
    *,
    own: bool = False,
    number: NDArray[np.int64] | None = None,
) -> ParsedColumn:
    """The generalized value of every row; a null, or a spelling in `missing`, is the missing value.

    With `own`, only our own spelling is accepted: a class must not hide rows whose labels differ. Messages name a row
    by its `number`, or by its place where there is none.
    """
    try:
        raw = spell(raw) if raw.dtype.is_temporal() else raw
        text = (raw.fill_nan(None) if raw.dtype.is_float() else raw).cast(pl.String).rename("text")
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{where}, column {axis.name!r}: {raw.dtype} is not a type of labels") from error
    distinct = text.unique(maintain_order=True)
    spans = np.empty((len(distinct), 3), dtype=np.int32)
    for code, label in enumerate(distinct):
        try:
            span = _parse(label, axis, missing)
            if own and axis.label(span) != label:
                raise DataError(f"{quote(label)} is not spelled as a release spells it")
        except DataError as error:
            place = int(text.eq_missing(pl.Series([label], dtype=pl.String)).arg_max() or 0)
            row = place + 1 if number is None else number[place]
            raise DataError(f"{where}, row {row}, column {axis.name!r}: {error}") from error
        spans[code] = span
    _, first, codes = np.unique(span_keys(*spans.T), return_index=True, return_inverse=True)
    code_of = pl.DataFrame({"text": distinct, "code": codes})
    rows = text.to_frame().join(code_of, on="text", how="left", nulls_equal=True, maintain_order="left")
    return ParsedColumn(spans[first], rows["code"].to_numpy())


def _parse(label: str | None, axis: Axis, missing: tuple[str, ...]) -> Span:
    if label is None or (label.strip() in missing and label.strip() != ANY):
        if axis.nullable:
            return Span(0, -1, True)
        problem = f"{quote(label)} means a missing value" if label and label.strip() else "the value is missing"
        raise DataError(f"{problem}; expected {axis.expected}, or a group of such")
    try:
        return axis.parse(label)
    except DataError as error:
        raise DataError(f"{quote(label)} is neither {axis.expected} nor a group of such") from error


def span_keys(lo: NDArray[np.integer], hi: NDArray[np.integer], missing: NDArray[np.generic]) -> NDArray[np.int64]:
    """A number for each generalized value that sorts as (lo, hi, missing); codes have 31 bits."""
    return ((lo.astype(np.int64) << 31) + hi + 1) * 2 + missing.astype(np.int64)


def distinct_boxes(
    columns: Sequence[ParsedColumn], group_of_row: NDArray[np.int64] | None = None
) -> tuple[Boxes, NDArray[np.int64]]:
    """The distinct rows of generalized values in rising order, and the number of each row's.

    Equal rows of different groups, where groups are given, make different boxes.
    """
    codes, sizes = [column.code for column in columns], [len(column.spans) for column in columns]
    if group_of_row is not None:
        codes, sizes = [*codes, group_of_row], [*sizes, int(group_of_row.max()) + 1]
    _, first, box_of = np.unique(pack(codes, sizes), return_index=True, return_inverse=True)
    return Boxes.of_spans(np.stack([column.spans[column.code[first]] for column in columns], axis=1)), box_of


def spell_boxes(boxes: Boxes, axes: Sequence[Axis]) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """The labels of the distinct boxes in rising order, and the number of each box among them.

    The order depends on nothing but the labels, so rows sorted by it tell nothing else.
    """
    codes, labels = [], []
    for position, axis in enumerate(axes):
        keys = span_keys(boxes.lo[:, position], boxes.hi[:, position], boxes.missing[:, position])
        _, first, code = np.unique(keys, return_index=True, return_inverse=True)
        codes.append(code)
        labels.append(_spell(boxes[first], axis, position))
    keys = pack(codes, [len(label) for label in labels])
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    columns = [label.gather(code[first]) for label, code in zip(labels, codes, strict=True)]
    return pl.DataFrame(columns), number


def unused_names(wanted: Sequence[str], axes: Sequence[Axis]) -> list[str]:
    """Names for columns that are not the schema's, numbered where it has such columns too."""
    taken = {axis.name for axis in axes}
    numbered = ((name, *(f"{name}_{number}" for number in range(2, len(taken) + 3))) for name in wanted)
    return [next(name for name in names if name not in taken) for names in numbered]


def spell_values(axis: Axis) -> pl.DataFrame:
    """The label of every single position in each column of a sensitive axis, a missing value last."""
    codes = zip(axis.parts, axis.apart(np.arange(axis.positions)), strict=True)
    return pl.DataFrame([_spell_positions(part).gather(np.where(code < 0, part.size, code)) for part, code in codes])


def _spell_positions(axis: Axis) -> pl.Series:
    codes = [*range(axis.size), *([MISSING] if axis.nullable else [])]
    return _spell(Boxes.of_points(np.array(codes, dtype=np.int32)[:, None]), axis, 0)


def _spell(boxes: Boxes, axis: Axis, position: int) -> pl.Series:
    labels = boxes.labels(axis, position)
    for box, label in enumerate(labels):
        with suppress(DataError):
            if axis.parse(label) == boxes.span(box, position):
                continue
        raise ReleaseError(
            f"column {axis.name!r}: the label {label!r} would be read back as another value; rename the "
            "values in the schema, or give its numbers fewer digits"
        )
    return pl.Series(axis.name, labels, dtype=pl.String)
