"""A release as a folder: the data a recipient reads, and `release.json` with claim, method and public schema.

Nothing in the folder is computed on the real data beyond what is published. It is written in another place
and renamed when complete, so a release is never half there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.formats import read_table, write_table
from sfumato.errors import DataError, ReleaseError
from sfumato.files import new_folder, refuse_taken
from sfumato.privacy.claims import Differential
from sfumato.release.counts import counts_table, read_counts
from sfumato.release.description import COLUMNS, DESCRIPTION, Description
from sfumato.release.published import (
    WHOLE,
    ParsedColumn,
    distinct_boxes,
    parse_own_labels,
    published_rows,
    spell_boxes,
    spell_values,
    spread_counts,
)
from sfumato.release.release import Release
from sfumato.release.sampling import sampling_deviation
from sfumato.schema import MISSING, Axis


def save_release(release: Release, folder: Path | str, *, suffix: str = ".csv") -> Path:
    """Write the release to a new folder, in the format that the suffix says, and return the folder."""
    target = Path(folder)
    refuse_taken(target)
    taken = [axis.name for axis in release.schema.axes]
    columns = {name: _free_name(name, taken) for name in COLUMNS[release.layout]}
    if release.layout == "buckets":
        tables = _bucket_tables(release, **columns)
    elif release.layout == "counts":
        tables = {"counts": counts_table(release, **columns)}
    else:
        tables = {"data": published_rows(release)}
    files = {name: f"{name}{suffix}" for name in tables}
    description = Description(
        schema=release.schema.public(),
        claim=release.claim,
        provenance=release.provenance,
        layout=release.layout,
        files=files,
        columns=columns,
        channel=release.channel,
        exact_people=release.exact_people,
    )
    with new_folder(target) as unfinished:
        for name, table in tables.items():
            write_table(table, unfinished / files[name])
        (unfinished / DESCRIPTION).write_text(description.text(), encoding="utf-8")
    return target


def _free_name(wanted: str, taken: Sequence[str]) -> str:
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


def _bucket_tables(release: Release, bucket: str, count: str) -> dict[str, pl.DataFrame]:
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


def load_release(folder: Path | str) -> Release:
    """The release in a folder that `save_release` wrote."""
    folder = Path(folder)
    description = Description.read(folder)
    try:
        load = {"rows": _load_rows, "buckets": _load_buckets, "counts": _load_counts}[description.layout]
        return load(folder, description)
    except DataError as error:
        raise ReleaseError(str(error)) from error


def _load_rows(folder: Path, description: Description) -> Release:
    schema = description.schema
    path = folder / description.files["data"]
    frame = _read_table(path, [*(axis.name for axis in schema.axes), *schema.keep])
    boxes, box_of = distinct_boxes([parse_own_labels(frame[axis.name], axis, str(path)) for axis in schema.quasi])
    values = _parse_values(frame[schema.sensitive.name], schema.sensitive, path)
    kept = None
    if schema.keep:
        lo, _, missing = values.spans[values.code].T
        kept = frame[list(schema.keep)].with_columns(
            pl.Series("box", box_of), pl.Series("value", np.where(missing, MISSING, lo))
        )
    histograms = spread_counts(values, box_of, len(boxes), schema.sensitive.positions)
    claim = description.claim if isinstance(description.claim, Differential) else None
    return Release(
        schema=schema,
        boxes=boxes,
        weights=np.bincount(box_of).astype(np.float64),
        group_of=np.arange(len(boxes)),
        histograms=histograms,
        claim=description.claim,
        provenance=description.provenance,
        kept=kept,
        deviation=sampling_deviation(histograms) if claim and description.channel is None else None,
        exact_people=description.exact_people or bool(claim and claim.exact_people),
        channel=description.channel,
    )


def _load_counts(folder: Path, description: Description) -> Release:
    schema = description.schema
    path = folder / description.files["counts"]
    frame = _read_table(path, [*(axis.name for axis in schema.axes), *description.columns.values()])
    values = _parse_values(frame[schema.sensitive.name], schema.sensitive, path)
    return read_counts(frame, values, description, str(path))


def _load_buckets(folder: Path, description: Description) -> Release:
    schema, bucket = description.schema, description.columns["bucket"]
    path = folder / description.files["quasi"]
    frame = _read_table(path, [*(axis.name for axis in schema.quasi), bucket])
    buckets, group_of_row = np.unique(_whole_numbers(frame[bucket], path), return_inverse=True)
    group_of_row = group_of_row.reshape(-1).astype(np.int64)
    columns = [parse_own_labels(frame[axis.name], axis, str(path)) for axis in schema.quasi]
    boxes, box_of = distinct_boxes(columns, group_of_row)
    group_of = np.empty(len(boxes), dtype=np.int64)
    group_of[box_of] = group_of_row
    histograms = _bucket_histograms(folder, description, buckets)
    rows, counted = np.bincount(group_of_row), histograms.sum(axis=1)
    wrong = np.flatnonzero(np.abs(rows - counted) > WHOLE)
    if len(wrong):
        raise ReleaseError(
            f"{path}: bucket {buckets[wrong[0]]} has {rows[wrong[0]]} rows, but "
            f"{description.files['sensitive']} counts {counted[wrong[0]]:.0f} sensitive values in it"
        )
    return Release(
        schema=schema,
        boxes=boxes,
        weights=np.bincount(box_of).astype(np.float64),
        group_of=group_of,
        histograms=histograms,
        claim=description.claim,
        provenance=description.provenance,
        layout="buckets",
    )


def _bucket_histograms(folder: Path, description: Description, buckets: NDArray[np.int64]) -> NDArray[np.float64]:
    """The sensitive values of each bucket: (buckets, values)."""
    sensitive = description.schema.sensitive
    bucket, count = description.columns["bucket"], description.columns["count"]
    path = folder / description.files["sensitive"]
    frame = _read_table(path, [bucket, sensitive.name, count])
    bucket_of, counts = _whole_numbers(frame[bucket], path), _whole_numbers(frame[count], path)
    group_of = np.minimum(np.searchsorted(buckets, bucket_of), len(buckets) - 1)
    unknown = np.flatnonzero(buckets[group_of] != bucket_of)
    if len(unknown):
        raise ReleaseError(
            f"{path}, row {unknown[0] + 1}: bucket {bucket_of[unknown[0]]} has no rows in {description.files['quasi']}"
        )
    values = _parse_values(frame[sensitive.name], sensitive, path)
    return spread_counts(values, group_of, len(buckets), sensitive.positions, counts)


def _read_table(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    """A file of the release. Its separator and column names are known, so nothing about it is guessed."""
    if not path.is_file():
        raise ReleaseError(f"{path}: the file does not exist; the release is incomplete")
    frame = read_table(path, guess=False)
    absent = [name for name in columns if name not in frame.columns]
    if absent:
        shown = ", ".join(map(repr, frame.columns[:12]))
        raise ReleaseError(f"{path}: the column {absent[0]!r} is missing; the file has {shown}")
    unknown = [name for name in frame.columns if name not in columns]
    if unknown:
        raise ReleaseError(f"{path}: the column {unknown[0]!r} is not part of the release")
    return frame[list(columns)]


def _parse_values(raw: pl.Series, axis: Axis, path: Path) -> ParsedColumn:
    """The sensitive values of a file; each is a single one."""
    values = parse_own_labels(raw, axis, str(path))
    lo, hi, missing = values.spans.T
    several = np.flatnonzero((hi - lo + 1 + missing)[values.code] != 1)
    if len(several):
        row = int(several[0])
        raise ReleaseError(f"{path}, row {row + 1}, column {axis.name!r}: {raw[row]!r} is not {axis.expected}")
    return values


def _whole_numbers(raw: pl.Series, path: Path) -> NDArray[np.int64]:
    numbers = raw.cast(pl.String).str.strip_chars().cast(pl.Int64, strict=False)
    wrong = (numbers < 1).fill_null(True)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise ReleaseError(
            f"{path}, row {row + 1}, column {raw.name!r}: {raw[row]!r} is not a whole number of at least 1"
        )
    return numbers.to_numpy()
