"""How large a table is, as far as its first piece tells: enough to say what work on it will cost."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.data.encode import encode_values
from sfumato.data.formats import CSV, find_format
from sfumato.data.keys import KeyCounts, Keys
from sfumato.data.source import Source
from sfumato.schema import Schema


@dataclass(frozen=True, kw_only=True)
class Extent:
    """Rows, their distinct combinations of values (cells), and the columns that make them."""

    rows: int
    cells: int
    columns: int
    positions: int
    """Values of all columns together."""
    text: bool = True
    """Whether the rows stand in files of text."""

    @classmethod
    def of(cls, source: Any, schema: Schema) -> Self:
        """The extent of a source, estimated from its first piece; rows should stand in no particular order."""
        found = Source.of(source)
        names = [axis.name for axis in schema.axes]
        piece = next(found.pieces(names, empty=True, reading="lenient"))
        codes = [
            encode_values(piece.frame[axis.name], axis, schema.missing, piece.where).to_numpy().clip(-1)
            for axis in schema.axes
        ]
        counts = KeyCounts(Keys([axis.size for axis in schema.axes]), ("rows",))
        counts.add(codes, rows=np.ones(piece.frame.height, dtype=np.int64))
        _, (often,) = counts.sorted()
        rows = max(round(piece.frame.height / piece.done), piece.frame.height)
        return cls(
            rows=rows,
            cells=expected_cells(often, rows, math.prod(axis.positions for axis in schema.axes)),
            columns=len(names),
            positions=sum(axis.positions for axis in schema.axes),
            text=any(_is_text(path) for path in found.files),
        )


def expected_cells(often: NDArray[np.int64], rows: int, most: float = math.inf) -> int:
    """How many distinct cells so many rows have, of which some show how often each of theirs occurs.

    Between two estimates, in the middle of their logarithms. One is low where cells are very unequal: with f₁ and f₂
    cells seen once and twice among m rows, there are about f₀ = (m − 1)/m · f₁(f₁ − 1) / 2(f₂ + 1) more, of which
    further rows find f₀ (1 − (1 − f₁ / (m f₀ + f₁))^(rows − m)) (Chao et al., 2014, equation 9). The other is high
    where few are left to be found: cells go on growing as fast as from half of these rows to all of them. There are
    `most` at most.
    """
    seen, some = len(often), int(often.sum())
    once, twice = int((often == 1).sum()), int((often == 2).sum())
    if some >= rows or once < 2:
        return seen
    unseen = (some - 1) / some * once * (once - 1) / (2 * (twice + 1))
    found = -np.expm1((rows - some) * np.log1p(-once / (some * unseen + once)))
    low = min(seen + unseen * float(found), most, rows)
    half = (1 - 0.5**often).sum()
    high = min(seen * (rows / some) ** math.log2(seen / half), most, rows)
    return round(math.sqrt(low * max(high, low)))


def _is_text(path: Path) -> bool:
    found = find_format(path)
    return found is None or found[1] is CSV
