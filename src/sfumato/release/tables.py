"""What a recipient of a table gets: rows, buckets or counts, in an order that tells nothing."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.pieces import Parts
from sfumato.errors import ReleaseError
from sfumato.release.content import Content, Layout, spelled_weights
from sfumato.release.histograms import Cells, cells_of
from sfumato.release.labels import spell_boxes, spell_values, unused_names
from sfumato.release.margins import MARGINS, margins_table

COLUMNS: dict[Layout, tuple[str, ...]] = {"rows": (), "buckets": ("bucket", "count"), "counts": ("count", "noise")}
"""Columns of the tables that are not the schema's."""
WHOLE = 1e-6
"""How far rounding errors may take a count from a whole number."""
DECIMALS = 3
MIN_COUNT = 0.5 * 10**-DECIMALS


def make_tables(release: Content) -> tuple[dict[str, pl.DataFrame | Parts], dict[str, str]]:
    """Each table by name, and the names of the columns that are not the schema's."""
    wanted = COLUMNS[release.layout]
    columns = dict(zip(wanted, unused_names(wanted, release.schema.axes), strict=True))
    tables: dict[str, pl.DataFrame | Parts]
    if release.layout == "buckets":
        tables = _bucket_tables(release, **columns)
    elif release.layout == "counts":
        tables = {"counts": _counts_table(release, **columns)}
    else:
        tables = {"data": published_rows(release)}
    if release.spreads is not None:
        tables[MARGINS] = margins_table(release.schema.quasi, release.spreads)
    if release.measured is not None:
        tables[release.measured.file] = release.measured.frame()
    return tables, columns


def published_rows(release: Content) -> Parts:
    """One row per person: quasi-identifiers, sensitive value, kept columns, sorted so that order tells nothing.

    Counts that are not whole numbers are rounded, keeping the rounded total of each box.
    """
    if len(np.unique(release.group_of)) < len(release.group_of):
        raise ReleaseError("boxes that share a histogram cannot be written as rows; publish them as buckets")
    labels, number = spell_boxes(release.boxes, release.schema.quasi)
    if release.schema.weight:
        labels = labels.with_columns(_mean_weights(release, number, len(labels)))
    sensitive, keep = release.schema.sensitive, release.schema.keep
    values = spell_values(sensitive)
    if keep:
        if release.kept is None:
            raise ReleaseError(f"the column {keep[0]!r} stands beside the rows, which the release was made without")
        return release.kept.join(number).map(
            lambda rows: pl.DataFrame([*labels[rows["box"]], *values[rows["value"]], *rows.select(*keep)])
        )
    box, value, rows = _rounded_counts(release)
    keys, place = np.unique(number[box] * sensitive.positions + value, return_inverse=True)
    counts = np.bincount(place.reshape(-1), rows, len(keys)).astype(np.int64)
    label, value = np.divmod(keys[counts > 0], sensitive.positions)
    return Parts.repeating(counts[counts > 0], lambda some: pl.DataFrame([*labels[label[some]], *values[value[some]]]))


def _mean_weights(release: Content, number: NDArray[np.int64], labels: int) -> pl.Series:
    """The mean weight of the rows under each label, which is all that is published of weights."""
    if "weights" not in release.units or release.schema.weight is None:
        raise ReleaseError("the schema tells mean weights, but the release has none")
    people = np.bincount(number, release.units["weights"][release.group_of], labels)
    rows = np.bincount(number, release.weights, labels)
    return pl.Series(release.schema.weight.name, spelled_weights(people / rows))


def _rounded_counts(release: Content) -> Cells:
    """Rows of each box by sensitive value, whole numbers with the rounded total of each box; boxes have a group each.

    What is lacking after rounding down goes to the counts with the largest remainders, the first of equals.
    """
    box_of, groups = np.full(len(release.histograms), -1), len(release.histograms)
    box_of[release.group_of] = np.arange(len(release.boxes))
    cells = cells_of(release.histograms)
    told = (cells.rows > 0) & (box_of[cells.group] >= 0)
    group, value, rows = cells.group[told], cells.value[told], cells.rows[told]
    box = box_of[group]
    share = rows / np.bincount(group, rows, groups)[group]
    counts = np.maximum(release.weights, 0)[box] * share
    whole, boxes = np.round(counts), len(release.boxes)
    uneven = np.bincount(box, np.abs(counts - whole) > WHOLE, boxes)[box] > 0
    down = np.floor(counts)
    lacking = np.round(np.bincount(box, counts, boxes)) - np.bincount(box, down, boxes)
    order = np.lexsort((value, down - counts, box))
    first = np.cumsum(np.bincount(box, minlength=boxes)) - np.bincount(box, minlength=boxes)
    rank = np.empty(len(box), dtype=np.int64)
    rank[order] = np.arange(len(box)) - first[box[order]]
    return Cells(box, value, np.where(uneven, down + (rank < lacking[box]), whole))


def _bucket_tables(release: Content, bucket: str, count: str) -> dict[str, pl.DataFrame | Parts]:
    """A row of quasi-identifiers and bucket for every person, and the counts of each bucket."""
    for name in release.schema.keep:
        raise ReleaseError(f"the column {name!r} has role keep, but buckets take rows apart")
    rows, counts = _whole(release.weights), _whole(release.histograms)
    if (np.bincount(release.group_of, rows, len(counts)) != counts.sum(axis=1)).any():
        raise ReleaseError("every bucket needs as many sensitive values as it has rows")
    labels, number = spell_boxes(release.boxes, release.schema.quasi)
    bucket_of = _bucket_numbers(number, rows, release.group_of, counts)
    order = np.lexsort((bucket_of[release.group_of], number))
    group, value = np.nonzero(counts)
    value_labels = spell_values(release.schema.sensitive)

    def people(some: NDArray[np.int64]) -> pl.DataFrame:
        box = order[some]
        return labels[number[box]].with_columns(pl.Series(bucket, bucket_of[release.group_of[box]]))

    return {
        "quasi": Parts.repeating(rows[order], people),
        "sensitive": pl.DataFrame(
            [pl.Series(bucket, bucket_of[group]), *value_labels[value], pl.Series(count, counts[group, value])]
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


def _counts_table(release: Content, count: str, noise: str) -> pl.DataFrame:
    """A line for each box and sensitive value with its count and how noisy that is, in the order of the labels.

    Counts come from noise and need not be whole; a line with none is left out. `noise` is the standard deviation of the
    noise that was added before the counts were made to agree, empty where that is not known.
    """
    labels, number = spell_boxes(release.boxes, release.schema.quasi)
    if len(labels) < len(release.boxes):
        raise ReleaseError("two boxes of the release are the same; their counts cannot be told apart")
    box, value = np.nonzero(release.counts >= MIN_COUNT)
    if not len(box):
        raise ReleaseError("the noise left no counts above zero; there is nothing to publish at this epsilon")
    order = np.lexsort((value, number[box]))
    box, value = box[order], value[order]
    deviation = release.deviation
    deviation = None if deviation is None or not deviation.any() else deviation[release.group_of[box]]
    return pl.DataFrame(
        [
            *labels[number[box]],
            *spell_values(release.schema.sensitive)[value],
            pl.Series(count, np.round(release.counts[box, value], DECIMALS)),
            pl.Series(
                noise, [None] * len(box) if deviation is None else [float(f"{x:.6g}") for x in deviation], pl.Float64
            ),
        ]
    )
