"""Whether the files of a release are those that this program writes: what is there for no reason could tell something.

A file of text has one way to be written, byte for byte, and so has the description beside it. Compressed and Parquet
files may come from another version of a library; of those, everything is compared but how they are packed.
"""

import dataclasses
import io
import json
import re
import uuid
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sfumato.data.blocks import COMPRESSED
from sfumato.data.formats import FORMATS, PARQUET, find_format, is_written, table_bytes
from sfumato.data.pieces import Parts
from sfumato.data.text import NOT_TEXT
from sfumato.parameters import MAX_SHOWN
from sfumato.privacy.claims import choice_of
from sfumato.release.codebook import codebook
from sfumato.release.envelope import CODEBOOK, DESCRIPTION, OLD_FLOWS, Envelope, describing, read_description, spelled
from sfumato.release.flows import FlowRelease
from sfumato.release.footer import foreign_texts
from sfumato.release.release import Release
from sfumato.release.stored import stored_form
from sfumato.version import __version__

MAX_LONGER = 1.5
"""How much longer another version may write the description of the columns in a Parquet file."""
VERSION = re.compile(r"unknown|\d{1,4}\.\d{1,4}\.\d{1,4}(\.?(a|b|rc|dev|post)\d{1,4})?")
HEAD = 10
"""Bytes before what is compressed, if neither a name nor a comment stands there."""
OUT_OF_ORDER = "the rows of {} are not in the order of their labels; their order could tell whose they are"
IN_WORDS = ("promise", "about")
"""Parts of a description that say in words what others say."""
FIRST = "0.1.0"
"""The version that published how the original spelled a missing value."""


@dataclass(frozen=True, kw_only=True)
class Writing:
    """How the files of a release differ from those that the program writes, and what could not be compared."""

    contradictions: tuple[str, ...]
    unseen: tuple[str, ...]


def compare_writing(folder: Path, release: Release | FlowRelease) -> Writing:
    """Compare the files in a folder with those that the program would write of the release that was read from it."""
    tables, usual = stored_form(release) if isinstance(release, Release) else release.stored_form()
    path, found, unseen = describing(folder) or folder / DESCRIPTION, [], []
    if path.name == OLD_FLOWS and isinstance(release, FlowRelease):
        tables = {"flows": release.frame}
        unseen.append("whether the order of its rows tells something: the first version wrote that of the places")
    files = Envelope.read(folder).files
    found += [*_otherwise_described(path, usual), *_odd_words(release), *_odd_names(files)]
    for name, table in tables.items():
        if not is_written(table, folder / files[name]):
            rows = table.whole if isinstance(table, Parts) else table
            more = _otherwise_written(files[name], (folder / files[name]).read_bytes(), rows)
            found += more
            unseen += [] if more else [f"whether {files[name]} hides something in how it is packed"]
    told, untold = _compare_codebook(folder, dataclasses.replace(usual, files=files))
    return Writing(contradictions=(*found, *told), unseen=(*unseen, *untold))


def _compare_codebook(folder: Path, described: Envelope) -> tuple[list[str], list[str]]:
    """What is wrong about the codebook of a release, if it has one, and what cannot be seen about it."""
    path = folder / CODEBOOK
    if not path.is_file() or path.read_bytes() == codebook(described).encode(errors=NOT_TEXT):
        return [], []
    if described.provenance.version != __version__:
        return [], [f"whether {CODEBOOK} says what {DESCRIPTION} does: another version of the program wrote it"]
    return [f"{CODEBOOK} is not what the program writes of such a release"], []


def _otherwise_described(path: Path, usual: Envelope) -> list[str]:
    """What a description says that the program would not say of this release, or would spell otherwise."""
    text, given, kept = path.read_bytes(), read_description(path), usual.plain_spec()
    first = usual.provenance.version == FIRST
    if first and "schema" in kept:
        kept["schema"]["missing"] = given["schema"].get("missing")
    kept["files"] = given["files"]
    other = [part for part in given if part not in IN_WORDS and given[part] != kept.get(part)]
    if other:
        return [f"{part} in {path.name} is not what the program writes of such a release" for part in other]
    # The first version had another order of parts.
    expected = json.loads(text.decode("utf-8-sig")) if first else {part: kept[part] for part in kept if part in given}
    if text == spelled(expected).encode(errors="surrogatepass"):
        return []
    return [f"{path.name} is not spelled as the program spells it; what stands between its parts could tell something"]


