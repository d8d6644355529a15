"""Edges of bins: of one width, or the wider the larger the numbers are, as amounts with a long tail need."""

import math

from sfumato.schema.numeric import GRID_TOLERANCE, spell_number

MAX_BINS = 1_000_000
DIGITS = {1: (1,), 2: (1, 3), 3: (1, 2, 5)}
"""Round numbers that cut a decade into parts of about the same ratio."""
MAX_PER_DECADE = 100


def even_edges(low: float, high: float, width: float) -> tuple[float, ...]:
    """As many edges of one width from `low` on as it takes to reach `high`."""
    bins = math.ceil((high - low) / width - GRID_TOLERANCE)
    return tuple(float(spell_number(low + i * width, width * GRID_TOLERANCE)) for i in range(bins + 1))


def log_edges(low: float, high: float, per_decade: int) -> tuple[float, ...]:
    """Edges from `low`, which is above 0, to `high`, at about so many round numbers in each power of ten."""
    digits = DIGITS.get(per_decade) or sorted({round(10 ** (i / per_decade), 2) for i in range(per_decade)})
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    between = (float(spell_number(digit * 10.0**decade)) for decade in decades for digit in digits)
    return (low, *(edge for edge in between if low < edge < high), high)


def with_open_ends(edges: tuple[float, ...], bottom: float | None, top: float | None) -> tuple[float, ...]:
    """The edges with a bin for all below `bottom` and one for all from `top` on."""
    if bottom is not None:
        edges = (-math.inf, *((bottom,) if edges[0] > bottom else ()), *edges)
    if top is not None:
        edges = (*edges, *((top,) if edges[-1] < top else ()), math.inf)
    return edges
