"""Codes as a tree of their beginnings: listed one by one, or all that a pattern spells, of which nothing is stored.

Letters and digits count, punctuation between them does not: the first three of `J45.0` are `J45`. At each level codes
that begin alike are one block; blocks are numbered in order, and the last level has the codes themselves.
"""

import re
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod

from sfumato.errors import SchemaError, quote
from sfumato.schema.numeric import MAX_GRID_POINTS

STAR = "*"
DIGITS = re.compile(r"(\d+)", re.ASCII)
_ELEMENT = re.compile(
    r"(?P<kind>\[(?P<class>(?:[^\[\]]-[^\[\]]|[^\[\]\-])+)\]|\\d|[^\[\]{}\\*,;\"])(?:\{(?P<times>\d{1,2})\})?"
)
_PART = re.compile(r"(.)-(.)|(.)")


def stem(text: str) -> str:
    """What counts of a code."""
    return "".join(filter(str.isalnum, text))


def natural_order(text: str) -> tuple[tuple[bool, int, str, str], ...]:
    """Numbers inside a code by their size, so that 10 comes after 2."""
    parts = [(part, part.lstrip("0")) for part in DIGITS.split(text) if part]
    return tuple((False, len(n), n, part) if DIGITS.fullmatch(part) else (True, 0, "", part) for part, n in parts)


class Prefixes(ABC):
    """The blocks of codes at each of so many lengths, and last the codes."""

    lengths: tuple[int, ...]

    @abstractmethod
    def count(self, level: int) -> int:
        """How many blocks there are at a level; the one below all lengths is that of the codes."""

    @abstractmethod
    def above(self, block: int, level: int, upper: int) -> int:
        """The block at an upper level in which a block lies."""

    @abstractmethod
    def below(self, block: int, level: int, lower: int) -> tuple[int, int]:
        """The first and last block at a lower level that lie in a block."""

    @abstractmethod
    def label(self, block: int, level: int) -> str:
        """A code, or the group of all that begin alike: `75***`, or `J45*` where codes differ in length."""

    @abstractmethod
    def find(self, text: str, level: int) -> int | None:
        """The block at a level in which a code lies, or that begins like this."""

    def find_group(self, label: str) -> tuple[int, int] | None:
        """The block and the level of a label with stars."""
        beginning = stem(label.partition(STAR)[0])
        if len(beginning) not in self.lengths:
            return None
        level = self.lengths.index(len(beginning))
        block = self.find_beginning(beginning, level)
        return None if block is None else (block, level)

    @abstractmethod
    def find_beginning(self, beginning: str, level: int) -> int | None:
        """The block whose codes begin so."""


def masked(code: str, length: int) -> str:
    """A code with stars for what counts beyond a length."""
    shown, counted = [], 0
    for letter in code:
        counted += letter.isalnum()
        shown.append(STAR if letter.isalnum() and counted > length else letter)
    return "".join(shown)


def shape(code: str) -> str:
    """Where a code has letters or digits, and its punctuation."""
    return masked(code, 0)


@dataclass(frozen=True)
class ListedCodes(Prefixes):
    """Codes one by one, sorted so that those that begin alike stand together."""

    codes: tuple[str, ...]
    lengths: tuple[int, ...]

    @staticmethod
    def sorted(codes: Sequence[str], lengths: tuple[int, ...]) -> "ListedCodes":
        """The codes in their natural order, level by level."""

        def key(code: str) -> tuple[object, ...]:
            return (*(natural_order(stem(code)[:length]) for length in lengths), natural_order(code), code)

        return ListedCodes(tuple(sorted(codes, key=key)), lengths)

    @cached_property
    def _blocks(self) -> list[list[str]]:
        """The beginning of each block, by level; of the codes, themselves."""
        stems = [stem(code) for code in self.codes]
        return [*(list(dict.fromkeys(each[:length] for each in stems)) for length in self.lengths), list(self.codes)]

    @cached_property
    def _starts(self) -> list[list[int]]:
        """The first code of each block, by level."""
        found = []
        for length in self.lengths:
            starts, last = [], None
            for place, code in enumerate(self.codes):
                if (beginning := stem(code)[:length]) != last:
                    starts.append(place)
                    last = beginning
            found.append(starts)
        return [*found, list(range(len(self.codes)))]

    @cached_property
    def _place(self) -> list[dict[str, int]]:
        return [{text: block for block, text in enumerate(texts)} for texts in self._blocks]

    @cached_property
    def _alike(self) -> bool:
        """Whether all codes have their letters, digits and punctuation in the same places."""
        return len(set(map(shape, self.codes))) == 1

    def count(self, level: int) -> int:
        return len(self._starts[level])

    def above(self, block: int, level: int, upper: int) -> int:
        return bisect_right(self._starts[upper], self._starts[level][block]) - 1

    def below(self, block: int, level: int, lower: int) -> tuple[int, int]:
        starts = self._starts[level]
        end = starts[block + 1] if block + 1 < len(starts) else len(self.codes)
        return bisect_left(self._starts[lower], starts[block]), bisect_left(self._starts[lower], end) - 1

    def label(self, block: int, level: int) -> str:
        code = self.codes[self._starts[level][block]]
        if level == len(self.lengths):
            return code
        length = self.lengths[level]
        if self._alike:
            return masked(code, length)
        if len(stem(code)) < length:
            return code
        return masked(code, length).partition(STAR)[0].rstrip(".-/ ") + STAR

    def find(self, text: str, level: int) -> int | None:
        code = self._place[-1].get(text)
        return None if code is None else self.above(code, len(self.lengths), level)

    def find_beginning(self, beginning: str, level: int) -> int | None:
        return self._place[level].get(beginning)


