"""Numbers on a public grid: `min`, `max` and `step`, or bins for wide ranges such as incomes.

A grid point stands for one exact value; a bin `[a, b)` for all values in it. Neither costs anything per unit
of the range: nothing is stored per code. Where an end is open, its value stands for all beyond as well: top coding.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import SchemaError, quote
from sfumato.schema.axis import AS_MISSING, CLIP, MISSING, REFUSE, ROUND, UNKNOWN, Axis
from sfumato.schema.taxonomy import ANY, HalvedNode, Node, check_labels, to_nested

MAX_GRID_POINTS = 2**31 - 2
GRID_TOLERANCE = 1e-6
POINT, COMMA = ".", ","
"""What can stand before the fraction of a number."""

_NUMBER = r"([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)"
_BRACKETS = re.compile(rf"([\[(\]])\s*{_NUMBER}\s*[,;]\s*{_NUMBER}\s*([\])\[])$")
_DASH = re.compile(rf"{_NUMBER}\s*(?:-|–|\.\.|to)\s*{_NUMBER}$")
_BOUND = re.compile(rf"(<=|>=|<|>|≤|≥)\s*{_NUMBER}$")
_PLUS = re.compile(rf"{_NUMBER}\s*\+$")
_SET = re.compile(r"\{(.*)\}$")


def spell_number(value: float, tolerance: float = 0.0) -> str:
    """The shortest spelling of a number that reads back within the tolerance, in twelve digits if that will do."""
    for digits in (12, 15):
        text = format(value, f".{digits}g")
        if abs(float(text) - value) <= tolerance:
            break
    else:
        text = format(value, ".17g")
    return str(int(value)) if "e+" in text and float(value).is_integer() else text


@dataclass(frozen=True, kw_only=True)
class NumericAxis(Axis):
    """A grid of numbers (`minimum`, `maximum`, `step`) or, with `edges`, bins `[edges[i], edges[i+1])`.

    A grid with an open end has `top` or `bottom`: its last or first value stands for all beyond too. The outer bin of
    open edges ends at infinity.
    """

    kind: ClassVar[str] = "numeric"
    spaced: ClassVar[bool] = True
    minimum: float = 0
    maximum: float = 0
    step: float = 1
    edges: tuple[float, ...] = ()
    tree: Node | None = None
    decimal: str = POINT
    """In text, a comma may stand for the point."""
    top: bool = False
    bottom: bool = False

    def __post_init__(self) -> None:
        where = f"column {self.name!r}"
        usual = ("", CLIP) if self.edges else ("", CLIP, ROUND)
        if self.off_schema not in usual and not (self.off_schema == AS_MISSING and self.nullable):
            words = f"{REFUSE}, {CLIP}" if self.edges else f"{REFUSE}, {CLIP}, {ROUND}"
            expected = f"{words} or {AS_MISSING} (with nullable = true)"
            raise SchemaError(f"{where}: off_schema is {quote(self.off_schema)}; expected {expected}")
        if self.tree:
            check_labels(self.tree, where)
        if self.edges:
            if len(self.edges) < 2 or any(a >= b for a, b in zip(self.edges, self.edges[1:], strict=False)):
                raise SchemaError(f"{where}: edges must be at least two numbers that rise")
            if not all(map(math.isfinite, self.finite_edges)) or not self.finite_edges:
                raise SchemaError(f"{where}: edges must be finite numbers")
            return
        if not all(map(math.isfinite, (self.minimum, self.maximum, self.step))):
            raise SchemaError(f"{where}: min, max and step must be finite numbers")
        if self.step <= 0:
            raise SchemaError(f"{where}: step is {spell_number(self.step)}; it must be above 0")
        if self.maximum < self.minimum:
            raise SchemaError(f"{where}: max {spell_number(self.maximum)} lies below min {spell_number(self.minimum)}")
        if self.maximum == self.minimum and (self.top or self.bottom):
            raise SchemaError(f"{where}: all numbers are one value; expected a top above the bottom")
        steps = (self.maximum - self.minimum) / self.step
        if steps > MAX_GRID_POINTS:
            raise SchemaError(f"{where}: {steps:.3g} grid points are too many; use a larger step, or edges")
        if abs(steps - round(steps)) > GRID_TOLERANCE:
            raise SchemaError(
                f"{where}: max {spell_number(self.maximum)} is not a whole number of steps "
                f"({spell_number(self.step)}) above min {spell_number(self.minimum)}"
            )

    @cached_property
    def finite_edges(self) -> tuple[float, ...]:
        """The edges without those at infinity, which outer bins have that are open."""
        first, last = self.edges[0] == -math.inf, len(self.edges) - (self.edges[-1] == math.inf)
        return self.edges[first:last]

    @property
    def open_above(self) -> bool:
        """Whether the last value stands for all numbers above as well."""
        return self.edges[-1] == math.inf if self.edges else self.top

    @property
    def open_below(self) -> bool:
        """Whether the first value stands for all numbers below as well."""
        return self.edges[0] == -math.inf if self.edges else self.bottom

    @cached_property
    def size(self) -> int:
        return len(self.edges) - 1 if self.edges else round((self.maximum - self.minimum) / self.step) + 1

    @cached_property
    def taxonomy(self) -> Node:
        return self.tree or HalvedNode(ANY, 0, self.size - 1)

    @cached_property
    def _node_intervals(self) -> dict[str, tuple[int, int]]:
        return {node.label: (node.lo, node.hi) for node in self.tree.walk()} if self.tree else {}

    @property
    def expected(self) -> str:
        first, last = (self.edges[0], self.edges[-1]) if self.edges else (self.minimum, self.maximum)
        low = "" if self.open_below else f" from {spell_number(first)}"
        high = f" to {'below ' * bool(self.edges)}{spell_number(last)}"
        if self.open_above:
            high = " on" if low else ""
        steps = "" if self.step == 1 or self.edges else f" in steps of {spell_number(self.step)}"
        whole = not self.edges and self.step == 1 and self.minimum == int(self.minimum)
        return f"{'a whole number' if whole else 'a number'}{low}{high}{steps}"

    def spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = {"kind": self.kind}
        if self.edges:
            spec["edges"] = list(self.finite_edges)
            spec |= {"bottom": self.edges[1]} if self.open_below else {}
            spec |= {"top": self.edges[-2]} if self.open_above else {}
        else:
            low, high = "bottom" if self.bottom else "min", "top" if self.top else "max"
            spec |= {low: self.minimum, high: self.maximum, "step": self.step}
        if self.tree:
            spec["taxonomy"] = to_nested(self.tree)
        if self.decimal != POINT:
            spec["decimal"] = self.decimal
        return spec

    @property
    def refuses(self) -> bool:
        return self.off_schema in ("", ROUND)

    def encode(self, values: Sequence[object] | NDArray[np.float64]) -> NDArray[np.int32]:
        numbers = np.asarray(values, dtype=np.float64)
        codes = np.full(len(numbers), UNKNOWN, dtype=np.int32)
        with np.errstate(invalid="ignore"):
            if self.edges:
                inside = (numbers >= self.edges[0]) & ((numbers < self.edges[-1]) | self.open_above)
                codes[inside] = self._bins(numbers[inside])
                return codes
            steps = (numbers - self.minimum) / self.step
            nearest = np.round(steps)
            on_grid = (np.abs(steps - nearest) <= GRID_TOLERANCE) & (nearest >= 0) & (nearest < self.size)
            beyond = ((numbers > self.maximum) & self.top) | ((numbers < self.minimum) & self.bottom)
            nearest[beyond] = np.where(numbers[beyond] > self.minimum, self.size - 1, 0)
            on_grid |= beyond
        codes[on_grid] = nearest[on_grid].astype(np.int32)
        return codes

    def _bins(self, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """The bin of each number, the nearest of what is outside."""
        return np.clip(np.searchsorted(np.asarray(self.edges), numbers, side="right") - 1, 0, self.size - 1)

    def _stand_ins(
        self, codes: NDArray[np.int32], values: Sequence[object] | NDArray[np.float64]
    ) -> int | NDArray[np.int32]:
        """The nearest value; for what is no number the missing value, or the smallest where none may be missing.

        Where values are rounded alone, one beyond the ends of the grid stays off it, and so does what is no number.
        """
        if self.off_schema == AS_MISSING:
            return MISSING
        numbers = np.where(codes == MISSING, np.nan, np.asarray(values, dtype=np.float64))
        no_number = np.isnan(numbers)
        numbers[no_number] = 0.0
        if self.edges:
            nearest = self._bins(numbers).astype(np.float64)
        else:
            with np.errstate(over="ignore"):
                nearest = np.round((numbers - self.minimum) / self.step)
        found = np.clip(nearest, 0, self.size - 1)
        if self.off_schema == ROUND:
            beyond = no_number | (numbers < self.minimum) | (numbers > self.maximum)
            return np.where(beyond, codes, found).astype(np.int32)
        found[no_number] = MISSING if self.nullable else 0
        return found.astype(np.int32)

    def value(self, code: int) -> float:
        """The number at a grid point, or the lower edge of a bin."""
        return self.edges[code] if self.edges else self.minimum + code * self.step

    def raw_spelling(self, code: int) -> str:
        value = self.value(code)
        if value == -math.inf:
            value = self.edges[1] - 1
        return spell_number(value, 0 if self.edges else self.step * GRID_TOLERANCE / 2)

    def worths(self, codes: NDArray[np.integer]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the most that the numbers at some codes can be: those of a bin lie between its edges.

        Beyond an open end a number can be anything, and its edge stands here; whoever adds up has to leave it out.
        """
        if self.edges:
            edges = np.clip(np.asarray(self.edges, dtype=np.float64), self.finite_edges[0], self.finite_edges[-1])
            return edges[codes], edges[codes + 1]
        numbers = np.asarray(self.minimum + codes.astype(np.float64) * self.step)
        return numbers, numbers

    def _spell(self, lo: int, hi: int) -> str:
        slack = 0 if self.edges else self.step * GRID_TOLERANCE / 2
        if self.open_above and hi == self.size - 1:
            return f">= {spell_number(self.value(lo), slack)}"
        if self.open_below and lo == 0:
            return (
                f"< {spell_number(self.edges[hi + 1])}" if self.edges else f"<= {spell_number(self.value(hi), slack)}"
            )
        if self.edges:
            return f"[{spell_number(self.value(lo))}, {spell_number(self.edges[hi + 1])})"
        first, last = spell_number(self.value(lo), slack), spell_number(self.value(hi), slack)
        return first if lo == hi else f"[{first}, {last}]"

    def _parse_values(self, text: str) -> tuple[int, int] | None:
        bounds = self._bounds(text)
        interval = None if bounds is None else self._interval(*bounds)
        ours = interval is not None and self._spell(*interval) == text
        return interval if ours else self._node_intervals.get(text, interval)

    def _bounds(self, text: str) -> tuple[float, bool, float, bool] | None:
        """Lower and upper bound of a label, each with whether the bound itself belongs to it."""
        if match := _BRACKETS.match(text):
            opening, low, high, closing = match.groups()
            return float(low), opening == "[", float(high), closing == "]"
        if match := _BOUND.match(text):
            sign, number = match.groups()
            inclusive = sign not in ("<", ">")
            if sign in ("<", "<=", "≤"):
                return -math.inf, True, float(number), inclusive
            return float(number), inclusive, math.inf, True
        if match := _PLUS.match(text):
            return float(match.group(1)), True, math.inf, True
        if match := _SET.match(text):
            numbers = [_parse_number(part) for part in match.group(1).split(",")]
            present = [number for number in numbers if number is not None]
            return (min(present), True, max(present), True) if len(present) == len(numbers) else None
        number = _parse_number(text)
        if number is not None:
            return number, True, number, True
        if match := _DASH.match(text):
            return float(match.group(1)), True, float(match.group(2)), True
        return None

    def _interval(self, low: float, with_low: bool, high: float, with_high: bool) -> tuple[int, int] | None:
        if math.isnan(low) or math.isnan(high) or low > high:
            return None
        first, end = self.codes_below(low, inclusive=not with_low), self.codes_below(high, inclusive=with_high)
        if self.edges:
            first = max(self.codes_below(low, inclusive=True) - 1, 0) if low < self.edges[-1] else self.size
        return (first, end - 1) if first < end else None

    def count_below(self, text: str, *, inclusive: bool) -> int | None:
        number = _parse_number(text)
        return None if number is None or math.isnan(number) else self.codes_below(number, inclusive=inclusive)

    def codes_below(self, number: float, *, inclusive: bool) -> int:
        """How many values lie below the number, or at it if `inclusive`; a bin stands for its lower edge."""
        if self.edges:
            return int(np.searchsorted(self.edges[:-1], number, side="right" if inclusive else "left"))
        steps = min(max((number - self.minimum) / self.step, -1.0), float(self.size))
        below = math.floor(steps + GRID_TOLERANCE) + 1 if inclusive else math.ceil(steps - GRID_TOLERANCE)
        return min(max(below, 0), self.size)


def _parse_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
