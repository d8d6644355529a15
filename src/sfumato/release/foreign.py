"""Files that another tool anonymized, read as releases.

Rows that the tool suppressed, `*` in every quasi-identifier, are no class of their own and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.data.source import read_frame
from sfumato.errors import DataError
from sfumato.privacy.claims import Claim, NoGuarantee
from sfumato.release.envelope import Provenance
from sfumato.release.labels import ParsedColumn, distinct_boxes, parse_labels, spread_counts
from sfumato.release.release import Release
from sfumato.schema import Schema

NOTHING_KNOWN = NoGuarantee(reason="published by another tool; nothing is known about how")
ANOTHER_TOOL = Provenance(method="another tool", version="unknown")


@dataclass(frozen=True, kw_only=True)
class ForeignRelease:
    """The release in a file of another tool, and how many of its rows are suppressed and not in it."""

    release: Release
    suppressed: int

    @staticmethod
    def read(
        source: Any, schema: Schema, claim: Claim = NOTHING_KNOWN, provenance: Provenance = ANOTHER_TOOL
    ) -> ForeignRelease:
        """Read a CSV or Parquet file, or a data frame, of generalized rows.

        A quasi-identifier without a column is `*` in every row; other columns are ignored.
        """
        frame, where = read_frame(source)
        sensitive = schema.sensitive
        if sensitive.name not in frame.columns:
            shown = ", ".join(map(repr, frame.columns[:12]))
            raise DataError(f"{where}: the column {sensitive.name!r} is missing; there are only {shown}")
        columns = [
            parse_labels(frame[axis.name], axis, where, schema.missing)
            if axis.name in frame.columns
            else ParsedColumn.everywhere(axis, frame.height)
            for axis in schema.quasi
        ]
        values = parse_labels(frame[sensitive.name], sensitive, where, schema.missing)
        suppressed = np.logical_and.reduce([column.is_any for column in columns])
        if suppressed.all():
            suppressed = np.zeros_like(suppressed)
        columns = [column.where(~suppressed) for column in columns]
        boxes, class_of = distinct_boxes(columns)
        histograms = spread_counts(values.where(~suppressed), class_of, len(boxes), sensitive.positions)
        count = int(suppressed.sum())
        left_out = spread_counts(values.where(suppressed), np.zeros(count, dtype=np.int64), 1, sensitive.positions)[0]
        release = Release(
            schema=_without_kept(schema.public()),
            boxes=boxes,
            weights=np.bincount(class_of, minlength=len(boxes)).astype(np.float64),
            group_of=np.arange(len(boxes)),
            histograms=histograms,
            claim=claim,
            provenance=provenance,
            suppressed=left_out if count else None,
        )
        return ForeignRelease(release=release.verified(), suppressed=count)


def read_published(
    source: Any, schema: Schema, claim: Claim = NOTHING_KNOWN, provenance: Provenance = ANOTHER_TOOL
) -> Release:
    """The release that a file of generalized rows stands for.

    >>> folder = sf.Mondrian(k=10).publish(table).save("release")
    >>> sf.read_published(folder / "data.csv", table.schema).rows
    400.0
    """
    return ForeignRelease.read(source, schema, claim, provenance).release


def _without_kept(schema: Schema) -> Schema:
    measured = tuple(column for column in schema.columns if column.role != "keep")
    return Schema(columns=measured, name=schema.name, missing=schema.missing)