def _odd_words(release: Release | FlowRelease) -> Iterator[str]:
    """Words in a description that have a form, if they have another."""
    made, choice = release.provenance, choice_of(release.claim)
    if not VERSION.fullmatch(made.version):
        yield f"{repr(made.version)[:MAX_SHOWN]} is no version of this program"
    for name in (made.id, choice.pilot if choice else None):
        if name is not None and not _is_random(name):
            yield f"{repr(name)[:MAX_SHOWN]} is no id that a ledger gives"


def _is_random(name: str) -> bool:
    try:
        return str(uuid.UUID(name)) == name
    except ValueError:
        return False


def _odd_names(files: dict[str, str]) -> Iterator[str]:
    for table, name in files.items():
        if not name.startswith(table) or name.removeprefix(table).lower() not in FORMATS:
            yield f"{repr(name)[:MAX_SHOWN]} is no name that the program gives to a file"


def _otherwise_written(name: str, content: bytes, table: pl.DataFrame) -> list[str]:
    """How a file holds other than its table, unless it is merely packed in another way."""
    ending, kind = find_format(Path(name)) or ("", None)
    if kind is PARQUET:
        return list(_other_parquet(name, content, table))
    usual = table_bytes(table, Path(f"table{ending.removesuffix(COMPRESSED)}"))
    if not ending.endswith(COMPRESSED):
        return [_other_text(name, content, usual)]
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
    text = unpacking.decompress(content)
    if content[:HEAD] != table_bytes(table, Path(name))[:HEAD] or unpacking.unused_data or not unpacking.eof:
        return [f"{name} holds more than rows in its compression"]
    return [_other_text(name, text, usual)] if text != usual else []


def _other_text(name: str, text: bytes, usual: bytes) -> str:
    lines, kept = text.splitlines(keepends=True), usual.splitlines(keepends=True)
    if sorted(lines) == sorted(kept):
        return OUT_OF_ORDER.format(name)
    here = next(here for here in range(len(lines) + 1) if lines[here : here + 1] != kept[here : here + 1])
    found, expected = (b"".join(part[here : here + 1]).decode(errors="replace") for part in (lines, kept))
    return f"line {here + 1} of {name} is {repr(found)[:MAX_SHOWN]}; the program writes {repr(expected)[:MAX_SHOWN]}"


def _other_parquet(name: str, content: bytes, table: pl.DataFrame) -> Iterator[str]:
    rows = pl.read_parquet(io.BytesIO(content))
    if rows.schema != table.schema:
        yield f"the columns of {name} are not those that the program writes"
    elif rows.sort(pl.all()).equals(table.sort(pl.all())) and not rows.equals(table):
        yield OUT_OF_ORDER.format(name)
    elif not rows.equals(table):
        yield f"the rows of {name} are not spelled as the program spells them"
    more = [*_foreign_metadata(content), *foreign_texts(content, table)]
    if more:
        yield f"{name} holds metadata that are no part of the release: {', '.join(more)}"


def _foreign_metadata(content: bytes) -> list[str]:
    """The names of what a Parquet file holds beside its columns; what describes them may be no longer than usual."""
    usual = table_bytes(pl.DataFrame(schema=pl.read_parquet_schema(io.BytesIO(content))), Path("usual.parquet"))
    own = {key: len(text) * MAX_LONGER for key, text in pl.read_parquet_metadata(io.BytesIO(usual)).items()}
    found = pl.read_parquet_metadata(io.BytesIO(content))
    return sorted(key for key, text in found.items() if len(text) > own.get(key, 0))
