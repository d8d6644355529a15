"""Files of text in blocks that end where a line does, so that a file larger than memory is read like a small one.

A quotation mark may open a cell that goes on over several lines, so a block ends at a line break with an even number of
marks before it. Where marks stand so that no block can be told from the next, the rest of the file is one block.
"""

import codecs
import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np

from sfumato.data.lines import LINE, MARK, marks_are_closed
from sfumato.data.opening import USUAL, Opening
from sfumato.data.text import NOT_TEXT

BLOCK = 2**25
"""Bytes that are read at a time."""
COMPRESSED = ".gz"


class Block(NamedTuple):
    """The header and whole lines, and what share of the file is read after them."""

    text: bytes
    done: float


def read_blocks(path: Path, separator: str, opening: Opening = USUAL, reading: str = "strict") -> Iterator[Block]:
    """All lines of a file, each block of them below the header; at least one block."""
    size = max(path.stat().st_size, 1)
    with open_text(path, opening, reading) as file:
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
                yield Block(rest[:end], min(bytes_read(file) / size, 1.0))
                rest, some = header + rest[end:], True
            at_once = max(BLOCK, len(rest))
    if rest != header or not some:
        yield Block(rest, 1.0)


def open_text(path: Path, opening: Opening = USUAL, reading: str = "strict") -> IO[bytes]:
    """A file of text, compressed or not, as UTF-8 where its encoding is another and known.

    Where it is not known, bytes stay as they are. Unless reading is `strict`, what cannot be decoded is spelled out.
    """
    opened = gzip.open if path.suffix.lower() == COMPRESSED else open
    file = cast(IO[bytes], opened(path, "rb"))
    start = file.read(4)
    file.seek(0)
    encoding = opening.encoding_of(start)
    if encoding is None:
        return file
    return cast(IO[bytes], io.BufferedReader(_Decoded(file, encoding, "strict" if reading == "strict" else NOT_TEXT)))


def bytes_read(file: IO[bytes]) -> int:
    """How much of the file itself was read, whatever came of it."""
    raw: Any = getattr(file, "raw", None)
    return int((raw if isinstance(raw, _Decoded) else getattr(file, "fileobj", file)).tell())


class _Decoded(io.RawIOBase):
    """Text of another encoding as UTF-8, decoded as it is read."""

    def __init__(self, file: IO[bytes], encoding: str, errors: str) -> None:
        self.file, self.waiting = file, b""
        self.decoder = codecs.getincrementaldecoder(encoding)(errors)

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return bytes_read(self.file)

    def readinto(self, into: Any) -> int:
        done = False
        while not self.waiting and not done:
            content = self.file.read(len(into))
            done = not content
            self.waiting = self.decoder.decode(content, final=done).encode(errors=NOT_TEXT)
        size = min(len(into), len(self.waiting))
        into[:size], self.waiting = self.waiting[:size], self.waiting[size:]
        return size

    def close(self) -> None:
        self.file.close()
        super().close()


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
