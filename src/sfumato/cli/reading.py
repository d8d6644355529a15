"""Where rows are counted, and the table in a file, with a bar where reading it takes a while."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.cli.show import progress_bar
from sfumato.data import Table, read
from sfumato.data.source import Source
from sfumato.errors import ParameterError
from sfumato.parameters import parameter
from sfumato.schema import Schema

MIN_SHOWN = 2**26
"""Bytes of files of which it is shown how far they are read."""
ADDRESS = re.compile(r"(?!file:)([a-z][a-z0-9+.-]+):/(?!/)")
"""Of a place that is no folder of this machine; a path has one sign too few."""


@dataclass(frozen=True, kw_only=True)
class Text:
    """How files of text are spelled, where that is not found out."""

    encoding: str | None = parameter(
        default=None,
        metavar="NAME",
        help="The encoding of FILE, such as latin-1, cp1252 or utf-16; UTF-8 without it, or UTF-16 where the file "
        "begins with its mark.",
    )
    delimiter: str | None = parameter(
        default=None,
        metavar="SIGN",
        help="What stands between the cells of FILE, such as ; or ^ or tab; found out without it.",
    )

    @property
    def words(self) -> list[str]:
        """The options that ask for this."""
        given = {"--encoding": self.encoding, "--delimiter": self.delimiter}
        return [word for name, value in given.items() if value is not None for word in (name, value)]

    def source(self, file: str) -> Source:
        """A file, a folder, a pattern or the address of a database, to be read in this process."""
        return Source.of(file, encoding=self.encoding, delimiter=self.delimiter)


@dataclass(frozen=True, kw_only=True)
class Engine(Text):
    """Where rows are counted and joined: in this process, or by Spark."""

    engine: str = parameter(
        default="polars",
        choices=("polars", "spark"),
        help="What counts rows: polars, in this process, or spark, where the rows are.",
    )
    master: str | None = parameter(
        default=None,
        metavar="URL",
        help="Of Spark, such as local[2] or spark://HOST:7077; without it, the one that Spark is set to.",
    )

    @property
    def words(self) -> list[str]:
        """The options that ask for this engine and spelling."""
        engine = [] if self.engine == "polars" else ["--engine", self.engine]
        return [*super().words, *engine, *(["--master", self.master] if self.master else [])]

    def open(self, file: Path | str) -> Any:
        """A file, a folder or a pattern as this engine reads it."""
        if self.engine == "polars":
            if self.master is not None:
                raise ParameterError("--master means nothing without --engine spark")
            return self.source(str(file))
        if self.encoding or self.delimiter:
            raise ParameterError("--encoding and --delimiter mean nothing with --engine spark, which reads UTF-8")
        try:
            from sfumato.data.spark import open_rows  # Spark takes a second to import
        except ImportError as error:
            raise ParameterError(
                f"--engine spark needs the extra spark; install sfumato[spark] ({error.name} is not there)"
            ) from error
        return open_rows(ADDRESS.sub(r"\1://", str(file)), self.master)

    @property
    def elsewhere(self) -> bool:
        """Whether rows are counted by something else than this process."""
        return self.engine != "polars"


def read_people(file: Path | str, schema: Schema | Path, engine: Engine) -> Table:
    """The table in a file, a folder or several files, as its schema declares it."""
    rows = engine.open(file)
    if not isinstance(rows, Source) or rows.size < MIN_SHOWN:
        return read(rows, schema)
    with progress_bar() as show:
        return read(rows, schema, progress=lambda done, total: show("reading rows", done, total))
