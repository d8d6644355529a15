"""The footer of a Parquet file: every text in it, found without knowing what it is for.

Parquet writes its footer in the compact protocol of Thrift: fields with numbers, some of which hold further fields. A
text is known by the numbers on the way to it. So nothing can stand in a field that readers pass over.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import polars as pl

from sfumato.errors import ReleaseError
from sfumato.parameters import MAX_SHOWN

MAGIC = b"PAR1"
LENGTH = 4
MAX_DEPTH = 32
WRITER = (6,)
METADATA = (5, 1), (5, 2)
STATISTICS = (4, 1, 3, 12)
"""Where a footer says who wrote it, where names and texts beside the rows stand, and the extreme values of columns."""
VERSION = rb"version \d{1,3}\.\d{1,3}\.\d{1,3}"
PROGRAMS = re.compile(rb"Polars|Polars \(python\) %b( \(build [0-9a-f]+\))?|parquet-cpp-arrow %b" % (VERSION, VERSION))
ROOTS = {b"root", b"schema"}
"""What programs call all columns together."""
NUMBER = 8
"""Bytes of a number."""
TRUE, FALSE, BYTE, *WHOLE, DOUBLE, TEXT, LIST, SET, _, STRUCT = range(1, 13)
Path = tuple[int, ...]


def foreign_texts(content: bytes, rows: pl.DataFrame) -> list[str]:
    """What the footer of a Parquet file says that is neither about its rows nor about the program that wrote it."""
    if content[:LENGTH] != MAGIC or content[-LENGTH:] != MAGIC:
        raise ReleaseError("this is no Parquet file")
    length = int.from_bytes(content[-2 * LENGTH : -LENGTH], "little")
    footer = content[-2 * LENGTH - length : -2 * LENGTH]
    names, cells = {name.encode() for name in rows.columns} | ROOTS, sorted(_cells(rows))
    reader = _Reader(footer)
    found = [text for path, text in reader.struct(()) if not _is_usual(path, text, names, cells)]
    rest = footer[reader.at :]
    return [repr(text)[:MAX_SHOWN] for text in (*found, *([rest] if rest else []))]


def _cells(rows: pl.DataFrame) -> set[bytes]:
    texts = (rows[name].drop_nulls().unique() for name in rows.columns if rows[name].dtype == pl.String)
    return {text.encode() for column in texts for text in column}


def _is_usual(path: Path, text: bytes, names: set[bytes], cells: Iterable[bytes]) -> bool:
    if path in METADATA:
        return True
    if path == WRITER:
        return PROGRAMS.fullmatch(text) is not None
    if path[: len(STATISTICS)] == STATISTICS:
        # A long text may be cut short, and its last byte raised so that it is still an upper bound.
        return len(text) <= NUMBER or any(cell.startswith(text[:-1]) for cell in cells)
    return text in names


@dataclass
class _Reader:
    """A place in a footer."""

    data: bytes
    at: int = 0

    def struct(self, path: Path) -> Iterator[tuple[Path, bytes]]:
        """The texts in the fields that follow, with the numbers on the way to each."""
        field = 0
        while header := self.take(1)[0]:
            field = field + (header >> 4) if header >> 4 else self.number() // 2
            if header & 15 not in (TRUE, FALSE):
                yield from self.value(header & 15, (*path, field))

    def value(self, kind: int, path: Path) -> Iterator[tuple[Path, bytes]]:
        """The texts in one value; those in a list have the way of the list."""
        if len(path) > MAX_DEPTH:
            raise ReleaseError("the footer of this Parquet file is too deep")
        if kind == TEXT:
            yield path, self.take(self.number())
        elif kind == STRUCT:
            yield from self.struct(path)
        elif kind in (LIST, SET):
            header = self.take(1)[0]
            for _ in range(header >> 4 if header >> 4 < 15 else self.number()):
                yield from self.value(header & 15, path if header & 15 in (TEXT, STRUCT) else (*path, 0))
        elif kind in (TRUE, FALSE, BYTE, DOUBLE):
            self.take(NUMBER if kind == DOUBLE else 1)
        elif kind in WHOLE:
            self.number()
        else:
            raise ReleaseError("the footer of this Parquet file has parts that none has")

    def take(self, size: int) -> bytes:
        part = self.data[self.at : self.at + size]
        if len(part) < size:
            raise ReleaseError("the footer of this Parquet file is cut off")
        self.at += size
        return part

    def number(self) -> int:
        """A number in groups of seven bits, the lowest first."""
        found = shift = 0
        while True:
            (byte,) = self.take(1)
            found |= (byte & 127) << shift
            if byte < 128:
                return found
            shift += 7
