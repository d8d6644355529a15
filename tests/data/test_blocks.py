"""A file that is read in blocks says what the whole file says, wherever the blocks end."""

from __future__ import annotations

import gzip
import time
from itertools import pairwise
from pathlib import Path
from unittest import mock

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sfumato.data import blocks
from sfumato.data.blocks import read_blocks
from sfumato.data.delimited import Reading
from sfumato.data.formats import read_pieces, read_table
from sfumato.errors import DataError

LINES = st.one_of(
    st.sampled_from(["1,2,3", "a,b,c", '"x",y,"z"', '"p\nq",,""', '"a ""b""",1,', ",,"]),
    st.sampled_from(['1"2,3,4', '"open,5,6', '"7"x,8,9', "", "10", "11,12,13,14", "15,\r,16"]),
    st.text(alphabet='ab",\r\n', max_size=6),
)
TEXTS = st.tuples(st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n"]), st.booleans())


def read_by(size: int, path: Path, reading: Reading) -> pl.DataFrame | str:
    """The rows, or the error without its row: a file in blocks is refused for what stands first."""
    with mock.patch.object(blocks, "BLOCK", size):
        try:
            return read_table(path, empty=True, reading=reading)
        except DataError as error:
            return str(error)[:20]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("blocks")


@given(TEXTS, st.integers(1, 60), st.sampled_from(["lenient", "lossy", "strict"]), st.booleans())
@example((["1,2,3", '"a",1,', "15,\r,16"], "\n", False), 1, "strict", False)
def test_blocks_of_any_size_read_as_the_whole_file(
    folder: Path, text: tuple[list[str], str, bool], size: int, reading: Reading, packed: bool
) -> None:
    lines, end, last = text
    content = (end.join(["a,b,c", *lines]) + end * last).encode()
    path = folder / f"file.csv{'.gz' * packed}"
    path.write_bytes(gzip.compress(content) if packed else content)
    whole, apart = (read_by(each, path, reading) for each in (2**20, size))
    if reading != "lenient" and isinstance(whole, str):
        assert whole == apart
        return
    assert isinstance(whole, pl.DataFrame)
    assert isinstance(apart, pl.DataFrame)
    assert whole.equals(apart)


def test_blocks_that_end_at_any_line_break_are_a_twin_that_is_found(folder: Path) -> None:
    path = folder / "twin.csv"
    path.write_text('a,b,c\n1,"x\ny",2\n3,4,5\n', encoding="utf-8")
    whole = read_by(2**20, path, "lenient")
    anywhere = mock.patch.multiple(
        blocks, _last_end=lambda text, header: text.rfind(b"\n") + 1, marks_are_closed=lambda *_: True
    )
    with anywhere:
        apart = read_by(12, path, "lenient")
    assert isinstance(whole, pl.DataFrame)
    assert isinstance(apart, pl.DataFrame)
    assert not whole.equals(apart)


def test_a_long_file_is_read_in_many_blocks_below_its_header(folder: Path) -> None:
    path = folder / "long.csv"
    path.write_text("a,b\n" + "".join(f'{n},"{n % 7}"\n' for n in range(2_000)), encoding="utf-8")
    with mock.patch.object(blocks, "BLOCK", 1_000):
        found = list(read_blocks(path, ","))
        pieces = list(read_pieces(path))
    assert len(found) > 10
    assert all(block.text.startswith(b"a,b\n") for block in found)
    assert all(len(block.text) < 2_000 for block in found)
    assert found[-1].done == 1
    assert all(one.done <= other.done for one, other in pairwise(found))
    assert [piece.before for piece in pieces] == [int(piece.frame["a"][0]) for piece in pieces]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_rows_are_named_by_their_place_in_the_file(folder: Path, suffix: str) -> None:
    frame = pl.DataFrame({"a": list(range(100))})
    path = folder / f"rows{suffix}"
    (frame.write_csv if suffix == ".csv" else frame.write_parquet)(path)
    with mock.patch.object(blocks, "BLOCK", 50), mock.patch("sfumato.data.pieces.ROWS_AT_ONCE", 7):
        pieces = list(read_pieces(path))
    assert len(pieces) > 4
    assert [int(piece.frame["a"][0]) for piece in pieces] == [piece.before for piece in pieces]


def test_a_ragged_row_far_down_is_named_by_its_number(folder: Path) -> None:
    path = folder / "ragged.csv"
    path.write_text("a,b\n" + "1,2\n" * 500 + "3\n" + "1,2\n" * 5, encoding="utf-8")
    with mock.patch.object(blocks, "BLOCK", 64), pytest.raises(DataError, match=r"line 502 \(row 501\): 1 fields"):
        read_table(path)


def test_one_stray_mark_costs_a_moment_and_no_more(folder: Path) -> None:
    path = folder / "stray.csv"
    rows = 60_000
    path.write_text('a,b\n5",x\n' + '"Smith, John",y\n' * rows, encoding="utf-8")
    started = time.process_time()
    with mock.patch.object(blocks, "BLOCK", 2**16):
        assert read_table(path, reading="lenient").height == rows + 1
    assert time.process_time() - started < 10
