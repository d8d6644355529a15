"""`sfumato publish`: one method, one setting, one release."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from typer import Option

from sfumato.cli.budget import charge, show_charge, warn_of_other_names
from sfumato.cli.options import Beforehand, File, Json, LedgerFile, Parquet, SchemaFile, output_option
from sfumato.cli.parameters import MethodOptions, PublishCommand, complete_methods, method_from
from sfumato.cli.reading import Engine, read_people
from sfumato.cli.show import claim_figures, print_json, say, say_claim
from sfumato.data import Table
from sfumato.errors import ParameterError
from sfumato.files import address_of
from sfumato.methods import Method
from sfumato.privacy.claims import Choice
from sfumato.privacy.ledger import Ledger
from sfumato.publish.publication import publish_to
from sfumato.release import Release
from sfumato.trials.pilot import load_pilot, refuse_looked

EXAMPLE = "sfumato publish people.csv --schema people.toml --method mondrian --k 10 -o release"
COMMAND = PublishCommand


def command(
    *,
    file: File,
    schema: SchemaFile,
    method: str = Option(metavar="NAME", autocompletion=complete_methods, help="One of the methods below."),
    output: Path = output_option(
        "FOLDER", "A new folder for the release; with --engine spark also an address, such as hdfs://host/release."
    ),
    rows: Literal["generalized", "synthetic"] | None = Option(
        None,
        help="Publish noisy counts as rows generated from them: the boxes as they are, or "
        "exact values drawn inside them.",
    ),
    pilot: Path | None = Option(
        None, metavar="FOLDER", help="The pilot on which the setting was chosen, as frontier --epsilon leaves it."
    ),
    beforehand: Beforehand = False,
    beside: list[Path] | None = Option(
        None,
        metavar="RELEASE",
        help="A release of some of the same people that others have: say what it and this one give away together; "
        "may be repeated.",
    ),
    ledger_file: LedgerFile = None,
    parquet: Parquet = False,
    as_json: Json = False,
    by: Engine,
    options: MethodOptions,
) -> None:
    """Publish a table by one method at one setting.

    Mondrian takes any combination of requirements. The release is checked against its claim and written to a new
    folder. What a differentially private release costs is charged to the ledger before noise is drawn; see sfumato
    budget. If measures of data under the same name, or of the same rows, were seen before, its claim says that choosing
    the setting is not covered.
    """
    chosen, table = method_from(method, options), read_people(file, schema, by)
    ledger = Ledger(ledger_file)
    choice = _choice(pilot, table, ledger, beforehand=beforehand) if pilot else None
    told: dict[str, Any] = {}
    release, folder = publish_to(
        chosen,
        table,
        output,
        ledger=ledger,
        parquet=parquet,
        rows=rows,
        choice=choice,
        beforehand=beforehand,
        before_writing=_telling(chosen, table, beside, ledger, told) if beside else None,
    )
    charged = charge(release, ledger)
    if charged:
        warn_of_other_names(ledger, table.schema.name, table.digest)
    if as_json:
        print_json(
            {
                "release": address_of(folder) or str(folder),
                "label": chosen.label,
                "method": release.provenance.method,
                "parameters": release.provenance.parameters,
                **claim_figures(release.claim),
                "layout": release.layout,
                "rows": release.rows,
                "classes": len(release.histograms),
                "people_with_several_rows": table.repeated,
                "rows_of_nobody": table.unowned,
                "values_off_the_schema": dict(table.placed),
                "charge": charged,
                **({"beside": told} if beside else {}),
            }
        )
        return
    classes = "buckets" if release.layout == "buckets" else "classes"
    place = address_of(folder) or folder
    say(f"{chosen.label}: {release.rows:,.0f} rows in {len(release.histograms):,} {classes}, in {place}.")
    if table.repeated:
        most = table.schema.rows_per_person if release.claim.noise else 1
        used = "one row of each was" if most == 1 else f"at most {most} rows of each were"
        say(f"People with several rows in the file: {table.repeated:,}; {used} used. This is for your eyes only.")
    if table.unowned:
        person = table.schema.person_column
        say(f"Rows without a {person} in the file: {table.unowned:,}; they were left out. This is for your eyes only.")
    if table.placed:
        placed = ", ".join(f"{name} {count:,}" for name, count in sorted(table.placed.items()))
        whose = "This is for your eyes only." if release.claim.noise else "The release tells how many, too."
        say(f"Values off the schema in the file, replaced as it says: {placed}. {whose}")
    say_claim(release.claim)
    show_charge(charged)


def _telling(
    method: Method, table: Table, beside: list[Path], ledger: Ledger, told: dict[str, Any]
) -> Callable[[Release], None]:
    """What says, once a release is signed, what it gives away with others beside it; the figures go to `told`."""
    from sfumato.cli.together import read_release, say_together  # without it, no measure is loaded
    from sfumato.measures.looks import LOOK

    if method.claim.noise:
        raise ParameterError(
            f"--beside looks at the rows, which the promise of {method.name} does not cover; publish, and ask sfumato "
            "measure about both releases"
        )
    others = [read_release(path, table.schema)[0] for path in beside]

    def tell(release: Release) -> None:
        ledger.note_look(table.schema.name, LOOK, *table.digests)
        told.update(say_together(table, release, beside, others))

    return tell


def _choice(folder: Path, table: Table, ledger: Ledger, *, beforehand: bool) -> Choice:
    """What the choice on a pilot cost."""
    pilot = load_pilot(folder, table, ledger)
    if beforehand:
        refuse_looked(pilot)
    return pilot.choice
