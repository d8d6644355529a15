"""Names beside curves: none covers another, a mark that matters or the edge of the chart."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import pytest

from sfumato.report.frontier import labels as placing
from sfumato.report.frontier.labels import LINE, MARK, PIXELS_PER_CHARACTER, curve_labels

WIDTH, HEIGHT = SIZE = 760.0, 460.0
NO_MARKS: dict[str, list[dict[str, Any]]] = {"x": [], "y": []}
LOWER = {"x": True, "y": True}


def row(curve: str, x: float, y: float, **more: Any) -> dict[str, Any]:
    flags = {"efficient": False, "endpoint": False, "recommended": False, "eligible": True}
    flags |= {"note": "", "room": 0.0, "step": 1}
    place = {"x": x, "y": y, "x_share": x, "y_share": y}
    return {"curve": curve, "series": curve.split(",")[0], **flags, **place, **more}


def boxes(labels: list[dict[str, Any]]) -> list[tuple[float, float, float, float]]:
    found = []
    for label in labels:
        length = PIXELS_PER_CHARACTER * len(label["name"])
        left = label["x"] * WIDTH + (label["dx"] if label["align"] == "left" else label["dx"] - length)
        middle = (1 - label["y"]) * HEIGHT
        found.append((left, middle - LINE / 2, left + length, middle + LINE / 2))
    return found


def apart(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def named(rows: list[dict[str, Any]], marks: Any = NO_MARKS, lower: Any = LOWER) -> list[dict[str, Any]]:
    return curve_labels(rows, SIZE, marks, lower)


def test_a_lone_curve_is_named_on_the_right_of_its_last_release() -> None:
    (label,) = named([row("k-anonymity", 0.2, 0.5), row("k-anonymity", 0.4, 0.4, step=2)])
    series = {"series": "k-anonymity", "name": "k-anonymity", "eligible": True}
    assert label == {"x": 0.4, "y": 0.4, "dx": MARK, "align": "left"} | series


def test_at_the_edge_a_name_turns_to_the_left_and_without_room_it_is_left_out() -> None:
    (label,) = named([row("k-anonymity", 0.99, 0.5)])
    assert (label["align"], label["dx"]) == ("right", -MARK)
    assert curve_labels([row("k-anonymity", 0.5, 0.5)], (60, HEIGHT), NO_MARKS, LOWER) == []


def test_an_efficient_release_is_named_before_others() -> None:
    rows = [row("b", 0.5, 0.5), row("a", 0.5, 0.505), row("b", 0.52, 0.5, efficient=True, step=2)]
    assert next(label["name"] for label in named(rows)) == "b"


@pytest.mark.parametrize("crowd", [5, 40, 200])
def test_names_never_cover_each_other_or_a_mark(crowd: int) -> None:
    rows = [
        row(f"curve {place % 30}", place * 0.618 % 1, place * 0.414 % 1, efficient=place % 4 == 0, step=place)
        for place in range(crowd)
    ]
    placed = boxes(named(rows))
    assert placed
    assert all(apart(one, other) for one, other in combinations(placed, 2))
    marks = [(one["x"] * WIDTH, (1 - one["y"]) * HEIGHT) for one in rows]
    assert not any(box[0] < x < box[2] and box[1] < y < box[3] for box in placed for x, y in marks)
    assert all(box[0] >= 0 and box[1] >= 0 and box[2] <= WIDTH and box[3] <= HEIGHT for box in placed)


def crosses(box: tuple[float, ...], start: tuple[float, float], end: tuple[float, float]) -> bool:
    places = [tuple(a + share / 1000 * (b - a) for a, b in zip(start, end, strict=True)) for share in range(1001)]
    return any(box[0] < x < box[2] and box[1] < y < box[3] for x, y in places)


def crowd(count: int) -> list[dict[str, Any]]:
    return [
        row(f"curve {place % 12}", place * 0.618 % 1, place * 0.414 % 1, efficient=place % 3 == 0, step=place)
        for place in range(count)
    ]


def dark_line(rows: list[dict[str, Any]]) -> list[tuple[float, float]]:
    return sorted((one["x"] * WIDTH, (1 - one["y"]) * HEIGHT) for one in rows if one["efficient"])


def test_names_do_not_cover_the_dark_line(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = crowd(12)
    ends = list(pairwise(dark_line(rows)))

    def covering() -> int:
        return sum(crosses(box, *piece) for box in boxes(named(rows)) for piece in ends)

    assert covering() == 0
    monkeypatch.setattr(placing, "pairwise", lambda places: [])
    assert covering() > 0


@pytest.mark.parametrize("lower", [{"x": True, "y": True}, {"x": False, "y": False}], ids=["lower", "higher"])
def test_names_do_not_cover_the_words_of_reference_values(lower: dict[str, bool]) -> None:
    """The words stand upright beside x = 0.5 and level above y = 0.5, on the worse side; a curve ends under each."""
    marks = {
        "x": [{"share": 0.5, "text": "twenty characters in", "late": False}],
        "y": [{"share": 0.5, "text": "twenty characters in", "late": False}],
    }
    top, right = (0.95, 0.97) if lower["y"] else (0.05, 0.03)
    rows = [row("upright", 0.495, top), row("level", right, 0.515)]
    free, words = boxes(named(rows)), boxes(named(rows, marks, lower))
    upright = (0.5 * WIDTH + 4, 6.0, 0.5 * WIDTH + 17, 126.0)
    level = (WIDTH - 126.0, 0.5 * HEIGHT - 17, WIDTH - 6, 0.5 * HEIGHT - 4)
    if not lower["y"]:
        upright, level = (upright[0], HEIGHT - 126, upright[2], HEIGHT - 6), (6.0, level[1], 126.0, level[3])
    assert not all(apart(box, area) for box in free for area in (upright, level))
    assert all(apart(box, area) for box in words for area in (upright, level))