@dataclass(frozen=True)
class PatternCodes(Prefixes):
    """All codes that a pattern such as `[A-Z][0-9]{2}` spells; one alphabet or one fixed sign per place."""

    alphabets: tuple[str, ...]
    lengths: tuple[int, ...]

    @staticmethod
    def parse(pattern: str, where: str) -> tuple[str, ...]:
        """The alphabet of each place."""
        places, at = [], 0
        while at < len(pattern):
            match = _ELEMENT.match(pattern, at)
            if match is None:
                expected = "letters, digits and classes such as [A-Z][0-9]{2}"
                raise SchemaError(f"{where}: pattern is {quote(pattern)}; expected {expected}")
            letters = _letters(match["class"] or ("0-9" if match["kind"] == "\\d" else match["kind"]))
            if len(letters) != 1 and not letters.isalnum():
                raise SchemaError(f"{where}: pattern is {quote(pattern)}; expected classes of letters and digits")
            places += [letters] * int(match["times"] or 1)
            at = match.end()
        if prod(map(len, places)) > MAX_GRID_POINTS:
            raise SchemaError(f"{where}: pattern {quote(pattern)} spells too many codes; expected fewer than 2^31")
        if not places:
            raise SchemaError(f"{where}: pattern is empty; expected one such as [0-9]{{5}}")
        return tuple(places)

    @cached_property
    def counted(self) -> list[str]:
        """The alphabets of the places that count."""
        return [letters for letters in self.alphabets if letters[0].isalnum()]

    @cached_property
    def _counts(self) -> list[int]:
        """How many beginnings there are of each length."""
        return list(accumulate(map(len, self.counted), lambda one, other: one * other, initial=1))

    def count(self, level: int) -> int:
        return self._counts[self._length(level)]

    def _length(self, level: int) -> int:
        return self.lengths[level] if level < len(self.lengths) else len(self.counted)

    def above(self, block: int, level: int, upper: int) -> int:
        return block // (self.count(level) // self.count(upper))

    def below(self, block: int, level: int, lower: int) -> tuple[int, int]:
        each = self.count(lower) // self.count(level)
        return block * each, block * each + each - 1

    def label(self, block: int, level: int) -> str:
        known = []
        for letters in self.counted[: self._length(level)][::-1]:
            block, place = divmod(block, len(letters))
            known.append(letters[place])
        signs = iter([*known[::-1], *STAR * len(self.counted)])
        return "".join(next(signs) if letters[0].isalnum() else letters for letters in self.alphabets)

    def find(self, text: str, level: int) -> int | None:
        fits = all(letter in letters for letter, letters in zip(text, self.alphabets, strict=False))
        if not fits or len(text) > len(self.alphabets):
            return None
        return self.find_beginning(stem(text), level)

    def find_beginning(self, beginning: str, level: int) -> int | None:
        length = self._length(level)
        if len(beginning) < length:
            return None
        block = 0
        for letter, letters in zip(beginning[:length], self.counted, strict=False):
            place = letters.find(letter)
            if place < 0:
                return None
            block = block * len(letters) + place
        return block


def _letters(text: str) -> str:
    """The letters of a class such as `A-Z0-9`, each once, in their order."""
    found: list[str] = []
    for first, last, single in _PART.findall(text):
        found += [single] if single else map(chr, range(ord(first), ord(last) + 1))
    return "".join(dict.fromkeys(found))
