"""Codes whose beginnings are their hierarchy: postal codes, ICD, industries, occupations.

A group of codes that begin alike is published as `75***` or `J45*`, other neighbours as `[75***, 77***]`. Codes that a
pattern spells are not listed anywhere, so that an axis of millions costs nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import SchemaError, quote
from sfumato.schema.axis import AS_MISSING, MISSING, OR_MISSING, REFUSE, RESERVED_LABELS, UNKNOWN, Axis
from sfumato.schema.prefixes import STAR, ListedCodes, PatternCodes, Prefixes, stem
from sfumato.schema.taxonomy import ANY, LazyNode, Node, as_label

KEYS = {"values", "pattern", "digits", "levels", "coarsen", "ordered", "off_schema"}
MAX_DIGITS = 9
PUNCTUATION = frozenset('[]{},;"*')
"""What labels of groups are made of, and codes may not have."""


@dataclass(frozen=True, kw_only=True)
class CodeAxis(Axis):
    """The codes of `prefixes` or, coarsened, their groups so many levels up; `pattern` spells them if they do not
    stand in a list."""

    kind: ClassVar[str] = "code"
    prefixes: Prefixes = field(repr=False)
    pattern: str = ""
    coarsen: int = 0
    ordered: bool = False

    def __post_init__(self) -> None:
        if self.off_schema and self._stand_in is None:
            expected = f"{REFUSE}, {AS_MISSING} (with nullable = true) or one of the values"
            raise SchemaError(f"column {self.name!r}: off_schema is {quote(self.off_schema)}; expected {expected}")

    @classmethod
    def declared(cls, name: str, spec: dict[str, Any]) -> Self:
        """The axis of a column in a schema."""
        where = f"column {name!r}"
        given = [key for key in ("values", "pattern", "digits") if key in spec]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            raise SchemaError(f"{where}: {found} is given; expected one of values, pattern and digits")
        pattern, ordered = spec.get("pattern", ""), spec.get("ordered", False)
        if "digits" in spec:
            pattern = f"[0-9]{{{_whole(spec['digits'], 1, MAX_DIGITS, f'{where}: digits')}}}"
        if not isinstance(pattern, str) or not isinstance(ordered, bool):
            raise SchemaError(f"{where}: pattern is {quote(pattern)}, ordered {quote(ordered)}; expected text, a truth")
        prefixes = _prefixes(spec, pattern, where)
        axis = cls(name=name, prefixes=prefixes, pattern=pattern, ordered=ordered)
        levels = _whole(spec.get("coarsen", 0), 0, len(prefixes.lengths), f"{where}: coarsen")
        return axis.coarsened(levels) if levels else axis

    @property
    def _level(self) -> int:
        """The level of the tree at which the values are."""
        return len(self.prefixes.lengths) - self.coarsen

    @cached_property
    def size(self) -> int:
        return self.prefixes.count(self._level)

    @property
    def comparable(self) -> bool:
        return self.ordered

    @cached_property
    def taxonomy(self) -> Node:
        return LazyNode(ANY, 0, self.size - 1, (), 0, self._level + 1, self._parts)

    def _parts(self, lo: int, hi: int, depth: int) -> Iterator[tuple[str, int, int]]:
        level = depth - 1
        first, last = (self.prefixes.above(code, self._level, level) for code in (lo, hi))
        for block in range(first, last + 1):
            yield self.prefixes.label(block, level), *self.prefixes.below(block, level, self._level)

    @property
    def expected(self) -> str:
        shown = [self.prefixes.label(code, self._level) for code in range(min(self.size, 6))]
        if self.pattern:
            return f"a code from {shown[0]} to {self.prefixes.label(self.size - 1, self._level)}"
        more = f" and {self.size - 6} more" if self.size > 6 else ""
        return f"one of {', '.join(map(repr, shown))}{more}"

    def spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = {"kind": self.kind}
        if isinstance(self.prefixes, ListedCodes):
            spec["values"] = list(self.prefixes.codes)
        else:
            spec["pattern"] = self.pattern
        spec["levels"] = list(self.prefixes.lengths)
        return spec | ({"coarsen": self.coarsen} if self.coarsen else {}) | ({"ordered": True} if self.ordered else {})

    @property
    def levels_above(self) -> int:
        return self._level

    def coarsened(self, levels: int) -> Self:
        if not 0 < levels <= self.levels_above:
            return super().coarsened(levels)
        stand_in = self._stand_in
        coarser = replace(self, coarsen=self.coarsen + levels, off_schema="")
        if stand_in is None or stand_in == MISSING:
            return replace(coarser, off_schema=self.off_schema)
        above = self.prefixes.above(stand_in, self._level, coarser._level)
        return replace(coarser, off_schema=self.prefixes.label(above, coarser._level))

    def codes_in(self, coarser: Self) -> NDArray[np.int64]:
        if self.pattern:
            return np.arange(self.size, dtype=np.int64) // (self.size // coarser.size)
        codes = (self.prefixes.above(code, self._level, coarser._level) for code in range(self.size))
        return np.fromiter(codes, dtype=np.int64, count=self.size)

    def encode(self, values: Sequence[object] | NDArray[np.float64]) -> NDArray[np.int32]:
        codes = (self._code(str(value).strip()) for value in values)
        return np.fromiter((UNKNOWN if code is None else code for code in codes), dtype=np.int32, count=len(values))

    def _code(self, text: str) -> int | None:
        """The value in which a code lies, or that it names."""
        for spelled in (text, as_label(text)):
            code = self.prefixes.find(spelled, self._level)
            if code is not None:
                return code
        interval = self._group(text) if STAR in text else None
        return interval[0] if interval and interval[0] == interval[1] else None

    @cached_property
    def _stand_in(self) -> int | None:
        """The code that stands for values off the schema."""
        code = self._code(self.off_schema)
        return MISSING if code is None and self.off_schema == AS_MISSING and self.nullable else code

    def _stand_ins(self, codes: NDArray[np.int32], values: Sequence[object] | NDArray[np.float64]) -> int:
        assert self._stand_in is not None
        return self._stand_in

    def _spell(self, lo: int, hi: int) -> str:
        if lo == hi:
            return self.prefixes.label(lo, self._level)
        for level in range(self._level):
            first, last = (self.prefixes.above(code, self._level, level) for code in (lo, hi))
            begins = self.prefixes.below(first, level, self._level)[0]
            if (begins, self.prefixes.below(last, level, self._level)[1]) == (lo, hi):
                ends = [self.prefixes.label(block, level) for block in (first, last)]
                return ends[0] if first == last else f"[{ends[0]}, {ends[1]}]"
        return f"[{self.prefixes.label(lo, self._level)}, {self.prefixes.label(hi, self._level)}]"

    def _parse_values(self, text: str) -> tuple[int, int] | None:
        inside = text[1:-1] if text[:1] + text[-1:] in ("[]", "{}") else None
        if inside is None:
            return self._group(text)
        found = [self._group(part.strip()) for part in inside.replace(";", ",").split(",")]
        known = [part for part in found if part]
        if len(known) < len(found) or (text[0] == "[" and len(known) != 2):
            return None
        lo, hi = min(lo for lo, _ in known), max(hi for _, hi in known)
        return (lo, hi)

    def _group(self, text: str) -> tuple[int, int] | None:
        """The values that a code or the label of a group stands for."""
        if STAR not in text:
            code = self._code(text)
            return None if code is None else (code, code)
        found = self.prefixes.find_group(text)
        if found is None:
            return None
        block, level = found
        if level < self._level:
            return self.prefixes.below(block, level, self._level)
        return (self.prefixes.above(block, level, self._level),) * 2


def _whole(value: object, least: int, most: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise SchemaError(f"{what} is {quote(value)}; expected a whole number from {least} to {most}")
    return value


def _prefixes(spec: dict[str, Any], pattern: str, where: str) -> Prefixes:
    if "values" not in spec:
        alphabets = PatternCodes.parse(pattern, where)
        length = sum(letters[0].isalnum() for letters in alphabets)
        return PatternCodes(alphabets, _lengths(spec.get("levels", list(range(1, length))), length - 1, where))
    values = spec["values"]
    if not isinstance(values, list) or not values or not all(isinstance(value, str | int) for value in values):
        raise SchemaError(f"{where}: values is {quote(values)}; expected a list of codes")
    codes = [str(value).strip() for value in values]
    stems = set[str]()
    for code in codes:
        if PUNCTUATION & set(code) or not stem(code) or code in RESERVED_LABELS or code.endswith(OR_MISSING):
            raise SchemaError(f"{where}: {quote(code)} is no code; expected letters and digits, or kind = categorical")
        if stem(code) in stems:
            raise SchemaError(f"{where}: values names {quote(code)} twice, punctuation aside; expected different codes")
        stems.add(stem(code))
    longest = max(map(len, stems))
    return ListedCodes.sorted(codes, _lengths(spec.get("levels", default_levels(codes)), longest, where))


def default_levels(codes: Sequence[str]) -> list[int]:
    """Every length of a beginning; none for plain numbers of different lengths, where 1 and 10 have nothing in
    common."""
    lengths = {len(stem(code)) for code in codes}
    if len(lengths) > 1 and all(code.isdecimal() and not code.startswith("0") for code in codes if code != "0"):
        return []
    return list(range(1, max(lengths)))


def _lengths(given: object, most: int, where: str) -> tuple[int, ...]:
    known = [one for one in given if type(one) is int and 0 < one <= most] if isinstance(given, list) else []
    if known != given or known != sorted(set(known)):
        expected = f"lengths of beginnings that rise, from 1 to {most}"
        raise SchemaError(f"{where}: levels is {quote(given)}; expected {expected}")
    return tuple(known)
