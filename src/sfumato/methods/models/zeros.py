"""Structural zeros: cells of a model that a schema declares impossible, which it gives probability zero.

Bins begin where a declared combination begins or ends, so that it is a union of cells. Combinations with too many
borders, or over attributes whose table would be too large, are left to the drawing of rows. It looks at the schema and
at bins that noisy counts made, never at rows.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.methods.models.binning import Attribute
from sfumato.methods.models.junction import Attributes, JunctionTree
from sfumato.methods.models.rows import Columns

MAX_BORDERS = 32
"""Of combinations on one axis, at which bins begin."""
MAX_ZERO_CELLS = 2**16
"""Of all cliques that hold the zeros."""

Inside = Mapping[int, NDArray[np.bool_]]
"""Which positions of some columns a combination holds."""
Borders = dict[str, NDArray[np.int64]]
"""Positions of an axis, by its name, at which a bin begins."""


class Zeros:
    """The combinations that are part of a model, and where they have their borders."""

    def __init__(self, columns: Columns) -> None:
        self.borders: Borders = {}
        self.combinations: list[Inside] = []
        for inside in columns.impossible:
            names = {place: columns.axes[place].name for place in inside}
            edges = {
                names[place]: np.union1d(self.borders.get(names[place], []), np.flatnonzero(np.diff(held)) + 1)
                for place, held in inside.items()
            }
            if all(len(found) <= MAX_BORDERS for found in edges.values()):
                self.borders |= {name: found.astype(np.int64) for name, found in edges.items()}
                self.combinations.append(inside)

    def tables(self, attributes: Sequence[Attribute], common: Attributes) -> dict[Attributes, NDArray[np.bool_]]:
        """Which cells of which tables of bins are impossible, as far as a model with such cliques stays small."""
        sizes = [attribute.bins for attribute in attributes]
        joined: list[Attributes] = [tuple(sorted({number, *common})) for number in range(len(sizes))]
        found: dict[Attributes, NDArray[np.bool_]] = {}
        for inside in self.combinations:
            numbers = tuple(sorted(inside))
            if JunctionTree.over(sizes, [*joined, numbers]).cells > MAX_ZERO_CELLS:
                continue
            joined.append(numbers)
            cells = np.array(True)
            for number in numbers:
                starts = attributes[number].group_starts(attributes[number].views[0])
                cells = np.logical_and.outer(cells, inside[number][starts])
            found[numbers] = found.get(numbers, np.zeros(cells.shape, dtype=np.bool_)) | cells
        return found
