"""Several integer columns as one sortable key, so that grouping and lookup work on a single array."""

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

MAX_KEY = 2**62


def pack(columns: Sequence[NDArray[np.integer]], sizes: Sequence[int]) -> NDArray[np.int64]:
    """A key per row that sorts as the columns do, first column first; codes run from -1 to size - 1.

    Where the domain has more cells than 62 bits can count, the key so far is replaced by its rank.
    """
    key = np.zeros(len(columns[0]), dtype=np.int64)
    span = 1
    for column, size in zip(columns, sizes, strict=True):
        if span * (size + 1) > MAX_KEY:
            distinct, key = np.unique(key, return_inverse=True)
            key = key.reshape(-1).astype(np.int64)
            span = len(distinct)
        key *= size + 1
        key += column
        key += 1
        span *= size + 1
    return key


class Keys:
    """How rows of codes are packed into 64-bit words, as few as their domain needs: the same words for the same codes.

    Codes run from -1 to size - 1 on each axis, and words sort as the codes do, first word first.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self.words: list[list[int]] = []  # the sizes of the axes in each word, with a place for -1
        for size in (size + 1 for size in sizes):
            if self.words and math.prod(self.words[-1]) * size <= MAX_KEY:
                self.words[-1].append(size)
            else:
                self.words.append([size])

    @property
    def names(self) -> list[str]:
        """The columns of `pack`."""
        return [f"\0 key {number}" for number in range(len(self.words))]

    def pack(self, columns: Sequence[NDArray[np.integer]]) -> pl.DataFrame:
        """The words of every row."""
        left, packed = list(columns), []
        for sizes in self.words:
            word = np.zeros(len(columns[0]), dtype=np.int64)
            for size in sizes:
                word = word * size + (left.pop(0) + 1)
            packed.append(word)
        return pl.DataFrame(packed, schema=self.names)

    def unpack(self, packed: pl.DataFrame) -> NDArray[np.int32]:
        """The codes that words stand for: (rows, axes)."""
        found: list[NDArray[np.int64]] = []
        for name, sizes in zip(self.names, self.words, strict=True):
            word, codes = packed[name].to_numpy(), []
            for size in reversed(sizes):
                word, code = np.divmod(word, size)
                codes.append(code - 1)
            found += reversed(codes)
        return np.column_stack(found).astype(np.int32)


class KeyCounts:
    """Counts added up by key, batch by batch: memory follows the keys that occur, however many rows there are."""

    MOST_WAITING = 2**22
    """Lines that wait to be added up, or as many as there are keys."""

    def __init__(self, keys: Keys, counts: Sequence[str]) -> None:
        self.keys, self.counts = keys, list(counts)
        self._waiting: list[pl.DataFrame] = []
        self._known = 0

    def add(self, columns: Sequence[NDArray[np.integer]], **counts: NDArray[np.int64]) -> None:
        """Counts of rows of codes, which may stand there more than once."""
        packed = self.keys.pack(columns)
        self._waiting.append(packed.with_columns(pl.Series(name, counts[name]) for name in self.counts))
        if sum(each.height for each in self._waiting) > self._known + max(self._known, self.MOST_WAITING):
            self._add_up()

    def sorted(self) -> tuple[NDArray[np.int32], list[NDArray[np.int64]]]:
        """The distinct rows of codes in rising order, (keys, axes), and their counts."""
        self._add_up()
        found = self._waiting.pop().sort(self.keys.names)
        return self.keys.unpack(found), [found[name].to_numpy() for name in self.counts]

    def _add_up(self) -> None:
        waiting, self._waiting = pl.concat(self._waiting), []
        known = waiting.lazy().group_by(self.keys.names).agg(pl.col(self.counts).sum()).collect()
        self._waiting, self._known = [known], known.height
