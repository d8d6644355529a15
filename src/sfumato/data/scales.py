"""How numbers of an undescribed table are put on an axis: a grid, bins of one width, or bins by quantiles.

A few values far from all others would make bins useless for the rest, so the ends are coded: all beyond are one value.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.schema.axis import CLIP

MAX_GRID_POINTS = 2_000
FEW = 30
BINS = {"quasi": 50, "sensitive": 20}
GRID = {"quasi": MAX_GRID_POINTS, "sensitive": FEW}
MIN_ROWS = 50
"""Fewer rows say nothing about tails."""
INNER = (0.005, 0.5, 0.995)
FAR = 1.0
"""How many times the range of the inner 99% of rows an end lies beyond it that is coded."""
SKEWED = 4.0
"""How many times longer the upper side of the inner range is than the lower one where quantiles make the bins."""


@dataclass(frozen=True)
class Scale:
    """Keys of a numeric column, and in words why these."""

    keys: dict[str, Any]
    why: str


def scale_of(numbers: NDArray[np.float64], counts: NDArray[np.int64], role: str) -> Scale:
    """A grid where whole numbers are few, else bins, for distinct numbers that so many rows have."""
    order = np.argsort(numbers)
    numbers, counts = numbers[order], counts[order]
    low, high = float(numbers[0]), float(numbers[-1])
    first, middle, last = (_quantile(numbers, counts, share) for share in INNER)
    whole, enough = bool((numbers == np.round(numbers)).all()), counts.sum() >= MIN_ROWS
    inner = last - first
    cut_top, cut_bottom = (enough and inner > 0 and beyond > FAR * inner for beyond in (high - last, first - low))
    if whole and (last if cut_top else high) - (first if cut_bottom else low) < GRID[role]:
        keys: dict[str, Any] = {"bottom" if cut_bottom else "min": int(first if cut_bottom else low)}
        keys |= {"top" if cut_top else "max": int(last if cut_top else high), "step": 1}
        return Scale(keys, "whole numbers" + _ends(keys, low, high))
    if enough and last - middle > SKEWED * (middle - first) and high > 0:
        keys = {"edges": _quantile_edges(numbers, counts, BINS[role] // 2, last)}
        keys["top"] = keys["edges"][-1]
        return Scale(keys, "amounts with a long tail, in bins of about as many rows each" + _ends(keys, low, high))
    keys = {"edges": even_edges(first if cut_bottom else low, last if cut_top else high, BINS[role])}
    keys |= {"bottom": keys["edges"][0]} if cut_bottom else {}
    keys |= {"top": keys["edges"][-1]} if cut_top else {}
    return Scale(keys, "numbers in bins of one width" + _ends(keys, low, high))


def _ends(keys: dict[str, Any], low: float, high: float) -> str:
    """What is said of values that lie far from the others."""
    said = [f"{word} {keys[key]:g} are one value (there are some up to {end:g})" if key == "top" else
            f"{word} {keys[key]:g} are one value (there are some down to {end:g})"
            for key, word, end in (("bottom", "all below", low), ("top", "all from", high)) if key in keys]  # fmt: skip
    return "".join(f"; {one}" for one in said)


def _quantile(numbers: NDArray[np.float64], counts: NDArray[np.int64], share: float) -> float:
    """The number that this share of rows does not exceed."""
    upto = np.cumsum(counts)
    return float(numbers[np.searchsorted(upto, share * upto[-1])])


def _quantile_edges(numbers: NDArray[np.float64], counts: NDArray[np.int64], bins: int, top: float) -> list[float]:
    """Round numbers near quantiles of all but the commonest value, which has a bin of its own where most have it."""
    commonest = int(counts.argmax())
    rest = np.arange(len(numbers)) != commonest
    marks = [_quantile(numbers[rest], counts[rest], share) for share in np.linspace(0, 0.995, bins)]
    if 2 * counts[commonest] > counts.sum():
        marks += [float(numbers[commonest]), *map(float, numbers[commonest + 1 : commonest + 2])]
    edges = sorted({_round_down(mark) for mark in (float(numbers[0]), *marks, top)})
    return [shorten(edge) for edge in edges]


def _round_down(number: float) -> float:
    """The number to two digits, not above it."""
    if number == 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(abs(number))) - 1)
    return shorten(math.floor(number / unit * (1 + 1e-12)) * unit)


def even_edges(low: float, high: float, bins: int) -> list[float]:
    """About `bins` bins of one round width from below `low` to above `high`."""
    rough = max((high - low) / bins, 1e-9 * max(abs(low), abs(high), 1))
    magnitude = 10.0 ** math.floor(math.log10(rough))
    width = next(step * magnitude for step in (1, 2, 5, 10) if step * magnitude >= rough * (1 - 1e-9))
    first = math.floor(low / width)
    first -= shorten(first * width) > low
    edges = [shorten(first * width)]
    while edges[-1] <= high:
        edges.append(shorten((first + len(edges)) * width))
    return edges


def shorten(number: float) -> float:
    """The number in twelve digits, whole if it is."""
    rounded = float(f"{number:.12g}")
    return int(rounded) if rounded.is_integer() else rounded


def clipped(scale: Scale) -> dict[str, Any]:
    """The keys of a numeric column; without one, a number beyond would refuse the file."""
    return {"kind": "numeric", **scale.keys, "off_schema": CLIP, "from_data": list(scale.keys)}
