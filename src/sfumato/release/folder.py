"""The files of a release folder, of whatever kind: written in another place and renamed when complete.

So a release is never half there. A folder that holds a release and nothing else may give way to a new one.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.formats import read_pieces, write_table
from sfumato.data.pieces import Parts, refuse_absent
from sfumato.data.text import NOT_TEXT
from sfumato.errors import ParameterError, ReleaseError
from sfumato.files import address_of, new_folder, refuse_unwritable
from sfumato.release.codebook import codebook
from sfumato.release.envelope import CODEBOOK, DESCRIPTION, Envelope, files_of_release


def write_folder(
    target: Path, tables: dict[str, pl.DataFrame | Parts], envelope: Envelope, *, suffix: str, replace: bool
) -> Path:
    """Write the tables of a release, and the envelope with the names of their files, and return the folder."""
    files = {name: f"{name}{suffix}" for name in tables}
    with _new_folder(target, replace=replace) as unfinished:
        for name, table in tables.items():
            write_table(table, unfinished / files[name])
        described = dataclasses.replace(envelope, files=files)
        (unfinished / DESCRIPTION).write_text(described.text(), encoding="utf-8")
        (unfinished / CODEBOOK).write_bytes(codebook(described).encode(errors=NOT_TEXT))
    return target


def _new_folder(target: Path, *, replace: bool) -> AbstractContextManager[Path]:
    """A folder to write into, which is put in place when all is written; the description comes last."""
    if address := address_of(target):
        from sfumato.data.spark.places import new_folder_at  # Spark takes a second to import

        return new_folder_at(address, DESCRIPTION)
    return new_folder(target, replace=replace and _is_release(target))


def refuse_target(target: Path, *, replace: bool = False) -> None:
    """Refuse a folder to which a release could not be written, before anything is drawn for it."""
    if address := address_of(target):
        try:
            from sfumato.data.spark.places import refuse_unwritable_at
        except ImportError as error:
            raise ParameterError(f"{address}: this is no folder of this machine; Spark writes there") from error
        refuse_unwritable_at(address)
        return
    refuse_unwritable(target, replace=replace and _is_release(target))


def _is_release(target: Path) -> bool:
    """Whether there is a release to replace; a folder that holds anything else is refused."""
    if target.is_symlink() or not target.is_dir():
        return False
    if not any(target.iterdir()) or strangers(target):
        raise ReleaseError(f"{target}: this holds more than a release; move it away first")
    return True


def strangers(folder: Path) -> list[str]:
    """The names of what lies in a folder and is no part of the release in it."""
    known = files_of_release(folder)
    return sorted(path.name for path in folder.iterdir() if path.name not in known or not path.is_file())


def links_in(folder: Path) -> list[str]:
    """A sentence for each file of a release that lies elsewhere."""
    return [
        f"{name} is a link to another place; whoever gets the folder does not get what was verified"
        for name in sorted(files_of_release(folder))
        if (folder / name).is_symlink()
    ]


MOST_WAITING = 2**21
"""Lines that wait to be added up, or as many as are known to be distinct."""


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of a file, in the order in which they first stand there, with the number of the first like each."""

    frame: pl.DataFrame
    number: NDArray[np.int64]
    times: NDArray[np.int64]
    """How many there are like it."""


def read_columns(path: Path, columns: Sequence[str], *, empty: bool = False) -> pl.DataFrame:
    """The columns of a file, which has no others. Its separator is known, so nothing about it is guessed."""
    return pl.concat(_pieces(path, columns, empty), rechunk=True)


def read_lines(path: Path, columns: Sequence[str], *, empty: bool = False, distinct: bool = True) -> Lines:
    """The same as distinct lines, counted piece by piece: there are fewer of them than rows.

    Cells that are equal need not be the same (0 and −0), so where all matter, lines are not `distinct`.
    """
    if not distinct:
        frame = read_columns(path, columns, empty=empty)
        return Lines(frame, np.arange(1, frame.height + 1), np.ones(frame.height, dtype=np.int64))
    number, times = "\0 number", "\0 times"
    known: list[pl.DataFrame] = []
    before = 1
    for frame in _pieces(path, columns, empty):
        counted = frame.with_row_index(number, offset=before).group_by(columns)
        known.append(counted.agg(pl.col(number).min(), pl.len().cast(pl.Int64).alias(times)))
        before += frame.height
        if sum(each.height for each in known[1:]) > max(known[0].height, MOST_WAITING):
            known = [_added_up(known, columns, number, times)]
    lines = _added_up(known, columns, number, times).sort(number)
    return Lines(lines[list(columns)], lines[number].cast(pl.Int64).to_numpy(), lines[times].to_numpy())


def _added_up(known: list[pl.DataFrame], columns: Sequence[str], number: str, times: str) -> pl.DataFrame:
    return pl.concat(known).group_by(columns).agg(pl.col(number).min(), pl.col(times).sum())


def _pieces(path: Path, columns: Sequence[str], empty: bool) -> Iterator[pl.DataFrame]:
    if not path.is_file():
        raise ReleaseError(f"{path}: the file does not exist; the release is incomplete")
    for piece in read_pieces(path, guess=False, empty=empty):
        refuse_absent(columns, piece.frame.columns, str(path))
        for name in piece.frame.columns:
            if name not in columns:
                raise ReleaseError(f"{path}: the column {name!r} is not part of the release")
        yield piece.frame[list(columns)]


def read_numbers(
    raw: pl.Series, path: Path, *, whole: bool = True, least: int | None = None, number: NDArray[np.int64] | None = None
) -> NDArray[Any]:
    """A column of whole numbers of at least 1 or, where they need not be `whole`, of numbers of at least 0.

    `least` is in place of these. Messages name a row by its `number`, or by its place where there is none.
    """
    least = int(whole) if least is None else least
    if raw.dtype.is_nested():
        raise ReleaseError(f"{path}: the column {raw.name!r} holds lists, not numbers")
    try:
        numbers = raw.cast(pl.String).str.strip_chars().cast(pl.Int64 if whole else pl.Float64, strict=False)
    except pl.exceptions.PolarsError as error:
        raise ReleaseError(f"{path}: the column {raw.name!r} holds {raw.dtype}, not numbers") from error
    wrong = (~(numbers.is_finite() & (numbers >= least))).fill_null(True)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        expected = f"a {'whole ' if whole else ''}number of at least {least}"
        here = row + 1 if number is None else number[row]
        raise ReleaseError(f"{path}, row {here}, column {raw.name!r}: {raw[row]!r} is not {expected}")
    return numbers.to_numpy()
