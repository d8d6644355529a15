"""Packed keys sort and compare as the columns they are made of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data import keys
from sfumato.data.keys import pack

WIDE = 2**31 - 2


@st.composite
def code_columns(draw: st.DrawFn, most_size: int) -> tuple[list[int], list[tuple[int, ...]]]:
    size = st.one_of(st.just(most_size), st.integers(1, most_size))
    sizes = draw(st.lists(size, min_size=1, max_size=6))
    codes = [st.one_of(st.integers(-1, min(size - 1, 2)), st.integers(max(size - 3, -1), size - 1)) for size in sizes]
    return sizes, draw(st.lists(st.tuples(*codes), min_size=1, max_size=30))


def packed(sizes: list[int], rows: list[tuple[int, ...]]) -> list[int]:
    return pack([np.array(column, dtype=np.int32) for column in zip(*rows, strict=True)], sizes).tolist()


def assert_keys_order_as_rows(sizes: list[int], rows: list[tuple[int, ...]]) -> None:
    found = packed(sizes, rows)
    for key, row in zip(found, rows, strict=True):
        for other_key, other in zip(found, rows, strict=True):
            assert (key < other_key, key == other_key) == (row < other, row == other)


@given(code_columns(6))
def test_keys_order_as_the_rows_do(case: tuple[list[int], list[tuple[int, ...]]]) -> None:
    assert_keys_order_as_rows(*case)


@given(code_columns(WIDE))
def test_keys_order_as_the_rows_do_beyond_62_bits(case: tuple[list[int], list[tuple[int, ...]]]) -> None:
    assert_keys_order_as_rows(*case)


@given(code_columns(6))
def test_keys_order_as_the_rows_do_when_every_step_is_ranked(case: tuple[list[int], list[tuple[int, ...]]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "MAX_KEY", 1)
        assert_keys_order_as_rows(*case)


def test_a_domain_beyond_62_bits_does_need_ranks() -> None:
    """Without them the first column, worth 2**93, would fall off the key."""
    sizes, rows = [WIDE] * 4, [(1, 0, 0, 0), (0, 5, 5, 5), (1, 0, 0, -1), (-1, -1, -1, -1), (WIDE - 1,) * 4]
    assert_keys_order_as_rows(sizes, rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "MAX_KEY", 2**200)
        with pytest.raises((AssertionError, OverflowError)):
            assert_keys_order_as_rows(sizes, rows)
