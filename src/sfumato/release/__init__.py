"""Releases of tables and of flows: one envelope, how they are stored, read back, verified and asked."""

from pathlib import Path

from sfumato.release.answer import Answer
from sfumato.release.boxes import Boxes
from sfumato.release.content import Content, Layout
from sfumato.release.envelope import Envelope, Provenance
from sfumato.release.flows import FlowRelease
from sfumato.release.foreign import ForeignRelease, read_published
from sfumato.release.query import Query, parse_query
from sfumato.release.release import Release

__all__ = [
    "Answer",
    "Boxes",
    "Content",
    "FlowRelease",
    "ForeignRelease",
    "Layout",
    "Provenance",
    "Query",
    "Release",
    "load_release",
    "parse_query",
    "read_published",
]


def load_release(folder: Path | str) -> Release | FlowRelease:
    """The release in a folder: a table, or flows.

    >>> folder = sf.Mondrian(k=10).publish(table).save("release")
    >>> sf.load_release(folder).rows
    400.0
    """
    kind = FlowRelease if Envelope.read(Path(folder)).kind == "flows" else Release
    return kind.load(folder)
