"""The `counts` layout: a line for each box and sensitive value, with its count and how noisy that is.

Counts come from noise and need not be whole; a line with none is left out. `noise` is the standard deviation of the
noise that was added before the counts were made to agree, empty where that is not known.
"""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.release.content import Content
from sfumato.release.labels import ParsedColumn, distinct_boxes, parse_own_labels, spell_boxes, spell_values
from sfumato.schema import Schema

DECIMALS = 3
MIN_COUNT = 0.5 * 10**-DECIMALS


def counts_table(release: Content, count: str, noise: str) -> pl.DataFrame:
    """The lines of a release, boxes in the order of their labels."""
    labels, number = spell_boxes(release.boxes, release.schema.quasi)
    if len(labels) < len(release.boxes):
        raise ReleaseError("two boxes of the release are the same; their counts cannot be told apart")
    expected = release.weights[:, None] * release.distributions[release.group_of]
    box, value = np.nonzero(expected >= MIN_COUNT)
    if not len(box):
        raise ReleaseError("the noise left no counts above zero; there is nothing to publish at this epsilon")
    order = np.lexsort((value, number[box]))
    box, value = box[order], value[order]
    return pl.DataFrame(
        [
            *labels[number[box]],
            spell_values(release.schema.sensitive).gather(value),
            pl.Series(count, np.round(expected[box, value], DECIMALS)),
            _noise_column(noise, release, box),
        ]
    )


def _noise_column(name: str, release: Content, box: NDArray[np.int64]) -> pl.Series:
    if release.deviation is None:
        return pl.Series(name, [None] * len(box), dtype=pl.Float64)
    deviation = release.deviation[release.group_of[box]]
    return pl.Series(name, [float(f"{value:.6g}") for value in deviation], dtype=pl.Float64)


def read_counts(
    frame: pl.DataFrame, values: ParsedColumn, schema: Schema, where: str, count: str, noise: str
) -> dict[str, Any]:
    """The fields of a release from the lines of a file."""
    boxes, box_of = distinct_boxes([parse_own_labels(frame[axis.name], axis, where) for axis in schema.quasi])
    counts = _numbers(frame[count], where)
    deviations = _numbers(frame[noise].fill_null(0), where)
    lo, _, missing = values.spans[values.code].T
    value = np.where(missing, schema.sensitive.positions - 1, lo)
    flat = box_of * schema.sensitive.positions + value
    if len(np.unique(flat)) < len(flat):
        raise ReleaseError(f"{where}: two lines have the same box and sensitive value")
    cells = np.bincount(flat, counts, len(boxes) * schema.sensitive.positions).astype(np.float64)
    histograms = cells.reshape(len(boxes), -1)
    deviation = np.zeros(len(boxes))
    deviation[box_of] = deviations
    if (deviation[box_of] != deviations).any():
        raise ReleaseError(f"{where}: the lines of one box differ in {noise!r}")
    return {
        "boxes": boxes,
        "weights": histograms.sum(axis=1),
        "group_of": np.arange(len(boxes)),
        "histograms": histograms,
        "deviation": deviation if (deviations > 0).any() else None,
    }


def _numbers(raw: pl.Series, where: str) -> NDArray[np.float64]:
    numbers = raw.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    wrong = (~(numbers.is_finite() & (numbers >= 0))).fill_null(True)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise ReleaseError(f"{where}, row {row + 1}, column {raw.name!r}: {raw[row]!r} is not a number of at least 0")
    return numbers.to_numpy()
