"""`sfumato frontier`: try every method, and recommend what to publish."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.budget import charge, show_charge
from sfumato.cli.options import File, Json, LedgerFile, Parquet, Quasi, Sensitive, names
from sfumato.cli.show import explained, heading, note, number, print_json, say
from sfumato.cli.study import MEASURES, Study
from sfumato.data import Table, read
from sfumato.data.propose import propose, to_toml
from sfumato.errors import ParameterError
from sfumato.files import place
from sfumato.measures.measure import MEASURES as KNOWN
from sfumato.methods import Method, find_method
from sfumato.privacy.ledger import Ledger
from sfumato.release import Release
from sfumato.report.frontier.page import write_report
from sfumato.schema import Schema
from sfumato.trials.recommendation import Recommendation

EXAMPLE = "sfumato frontier people.csv --schema people.toml -o out"
PROPOSED = "schema.toml"


def command(
    file: File,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Where to write the report, the trials and, in a folder of its own, the release.",
        ),
    ],
    schema: Annotated[Path | None, typer.Option("--schema", metavar="TOML", help="The schema of the table.")] = None,
    sensitive: Sensitive = None,
    quasi: Quasi = None,
    max_p_loss: Annotated[
        float | None, typer.Option("--max-p-loss", help="The largest belief shift to allow for anyone.")
    ] = None,
    max_breach: Annotated[
        float | None, typer.Option("--max-breach", help="The largest gain of a statistical adversary to allow.")
    ] = None,
    max_query_error: Annotated[
        float | None, typer.Option("--max-query-error", help="The largest median error of counts to allow.")
    ] = None,
    allow_exact: Annotated[
        bool, typer.Option("--allow-exact", help="Recommend releases that show who is in the table, too.")
    ] = False,
    method: Annotated[
        list[str] | None, typer.Option("--method", metavar="NAME", help="Try only this method; may be repeated.")
    ] = None,
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="Processes; one per core by default.")] = None,
    save: Annotated[bool, typer.Option("--save/--no-save", help="Write the recommended release.")] = True,
    ledger_file: LedgerFile = None,
    parquet: Parquet = False,
    as_json: Json = False,
) -> None:
    """Try every method on a table and recommend what to publish.

    Every method runs at many settings, and every release is measured. Give a schema, or name the sensitive column to
    have one proposed. Finished trials are stored as they end; the same command goes on where an earlier one stopped.
    """
    study, ledger = Study(folder=output), Ledger(ledger_file)
    study.check(ours=study.trials.exists())
    declared = _schema(file, schema, sensitive, names(quasi), output)
    table = _read(file, declared)
    frontier = study.try_all(table, _methods(method, table), workers)
    recommendation = frontier.recommend(
        max_p_loss=max_p_loss, max_breach=max_breach, max_query_error=max_query_error, allow_exact=allow_exact
    )
    files = write_report(frontier, output, recommendation)
    if schema is None:
        files.append(_keep_proposal(declared, output))
    release = study.publish(recommendation, ledger, parquet=parquet) if save else None
    charged = charge(release, ledger) if release else None
    if release is None and study.release.exists():
        note(f"{study.release} is from an earlier run; it is not the release recommended now.")
    if as_json:
        chosen = recommendation.trial.method
        claim = release.claim if release else chosen.claim
        about = {"label": chosen.label, "claim": claim.spec(), "sentence": claim.sentence()}
        print_json(
            {
                **about,
                **recommendation.spec(),
                "files": list(map(str, files)),
                "release": str(study.release) if release else None,
                "charge": charged,
            }
        )
    else:
        show_recommendation(recommendation)
        show_charge(charged)
        _show_files(study, release)


def _read(file: Path, schema: Schema) -> Table:
    return read(file, schema)


def _schema(file: Path, schema: Path | None, sensitive: str | None, quasi: tuple[str, ...], output: Path) -> Schema:
    if (schema is None) == (sensitive is None):
        raise ParameterError("give either --schema, or --sensitive to have a schema proposed")
    if schema is not None:
        if quasi:
            raise ParameterError("--quasi means nothing with --schema; the schema names the quasi-identifiers")
        return Schema.load(schema)
    assert sensitive is not None
    proposed = propose(file, sensitive, quasi)
    kept = output / PROPOSED
    if kept.exists() and kept.read_bytes() != to_toml(proposed).encode():
        raise ParameterError(f"{kept}: this differs from what would be proposed; give --schema {kept} to use it")
    note(f"The schema was proposed from the rows; look it through in {kept}, and give it as --schema next time.")
    return proposed


def _keep_proposal(schema: Schema, output: Path) -> Path:
    place(output / PROPOSED, to_toml(schema))
    return output / PROPOSED


def _methods(wanted: list[str] | None, table: Table) -> list[Method] | None:
    if not wanted:
        return None
    kinds = [find_method(name) for name in dict.fromkeys(wanted)]
    return [setting for kind in kinds for setting in kind.grid(table)]


def show_recommendation(recommendation: Recommendation) -> None:
    """The setting, why it was chosen, and how good it is."""
    heading(f"Recommended: {recommendation.trial.method.label}, {recommendation.rule}")
    for sentence in recommendation.why:
        say(sentence)
    say(f"Claim: {recommendation.trial.method.claim.sentence()}.")
    heading("How good is it?")
    explained(
        [
            ((verdict.grade, KNOWN[verdict.measure].title, number(verdict.value)), verdict.sentence)
            for verdict in recommendation.verdicts
        ]
    )
    say()


def _show_files(study: Study, release: Release | None) -> None:
    if release:
        say(f"The release, to publish: {study.release}")
    say(
        f"For your eyes only, the trials and what the release measures: {study.trials}, {study.folder / MEASURES}"
        if release
        else f"For your eyes only, the trials: {study.trials}"
    )
    say(f"For your eyes only, the report: {study.report}")
