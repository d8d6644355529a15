"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from sfumato.errors import ParameterError

File = Annotated[
    str,
    Argument(
        metavar="FILE",
        help="The table: CSV (.gz too), Parquet, JSON lines, Excel, SPSS, Stata or SAS, a folder of such files, a "
        "pattern, or a database such as sqlite:///people.db#table.",
    ),
]
ReleaseFolder = Annotated[Path, Argument(metavar="RELEASE", help="A release folder.")]
SchemaFile = Annotated[Path, Option(metavar="TOML", help="The schema of the table.")]
Quasi = Annotated[
    list[str] | None,
    Option(
        metavar="A,B,C",
        help="Columns that others may know about a person; without any, those that tell most about whose a row is.",
    ),
]
Parquet = Annotated[bool, Option("--parquet", help="Write the release as Parquet instead of CSV.")]
Beforehand = Annotated[
    bool, Option("--beforehand", help="Say that the setting was chosen before anybody saw measures of these rows.")
]
LedgerFile = Annotated[
    Path | None,
    Option(
        "--ledger",
        metavar="FILE",
        help="The ledger of what has been spent; without it, the one that SFUMATO_LEDGER names, or your own.",
    ),
]
Column = Annotated[str | None, Option(metavar="COLUMN", help="The column, if the file has several.")]
Json = Annotated[bool, Option("--json", help="Print the figures as JSON and nothing else.")]


def output_option(metavar: str, about: str, *, default: Any = ...) -> Any:
    return Option(default, "--output", "-o", metavar=metavar, help=about)


def refuse_existing(file: Path) -> None:
    """What is there already may be reports or figures that cannot be made again."""
    if file.exists():
        raise ParameterError(f"{file}: this already exists; choose a new file, or remove it first")


def names(given: list[str] | None) -> tuple[str, ...]:
    """Column names given one by one or with commas between them."""
    parts = [part.strip() for text in given or [] for part in text.split(",")]
    return tuple(dict.fromkeys(part for part in parts if part))
