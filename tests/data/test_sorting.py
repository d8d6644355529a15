"""Rows sorted with less than all of them in memory: the same as sorted at once, and nothing is left behind."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data import pieces
from sfumato.data.sorting import sorted_parts

FRAMES = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", "", None])), max_size=9), min_size=1, max_size=12
)


def frame_of(rows: list[tuple[int, str | None]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"number": pl.Int64, "text": pl.String}, orient="row")


@given(FRAMES, st.integers(1, 20))
def test_parts_are_the_rows_in_order(lists: list[list[tuple[int, str | None]]], at_once: int) -> None:
    frames = list(map(frame_of, lists))
    with mock.patch.object(pieces, "ROWS_AT_ONCE", at_once):
        parts = list(sorted_parts(frames))
    assert pl.concat(parts).equals(pl.concat(frames).sort(pl.all()))
    assert pl.concat(frames).height <= at_once or len(parts) > 1 or at_once > 9


def test_no_part_holds_much_more_than_is_held_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    random = np.random.default_rng(1)
    frames = [pl.DataFrame({"a": random.integers(0, 10**6, 1_000)}) for _ in range(60)]
    with mock.patch.object(pieces, "ROWS_AT_ONCE", 3_000):
        parts = sorted_parts(frames)
        assert next(parts).height <= 4 * 3_000
        assert list(tmp_path.iterdir()), "what does not fit lies on disk"
        assert max(part.height for part in parts) <= 4 * 3_000
        assert not list(tmp_path.iterdir())
        again = sorted_parts(frames)
        next(again)
        again.close()
        assert not list(tmp_path.iterdir()), "nor does an interrupt leave anything behind"
