"""Hierarchy files in ARX's format: `;`-separated, a row per leaf, the leaf first, its ancestors after it.

A ragged, contradictory or incomplete file is refused with the row.
"""

import csv
from itertools import pairwise
from pathlib import Path
from typing import Any

from sfumato.errors import SchemaError, quote
from sfumato.files import read_text
from sfumato.schema.taxonomy import Node, as_label, parse_nested


def read_hierarchy(path: Path) -> Node:
    """The taxonomy of a hierarchy file; siblings stand in the order in which the file first names them."""
    rows = _rows(path)
    _check(rows, path)
    tree: dict[str, Any] = {}
    for row in rows:
        below = tree
        for label in reversed(row):
            below = below.setdefault(label, {})
    root = parse_nested(tree, str(path))
    return root.below[0] if len(tree) == 1 and len(rows[0]) > 1 else root


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


def _check(rows: list[list[str]], path: Path) -> None:
    first_row: dict[str, int] = {}
    parent_of: dict[tuple[int, str], tuple[str, int]] = {}
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise SchemaError(
                f"{path}, row {number}: {len(row)} levels where row 1 has {len(rows[0])}; "
                "every row needs the same number"
            )
        if not all(row):
            raise SchemaError(f"{path}, row {number}: level {row.index('') + 1} is empty")
        if first_row.setdefault(row[0], number) != number:
            raise SchemaError(
                f"{path}, row {number}: the value {quote(row[0])} is a duplicate of row {first_row[row[0]]}"
            )
        for level, (label, above) in enumerate(pairwise(row)):
            parent, seen = parent_of.setdefault((level, label), (above, number))
            if parent != above:
                raise SchemaError(
                    f"{path}, row {number}: {quote(label)} lies under {quote(above)} here "
                    f"but under {quote(parent)} in row {seen}"
                )
