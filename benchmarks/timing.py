"""Timing and reporting: what was asked, what was got."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Result:
    """One line of the benchmark table."""

    what: str
    asked: str
    got: str
    met: bool


def best_of(repeats: int, function: Callable[[], object]) -> float:
    """The shortest of several runs in seconds; the machine's noise only ever adds."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return min(times)


def ratio(what: str, asked: float, peer: float, ours: float, unit: Literal["s", "µs"] = "s") -> Result:
    """A speed-up over a peer measured in the same run, both in seconds, shown in the unit."""
    times = f"{peer:.2f} s against {ours:.4f} s" if unit == "s" else f"{1e6 * peer:.1f} µs against {1e6 * ours:.3g} µs"
    got = f"{peer / ours:,.0f}x ({times})"
    return Result(what, f"at least {asked:g}x", got, peer / ours >= asked)


def at_most(what: str, asked: float, got: float, unit: str) -> Result:
    """A figure that must not exceed its target."""
    return Result(what, f"at most {asked:g} {unit}", f"{got:.3g} {unit}", got <= asked)
