"""What publishing a table costs, in processor seconds and memory, before it is done.

Laws of the form c · rowsᵃ · cellsᵇ · columnsᶜ · positionsᵈ, fitted to what methods took on simulated tables of many
shapes, are kept beside this module. No exponent is negative, so that larger tables never seem cheaper.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Self

import numpy as np

from sfumato.data.extent import Extent

KEPT = Path(__file__).with_name("costs.json")
SIZES = ("rows", "cells", "columns", "positions")
LEAST = 0.01
"""Seconds and gigabytes below which nothing is told apart."""


@dataclass(frozen=True, kw_only=True)
class Law:
    """A power of each size, the least that was measured, and by what factor nine of ten figures are off at most."""

    factor: float
    powers: Sequence[float]
    least: float
    off: float

    def at(self, extent: Extent) -> float:
        """What it comes to on a table."""
        sizes = np.array([max(getattr(extent, size), 1) for size in SIZES], dtype=np.float64)
        return max(float(self.factor * np.prod(np.power(sizes, self.powers))), self.least)

    @classmethod
    def fitted(cls, extents: Sequence[Extent], figures: Sequence[float]) -> Self:
        """The law that comes nearest to the logarithms of some figures."""
        from scipy.optimize import nnls

        logs = np.log([[max(getattr(extent, size), 1) for size in SIZES] for extent in extents])
        wanted = np.log(np.maximum(figures, LEAST))
        free = np.column_stack([logs, np.ones(len(logs)), -np.ones(len(logs))])
        found, _ = nnls(free, wanted)
        off = np.quantile(np.abs(free @ found - wanted), 0.9)
        powers = [round(float(power), 3) for power in found[: len(SIZES)]]
        factor = float(np.exp(found[-2] - found[-1]))
        return cls(factor=factor, powers=powers, least=float(min(figures)), off=float(np.exp(off)))


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Processor seconds and gigabytes, and the factor by which either may be off."""

    seconds: float
    gigabytes: float
    off: float


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What was measured: reading files of text and others, and publishing by each method once cells are counted."""

    machine: str
    text: Law
    binary: Law
    seconds: Mapping[str, Law]
    gigabytes: Mapping[str, Law]

    @classmethod
    @cache
    def kept(cls) -> Self:
        """The figures that are kept with the program."""
        found = json.loads(KEPT.read_text(encoding="utf-8"))
        return cls(
            machine=found["machine"],
            text=Law(**found["text"]),
            binary=Law(**found["binary"]),
            seconds={name: Law(**law) for name, law in found["seconds"].items()},
            gigabytes={name: Law(**law) for name, law in found["gigabytes"].items()},
        )

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"

    def reading(self, extent: Extent) -> float:
        """Processor seconds for reading the rows and counting cells."""
        return (self.text if extent.text else self.binary).at(extent)

    def publishing(self, method: str, extent: Extent) -> Cost:
        """What the whole of `sfumato publish` costs by a method."""
        seconds, gigabytes = self.seconds[method], self.gigabytes[method]
        return Cost(
            seconds=self.reading(extent) + seconds.at(extent),
            gigabytes=gigabytes.at(extent),
            off=max(seconds.off, gigabytes.off),
        )
