"""Estimates from resampled reports: how an estimate varies where no formula says so, and a check where one does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def resampled(
    counts: NDArray[np.int64],
    solve: Callable[[Floats], Floats],
    generator: np.random.Generator,
    repeats: int,
) -> Floats:
    """Shares estimated from as many reports as there are, drawn again and again from those there are: (repeats, size).

    `solve` gives the shares of values for observed shares of reports. The generator is given, so that the same counts
    give the same intervals: nothing here protects anyone.
    """
    if repeats < 2:
        raise ParameterError(f"{repeats} repeats show no variation; expected at least 2")
    reports = int(counts.sum())
    draws = generator.multinomial(reports, counts / reports, size=repeats)
    return np.array([solve(draw / reports) for draw in draws])
