"""What is said about a file beside its name: which part of it is meant, and how its text is spelled.

The part, a sheet of a workbook or a table of a database, stands behind a `#`. Addresses of databases can hold
passwords, which no message repeats.
"""

import codecs
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import unquote

from sfumato.errors import DataError, ParameterError, quote

PART = "#"
"""Between the name of a file, or the address of a database, and what is meant in it."""
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
"""How the address of a database begins; a drive of Windows has one letter."""
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""How a file begins whose text says by itself that it is not UTF-8."""
UTF_8 = ("utf-8", "utf-8-sig", "ascii")
STATEFUL = re.compile(r"utf-7|iso2022|hz|.*escape|punycode|idna|undefined|mbcs|oem")
"""Encodings in which one cell can change how the next is read, and what Python lists among them that is none."""
SECRETS = re.compile(r"((?:password|passwd|pwd|secret|token|key)[a-z_]*=)[^&#\s]*", re.IGNORECASE)
HIDDEN = "***"


@dataclass(frozen=True, kw_only=True)
class Opening:
    """How a file is opened: the part that is meant, the encoding of its text and what stands between its cells."""

    part: str = ""
    encoding: str | None = None
    delimiter: str | None = None

    def __post_init__(self) -> None:
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _known(self.encoding))
        if self.delimiter is not None:
            given = {"tab": "\t", "\\t": "\t", "space": " "}.get(self.delimiter, self.delimiter)
            if len(given) != 1 or not given.isascii() or given in '"\r\n\0' or given.isalnum():
                raise ParameterError(
                    f"delimiter is {quote(self.delimiter)}; expected one sign such as ; or | or ^, tab or space"
                )
            object.__setattr__(self, "delimiter", given)

    def encoding_of(self, start: bytes) -> str | None:
        """The encoding of a file that starts so, `None` where it is UTF-8; the file's own mark tells UTF-16."""
        marked = next((name for mark, name in MARKS.items() if start.startswith(mark)), None)
        if self.encoding is None or (marked and self.encoding.startswith(marked)):
            return marked
        return None if self.encoding in UTF_8 else self.encoding


USUAL = Opening()


def _known(encoding: str) -> str:
    try:
        found = codecs.lookup(encoding)
    except (LookupError, ValueError) as error:
        expected = "expected one such as latin-1, cp1252 or utf-16"
        raise ParameterError(f"encoding is {quote(encoding)}; {expected}") from error
    if STATEFUL.match(found.name) or not getattr(found, "_is_text_encoding", True):
        raise ParameterError(
            f"encoding is {quote(encoding)}, in which one cell can change how others are read; convert it to UTF-8"
        )
    return found.name


def guess_encoding(content: bytes) -> str | None:
    """The encoding of text that is no UTF-8, for advice alone: nothing is read by it; `None` where it is UTF-8."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(content)
    except UnicodeDecodeError:
        if content.count(0) * 4 > len(content):
            return "utf-16-le" if content[1:2] == b"\0" else "utf-16-be"
        return "cp1252" if any(0x80 <= byte < 0xA0 for byte in content) else "latin-1"
    return None


def is_address(source: object) -> bool:
    """Whether a source is the address of a database."""
    return isinstance(source, str) and bool(ADDRESS.match(source)) and not source.lower().startswith("file:")


def split_part(source: str) -> tuple[str, str]:
    """What stands before the first `#`, and what stands behind it."""
    before, _, part = source.partition(PART)
    return before, part.strip()


def _password(address: str) -> tuple[int, int] | None:
    """Where the password stands in an address; one with signs that would have to be spelled as numbers counts too."""
    start = address.index("://") + 3
    end = next((place for place, sign in enumerate(address[start:], start) if sign in "/?#"), len(address))
    user, colon, rest = address[start:end].partition(":")
    last = address.rfind("@", start, end)
    if last < 0 and colon and not rest.isdigit() and not user.startswith("["):
        last = address.rfind("@")
    first = start + len(user) + 1
    return (first, last) if colon and first <= last else None


def hide_secrets(address: str) -> str:
    """An address as messages, reports and commands show it: without what a password could be."""
    if found := _password(address):
        first, last = found
        address = f"{address[:first]}{HIDDEN}{address[last:]}"
    before, part = split_part(address)
    shown = SECRETS.sub(rf"\g<1>{HIDDEN}", before)
    return f"{shown}{PART}{part}" if part else shown


def secrets_of(address: str) -> set[str]:
    """What in an address could be a password, as it stands there and as it is meant."""
    before, _ = split_part(address)
    given = _password(address)
    found = {address[slice(*given)]} if given else set()
    found |= {match[0].partition("=")[2] for match in SECRETS.finditer(before)}
    return {text for each in found if each for text in (each, unquote(each))}


@contextmanager
def needing(extra: str, where: str) -> Iterator[None]:
    """Say how to get what is not installed, in place of that it is not there."""
    try:
        yield
    except ImportError as error:
        package = (error.name or "a package").partition(".")[0]
        raise DataError(
            f"{where}: reading this needs {package}, which is not installed; run: pip install 'sfumato[{extra}]'"
        ) from error
