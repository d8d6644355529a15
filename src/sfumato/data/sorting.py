"""Rows in order without all of them in memory: sorted runs on disk, merged block by block.

Whatever is written for that lies in a folder for temporary files, and goes with the last part or with an interrupt.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from sfumato.data import pieces

RUN = "\0 run"


def sorted_parts(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The rows of all frames, sorted by all columns, the first one first, part by part; at least one part."""
    runs: list[Path] = []
    with ExitStack() as resources:
        waiting: list[pl.DataFrame] = []
        for frame in frames:
            waiting.append(frame)
            if sum(each.height for each in waiting) >= pieces.ROWS_AT_ONCE:
                folder = (
                    runs[0].parent if runs else Path(resources.enter_context(TemporaryDirectory(prefix="sfumato-")))
                )
                runs.append(folder / f"{len(runs)}.arrow")
                _together(waiting).write_ipc(runs[-1])
                waiting = [frame.clear()]
        yield from _merge(runs, _together(waiting)) if runs else [_together(waiting)]


def _together(frames: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(frames).sort(pl.all())


def _merge(runs: list[Path], rest: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Sorted runs and the rest as one: what comes before the last row read of any run that goes on is complete."""
    at_once = max(pieces.ROWS_AT_ONCE // len(runs), 1)
    left = {number: _blocks(path, at_once) for number, path in enumerate(runs)}
    pending = rest.with_columns(pl.lit(len(runs)).alias(RUN))
    while left:
        held = pending[RUN].value_counts()
        few = left.keys() - set(held.filter(pl.col("count") >= at_once)[RUN])
        for number in few:
            block = next(left[number], None)
            if block is None:
                del left[number]
            else:
                pending.extend(block.with_columns(pl.lit(number).alias(RUN)))
        pending = pending.sort(pl.exclude(RUN))
        ends = (
            pending.with_row_index("end", offset=1)
            .filter(pl.col(RUN).is_in(list(left)))
            .group_by(RUN)
            .agg(pl.col("end").max())
        )
        complete = ends["end"].min() if left else pending.height
        yield pending[:complete].drop(RUN)
        pending = pending[complete:]


def _blocks(run: Path, rows: int) -> Iterator[pl.DataFrame]:
    start = 0
    while (block := pl.scan_ipc(run).slice(start, rows).collect()).height:
        yield block
        start += rows
