"""`sfumato frontier`: try every method, and recommend what to publish."""

from dataclasses import asdict
from pathlib import Path

from typer import Option

from sfumato.cli.budget import charge, show_charge
from sfumato.cli.options import File, Json, LedgerFile, Parquet, Quasi, names, output_option
from sfumato.cli.show import explained, heading, note, number, print_json, say
from sfumato.cli.study import Study
from sfumato.data import read
from sfumato.data.propose import propose, to_toml
from sfumato.errors import ParameterError
from sfumato.files import place
from sfumato.measures.measure import MEASURES
from sfumato.methods import find_method
from sfumato.privacy.ledger import Ledger
from sfumato.report.frontier.page import write_report
from sfumato.schema import Schema
from sfumato.trials.recommendation import Recommendation

EXAMPLE = "sfumato frontier people.csv --schema people.toml -o out"
PROPOSED = "schema.toml"


def command(
    file: File,
    output: Path = output_option(
        "FOLDER", "Where to write the report, the trials and, in a folder of its own, the release."
    ),
    schema: Path | None = Option(None, metavar="TOML", help="The schema of the table."),
    sensitive: str | None = Option(None, metavar="COLUMN", help="The sensitive column."),
    quasi: Quasi = None,
    max_p_loss: float | None = Option(None, help="The largest belief shift to allow for anyone."),
    max_breach: float | None = Option(None, help="The largest gain of a statistical adversary to allow."),
    max_query_error: float | None = Option(None, help="The largest median error of counts to allow."),
    allow_exact: bool = Option(False, "--allow-exact", help="Recommend releases that show who is in the table, too."),
    method: list[str] | None = Option(None, metavar="NAME", help="Try only this method; may be repeated."),
    workers: int | None = Option(None, min=1, help="Processes; one per core by default."),
    save: bool = Option(True, "--save/--no-save", help="Write the recommended release."),
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
    table = read(file, declared)
    kinds = [find_method(name) for name in dict.fromkeys(method or ())]
    settings = [setting for kind in kinds for setting in kind.grid(table)] if kinds else None
    frontier = study.try_all(table, settings, workers)
    recommendation = frontier.recommend(
        max_p_loss=max_p_loss, max_breach=max_breach, max_query_error=max_query_error, allow_exact=allow_exact
    )
    files = write_report(frontier, output, recommendation)
    if schema is None:
        files.append(place(output / PROPOSED, to_toml(declared)))
    release = study.publish(recommendation, ledger, parquet=parquet) if save else None
    charged = charge(release, ledger) if release else None
    if release is None and study.release.exists():
        note(f"{study.release} is from an earlier run; it is not the release recommended now.")
    if as_json:
        chosen = recommendation.trial.method
        claim = release.claim if release else chosen.claim
        about = {"label": chosen.label, "claim": claim.spec(), "sentence": claim.sentence()}
        written = {"files": list(map(str, files)), "release": str(study.release) if release else None}
        print_json({**about, **asdict(recommendation.entry()), **written, "charge": charged})
    else:
        _show(recommendation)
        show_charge(charged)
        if release:
            say(f"The release, to publish: {study.release}")
            say(f"For your eyes only, the trials and what the release measures: {study.trials}, {study.measures}")
        else:
            say(f"For your eyes only, the trials: {study.trials}")
        say(f"For your eyes only, the report: {study.report}")


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


def _show(recommendation: Recommendation) -> None:
    """The setting, why it was chosen, and how good it is."""
    heading(f"Recommended: {recommendation.trial.method.label}, {recommendation.rule}")
    for sentence in recommendation.why:
        say(sentence)
    say(f"Claim: {recommendation.trial.method.claim.sentence()}.")
    heading("How good is it?")
    explained(
        ((judged.verdict, MEASURES[judged.measure].title, number(judged.value)), judged.sentence)
        for judged in recommendation.verdicts
    )
    say()
