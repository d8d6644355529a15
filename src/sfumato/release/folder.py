"""The files of a release folder, of whatever kind: written in another place and renamed when complete.

So a release is never half there. A folder that holds a release and nothing else may give way to a new one.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.formats import read_table, write_table
from sfumato.errors import ReleaseError
from sfumato.files import new_folder, refuse_unwritable
from sfumato.release.envelope import DESCRIPTION, Envelope, files_of_release


def write_folder(
    target: Path, tables: dict[str, pl.DataFrame], envelope: Envelope, *, suffix: str, replace: bool
) -> Path:
    """Write the tables of a release, and the envelope with the names of their files, and return the folder."""
    files = {name: f"{name}{suffix}" for name in tables}
    with new_folder(target, replace=replace and _is_release(target)) as unfinished:
        for name, table in tables.items():
            write_table(table, unfinished / files[name])
        (unfinished / DESCRIPTION).write_text(dataclasses.replace(envelope, files=files).text(), encoding="utf-8")
    return target


def refuse_target(target: Path, *, replace: bool = False) -> None:
    """Refuse a folder to which a release could not be written, before anything is drawn for it."""
    refuse_unwritable(target, replace=replace and _is_release(target))


def _is_release(target: Path) -> bool:
    """Whether there is a release to replace; a folder that holds anything else is refused."""
    if target.is_symlink() or not target.is_dir():
        return False
    present = {path.name for path in target.iterdir()}
    if not present or not present <= files_of_release(target):
        raise ReleaseError(f"{target}: this holds more than a release; move it away first")
    return True


def read_columns(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    """The columns of a file, which has no others. Its separator is known, so nothing about it is guessed."""
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


def whole_numbers(raw: pl.Series, path: Path) -> NDArray[np.int64]:
    """A column of whole numbers of at least 1."""
    numbers = raw.cast(pl.String).str.strip_chars().cast(pl.Int64, strict=False)
    wrong = (numbers < 1).fill_null(True)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise ReleaseError(
            f"{path}, row {row + 1}, column {raw.name!r}: {raw[row]!r} is not a whole number of at least 1"
        )
    return numbers.to_numpy()
