"""Names beside curves: each where it covers no mark that matters, no words and not the dark line, or nowhere.

The page places them anew for its own width, by the same rule.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

PIXELS_PER_CHARACTER, LINE, MARK = 6.0, 13.0, 9.0
"""The size of a name's letters, of its line, and of the marks that it must not cover."""
EDGE, BESIDE, STEP = 6, 4, 8
"""How far words of reference values stand from the edge of the chart and from their rule; how finely a line is felt."""
Row = Mapping[str, Any]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom, in pixels."""


def curve_labels(
    rows: Sequence[Row], size: tuple[float, float], marks: Mapping[str, Sequence[Row]], lower: Mapping[str, bool]
) -> list[dict[str, Any]]:
    """The names of the curves and where they stand; those with efficient releases are placed first.

    `marks` are the reference values of both axes, and `lower` says on which of them lower values are better.
    """
    curves = defaultdict(list)
    for row in rows:
        if not row["endpoint"]:
            curves[row["curve"]].append(row)
    taken = [*_obstacles(rows, *size), *_words(marks, lower, *size)]
    labels = []
    for name, curve in sorted(curves.items(), key=lambda item: (-sum(row["efficient"] for row in item[1]), item[0])):
        for row, dx, align, box in _places(name, curve, *size):
            if _inside(box, *size) and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                labels.append(
                    {key: row[key] for key in ("x", "y", "series", "eligible")}
                    | {"name": name, "dx": dx, "align": align}
                )
                break
    return labels


def _places(name: str, curve: list[Row], width: float, height: float) -> Iterator[tuple[Row, float, str, Box]]:
    """To the right or to the left of each release of a curve, the efficient ones first."""
    length = PIXELS_PER_CHARACTER * len(name)
    for row in sorted(curve, key=lambda row: (not row["efficient"], -row["step"])):
        x, y = _at(row, width, height)
        yield row, MARK, "left", (x + MARK, y - LINE / 2, x + MARK + length, y + LINE / 2)
        yield row, -MARK, "right", (x - MARK - length, y - LINE / 2, x - MARK, y + LINE / 2)


def _at(row: Row, width: float, height: float) -> tuple[float, float]:
    return row["x_share"] * width, (1 - row["y_share"]) * height


def _obstacles(rows: Sequence[Row], width: float, height: float) -> Iterator[Box]:
    """Around every mark, where notes may stand, and along the dark line through the efficient releases."""
    for row in rows:
        yield _around(*_at(row, width, height), MARK / (2 if row["efficient"] else 4))
        if row["recommended"] or row["endpoint"]:
            yield from _notes(row, width, height)
    efficient = sorted((_at(row, width, height) for row in rows if row["efficient"]), key=lambda place: place[0])
    for (x, y), (to_x, to_y) in pairwise(efficient):
        steps = math.ceil(math.hypot(to_x - x, to_y - y) / STEP)
        for step in range(1, steps):
            share = step / steps
            yield _around(x + share * (to_x - x), y + share * (to_y - y), 1.0)


def _around(x: float, y: float, reach: float) -> Box:
    return x - reach, y - reach, x + reach, y + reach


def _notes(row: Row, width: float, height: float) -> Iterator[Box]:
    """Where the note of a release may stand: on either side."""
    x, y = _at(row, width, height)
    lines = 1 + row["note"].count("\n")
    for left in (x - row["room"], x):
        yield left, y - LINE * (lines + 1), left + row["room"], y + LINE * (lines + 1)


def _words(marks: Mapping[str, Sequence[Row]], lower: Mapping[str, bool], width: float, height: float) -> Iterator[Box]:
    """Where the meanings of reference values stand: upright for those across, on the side that is worse."""
    for mark in marks["x"]:
        x, length = mark["share"] * width, min(PIXELS_PER_CHARACTER * len(mark["text"]), 0.8 * height)
        left = x - BESIDE - LINE if mark["late"] else x + BESIDE
        top = EDGE if lower["y"] else height - EDGE - length
        yield left, top, left + LINE, top + length
    for mark in marks["y"]:
        y, length = (1 - mark["share"]) * height, min(PIXELS_PER_CHARACTER * len(mark["text"]), 0.5 * width)
        left = width - EDGE - length if lower["x"] else EDGE
        yield left, y - BESIDE - LINE, left + length, y - BESIDE


def _inside(box: Box, width: float, height: float) -> bool:
    return box[0] >= 0 and box[1] >= 0 and box[2] <= width and box[3] <= height


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
