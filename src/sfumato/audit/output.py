"""What a program made, as weighted rows of codes: a frame, a file or a release.

A generalized value becomes a random one inside it. That looks at the output alone, so it takes nothing from a claim.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.audit.scores import Weighted
from sfumato.data import read
from sfumato.data.source import read_frame
from sfumato.errors import ReleaseError
from sfumato.mechanisms.noise import Source
from sfumato.methods.base import Method
from sfumato.release import FlowRelease, Release, load_release
from sfumato.release.labels import parse_labels
from sfumato.release.sampling import generate_rows
from sfumato.schema import Schema


def publishing(method: Method, schema: Schema) -> Callable[[pl.DataFrame], Release]:
    """A method of this package as a generator."""
    return lambda rows: method.publish(read(rows, schema))


def read_output(made: Any, schema: Schema, source: Source) -> Weighted:
    """The rows that a generator returned; a folder holds a release."""
    if isinstance(made, str | Path) and Path(made).is_dir():
        made = load_release(made)
    if isinstance(made, Release | FlowRelease):
        return _of_release(made, schema, source)
    frame, where = read_frame(made, [axis.name for axis in schema.axes])
    columns = [parse_labels(frame[axis.name], axis, where, schema.missing) for axis in schema.axes]
    codes = [_draw_inside(column.spans[column.code], source) for column in columns]
    return Weighted.distinct(np.stack(codes, axis=1).astype(np.int32))


def _of_release(release: Release | FlowRelease, schema: Schema, source: Source) -> Weighted:
    """The rows of a release, generated from its counts."""
    names = [axis.name for axis in schema.axes]
    if not isinstance(release, Release) or [axis.name for axis in release.schema.axes] != names:
        raise ReleaseError(f"the program made a release of something else; expected one of {', '.join(names)}")
    rows = generate_rows(release, "synthetic", source.uniforms)
    point, value = np.nonzero(rows.histograms)
    points = np.where(rows.boxes.missing, -1, rows.boxes.lo)[point]
    codes = np.column_stack([points, *schema.sensitive.apart(value)])
    return Weighted(codes=codes, weights=rows.histograms[point, value])


def _draw_inside(spans: NDArray[np.int32], source: Source) -> NDArray[np.int64]:
    """A position of each generalized value, given by lowest code, highest code and whether it may be missing."""
    lowest, highest, missing = spans.T.astype(np.int64)
    step = np.floor(source.uniforms(len(spans)) * (highest - lowest + 1 + missing)).astype(np.int64)
    return np.where(lowest + step > highest, -1, lowest + step)
