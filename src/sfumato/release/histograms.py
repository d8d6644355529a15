"""Histograms of the sensitive attribute, kept as their occupied cells where those are few among very many.

Everywhere they are asked like an array (groups, values). What needs no more than rows or columns of them, sums or the
cells themselves takes as much memory as there are cells; whatever else is done with them makes an array of them first.
"""

from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

MANY = 2**22
"""Up to so many counts an array takes little room."""
SPARSE = 16
"""An array is made unless it would have so many times as many counts as cells are occupied."""


class Cells(NamedTuple):
    """The occupied cells of histograms by group and value, and the rows of each."""

    group: NDArray[np.int64]
    value: NDArray[np.int64]
    rows: NDArray[np.float64]


class SparseHistograms(NDArrayOperatorsMixin):
    """Histograms as their cells, which are listed once each."""

    ndim = 2
    dtype = np.dtype(np.float64)

    def __init__(self, cells: Cells, shape: tuple[int, int]) -> None:
        self.cells, self.shape = cells, shape
        self.starts = np.searchsorted(cells.group, np.arange(shape[0] + 1))

    @cached_property
    def _by_value(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The cells in the order of their values, and where those of each value begin."""
        order = np.argsort(self.cells.value, kind="stable")
        return order, np.searchsorted(self.cells.value[order], np.arange(self.shape[1] + 1))

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return _array(*self.cells, self.shape).astype(dtype or self.dtype, copy=False)

    def __array_ufunc__(self, function: np.ufunc, method: str, *given: Any, **more: Any) -> Any:
        arrays = (np.asarray(each) if isinstance(each, SparseHistograms) else each for each in given)
        return getattr(function, method)(*arrays, **more)

    def __getitem__(self, key: Any) -> Any:
        """Some of the groups as an array, or of all groups some of the values."""
        whole = isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], slice) and key[0] == slice(None)
        if whole:
            wanted = np.arange(self.shape[1])[key[1]]
            values, place = np.unique(wanted, return_inverse=True)
            order, starts = self._by_value
            number, cell = _members(starts, values)
            some = order[cell]
            found = _array(self.cells.group[some], number, self.cells.rows[some], (len(self), len(values)))
            return found[:, place.reshape(wanted.shape)]
        if isinstance(key, tuple):
            return np.asarray(self)[key]
        groups = np.arange(len(self))[key]
        number, cell = _members(self.starts, np.atleast_1d(groups))
        found = _array(number, self.cells.value[cell], self.cells.rows[cell], (np.size(groups), self.shape[1]))
        return found if np.ndim(groups) else found[0]

    def sum(self, axis: int | None = None, *, keepdims: bool = False) -> Any:
        """The rows of each value, of each group, or of all."""
        if axis is None:
            return self.cells.rows.sum()
        where = self.cells.value if axis == 0 else self.cells.group
        sums = np.bincount(where, self.cells.rows, self.shape[1] if axis == 0 else self.shape[0])
        return np.expand_dims(sums, axis) if keepdims else sums

    def copy(self) -> NDArray[np.float64]:
        """An array, to be changed."""
        return np.asarray(self)


def histograms_of(
    group: NDArray[np.integer], value: NDArray[np.integer], rows: NDArray[Any] | None, groups: int, values: int
) -> NDArray[np.float64]:
    """The rows of each group by sensitive value, one for each entry where `rows` does not say how many."""
    if groups * values <= max(MANY, SPARSE * len(group)):
        return _array(group, value, rows, (groups, values))
    keys, place = np.unique(group.astype(np.int64) * values + value, return_inverse=True)
    counts = np.bincount(place.reshape(-1), rows, len(keys)).astype(np.float64)
    occupied = counts != 0
    cells = Cells(keys[occupied] // values, keys[occupied] % values, counts[occupied])
    return cast(NDArray[np.float64], SparseHistograms(cells, (groups, values)))


def cells_of(histograms: NDArray[np.float64]) -> Cells:
    """The cells of histograms that are not zero, by group and value."""
    if isinstance(histograms, SparseHistograms):
        return histograms.cells
    group, value = np.nonzero(histograms)
    return Cells(group, value, histograms[group, value])


def _members(starts: NDArray[np.int64], wanted: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The members of some runs one after the other: in which of the wanted runs each is, and its place."""
    sizes = starts[wanted + 1] - starts[wanted]
    number = np.repeat(np.arange(len(wanted)), sizes)
    return number, np.arange(len(number)) + np.repeat(starts[wanted] - (np.cumsum(sizes) - sizes), sizes)


def _array(
    group: NDArray[np.integer], value: NDArray[np.integer], rows: NDArray[Any] | None, shape: tuple[int, int]
) -> NDArray[np.float64]:
    flat = group.astype(np.int64) * shape[1] + value
    return np.bincount(flat, rows, shape[0] * shape[1]).astype(np.float64, copy=False).reshape(shape)
