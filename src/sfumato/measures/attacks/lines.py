"""The lines of a release: boxes on all axes, the sensitive one last, and which are nearest to a person.

A published point with its sensitive value is a line, and so is each sensitive value of a class or of a noisy leaf.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.data.keys import pack
from sfumato.release import Boxes, Release
from sfumato.schema import Axis

if TYPE_CHECKING:
    from sfumato.measures.attacks.kernels import Index

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


class Neighbours(NamedTuple):
    """Lines near people: whose, which line, and how far."""

    person: NDArray[np.int64]
    line: NDArray[np.int64]
    distance: Floats

    def marked(self, people: int, lines: int) -> csr_array:
        """A one for every pair: (people, lines)."""
        return csr_array((np.ones(len(self.line)), (self.person, self.line)), shape=(people, lines))


@dataclass(frozen=True, eq=False, kw_only=True)
class Lines:
    """Different boxes on some axes, and how many published rows each stands for."""

    axes: tuple[Axis, ...]
    boxes: Boxes
    weights: Floats

    def __len__(self) -> int:
        return len(self.boxes)

    @property
    def volumes(self) -> Floats:
        """How many points each box holds."""
        return np.asarray(self.boxes.widths.prod(axis=1, dtype=np.float64))

    @classmethod
    def of(cls, release: Release) -> Self:
        """Every sensitive value of every box that stands for anything."""
        box, value = np.nonzero(release.counts > 0)
        last = Boxes.of_points(np.column_stack(release.schema.sensitive.apart(value)))
        quasi = release.boxes[box]
        boxes = Boxes(
            np.hstack([quasi.lo, last.lo]), np.hstack([quasi.hi, last.hi]), np.hstack([quasi.missing, last.missing])
        )
        every = cls(axes=release.schema.axes, boxes=boxes, weights=release.counts[box, value])
        return every.on(range(len(every.axes)))[0]

    def on(self, chosen: Sequence[int]) -> tuple[Self, NDArray[np.int64]]:
        """The different lines on some of the axes, and which of them each line is."""
        boxes = columns_of(self.boxes, list(chosen))
        _, first, which = np.unique(keys_of(*boxes.arrays), return_index=True, return_inverse=True)
        weights = np.bincount(which.reshape(-1), self.weights, len(first)).astype(np.float64)
        axes = tuple(self.axes[i] for i in chosen)
        return type(self)(axes=axes, boxes=boxes[first], weights=weights), which.reshape(-1)

    def near(self, people: Codes, rows: int = 1) -> Neighbours:
        """The lines of the so many rows nearest to each person, all that are equally near; each is one row at least."""
        from sfumato.measures.attacks.kernels import nearest

        axes, order, index = self._index
        person, place, distance = nearest(np.ascontiguousarray(people[:, axes]), index, float(rows))
        return Neighbours(person, order[place], distance)

    @cached_property
    def _index(self) -> tuple[list[int], NDArray[np.int64], "Index"]:
        """The axes in the order in which lines are sorted, categories first; the sorted lines; and their index."""
        from sfumato.measures.attacks.kernels import Index

        axes = sorted(range(len(self.axes)), key=lambda i: self.axes[i].spaced)
        boxes = columns_of(self.boxes, axes)
        ids = np.stack([keys_of(*columns_of(boxes, [i]).arrays) for i in range(len(axes))], axis=1)
        order = np.lexsort(ids.T[::-1])
        changes = np.diff(ids[order], axis=0, prepend=-1) != 0
        beyond = np.empty(ids.shape, dtype=np.int64)
        for axis in range(len(axes)):
            starts = np.flatnonzero(changes[:, : axis + 1].any(axis=1))
            beyond[:, axis] = np.append(starts, len(ids))[np.searchsorted(starts, np.arange(len(ids)), side="right")]
        steps = [1 / max(self.axes[i].size - 1, 1) if self.axes[i].spaced else 1.0 for i in axes]
        rows = np.maximum(self.weights[order], 1)
        return axes, order, Index(boxes[order].arrays, rows, np.array(steps), changes.argmax(axis=1), beyond)


def columns_of(boxes: Boxes, chosen: list[int]) -> Boxes:
    """Boxes on some of their axes."""
    lo, hi = (np.ascontiguousarray(side[:, chosen]) for side in (boxes.lo, boxes.hi))
    return Boxes(lo, hi, np.ascontiguousarray(boxes.missing[:, chosen]))


def keys_of(*parts: NDArray[np.generic]) -> NDArray[np.int64]:
    """A number for each row of the parts together, the same where they are the same; entries are -1 or more."""
    columns = np.hstack([part.astype(np.int64) for part in parts]).T
    return pack(list(columns), [int(column.max(initial=0)) + 1 for column in columns])
