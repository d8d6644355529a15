"""Files that another tool anonymized, read as releases.

Rows that the tool suppressed, `*` in every quasi-identifier, are no class of their own and are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.source import read_frame
from sfumato.errors import DataError
from sfumato.privacy.claims import Claim, NoGuarantee
from sfumato.release.envelope import Provenance
from sfumato.release.labels import ParsedColumn, distinct_boxes, parse_labels
from sfumato.release.release import Release
from sfumato.schema import MISSING, Axis, Schema
from sfumato.schema.column import MEASURED_ROLES
from sfumato.schema.taxonomy import ANY

NOTHING_KNOWN = NoGuarantee(reason="published by another tool; nothing is known about how")
ANOTHER_TOOL = Provenance(method="another tool", version="unknown")


@dataclass(frozen=True, kw_only=True)
class ForeignRelease:
    """The release in a file of another tool, and how many of its rows are suppressed and not in it."""

    release: Release
    suppressed: int

    @classmethod
    def read(
        cls, source: Any, schema: Schema, claim: Claim = NOTHING_KNOWN, provenance: Provenance = ANOTHER_TOOL
    ) -> Self:
        """Read a CSV or Parquet file, or a data frame, of generalized rows.

        A quasi-identifier without a column is `*` in every row; other columns are ignored.
        """
        frame, where = read_frame(source)
        quasi, sensitive = schema.quasi, schema.sensitive
        for name in schema.secret_names:
            if name not in frame.columns:
                shown = ", ".join(map(repr, frame.columns[:12]))
                raise DataError(f"{where}: the column {name!r} is missing; there are only {shown}")
        everything = pl.repeat(ANY, frame.height, eager=True)
        raw = [frame[axis.name] if axis.name in frame.columns else everything for axis in quasi]
        columns = [parse_labels(text, axis, where, schema.missing) for text, axis in zip(raw, quasi, strict=True)]
        values = [parse_labels(frame[axis.name], axis, where, schema.missing) for axis in schema.secrets]
        stars = [text.cast(pl.String).str.strip_chars() == ANY for text in raw]
        suppressed = np.logical_and.reduce([star.fill_null(False).to_numpy() for star in stars])
        if suppressed.all():
            suppressed = np.zeros_like(suppressed)
        boxes, class_of = distinct_boxes([ParsedColumn(spans, code[~suppressed]) for spans, code in columns])
        class_of_row = np.full(frame.height, len(boxes))
        class_of_row[~suppressed] = class_of
        histograms = _spread_counts(values, class_of_row, len(boxes) + 1, sensitive)
        count = int(suppressed.sum())
        measured = tuple(column for column in schema.columns if column.role in MEASURED_ROLES)
        release = Release(
            schema=replace(schema, columns=measured),
            boxes=boxes,
            weights=np.bincount(class_of, minlength=len(boxes)).astype(np.float64),
            group_of=np.arange(len(boxes)),
            histograms=histograms[:-1],
            claim=claim,
            provenance=provenance,
            suppressed=histograms[-1] if count else None,
        )
        return cls(release=release.verified(), suppressed=count)


def read_published(
    source: Any, schema: Schema, claim: Claim = NOTHING_KNOWN, provenance: Provenance = ANOTHER_TOOL
) -> Release:
    """The release that a file of generalized rows stands for.

    >>> folder = sf.Mondrian(k=10).publish(table).save("release")
    >>> sf.read_published(folder / "data.csv", table.schema).rows
    400.0
    """
    return ForeignRelease.read(source, schema, claim, provenance).release


def _spread_counts(
    values: Sequence[ParsedColumn], class_of: NDArray[np.int64], classes: int, sensitive: Axis
) -> NDArray[np.float64]:
    """Rows of each class by sensitive value; a generalized value counts evenly for all it covers."""
    boxes, distinct_of = distinct_boxes(values)
    distinct = len(boxes)
    counts = np.bincount(class_of * distinct + distinct_of, minlength=classes * distinct)
    histograms = np.zeros((classes, sensitive.positions))
    for count, *sides in zip(counts.reshape(classes, distinct).T, *boxes.arrays, strict=True):
        codes = [[*range(lo, hi + 1), *([MISSING] if absent else [])] for lo, hi, absent in zip(*sides, strict=True)]
        covered = sensitive.together([column.reshape(-1) for column in np.meshgrid(*codes, indexing="ij")])
        histograms[:, covered] += count[:, None] / len(covered)
    return histograms
