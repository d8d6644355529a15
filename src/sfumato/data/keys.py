"""Several integer columns as one sortable key, so that grouping and lookup work on a single array."""

from collections.abc import Sequence

import numpy as np
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
