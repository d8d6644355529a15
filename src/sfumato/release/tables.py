"""A table in a folder: rows, buckets or counts, and the details that `release.json` adds to the envelope for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.errors import DataError, ReleaseError
from sfumato.mechanisms.channels import Channel, parse_channel
from sfumato.release.content import Content, Layout, sampling_deviation
from sfumato.release.counts import counts_table, read_counts
from sfumato.release.envelope import Envelope, describing, entry, naming, word
from sfumato.release.folder import read_columns, whole_numbers, write_folder
from sfumato.release.labels import (
    WHOLE,
    ParsedColumn,
    distinct_boxes,
    parse_own_labels,
    published_rows,
    spell_boxes,
    spell_values,
    spread_counts,
)
from sfumato.schema import MISSING, Axis, Schema

TABLES: dict[Layout, tuple[str, ...]] = {"rows": ("data",), "buckets": ("quasi", "sensitive"), "counts": ("counts",)}
COLUMNS: dict[Layout, tuple[str, ...]] = {"rows": (), "buckets": ("bucket", "count"), "counts": ("count", "noise")}
"""Columns of the tables that are not the schema's."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """How a table lies in its folder: the path of each file, and the names of the columns that are not the schema's."""

    schema: Schema
    layout: Layout
    files: dict[str, Path]
    columns: dict[str, str]
    channel: Channel | None
    exact_people: bool

    @staticmethod
    def parse(envelope: Envelope, folder: Path) -> Form:
        """The form that the details of an envelope describe."""
        spec = envelope.details
        if entry(spec, "layout", str) not in TABLES:
            raise ReleaseError(f"layout is {spec['layout']!r}; expected {' or '.join(TABLES)}")
        layout, columns = cast(Layout, spec["layout"]), entry(spec, "columns", dict)
        schema = Schema.parse(entry(spec, "schema", dict))
        names = [*(column.name for column in schema.columns), *map(str, columns.values())]
        if len(set(names)) < len(names):
            raise ReleaseError("two columns have the same name")
        return Form(
            schema=schema,
            layout=layout,
            files={table: folder / word(envelope.files, table, "files") for table in TABLES[layout]},
            columns={column: word(columns, column, "columns") for column in COLUMNS[layout]},
            channel=parse_channel(spec["channel"]) if "channel" in spec else None,
            exact_people=spec.get("exact_people") is True,
        )


def make_tables(release: Content) -> tuple[dict[str, pl.DataFrame], dict[str, str]]:
    """What a recipient gets: each table by name, and the names of the columns that are not the schema's."""
    taken = [axis.name for axis in release.schema.axes]
    columns = {name: _free_name(name, taken) for name in COLUMNS[release.layout]}
    if release.layout == "buckets":
        return _bucket_tables(release, **columns), columns
    if release.layout == "counts":
        return {"counts": counts_table(release, **columns)}, columns
    return {"data": published_rows(release)}, columns


def save_content(release: Content, folder: Path | str, *, suffix: str = ".csv", replace: bool = False) -> Path:
    """Write the release to a new folder, or in place of the release in it, and return the folder."""
    tables, columns = make_tables(release)
    details = {
        "layout": release.layout,
        "columns": columns,
        **({} if release.channel is None else {"channel": release.channel.spec()}),
        **({"exact_people": True} if release.exact_people else {}),
        "schema": release.schema.public().spec(),
    }
    envelope = Envelope(kind="table", claim=release.claim, provenance=release.provenance, details=details)
    return write_folder(Path(folder), tables, envelope, suffix=suffix, replace=replace)


def _free_name(wanted: str, taken: Sequence[str]) -> str:
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


def _bucket_tables(release: Content, bucket: str, count: str) -> dict[str, pl.DataFrame]:
    """A row of quasi-identifiers and bucket for every person, and the counts of each bucket."""
    for name in release.schema.keep:
        raise ReleaseError(f"the column {name!r} has role keep, but buckets take rows apart")
    rows, counts = _whole(release.weights), _whole(release.histograms)
    if (np.bincount(release.group_of, rows, len(counts)) != counts.sum(axis=1)).any():
        raise ReleaseError("every bucket needs as many sensitive values as it has rows")
    labels, number = spell_boxes(release.boxes, release.schema.quasi)
    bucket_of = _bucket_numbers(number, rows, release.group_of, counts)
    order = np.lexsort((bucket_of[release.group_of], number))
    box = np.repeat(order, rows[order])
    group, value = np.nonzero(counts)
    value_labels = spell_values(release.schema.sensitive)
    return {
        "quasi": labels[number[box]].with_columns(pl.Series(bucket, bucket_of[release.group_of[box]])),
        "sensitive": pl.DataFrame(
            [pl.Series(bucket, bucket_of[group]), value_labels.gather(value), pl.Series(count, counts[group, value])]
        ).sort(bucket, maintain_order=True),
    }


def _whole(counts: NDArray[np.float64]) -> NDArray[np.int64]:
    whole = np.round(counts).astype(np.int64)
    if (np.abs(counts - whole) > WHOLE).any() or (whole < 0).any():
        raise ReleaseError("buckets hold whole numbers of rows; this release has others")
    return whole


