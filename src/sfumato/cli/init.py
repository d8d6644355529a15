"""`sfumato init`: propose a schema to edit."""

from pathlib import Path

from typer import Option

from sfumato.cli.options import File, Quasi, names, output_option
from sfumato.cli.reading import Text
from sfumato.cli.show import explained, say
from sfumato.data.propose import MAX_QUASI, Proposal, make_proposal, to_toml
from sfumato.errors import ParameterError
from sfumato.files import place

EXAMPLE = "sfumato init people.csv --sensitive disease"
TITLES = {"identifier": "dropped", "ignore": "left out"}


def command(
    *,
    file: File,
    sensitive: list[str] = Option(metavar="A,B", help="The sensitive column, or several."),
    quasi: Quasi = None,
    max_quasi: int = Option(MAX_QUASI, min=1, help="At most so many quasi-identifiers are proposed."),
    missing: list[str] | None = Option(
        None,
        metavar="WORD",
        help="A spelling that means a missing value, beside empty cells, NA and the like; repeatable.",
    ),
    output: Path | None = output_option(
        "TOML", "Where to write the schema; by default the name of the table with .toml, in this folder.", default=None
    ),
    force: bool = Option(False, "--force", help="Replace a schema that is already there."),
    text: Text,
) -> None:
    """Propose a schema for a table, to look through and edit.

    Every column is shown with what it was taken for and why; the file says so too. Bounds and categories are read off
    the rows and marked so: replace them by what is public knowledge.
    """
    source = text.source(file)
    target = output or Path(f"{source.name or 'schema'}.toml")
    if target.exists() and not force:
        raise ParameterError(f"{target}: this already exists; choose another name with -o, or give --force")
    proposal = make_proposal(source, names(sensitive), names(quasi), missing or (), max_quasi)
    place(target, to_toml(proposal.schema, proposal.why))
    _show(proposal)
    say()
    say(f"The schema is in {target}. Look it through before you rely on it.")


def _show(proposal: Proposal) -> None:
    schema = proposal.schema
    explained(
        (
            (column.name, column.role, column.axis.expected if column.axis else TITLES.get(column.role, "")),
            f"{proposal.why[column.name]}.",
        )
        for column in schema.columns
    )
    say()
    read_off = [column.name for column in schema.columns if column.from_data]
    say(f"Read off the data, which from_data marks in the file: values or bounds of {', '.join(read_off)}.")
    if schema.person_column:
        say(f"Rows that share a {schema.person_column} are one person's; one of them is used (see rows_per_person).")
