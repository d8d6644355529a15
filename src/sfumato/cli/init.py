"""`sfumato init`: propose a schema to edit."""

from pathlib import Path

from typer import Option

from sfumato.cli.options import File, Quasi, names, output_option
from sfumato.cli.reading import Text
from sfumato.cli.show import print_columns, say
from sfumato.data.propose import MAX_QUASI, propose, to_toml
from sfumato.errors import ParameterError
from sfumato.files import place
from sfumato.schema import Schema

EXAMPLE = "sfumato init people.csv --sensitive disease"
WHY_LEFT_OUT = f" (the first {MAX_QUASI} with few enough values are taken; --quasi names others)"


def command(
    *,
    file: File,
    sensitive: str = Option(metavar="COLUMN", help="The sensitive column."),
    quasi: Quasi = None,
    output: Path | None = output_option(
        "TOML", "Where to write the schema; by default the name of the table with .toml, in this folder.", default=None
    ),
    force: bool = Option(False, "--force", help="Replace a schema that is already there."),
    text: Text,
) -> None:
    """Propose a schema for a table, to look through and edit.

    Bounds and categories are read off the rows and marked so: replace them by what is public knowledge.
    """
    source = text.source(file)
    target = output or Path(f"{source.name or 'schema'}.toml")
    if target.exists() and not force:
        raise ParameterError(f"{target}: this already exists; choose another name with -o, or give --force")
    schema = propose(source, sensitive, names(quasi))
    place(target, to_toml(schema))
    _show(schema, "" if quasi else WHY_LEFT_OUT)
    say()
    say(f"The schema is in {target}. Look it through before you rely on it.")


def _show(schema: Schema, why: str) -> None:
    print_columns(
        ("Column", "Role", "Values", "Read off the data"),
        [
            (column.name, column.role, column.axis.expected if column.axis else "", ", ".join(column.from_data))
            for column in schema.columns
        ],
    )
    lines = []
    if schema.person_column:
        lines.append(
            f"Rows that share a {schema.person_column} are one person's; one of them is used (see rows_per_person)."
        )
    for role, meaning in (("identifier", "taken as identifiers, and dropped"), ("ignore", f"left out{why}")):
        if found := [column.name for column in schema.columns if column.role == role]:
            lines.append(f"Columns {meaning}: {', '.join(found)}.")
    if lines:
        say()
    for line in lines:
        say(line)
