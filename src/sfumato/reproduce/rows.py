"""Measured numbers with their intervals, and the rows of an experiment, chosen by series and setting."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self, overload

import numpy as np

from sfumato.report.reproduction.document import Row, Scalar

ROUNDING = 1e-12
"""Numbers below are zero but for floating point."""


@dataclass(frozen=True)
class Measured:
    """A measured number and its interval."""

    value: float
    low: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> Self:
        return cls(value, value, value)

    def __str__(self) -> str:
        return self.text(digits=4 if self.low == self.high else 3)

    def text(self, *, percent: bool = False, digits: int = 3) -> str:
        """The number, and its interval in brackets where it has one."""
        shown = [_digits(number, percent, digits) for number in (self.value, self.low, self.high)]
        return shown[0] if self.low == self.high else f"{shown[0]} ({shown[1]} to {shown[2]})"

    def __sub__(self, other: Self) -> Self:
        """The difference of two independent numbers, with the interval that their intervals leave."""
        value = self.value - other.value
        half = float(np.hypot(self._half, other._half))
        return type(self)(value, value - half, value + half)

    def scaled(self, factor: float) -> Self:
        ends = sorted((self.low * factor, self.high * factor))
        return type(self)(self.value * factor, *ends)

    @property
    def _half(self) -> float:
        return (self.high - self.low) / 2


def _digits(number: float, percent: bool, digits: int) -> str:
    number = 0.0 if abs(number) < ROUNDING else number
    if percent:
        return f"{100 * number:.{digits}g}%" if abs(number) < 10 else f"{100 * number:,.0f}%"
    return f"{number:,.{digits}g}" if abs(number) < 10**digits else f"{number:,.0f}"


class Rows(Sequence[Row]):
    """The rows of an experiment, chosen by series and setting."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = list(rows)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        return self._rows[place]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def where(self, series: str | None = None, **setting: Scalar) -> Self:
        """The rows of a series and with these parts of their setting."""
        return type(self)(
            [
                row
                for row in self._rows
                if series in (None, row.series) and all(row.setting.get(key) == one for key, one in setting.items())
            ]
        )

    def sorted(self, name: str) -> Self:
        """The rows by a value or a part of the setting, rising."""
        return type(self)(sorted(self._rows, key=lambda row: float(row.at(name) or 0)))

    def of(self, name: str, series: str | None = None, **setting: Scalar) -> Measured:
        """The value of the one row that is chosen."""
        found = self.where(series, **setting)
        if not len(found):
            raise NotMeasuredError(f"{series or ''} {setting or ''}".strip())
        return measured(found[0], name)

    def all(self, name: str) -> list[Measured]:
        """The values of all rows, of which there must be some."""
        self._expect(name)
        return [measured(row, name) for row in self._rows]

    def numbers(self, name: str) -> list[float]:
        """The values of all rows, or parts of their settings, without intervals; there must be some."""
        self._expect(name)
        return [float(row.at(name) or 0) for row in self._rows]

    def _expect(self, name: str) -> None:
        if not self._rows:
            raise NotMeasuredError(name)

    def series(self) -> list[str]:
        """The series, in order."""
        return list(dict.fromkeys(row.series for row in self._rows))


class NotMeasuredError(LookupError):
    """The rows that a statement asks for are not there: a quick run leaves some out."""


def measured(row: Row, name: str) -> Measured:
    """A value of a row."""
    if name not in row.values:
        raise NotMeasuredError(name)
    value = row.values[name]
    return Measured(value, *row.intervals.get(name, (value, value)))
