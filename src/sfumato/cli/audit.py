"""`sfumato audit`: run another program once, and see whether it can be as private as it claims."""

import json
import tempfile
from pathlib import Path

import typer
from typer import Argument, Option

from sfumato.audit.one_run import CONFIDENCE, USUAL_CANARIES, Audit, audit_generator
from sfumato.audit.program import Program
from sfumato.cli.options import File, Json, SchemaFile, output_option
from sfumato.cli.reading import Text
from sfumato.cli.show import print_json, progress_bar, say
from sfumato.data.formats import write_table
from sfumato.files import new_folder, refuse_unwritable
from sfumato.release.envelope import refuse_inside_release

EXAMPLE = "sfumato audit people.csv --schema people.toml --epsilon 1 -o audit -- python synthesize.py {input} {output}"
CONTRADICTED = 1
HOUR = 3600.0
EYES = "computed on the real data with canaries in it: for the publisher's eyes only, not to be published"
FIGURES, GUESSES = "audit.json", "guesses-for-the-publisher-only.csv"


def command(
    *,
    file: File,
    program: list[str] = Argument(
        metavar="COMMAND",
        help="The program and its arguments after two dashes: {input} stands for the CSV file it reads, {output} "
        "for the table it writes; {input.parquet} and {output.parquet} are Parquet.",
    ),
    schema: SchemaFile,
    epsilon: float = Option(help="The claim: what adding or removing a row may cost."),
    output: Path = output_option("FOLDER", "A new folder for what is found."),
    delta: float = Option(0.0, help="The claim's probability of failing, if it has one."),
    canaries: int = Option(USUAL_CANARIES, help="Made-up rows, half of which are put in."),
    confidence: float = Option(CONFIDENCE, help="How sure the bound is."),
    timeout: float = Option(HOUR, help="Seconds that the program may take."),
    as_json: Json = False,
    text: Text,
) -> None:
    """Run a program once and see if it is as private as it claims.

    The program gets the quasi-identifiers and the sensitive column of the table, with canaries in it: made-up rows,
    each put in or left out by a fair coin. The better its output tells the coins, the more privacy it loses.
    Exit code 0: nothing contradicts the claim. 1: the claim is broken.
    """
    refuse_inside_release(output)
    refuse_unwritable(output)
    with tempfile.TemporaryDirectory() as folder, progress_bar() as progress:
        found = audit_generator(
            text.source(file),
            schema,
            Program(command=tuple(program), folder=Path(folder), timeout=timeout),
            epsilon=epsilon,
            delta=delta,
            canaries=canaries,
            confidence=confidence,
            progress=progress,
        )
    _save(found, output, program)
    if as_json:
        print_json({**found.spec(), "folder": str(output)})
    else:
        _show(found, output)
    if found.contradicted:
        raise typer.Exit(CONTRADICTED)


def _save(found: Audit, output: Path, program: list[str]) -> None:
    with new_folder(output) as folder:
        figures = {"note": EYES, "program": program, **found.spec()}
        (folder / FIGURES).write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        write_table(found.answers, folder / GUESSES)


def _show(found: Audit, output: Path) -> None:
    sentence = found.sentence()
    say(f"{sentence[0].upper()}{sentence[1:]}.")
    say(
        f"Of {found.guesses:,} guesses about {found.canaries:,} canaries {found.right:,} were right; a program that "
        f"keeps its claim gets that many with a probability of at most {found.chance:.2g}."
    )
    if not found.contradicted:
        say("That is no proof of the claim: another table or cleverer guesses may show more.")
    say(f"The guesses are in {output}, {EYES}.")