def _bucket_numbers(
    number: NDArray[np.int64], rows: NDArray[np.int64], group_of: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """A number for each bucket that depends only on what is published in it, never on how it came about."""
    order = np.lexsort((rows, number, group_of))
    order = order[rows[order] > 0]
    groups, starts = np.unique(group_of[order], return_index=True)
    smallest = number[order[starts]]
    _, which, alike = np.unique(smallest, return_inverse=True, return_counts=True)
    contents: list[tuple[bytes, ...]] = [()] * len(groups)
    ends = np.append(starts[1:], len(order))
    for i in np.flatnonzero(alike[which.reshape(-1)] > 1):
        inside = order[starts[i] : ends[i]]
        contents[i] = (number[inside].tobytes(), rows[inside].tobytes(), counts[groups[i]].tobytes())
    first = smallest.tolist()
    ranked = sorted(range(len(groups)), key=lambda i: (first[i], contents[i]))
    bucket_of = np.zeros(len(counts), dtype=np.int64)
    bucket_of[groups[ranked]] = np.arange(1, len(groups) + 1)
    return bucket_of


def read_content(folder: Path) -> dict[str, Any]:
    """The fields of the release in a folder that `save_content` wrote."""
    envelope = Envelope.read(folder)
    if envelope.kind != "table":
        raise ReleaseError(f"{folder}: this release holds {envelope.kind}; expected a table")
    with naming(describing(folder) or folder):
        form = Form.parse(envelope, folder)
    read = {"rows": _read_rows, "buckets": _read_buckets, "counts": _read_counts}[form.layout]
    try:
        parts = read(form, envelope)
    except DataError as error:
        raise ReleaseError(str(error)) from error
    return {
        "schema": form.schema,
        "claim": envelope.claim,
        "provenance": envelope.provenance,
        "layout": form.layout,
        **parts,
    }


def _read_rows(form: Form, envelope: Envelope) -> dict[str, Any]:
    schema, path = form.schema, form.files["data"]
    frame = read_columns(path, [*(axis.name for axis in schema.axes), *schema.keep])
    boxes, box_of = distinct_boxes([parse_own_labels(frame[axis.name], axis, str(path)) for axis in schema.quasi])
    values = _parse_values(frame[schema.sensitive.name], schema.sensitive, path)
    kept = None
    if schema.keep:
        lo, _, missing = values.spans[values.code].T
        kept = frame[list(schema.keep)].with_columns(
            pl.Series("box", box_of), pl.Series("value", np.where(missing, MISSING, lo))
        )
    histograms = spread_counts(values, box_of, len(boxes), schema.sensitive.positions)
    private = envelope.claim.cost is not None
    return {
        "boxes": boxes,
        "weights": np.bincount(box_of).astype(np.float64),
        "group_of": np.arange(len(boxes)),
        "histograms": histograms,
        "kept": kept,
        "deviation": sampling_deviation(histograms) if private and form.channel is None else None,
        "exact_people": form.exact_people or (private and envelope.claim.shows_presence),
        "channel": form.channel,
    }


def _read_counts(form: Form, _: Envelope) -> dict[str, Any]:
    schema, path = form.schema, form.files["counts"]
    frame = read_columns(path, [*(axis.name for axis in schema.axes), *form.columns.values()])
    values = _parse_values(frame[schema.sensitive.name], schema.sensitive, path)
    return read_counts(frame, values, schema, str(path), **form.columns)


def _read_buckets(form: Form, _: Envelope) -> dict[str, Any]:
    schema, bucket, path = form.schema, form.columns["bucket"], form.files["quasi"]
    frame = read_columns(path, [*(axis.name for axis in schema.quasi), bucket])
    buckets, group_of_row = np.unique(whole_numbers(frame[bucket], path), return_inverse=True)
    group_of_row = group_of_row.reshape(-1).astype(np.int64)
    columns = [parse_own_labels(frame[axis.name], axis, str(path)) for axis in schema.quasi]
    boxes, box_of = distinct_boxes(columns, group_of_row)
    group_of = np.empty(len(boxes), dtype=np.int64)
    group_of[box_of] = group_of_row
    histograms = _bucket_histograms(form, buckets)
    rows, counted = np.bincount(group_of_row), histograms.sum(axis=1)
    wrong = np.flatnonzero(np.abs(rows - counted) > WHOLE)
    if len(wrong):
        raise ReleaseError(
            f"{path}: bucket {buckets[wrong[0]]} has {rows[wrong[0]]} rows, but "
            f"{form.files['sensitive'].name} counts {counted[wrong[0]]:.0f} sensitive values in it"
        )
    weights = np.bincount(box_of).astype(np.float64)
    return {"boxes": boxes, "weights": weights, "group_of": group_of, "histograms": histograms}


def _bucket_histograms(form: Form, buckets: NDArray[np.int64]) -> NDArray[np.float64]:
    """The sensitive values of each bucket: (buckets, values)."""
    sensitive, path = form.schema.sensitive, form.files["sensitive"]
    bucket, count = form.columns["bucket"], form.columns["count"]
    frame = read_columns(path, [bucket, sensitive.name, count])
    bucket_of, counts = whole_numbers(frame[bucket], path), whole_numbers(frame[count], path)
    group_of = np.minimum(np.searchsorted(buckets, bucket_of), len(buckets) - 1)
    unknown = np.flatnonzero(buckets[group_of] != bucket_of)
    if len(unknown):
        raise ReleaseError(
            f"{path}, row {unknown[0] + 1}: bucket {bucket_of[unknown[0]]} has no rows in {form.files['quasi'].name}"
        )
    values = _parse_values(frame[sensitive.name], sensitive, path)
    return spread_counts(values, group_of, len(buckets), sensitive.positions, counts)


def _parse_values(raw: pl.Series, axis: Axis, path: Path) -> ParsedColumn:
    """The sensitive values of a file; each is a single one."""
    values = parse_own_labels(raw, axis, str(path))
    lo, hi, missing = values.spans.T
    several = np.flatnonzero((hi - lo + 1 + missing)[values.code] != 1)
    if len(several):
        row = int(several[0])
        raise ReleaseError(f"{path}, row {row + 1}, column {axis.name!r}: {raw[row]!r} is not {axis.expected}")
    return values
