"""Options that the commands for local noise share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SurveyFile = Annotated[
    Path,
    typer.Option(
        "--survey", metavar="TOML", show_default=False,
        help="What is asked: name, question, min, max and epsilon; also step, mechanism, smallest_batch and ends.",
    ),
]
ReportColumn = Annotated[
    str | None,
    typer.Option("--column", metavar="COLUMN", show_default=False, help="The column, if the file has several."),
]
Database = Annotated[
    str, typer.Option("--database", metavar="FILE|URL", help="An SQLite file, or postgresql://USER@HOST/DATABASE.")
]
