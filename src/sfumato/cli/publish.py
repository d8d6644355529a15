"""`sfumato publish`: one method, one setting, one release."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sfumato.cli.budget import charge, show_charge
from sfumato.cli.declared import GIVEN
from sfumato.cli.options import File, Json, LedgerFile, Parquet, SchemaFile
from sfumato.cli.parameters import PublishCommand, complete_methods, method_from
from sfumato.cli.show import print_json, say
from sfumato.data import read
from sfumato.privacy.ledger import Ledger
from sfumato.publish.publication import publish_to
from sfumato.release import Release

EXAMPLE = "sfumato publish people.csv --schema people.toml --method mondrian --k 10 -o release"
COMMAND = PublishCommand


def command(
    context: typer.Context,
    file: File,
    schema: SchemaFile,
    method: Annotated[
        str, typer.Option("--method", metavar="NAME", autocompletion=complete_methods, help="One of the methods below.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="A new folder for the release.")],
    rows: Annotated[
        Literal["generalized", "synthetic"] | None,
        typer.Option(
            "--rows",
            help="Publish noisy counts as rows generated from them: the boxes as they are, or "
            "exact values drawn inside them.",
        ),
    ] = None,
    ledger_file: LedgerFile = None,
    parquet: Parquet = False,
    as_json: Json = False,
) -> None:
    """Publish a table by one method at one setting.

    Mondrian takes any combination of requirements. The release is checked against its claim and written to a new
    folder. What a differentially private release costs is charged to the ledger before noise is drawn; see sfumato
    budget.
    """
    chosen = method_from(method, context.meta[GIVEN])
    ledger = Ledger(ledger_file)
    release, folder = publish_to(chosen, read(file, schema), output, ledger=ledger, parquet=parquet, rows=rows)
    about, charged = _about(release, chosen.label), charge(release, ledger)
    if as_json:
        print_json({"release": str(folder), **about, "charge": charged})
    else:
        _show(about, folder)
        show_charge(charged)


def _about(release: Release, label: str) -> dict[str, Any]:
    """What a release is and promises."""
    return {
        "label": label,
        "method": release.provenance.method,
        "parameters": release.provenance.parameters,
        "claim": release.claim.spec(),
        "sentence": release.claim.sentence(),
        "assumptions": list(getattr(release.claim, "assumptions", ())),
        "layout": release.layout,
        "rows": release.rows,
        "classes": len(release.histograms),
    }


def _show(about: dict[str, Any], folder: Path) -> None:
    classes = "buckets" if about["layout"] == "buckets" else "classes"
    say(f"{about['label']}: {about['rows']:,.0f} rows in {about['classes']:,} {classes}, in {folder}.")
    say(f"Claim: {about['sentence']}.")
    for assumption in about["assumptions"]:
        say(f"Assumes: {assumption}.")
