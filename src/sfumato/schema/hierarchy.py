"""Hierarchy files in ARX's format: `;`-separated, a row per leaf, the leaf first, its ancestors after it.

A ragged, contradictory or incomplete file is refused with the row.
"""

import csv
from pathlib import Path

from sfumato.errors import SchemaError
from sfumato.files import read_text
from sfumato.schema.taxonomy import ANY, Node, as_label


def read_hierarchy(path: Path) -> Node:
    """The taxonomy of a hierarchy file; siblings stand in the order in which the file first names them."""
    rows = _rows(path)
    _check_shape(rows, path)
    _check_parents(rows, path)
    width = len(rows[0])
    top_down = [tuple(reversed(row)) for row in rows]
    if width == 1 or len({row[0] for row in top_down}) > 1:
        top_down = [(ANY, *row) for row in top_down]
    return _build(top_down, 0, 0)[0]


def _rows(path: Path) -> list[list[str]]:
    lines = read_text(path, "the hierarchy file", SchemaError).splitlines()
    try:
        rows = [[as_label(field) for field in row] for row in csv.reader(lines, delimiter=";", strict=True)]
    except csv.Error as error:
        raise SchemaError(f"{path}: the hierarchy file is not ;-separated text ({error})") from error
    while rows and not any(rows[-1]):
        rows.pop()
    if not rows:
        raise SchemaError(f"{path}: the hierarchy file is empty")
    return rows


def _check_shape(rows: list[list[str]], path: Path) -> None:
    first_row: dict[str, int] = {}
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise SchemaError(
                f"{path}, row {number}: {len(row)} levels where row 1 has {len(rows[0])}; "
                "every row needs the same number"
            )
        if not all(row):
            raise SchemaError(f"{path}, row {number}: level {row.index('') + 1} is empty")
        if row[0] in first_row:
            raise SchemaError(f"{path}, row {number}: the value {row[0]!r} is a duplicate of row {first_row[row[0]]}")
        first_row[row[0]] = number


def _check_parents(rows: list[list[str]], path: Path) -> None:
    parent_of: dict[tuple[int, str], tuple[str, int]] = {}
    for number, row in enumerate(rows, start=1):
        for level in range(len(row) - 1):
            parent, seen = parent_of.setdefault((level, row[level]), (row[level + 1], number))
            if parent != row[level + 1]:
                raise SchemaError(
                    f"{path}, row {number}: {row[level]!r} lies under {row[level + 1]!r} here "
                    f"but under {parent!r} in row {seen}"
                )


def _build(paths: list[tuple[str, ...]], depth: int, start: int) -> tuple[Node, int]:
    label = paths[0][depth]
    if depth == len(paths[0]) - 1:
        return Node(label, start, start), start + 1
    by_child: dict[str, list[tuple[str, ...]]] = {}
    for path in paths:
        by_child.setdefault(path[depth + 1], []).append(path)
    below, end = [], start
    for child_paths in by_child.values():
        child, end = _build(child_paths, depth + 1, end)
        below.append(child)
    return Node(label, start, end - 1, tuple(below)), end
