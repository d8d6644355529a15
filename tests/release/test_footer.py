"""The footer of a Parquet file: every text in it is found, wherever it stands, and no footer is read for ever."""

from __future__ import annotations

import io
from contextlib import suppress

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ReleaseError
from sfumato.release.footer import foreign_texts

ROWS = pl.DataFrame({"label": ["x" * 100, "é" * 50, None], "count": [1, 2, 3], "noise": [0.5, 1.5, None]})
SECRET = b"Alice has cancer"


def parquet(rows: pl.DataFrame = ROWS) -> bytes:
    content = io.BytesIO()
    rows.write_parquet(content)
    return content.getvalue()


def with_footer(change: bytes, *, at_end: bool = False) -> bytes:
    """The file with fields added to its footer, before the byte that ends it, or after that."""
    content = parquet()
    length = int.from_bytes(content[-8:-4], "little")
    rows, footer = content[: -8 - length], content[-8 - length : -8]
    footer = footer + change if at_end else footer[:-1] + change + footer[-1:]
    return rows + footer + len(footer).to_bytes(4, "little") + content[-4:]


def field(number: int, text: bytes) -> bytes:
    """A field of text in Thrift's compact protocol, with its number written out."""
    return bytes([8, 2 * number, len(text)]) + text


def test_polars_and_arrow_have_no_fault() -> None:
    assert foreign_texts(parquet(), ROWS) == []
    arrow = pytest.importorskip("pyarrow.parquet")
    content = io.BytesIO()
    arrow.write_table(arrow.read_table(io.BytesIO(parquet())), content)
    assert foreign_texts(content.getvalue(), ROWS) == []


def test_a_field_that_readers_pass_over() -> None:
    content = with_footer(field(60, SECRET))
    assert pl.read_parquet(io.BytesIO(content)).equals(ROWS), "readers take no notice"
    assert foreign_texts(content, ROWS) == [repr(SECRET)]


def test_fields_inside_fields_and_lists() -> None:
    inside = bytes([12, 2 * 60]) + field(1, SECRET) + b"\0"
    assert foreign_texts(with_footer(inside), ROWS) == [repr(SECRET)]
    listed = bytes([9, 2 * 60, (1 << 4) | 8, len(SECRET)]) + SECRET
    assert foreign_texts(with_footer(listed), ROWS) == [repr(SECRET)]


def test_what_follows_the_end() -> None:
    assert foreign_texts(with_footer(SECRET, at_end=True), ROWS) == [repr(SECRET)]


def test_extreme_values_are_those_of_the_rows() -> None:
    other = ROWS.with_columns(label=pl.lit(SECRET.decode()))
    assert foreign_texts(parquet(other), ROWS) != []
    assert foreign_texts(parquet(other), other) == []


def test_names_are_those_of_the_columns() -> None:
    assert foreign_texts(parquet(ROWS.rename({"count": SECRET.decode()})), ROWS) != []


@given(st.binary(max_size=40))
def test_any_footer_is_read_or_refused(more: bytes) -> None:
    with suppress(ReleaseError):
        assert isinstance(foreign_texts(with_footer(more), ROWS), list)


def test_lists_in_lists_without_end_are_refused() -> None:
    with pytest.raises(ReleaseError, match="too deep"):
        foreign_texts(with_footer(bytes([9, 2 * 60]) + bytes([(1 << 4) | 9]) * 5000), ROWS)
