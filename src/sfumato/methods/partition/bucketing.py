"""Filling buckets with rows of different sensitive values, the commonest values first."""

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled


@compiled
def fill_buckets(overall: NDArray[np.int64], l: int) -> NDArray[np.int64]:
    """The bucket of each row when rows are listed by value: `l` rows of different values in each, or a few more.

    While `l` values have rows left, a bucket takes one row of each of the `l` commonest. The rows that remain
    are of different values, one each, and join buckets that do not hold their value yet; such buckets exist
    whenever no value exceeds a share of 1/l (Xiao and Tao, 2006, property 3).
    """
    values = len(overall)
    left = overall.copy()
    taken = np.zeros(values, dtype=np.int64)
    starts = np.zeros(values + 1, dtype=np.int64)
    for value in range(values):
        starts[value + 1] = starts[value] + overall[value]
    bucket_of_row = np.full(starts[values], -1, dtype=np.int64)
    bucket = 0
    while np.count_nonzero(left) >= l:
        chosen = np.argsort(-left, kind="mergesort")[:l]
        for value in chosen:
            bucket_of_row[starts[value] + taken[value]] = bucket
            taken[value] += 1
            left[value] -= 1
        bucket += 1
    for value in range(values):
        used = np.zeros(bucket, dtype=np.bool_)
        for row in range(starts[value], starts[value] + taken[value]):
            used[bucket_of_row[row]] = True
        at = 0
        while left[value] > 0:
            while at < bucket and used[at]:
                at += 1
            if at == bucket:
                raise ValueError("a value has more rows than buckets can take one of")
            bucket_of_row[starts[value] + taken[value]] = at
            used[at] = True
            taken[value] += 1
            left[value] -= 1
    return bucket_of_row
