"""Releases of tables and of flows: one envelope, how they are stored, read back, verified and asked."""

from sfumato.release.boxes import Boxes
from sfumato.release.content import Content, Layout
from sfumato.release.envelope import Provenance
from sfumato.release.flows import FlowRelease
from sfumato.release.foreign import ForeignRelease, read_published
from sfumato.release.load import load_release
from sfumato.release.query import Query, parse_query
from sfumato.release.release import Release

__all__ = [
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
