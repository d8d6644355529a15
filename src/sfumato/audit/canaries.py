"""Canaries: made-up rows that stick out of a table, each put into it or left out by a fair coin.

Rows that nobody has, made of values that rarely go together, far from each other: what a program does with one of them
shows in its output and is not hidden by people or by the other canaries.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sfumato.data.keys import pack
from sfumato.mechanisms.noise import Source
from sfumato.schema import Axis
from sfumato.schema.axis import MISSING_LABEL

Codes = NDArray[np.int32]
"""Rows of codes: (rows, axes), a missing value as -1."""
MAX_LISTED = 2**14
"""Domains of at most so many cells are listed, of larger ones a sample is taken."""
SAMPLED, KEPT = 8, 4
"""Rows that are sampled for each canary, and how many of them, the rarest, it is chosen from."""


def choose_canaries(people: Codes, axes: Sequence[Axis], count: int, source: Source) -> Codes:
    """So many distinct rows of the domain, fewer if it has fewer, in random order."""
    candidates = _list_candidates(axes, count, source)
    rarest = candidates[np.argsort(_familiarity(candidates, people, axes), kind="stable")]
    spread = _spread(rarest[: max(count, KEPT * count)], axes, count)
    return spread[source.permutation(len(spread))]


def flip_coins(count: int, source: Source) -> NDArray[np.bool_]:
    """Fair and independent coins."""
    return (source.words(count) & np.uint64(1)).astype(bool)


def spell_column(codes: NDArray[np.int32], axis: Axis) -> list[str]:
    """The values of a column as a table of people has them: of a bin its lower edge."""
    return [axis.raw_spelling(code) if code >= 0 else MISSING_LABEL for code in codes.tolist()]


def apart(code: int, codes: NDArray[np.integer], axis: Axis) -> NDArray[np.float64]:
    """How far values are from one: on a line the share of it that lies between them, on others 0 or 1."""
    different = np.asarray(codes != code, dtype=np.float64)
    if not axis.spaced or code < 0:
        return different
    return np.where(codes < 0, different, np.abs(codes - code) / max(axis.size - 1, 1))


def distances(row: NDArray[np.int32], rows: Codes, axes: Sequence[Axis]) -> NDArray[np.float64]:
    """How far rows are from one, all axes together."""
    parts = [apart(int(row[number]), rows[:, number], axis) for number, axis in enumerate(axes)]
    return np.asarray(np.sum(parts, axis=0))


def _list_candidates(axes: Sequence[Axis], count: int, source: Source) -> Codes:
    sizes = [axis.size for axis in axes]
    if np.prod(np.array(sizes, dtype=float)) <= MAX_LISTED:
        return np.indices(sizes).reshape(len(sizes), -1).T.astype(np.int32)
    rows = SAMPLED * count
    sampled = [np.floor(source.uniforms(rows) * size).astype(np.int32) for size in sizes]
    return np.unique(np.stack(sampled, axis=1), axis=0)


def _familiarity(candidates: Codes, people: Codes, axes: Sequence[Axis]) -> NDArray[np.float64]:
    """People with the same row, and after them the logarithms of people who agree with it on each pair of columns."""
    sizes = [axis.size for axis in axes]
    same = count_agreeing(candidates, people, sizes)
    pairs = [
        np.log1p(count_agreeing(candidates[:, pair], people[:, pair], [sizes[axis] for axis in pair]))
        for pair in map(list, combinations(range(len(sizes)), 2))
    ]
    total = np.sum(pairs, axis=0)
    return np.asarray(same + total / (total.max(initial=0) + 1))


def count_agreeing(
    wanted: Codes, rows: Codes, sizes: Sequence[int], weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The weight of the rows that are equal to each of the wanted ones."""
    keys = pack([np.concatenate(columns) for columns in zip(wanted.T, rows.T, strict=True)], sizes)
    distinct, where = np.unique(keys[: len(wanted)], return_inverse=True)
    own = keys[len(wanted) :]
    place = np.minimum(np.searchsorted(distinct, own), len(distinct) - 1)
    found = distinct[place] == own
    counts = np.bincount(place[found], None if weights is None else weights[found], len(distinct))
    return counts.astype(np.float64)[where.reshape(-1)]


def _spread(candidates: Codes, axes: Sequence[Axis], count: int) -> Codes:
    """The first candidate, and then again and again the one farthest from all that are chosen."""
    if len(candidates) <= count:
        return candidates
    chosen = [0]
    nearest = distances(candidates[0], candidates, axes)
    while len(chosen) < count:
        nearest[chosen[-1]] = -1
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, distances(candidates[chosen[-1]], candidates, axes))
    return candidates[chosen]
