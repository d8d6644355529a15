"""Files of text in blocks that end where a line does, so that a file larger than memory is read like a small one.

A quotation mark may open a cell that goes on over several lines, so a block ends at a line break with an even number of
marks before it. Where marks stand so that no block can be told from the next, the rest of the file is one block.
"""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, cast

import numpy as np

from sfumato.data.lines import LINE, MARK, marks_are_closed

BLOCK = 2**25
"""Bytes that are read at a time."""
COMPRESSED = ".gz"


class Block(NamedTuple):
    """The header and whole lines, and what share of the file is read after them."""

    text: bytes
    done: float


def read_blocks(path: Path, separator: str) -> Iterator[Block]:
    """All lines of a file, each block of them below the header; at least one block."""
    size = max(path.stat().st_size, 1)
    with open_text(path) as file:
        raw = getattr(file, "fileobj", file)
        rest, header, at_once, some = b"", b"", BLOCK, False
        while chunk := file.read(at_once):
            rest += chunk
            if len(chunk) < at_once:
                break
            header = header or _header_of(rest)
            end = _last_end(rest, len(header))
            if end and not marks_are_closed(rest[:end], separator):
                rest += file.read()
            elif end:
                yield Block(rest[:end], min(raw.tell() / size, 1.0))
                rest, some = header + rest[end:], True
            at_once = max(BLOCK, len(rest))
    if rest != header or not some:
        yield Block(rest, 1.0)


def open_text(path: Path) -> IO[bytes]:
    """A file of text, compressed or not."""
    return cast(IO[bytes], gzip.open(path)) if path.suffix.lower() == COMPRESSED else path.open("rb")


def _header_of(text: bytes) -> bytes:
    """The first line, where it is all of the header."""
    line = text[: text.find(b"\n") + 1]
    return b"" if line.count(b'"') % 2 else line


def _last_end(text: bytes, header: int) -> int:
    """Where the last line ends that no open cell goes on from; 0 if that is the header, or is not known."""
    end = text.rfind(b"\n") + 1
    if text.count(b'"', 0, end) % 2:
        letters = np.frombuffer(text, dtype=np.uint8)
        ends = np.flatnonzero(letters == LINE) + 1
        closed = np.searchsorted(np.flatnonzero(letters == MARK), ends) % 2 == 0
        end = int(ends[closed].max(initial=0))
    return end if end > header > 0 else 0
