"""Sets of rows that conditions on several columns describe: unions of boxes that have no row in common.

A box allows some codes on each axis that it names and everything on the others. Because boxes are disjoint, what holds
of a union is the sum of what holds of its boxes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import QueryError
from sfumato.schema.axis import Axis
from sfumato.schema.codes import Codes, merge_runs

MAX_BOXES, MAX_ON_THE_WAY = 256, 2_048
"""How many are left once those that differ on one axis alone became one, and before that."""
Box = Mapping[str, Codes]


@dataclass(frozen=True)
class Alternatives:
    """Disjoint boxes over named axes, and which axes the conditions speak of."""

    axes: Mapping[str, Axis]
    boxes: tuple[Box, ...]

    @classmethod
    def of(cls, axis: Axis, codes: Codes) -> Alternatives:
        """What one condition allows on its axis."""
        return cls({axis.name: axis}, _nonempty([{axis.name: codes}]))

    @classmethod
    def everything(cls) -> Alternatives:
        """All rows."""
        return cls({}, ({},))

    def __and__(self, other: Alternatives) -> Alternatives:
        _refuse_many(len(self.boxes) * len(other.boxes), MAX_ON_THE_WAY)
        common = [_common(one, another) for one in self.boxes for another in other.boxes]
        return self._made(other, _nonempty(common))

    def __or__(self, other: Alternatives) -> Alternatives:
        """Of the others what is not here already is added."""
        return self._made(other, (*self.boxes, *(other - self).boxes))

    def __sub__(self, other: Alternatives) -> Alternatives:
        """What is here and not there: every box less one box of the others after the other."""
        known, left = {**self.axes, **other.axes}, self.boxes
        for taken in other.boxes:
            left = tuple(rest for box in left for rest in _without(box, taken, known))
            _refuse_many(len(left), MAX_ON_THE_WAY)
        return self._made(other, left)

    def __invert__(self) -> Alternatives:
        """Everybody else."""
        return Alternatives.everything() - self

    def hold(self, codes: NDArray[np.integer], places: Mapping[str, int]) -> NDArray[np.bool_]:
        """Which rows of codes (rows, axes), −1 for the missing value, are in it; `places` says where each axis is."""
        found = np.zeros(len(codes), dtype=np.bool_)
        for box in self.boxes:
            inside = np.ones(len(codes), dtype=np.bool_)
            for name, allowed in box.items():
                inside &= allowed.hold(codes[:, places[name]].astype(np.int32))
            found |= inside
        return found

    def on(self, axes: Sequence[Axis]) -> list[tuple[Codes, ...]]:
        """The boxes with what they allow on every one of the axes."""
        return [tuple(box.get(axis.name, everything(axis)) for axis in axes) for box in self.boxes]

    def _made(self, other: Alternatives, boxes: tuple[Box, ...]) -> Alternatives:
        merged = _merged(boxes, {**self.axes, **other.axes})
        _refuse_many(len(merged), MAX_BOXES)
        return Alternatives({**self.axes, **other.axes}, merged)


def everything(axis: Axis) -> Codes:
    """All values of an axis."""
    return Codes.of([axis.everything])


def _common(one: Box, other: Box) -> Box:
    return {**one, **{name: one[name] & codes if name in one else codes for name, codes in other.items()}}


def _nonempty(boxes: Sequence[Box]) -> tuple[Box, ...]:
    return tuple(box for box in boxes if all(codes.runs or codes.missing for codes in box.values()))


def _without(box: Box, taken: Box, axes: Mapping[str, Axis]) -> tuple[Box, ...]:
    """A box less another: on each axis in turn what the other does not allow, inside it on the axes before."""
    if not _nonempty([_common(box, taken)]):
        return (box,)
    found: list[Box] = []
    inside = dict(box)
    for name, codes in taken.items():
        own = inside.get(name, everything(axes[name]))
        found.append({**inside, name: own.without(codes, axes[name])})
        inside[name] = own & codes
    return _nonempty(found)


def _merged(boxes: tuple[Box, ...], axes: Mapping[str, Axis]) -> tuple[Box, ...]:
    """The same rows in fewer boxes: those that differ on one axis alone become one."""
    for name, axis in axes.items():
        found: dict[tuple[tuple[str, Codes], ...], Codes] = {}
        for box in boxes:
            rest = tuple(sorted((key, codes) for key, codes in box.items() if key != name))
            codes = box.get(name, everything(axis))
            if rest in found:
                both = found[rest]
                codes = Codes(merge_runs([*both.runs, *codes.runs]), both.missing or codes.missing)
            found[rest] = codes
        whole = everything(axis)
        boxes = tuple(dict(rest) | ({} if codes == whole else {name: codes}) for rest, codes in found.items())
    return boxes


def _refuse_many(boxes: int, most: int) -> None:
    if boxes > most:
        raise QueryError(
            f"the conditions are too involved: they fall into more than {most:,} cases; ask several queries, or join "
            "fewer columns by or and not"
        )
