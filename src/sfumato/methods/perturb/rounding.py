"""Rounding: numeric quasi-identifiers to a base, all other columns as they are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.errors import ParameterError
from sfumato.mechanisms.noise import Source
from sfumato.methods.base import Method
from sfumato.methods.positions import boxes_of_positions, positions_of
from sfumato.parameters import parameter
from sfumato.privacy.claims import NoGuarantee
from sfumato.release.histograms import histograms_of
from sfumato.release.release import Release
from sfumato.schema import Axis, NumericAxis

TRIED = 10
"""The base that a frontier tries."""


@dataclass(frozen=True, kw_only=True)
class Rounding(Method):
    """Numeric quasi-identifiers rounded to multiples of `base` steps of their grid, or of so many bins.

    A rounded number is published as the range of what is rounded to it, which says the same. Halves are rounded up, and
    what is missing stays so.

    Claim: none. A person whose other values nobody else has stays alone.
    Assumes: nothing.
    Cost: O(points log points).
    Reference: Willenborg and de Waal, Elements of statistical disclosure control, 2001, section 1.4.

    >>> sf.Rounding(base=10).publish(table).rows
    400.0
    """

    name: ClassVar[str] = "rounding"
    title: ClassVar[str] = "Rounding"
    base: int = parameter(
        help="to multiples of how many steps of the grid, or bins, numbers are rounded",
        minimum=1,
        example=5,
        label=" {}",
    )

    def refuse(self, table: Table) -> None:
        super().refuse(table)
        if not _suits(table):
            raise ParameterError(
                f"rounding changes numeric quasi-identifiers, and {table.schema.name!r} has none; use another method"
            )

    def _publish(self, table: Table, source: Source) -> Release:
        axes, positions = table.schema.quasi, positions_of(table).astype(np.int64)
        ranges = [self.ranges(axis, column) for axis, column in zip(axes, positions.T, strict=True)]
        low, high = (np.column_stack(sides) for sides in zip(*ranges, strict=True))
        _, first, class_of = np.unique(low, axis=0, return_index=True, return_inverse=True)
        class_of = class_of.reshape(-1)
        number = class_of[table.cell_point]
        histograms = histograms_of(number, table.cell_value, table.cell_weight, len(first), table.values)
        boxes = boxes_of_positions(low[first], high[first], axes)
        return self.make_release(table, boxes, histograms, kept=table.kept_rows(class_of))

    def ranges(self, axis: Axis, positions: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first and the last position of what is rounded like each of some positions.

        A number is b · ⌊(s + b / 2) / b⌋ for s steps from zero, so one that is rounded to m · b has between
        ⌈(m − ½) b⌉ and ⌈(m + ½) b⌉ − 1 of them.
        """
        if not isinstance(axis, NumericAxis):
            return positions, positions
        start = 0 if axis.edges else round(axis.minimum / axis.step)
        multiple = (2 * (positions + start) + self.base) // (2 * self.base)
        low = -((-(2 * multiple - 1) * self.base) // 2) - start
        high = -((-(2 * multiple + 1) * self.base) // 2) - 1 - start
        missing = positions >= axis.size
        return (
            np.where(missing, positions, np.maximum(low, 0)),
            np.where(missing, positions, np.minimum(high, axis.size - 1)),
        )

    @property
    def claim(self) -> NoGuarantee:
        return NoGuarantee(
            reason=f"numbers are rounded to multiples of {self.base} steps and all else is as it was; a class may be "
            "one person"
        )

    @classmethod
    def grid(cls, table: Table, epsilons: Sequence[float] = ()) -> Iterator[Self]:
        if _suits(table):
            yield cls(base=TRIED)


def _suits(table: Table) -> bool:
    return any(axis.kind == "numeric" for axis in table.schema.quasi)
