"""Releases: boxes with histograms under a claim, how they are stored, read back and asked."""

from sfumato.release.boxes import Boxes
from sfumato.release.folder import load_release, save_release
from sfumato.release.published import Published, read_published
from sfumato.release.query import Query, parse_query
from sfumato.release.release import Layout, Provenance, Release

__all__ = [
    "Boxes",
    "Layout",
    "Provenance",
    "Published",
    "Query",
    "Release",
    "load_release",
    "parse_query",
    "read_published",
    "save_release",
]
