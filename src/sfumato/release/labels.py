"""Published rows: from the labels in a file to boxes, and from boxes to labels.

Every distinct label is parsed once, every distinct row of labels is one class. Labels may be in our own
spelling or in another tool's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.keys import pack
from sfumato.errors import DataError, ReleaseError
from sfumato.release.boxes import Boxes
from sfumato.release.content import Content
from sfumato.schema import MISSING, Axis, Span
from sfumato.schema.taxonomy import ANY

WHOLE = 1e-6
"""How far rounding errors may take a count from a whole number."""


@dataclass(frozen=True, eq=False)
class ParsedColumn:
    """A column of labels: its distinct generalized values in rising order, and the one each row has."""

    spans: NDArray[np.int32]  # (distinct, 3): lo, hi, missing
    code: NDArray[np.int64]  # (rows,)
    is_any: NDArray[np.bool_]  # (rows,)

    def where(self, chosen: NDArray[np.bool_]) -> ParsedColumn:
        """The same column with some of its rows."""
        return ParsedColumn(self.spans, self.code[chosen], self.is_any[chosen])

    @staticmethod
    def everywhere(axis: Axis, rows: int) -> ParsedColumn:
        """The column of a suppressed attribute."""
        spans = np.array([axis.everything], dtype=np.int32)
        return ParsedColumn(spans, np.zeros(rows, dtype=np.int64), np.ones(rows, dtype=bool))


def parse_own_labels(raw: pl.Series, axis: Axis, where: str) -> ParsedColumn:
    """The generalized value of every row of a release of ours.

    Only our own spelling is accepted: a class must not hide rows whose labels differ.
    """
    parsed = parse_labels(raw, axis, where)
    text = _as_text(raw, axis, where)
    for label in text.unique(maintain_order=True):
        if label is None or axis.label(axis.parse(label)) != label:
            row = int(text.eq_missing(pl.Series([label], dtype=pl.String)).arg_max() or 0) + 1
            place = f"{where}, row {row}, column {axis.name!r}"
            raise DataError(f"{place}: {label!r} is not spelled as a release spells it")
    return parsed


def parse_labels(raw: pl.Series, axis: Axis, where: str, missing: tuple[str, ...] = ("",)) -> ParsedColumn:
    """The generalized value of every row; a null, or a spelling in `missing`, is the missing value."""
    text = _as_text(raw, axis, where).rename("text")
    distinct = text.unique(maintain_order=True)
    spans = np.empty((len(distinct), 3), dtype=np.int32)
    for number, label in enumerate(distinct):
        try:
            spans[number] = _parse(label, axis, missing)
        except DataError as error:
            row = int(text.eq_missing(pl.Series([label], dtype=pl.String)).arg_max() or 0) + 1
            raise DataError(f"{where}, row {row}, column {axis.name!r}: {error}") from error
    _, first, code_of = np.unique(span_keys(*spans.T), return_index=True, return_inverse=True)
    found = pl.DataFrame(
        {
            "text": distinct,
            "code": code_of.reshape(-1).astype(np.int64),
            "is_any": (distinct.str.strip_chars() == ANY).fill_null(False),
        }
    )
    rows = text.to_frame().join(found, on="text", how="left", nulls_equal=True, maintain_order="left")
    return ParsedColumn(spans[first], rows["code"].to_numpy(), rows["is_any"].to_numpy())


def _as_text(raw: pl.Series, axis: Axis, where: str) -> pl.Series:
    try:
        return (raw.fill_nan(None) if raw.dtype.is_float() else raw).cast(pl.String)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{where}, column {axis.name!r}: {raw.dtype} is not a type of labels") from error


def _parse(label: str | None, axis: Axis, missing: tuple[str, ...]) -> Span:
    if label is None or (label.strip() in missing and label.strip() != ANY):
        if axis.nullable:
            return Span(0, -1, True)
        problem = f"{label!r} means a missing value" if label and label.strip() else "the value is missing"
        raise DataError(f"{problem}; expected {axis.expected}, or a group of such")
    try:
        return axis.parse(label)
    except DataError as error:
        raise DataError(f"{label!r} is neither {axis.expected} nor a group of such") from error


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
    spans = np.stack([column.spans[column.code[first]] for column in columns], axis=1)
    boxes = Boxes(spans[..., 0].copy(), spans[..., 1].copy(), spans[..., 2].astype(bool))
    return boxes, box_of.reshape(-1).astype(np.int64)


def spread_counts(
    values: ParsedColumn,
    class_of: NDArray[np.int64],
    classes: int,
    positions: int,
    rows: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Rows of each class by sensitive value; a generalized value counts evenly for all it covers.

    `rows` says how many rows each entry stands for, one if not given.
    """
    distinct = len(values.spans)
    counts = np.bincount(class_of * distinct + values.code, rows, classes * distinct)
    histograms = np.zeros((classes, positions))
    for count, (lo, hi, missing) in zip(counts.reshape(classes, distinct).T, values.spans, strict=True):
        covered = [*range(lo, hi + 1), *([positions - 1] if missing else [])]
        histograms[:, covered] += count[:, None] / len(covered)
    return histograms


