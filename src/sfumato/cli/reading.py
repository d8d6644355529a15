"""The table in a file, with a bar where reading it takes a while."""

from pathlib import Path

from sfumato.cli.show import progress_bar
from sfumato.data import Table, read
from sfumato.data.source import Source
from sfumato.schema import Schema

MIN_SHOWN = 2**26
"""Bytes of files of which it is shown how far they are read."""


def read_people(file: Path, schema: Schema | Path) -> Table:
    """The table in a file, a folder or several files, as its schema declares it."""
    if Source.of(file).size < MIN_SHOWN:
        return read(file, schema)
    with progress_bar() as show:
        return read(file, schema, progress=lambda done, total: show("reading rows", done, total))
