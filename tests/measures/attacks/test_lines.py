"""Which published lines are nearest to a person, against looking at all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import ReleaseCase, apart, releases, small_table
from sfumato.measures.attacks import kernels
from sfumato.measures.attacks.lines import Lines
from sfumato.methods import Original
from strategies import TableCase, tables


def check_near(lines: Lines, people: np.ndarray, rows: int) -> None:
    found = lines.near(people, rows)
    near: dict[int, dict[int, float]] = {}
    for person, line, distance in zip(*(part.tolist() for part in found), strict=True):
        near.setdefault(person, {})[line] = distance
    assert len(found.person) == sum(map(len, near.values()))
    for number, person in enumerate(people.tolist()):
        distances = [apart(lines.axes, lines.boxes, line, person) for line in range(len(lines))]
        counted, radius = 0.0, 0.0
        for line in np.argsort(distances, kind="stable").tolist():
            radius, counted = distances[line], counted + max(lines.weights[line], 1)
            if counted >= rows:
                break
        expected = {line: distance for line, distance in enumerate(distances) if distance <= radius + 1e-9}
        assert near[number] == pytest.approx(expected)


@given(releases(), st.integers(1, 4))
def test_the_nearest_lines_are_those_of_looking_at_all(case: ReleaseCase, rows: int) -> None:
    check_near(Lines.of(case.release), case.case.table.cell_codes, rows)


@given(releases(), st.data())
def test_they_are_on_any_columns(case: ReleaseCase, data: st.DataObject) -> None:
    every = Lines.of(case.release)
    chosen = data.draw(st.lists(st.integers(0, len(every.axes) - 1), min_size=1, unique=True))
    lines, which = every.on(chosen)
    assert lines.weights.sum() == pytest.approx(every.weights.sum())
    for line, part in enumerate(which.tolist()):
        assert [every.boxes.span(line, axis) for axis in chosen] == [
            lines.boxes.span(part, place) for place in range(len(chosen))
        ]
    check_near(lines, case.case.table.cell_codes[:, chosen], 1)


@given(tables(most_rows=10))
def test_the_lines_of_the_original_are_its_cells(case: TableCase) -> None:
    lines = Lines.of(Original().publish(case.table))
    assert len(lines) == len(case.table.cell_weight)
    assert lines.weights.sum() == case.table.n
    found = lines.near(case.table.cell_codes)
    assert not found.distance.any()
    assert len(found.line) == len(lines)


def test_an_index_that_leaves_out_too_much_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    table = small_table()
    lines, people = Lines.of(Original().publish(table)), table.cell_codes[::5].copy()
    people[:, 0] = 0
    check_near(lines, people, 1)
    index = kernels.Index

    def hasty(*parts: np.ndarray) -> kernels.Index:
        return index(*parts[:-1], np.maximum(parts[-1], len(parts[-1]) // 2))

    monkeypatch.setattr(kernels, "Index", hasty)
    with pytest.raises(AssertionError):
        check_near(Lines.of(Original().publish(table)), people, 1)
