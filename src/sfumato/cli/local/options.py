"""An option that the commands for local noise share."""

from __future__ import annotations

from typing import Annotated

import typer

Column = Annotated[str | None, typer.Option("--column", metavar="COLUMN", help="The column, if the file has several.")]
