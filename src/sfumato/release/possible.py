"""Rows that a schema declares impossible: which of a release are, and generated ones without them.

A generated row that cannot be is drawn again. That looks at noisy counts and at the public schema alone, so it costs no
privacy. The rows of real people are never held against the declaration: to refuse one would tell about somebody.
"""

from collections.abc import Callable, Iterator
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from sfumato.release.content import Content
from sfumato.release.coverage import Coverage, Part, Region
from sfumato.schema import Schema
from sfumato.schema.alternatives import everything

Uniforms = Callable[[int], NDArray[np.float64]]
TRIES = 32
"""How often a row is drawn again before another takes its place."""


def without_impossible(
    codes: NDArray[np.int64],
    schema: Schema,
    again: Callable[[NDArray[np.int64]], NDArray[np.int64]],
    uniforms: Uniforms,
) -> NDArray[np.int64]:
    """Rows of codes (rows, axes), those that cannot be drawn `again`, given their places.

    A row that is impossible every time becomes a copy of one that is not; where all are, one that the schema allows.
    """
    found = codes.copy()
    wrong = np.flatnonzero(schema.cannot_be(found))
    for _ in range(TRIES):
        if not len(wrong):
            return found
        found[wrong] = again(wrong)
        wrong = wrong[schema.cannot_be(found[wrong])]
    right = np.delete(found, wrong, axis=0) if len(wrong) < len(found) else _some_possible(schema, codes.shape[1])
    found[wrong] = right[np.floor(uniforms(len(wrong)) * len(right)).astype(np.int64)]
    return found


def _some_possible(schema: Schema, columns: int) -> NDArray[np.int64]:
    """A row that the schema allows; columns that are no axes of its have their first value."""
    row = schema.possible_row
    return np.array([[*row, *[0] * (columns - len(row))]], dtype=np.int64)


def inside_impossible(release: Content) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Of every text that says what cannot occur, which boxes lie in it with which sensitive value: (boxes, values)."""
    schema = release.schema
    for text, combinations in groupby(schema.combinations, key=lambda combination: combination.text):
        parts = tuple(
            Part(tuple(one.allowed.get(place, everything(axis)) for place, axis in enumerate(schema.axes)))
            for one in combinations
        )
        found = Coverage.of(Region(schema, parts), release.sides)
        yield text, found.by_value(found.extent.inside)


def possible_counts(release: Content) -> NDArray[np.float64]:
    """The counts of a release without those that cannot be; the others grow, so that there are as many rows."""
    counts = release.counts
    impossible = np.zeros(counts.shape, dtype=np.bool_)
    for _, inside in inside_impossible(release):
        impossible |= inside
    if not impossible.any():
        return counts
    left = np.where(impossible, 0, counts)
    if left.sum() <= 0 < counts.sum():
        left = (~impossible).astype(np.float64)
    return np.asarray(left * (counts.sum() / left.sum()) if left.sum() > 0 else left)
