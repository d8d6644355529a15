"""A spatial index of places: sorted along a curve that keeps neighbours together, with balls around runs of them.

Seen from a destination, all places fall into rings of distance. Whole balls lie in one ring, so that most places are
told apart without looking at them; only leaves on a border are looked at place by place.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.data.places import Places, chord_of

LEAF = 16
FAN = 4


@dataclass(frozen=True, eq=False)
class PlaceIndex:
    """Places in the order of the index, and balls around runs of LEAF, LEAF·FAN, … of them, smallest first."""

    order: NDArray[np.int64]
    points: NDArray[np.float64]
    kinds: NDArray[np.int64]
    changes: NDArray[np.int64]
    balls: NDArray[np.float64]
    first_ball: NDArray[np.int64]

    @cached_property
    def position(self) -> NDArray[np.int64]:
        """Where each place stands in the order."""
        position = np.empty(len(self.order), dtype=np.int64)
        position[self.order] = np.arange(len(self.order))
        return position

    @classmethod
    def build(
        cls, places: Places, kinds: NDArray[np.integer], grouped: NDArray[np.integer], *, near: bool = True
    ) -> Self:
        """Index the places; those of one group, and within it of one kind, stand together.

        Without `near`, neighbours are not kept together, and all places lie in the last ring.
        """
        order = np.lexsort((_curve(places), kinds, grouped) if near else (kinds, grouped))
        points, in_order = np.ascontiguousarray(places.points[order]), kinds[order].astype(np.int64)
        balls, first, size = [np.empty((0, 4))], [0], LEAF
        while near:
            starts = np.arange(0, len(points), size)
            balls.append(_balls_around(points, starts))
            first.append(first[-1] + len(starts))
            near = len(starts) > FAN
            size *= FAN
        changes = np.flatnonzero(np.diff(in_order)) + 1
        return cls(order, points, in_order, changes, np.concatenate(balls), np.array(first, dtype=np.int64))

    def rings(
        self, centre: NDArray[np.float64], edges: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Runs of places of one kind and one ring around a point: where they start, their ring, their kind.

        Ring r lies beyond r of the edges, which are chords.
        """
        starts, rings = np.zeros(1, dtype=np.int64), np.full(1, len(edges))
        if len(edges) and len(self.balls):
            starts, rings = _walk(centre, edges, self.points, self.balls, self.first_ball)
        return _split(starts, rings, self.kinds, self.changes)


def chords(kilometres: Sequence[float]) -> NDArray[np.float64]:
    """Edges of rings as chords of the unit sphere."""
    return np.array([chord_of(edge) for edge in kilometres], dtype=np.float64)


def _curve(places: Places) -> NDArray[np.uint64]:
    """The position of each place on a Z-shaped curve over latitude and longitude."""
    code = np.zeros(len(places), dtype=np.uint64)
    for shift, (degrees, span) in enumerate(((places.latitude, 90.0), (places.longitude, 180.0))):
        bits = ((degrees + span) / (2 * span) * (2**31 - 1)).astype(np.uint64)
        for width in (16, 8, 4, 2, 1):
            mask = np.uint64((2**64 - 1) // (2**width + 1))
            bits = (bits | (bits << np.uint64(width))) & mask
        code |= bits << np.uint64(shift)
    return code


def _balls_around(points: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """For each run of points a ball that holds it: centre and radius, (runs, 4)."""
    sizes = np.diff(np.append(starts, len(points)))
    centres = np.add.reduceat(points, starts) / sizes[:, None]
    reach = np.linalg.norm(points - np.repeat(centres, sizes, axis=0), axis=1)
    return np.column_stack((centres, np.maximum.reduceat(reach, starts) + 1e-15))


@compiled
def _apart(one: np.ndarray, x: float, y: float, z: float) -> float:
    return float(((one[0] - x) ** 2 + (one[1] - y) ** 2 + (one[2] - z) ** 2) ** 0.5)


@compiled
def _walk(
    centre: np.ndarray, edges: np.ndarray, points: np.ndarray, balls: np.ndarray, first: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The runs of places in one ring, in the order of the index."""
    starts, rings, size = np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64), 0
    top = len(first) - 2
    stack = np.empty((FAN * (top + 2), 2), dtype=np.int64)
    held = 0
    for node in range(first[top + 1] - first[top] - 1, -1, -1):
        stack[held, 0], stack[held, 1] = top, node
        held += 1
    while held:
        held -= 1
        level, node = stack[held, 0], stack[held, 1]
        ball = balls[first[level] + node]
        middle = _apart(centre, ball[0], ball[1], ball[2])
        ring = np.searchsorted(edges, middle - ball[3])
        span = LEAF * FAN**level
        low = node * span
        if size + LEAF > len(starts):
            starts, rings = np.append(starts, starts), np.append(rings, rings)
        if ring == np.searchsorted(edges, middle + ball[3]):
            if size == 0 or rings[size - 1] != ring:
                starts[size], rings[size] = low, ring
                size += 1
        elif level:
            children = first[level] - first[level - 1]
            for child in range(min(children, (node + 1) * FAN) - 1, node * FAN - 1, -1):
                stack[held, 0], stack[held, 1] = level - 1, child
                held += 1
        else:
            for i in range(low, min(len(points), low + span)):
                ring = np.searchsorted(edges, _apart(centre, points[i, 0], points[i, 1], points[i, 2]))
                if size == 0 or rings[size - 1] != ring:
                    starts[size], rings[size] = i, ring
                    size += 1
    return starts[:size], rings[:size]


@compiled
def _split(
    starts: np.ndarray, rings: np.ndarray, kinds: np.ndarray, changes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The runs cut where the kind of place changes."""
    cut, ring, kind = np.empty((3, len(starts) + len(changes)), dtype=np.int64)
    size, change = 0, 0
    for run in range(len(starts)):
        end = starts[run + 1] if run + 1 < len(starts) else len(kinds)
        at = starts[run]
        while at < end:
            cut[size], ring[size], kind[size] = at, rings[run], kinds[at]
            size += 1
            while change < len(changes) and changes[change] <= at:
                change += 1
            at = min(end, changes[change]) if change < len(changes) else end
    return cut[:size], ring[:size], kind[:size]