def spell_boxes(boxes: Boxes, axes: Sequence[Axis]) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """The labels of the distinct boxes in rising order, and the number of each box among them.

    The order depends on nothing but the labels, so rows sorted by it tell nothing else.
    """
    codes, labels = [], []
    for position, axis in enumerate(axes):
        keys = span_keys(boxes.lo[:, position], boxes.hi[:, position], boxes.missing[:, position])
        _, first, code = np.unique(keys, return_index=True, return_inverse=True)
        codes.append(code.reshape(-1).astype(np.int64))
        labels.append(_spell(boxes[first], axis, position))
    keys = pack(codes, [len(label) for label in labels])
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    columns = [label.gather(code[first]) for label, code in zip(labels, codes, strict=True)]
    return pl.DataFrame(columns), number.reshape(-1).astype(np.int64)


def spell_values(axis: Axis) -> pl.Series:
    """The label of every single value, the missing one last."""
    codes = [*range(axis.size), *([MISSING] if axis.nullable else [])]
    return _spell(Boxes.of_points(np.array(codes, dtype=np.int32)[:, None]), axis, 0)


def _spell(boxes: Boxes, axis: Axis, position: int) -> pl.Series:
    labels = boxes.labels(axis, position)
    for box, label in enumerate(labels):
        if not _reads_back(label, axis, boxes.span(box, position)):
            raise ReleaseError(
                f"column {axis.name!r}: the label {label!r} would be read back as another value; rename the "
                "values in the schema, or give its numbers fewer digits"
            )
    return pl.Series(axis.name, labels, dtype=pl.String)


def _reads_back(label: str, axis: Axis, span: Span) -> bool:
    try:
        return axis.parse(label) == span
    except DataError:
        return False


def published_rows(release: Content) -> pl.DataFrame:
    """One row per person: quasi-identifiers, sensitive value, kept columns, sorted so that order tells nothing.

    Counts that are not whole numbers are rounded, keeping the rounded total of each box.
    """
    if len(np.unique(release.group_of)) < len(release.group_of):
        raise ReleaseError("boxes that share a histogram cannot be written as rows; publish them as buckets")
    labels, number = spell_boxes(release.boxes, release.schema.quasi)
    keep = release.schema.keep
    if keep:
        box, value, kept = _kept_rows(release, number)
    else:
        box, value = _counted_rows(whole_counts(release), number, len(labels))
        kept = pl.DataFrame()
    values = spell_values(release.schema.sensitive).gather(value)
    return pl.DataFrame([*labels[box], values, *kept[list(keep)]])


def _counted_rows(
    counts: NDArray[np.int64], number: NDArray[np.int64], distinct: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The box and the sensitive value of every row; boxes with the same labels are taken together."""
    order = np.argsort(number, kind="stable")
    together = np.add.reduceat(counts[order], np.searchsorted(number[order], np.arange(distinct)))
    box, value = np.nonzero(together)
    rows = together[box, value]
    return np.repeat(box, rows), np.repeat(value, rows)


def _kept_rows(
    release: Content, number: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], pl.DataFrame]:
    keep = release.schema.keep
    if release.kept is None:
        raise ReleaseError(f"the column {keep[0]!r} has role keep, but the release was made without its rows")
    value = release.kept["value"].to_numpy().astype(np.int64)
    rows = pl.DataFrame(
        {
            "box": number[release.kept["box"].to_numpy()],
            "value": np.where(value < 0, release.schema.sensitive.size, value),
            **{f"kept {name}": release.kept[name] for name in keep},
        }
    )
    rows = rows.sort(pl.all())
    kept = pl.DataFrame([rows[f"kept {name}"].alias(name) for name in keep])
    return rows["box"].to_numpy(), rows["value"].to_numpy(), kept


def whole_counts(release: Content) -> NDArray[np.int64]:
    """Rows of each box by sensitive value, whole numbers with the rounded total of each box: (boxes, values)."""
    counts = np.maximum(release.weights, 0)[:, None] * release.distributions[release.group_of]
    whole = np.round(counts).astype(np.int64)
    uneven = np.flatnonzero((np.abs(counts - whole) > WHOLE).any(axis=1))
    if len(uneven):
        some = counts[uneven]
        down = np.floor(some)
        lacking = np.round(some.sum(axis=1)) - down.sum(axis=1)
        rank = np.argsort(np.argsort(down - some, axis=1, kind="stable"), axis=1)
        whole[uneven] = down + (rank < lacking[:, None])
    return whole
