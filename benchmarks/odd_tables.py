"""Tables that are hard to publish, each in a way of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import sfumato as sf

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def _table(
    name: str, sizes: Mapping[str, int], columns: Mapping[str, Sequence[Any]], secrets: Sequence[Any], values: int
) -> sf.Table:
    """People with columns of these sizes, larger ones numbers; every column may be missing."""
    spec: dict[str, dict[str, Any]] = {}
    for column, size in sizes.items():
        flat = {"kind": "categorical", "values": [str(value) for value in range(size)]}
        numbers = {"kind": "numeric", "min": 0, "max": size - 1}
        nullable = any(value is None for value in columns[column])
        is_number = size >= 25 and not column.startswith("code")
        spec[column] = {"role": "quasi", "nullable": nullable, **(numbers if is_number else flat)}
    spec["secret"] = {"role": "sensitive", "kind": "categorical", "values": [str(value) for value in range(values)]}
    text = {key: [None if value is None else str(value) for value in column] for key, column in columns.items()}
    return sf.read(pl.DataFrame(text | {"secret": [str(value) for value in secrets]}), {"name": name, "columns": spec})


def wide_and_tiny() -> sf.Table:
    """More columns than such few people can hide in."""
    draw, rows = np.random.default_rng(11), 300
    sizes = {f"q{size}": size for size in (72, 2, 3, 4, 6, 10, 5, 8, 12)}
    columns = {name: draw.integers(0, size, rows) for name, size in sizes.items()}
    return _table("tiny", sizes, columns, (columns["q72"] // 20 + draw.integers(0, 3, rows)) % 5, 5)


def postal_codes() -> sf.Table:
    """A thousand codes, a few of them common, that go with the illness."""
    draw, rows = np.random.default_rng(12), 50_000
    code = np.minimum((draw.pareto(1.0, rows) * 40).astype(int), 999)
    sizes = {"code": 1_000, "age": 100, "sex": 2, "job": 20}
    columns = {"code": code} | {name: draw.integers(0, sizes[name], rows) for name in ("age", "sex", "job")}
    return _table(
        "postal", sizes, columns, (code // 100 + (draw.random(rows) < 0.5) * draw.integers(0, 8, rows)) % 8, 8
    )


def forty_secrets() -> sf.Table:
    """A sensitive column of forty values."""
    draw, rows = np.random.default_rng(13), 10_000
    sizes = {"age": 80, "a": 6, "b": 3, "c": 12, "d": 2}
    columns = {name: draw.integers(0, size, rows) for name, size in sizes.items()}
    return _table(
        "forty", sizes, columns, (columns["age"] // 8 * 4 + columns["a"] + draw.integers(0, 4, rows)) % 40, 40
    )


def rare_secret() -> sf.Table:
    """Ninety-nine in a hundred have the same value."""
    draw, rows = np.random.default_rng(14), 8_000
    sizes = {"age": 90, "a": 8, "b": 4, "c": 15, "d": 2}
    columns = {name: draw.integers(0, size, rows) for name, size in sizes.items()}
    chance = np.where((columns["age"] > 60) & (columns["a"] < 2), 0.05, 0.005)
    return _table("rare", sizes, columns, (draw.random(rows) < chance).astype(int), 2)


def long_numbers() -> sf.Table:
    """Nothing but numbers of thousands of values."""
    draw, rows = np.random.default_rng(15), 5_000
    found = draw.normal(size=(rows, 4))
    found[:, 1] += found[:, 0]
    found[:, 3] = np.exp(found[:, 3])
    sizes = {f"x{number}": 5_000 for number in range(4)}
    places = np.clip(1_500 + 800 * found, 0, 4_999).astype(int)
    secret = np.clip((found[:, 0] + draw.normal(size=rows) + 3) * 1.2, 0, 6).astype(int)
    return _table("numbers", sizes, dict(zip(sizes, places.T, strict=True)), secret, 7)


def determined() -> sf.Table:
    """Columns that follow from each other but for one person in fifty."""
    draw, rows = np.random.default_rng(16), 6_000
    sizes = {"a": 60, "b": 20, "c": 12, "d": 6, "e": 30, "f": 2}
    first = draw.integers(0, 60, rows)
    follows = {"b": first // 3, "c": first // 5, "d": first // 10, "e": first // 2, "f": first % 2}
    columns = {"a": first} | {
        name: np.where(draw.random(rows) < 0.02, draw.integers(0, sizes[name], rows), column)
        for name, column in follows.items()
    }
    secret = np.where(draw.random(rows) < 0.3, draw.integers(0, 6, rows), (first * 7) % 6)
    return _table("determined", sizes, columns, secret, 6)


def full_of_holes() -> sf.Table:
    """Three in ten of all values are missing."""
    draw, rows = np.random.default_rng(17), 4_000
    trend = draw.random(rows)
    sizes = {f"m{size}": size for size in (80, 2, 5, 9, 14, 3, 7)}
    columns = {
        name: [
            None if gone else value
            for gone, value in zip(
                draw.random(rows) < 0.3,
                np.minimum((trend + draw.random(rows)) / 2 * size, size - 1).astype(int),
                strict=True,
            )
        ]
        for name, size in sizes.items()
    }
    return _table("holes", sizes, columns, np.clip((trend * 6 + draw.normal(size=rows)).astype(int), 0, 5), 6)


def few_and_skewed() -> sf.Table:
    """Few people, most of them alike in everything: what is asked about is a handful."""
    draw, rows = np.random.default_rng(5), 400
    sizes = {f"z{size}": size for size in (40, 12, 9, 20, 6, 15, 8)}
    columns = {name: np.minimum(draw.zipf(1.6, rows) - 1, size - 1) for name, size in sizes.items()}
    return _table("skewed", sizes, columns, np.minimum(draw.zipf(1.5, rows) - 1, 19), 20)


TABLES: dict[str, Callable[[], sf.Table]] = {
    "300 people, 9 columns": wide_and_tiny,
    "50,000 people, 1,000 postal codes": postal_codes,
    "10,000 people, 40 sensitive values": forty_secrets,
    "8,000 people, 99% with one value": rare_secret,
    "5,000 people, numbers alone": long_numbers,
    "6,000 people, columns that follow from each other": determined,
    "4,000 people, values missing everywhere": full_of_holes,
    "400 people, few of them unlike the rest": few_and_skewed,
}
