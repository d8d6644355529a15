"""`sfumato frontier`: try every method, and recommend what to publish."""

import shlex
from dataclasses import asdict
from pathlib import Path

from typer import Option

from sfumato.cli.budget import charge
from sfumato.cli.options import File, Json, LedgerFile, Quasi, names, output_option
from sfumato.cli.parameters import options_for
from sfumato.cli.show import INDENT, explained, heading, note, number, print_json, say
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
from sfumato.trials.frontier import LOOK
from sfumato.trials.pilot import SHARE
from sfumato.trials.recommendation import Recommendation

EXAMPLE = "sfumato frontier people.csv --schema people.toml --epsilon 1 -o out"
PROPOSED = "schema.toml"


def command(
    file: File,
    output: Path = output_option("FOLDER", "Where to write the report, the trials and the pilot, if one is bought."),
    schema: Path | None = Option(None, metavar="TOML", help="The schema of the table."),
    sensitive: str | None = Option(None, metavar="COLUMN", help="The sensitive column."),
    quasi: Quasi = None,
    epsilon: float | None = Option(
        None, help="Pay for the choice: a share of this buys a pilot, on which everything is tried; the rest is left."
    ),
    pilot_share: float = Option(SHARE, help="The share of epsilon that buys the pilot."),
    new_pilot: bool = Option(False, "--new-pilot", help="Buy another pilot in place of the one in the folder."),
    max_p_loss: float | None = Option(None, help="The largest belief shift to allow for anyone."),
    max_breach: float | None = Option(None, help="The largest gain of a statistical adversary to allow."),
    max_query_error: float | None = Option(None, help="The largest median error of counts to allow."),
    allow_exact: bool = Option(False, "--allow-exact", help="Recommend releases that show who is in the table, too."),
    method: list[str] | None = Option(None, metavar="NAME", help="Try only this method; may be repeated."),
    workers: int | None = Option(None, min=1, help="Processes; one per core by default."),
    ledger_file: LedgerFile = None,
    as_json: Json = False,
) -> None:
    """Try every method on a table and recommend what to publish.

    Every method runs at many settings, and every release is measured. Give a schema, or name the sensitive column to
    have one proposed. Finished trials are stored as they end; the same command goes on where an earlier one stopped.

    With --epsilon, all that happens on a synthetic table, the pilot, which a share of epsilon buys once; the promise of
    what is published then covers how it was chosen. Without it, trials run on the rows themselves: the report is for
    your eyes only, and a release under noise says that choosing its setting is not covered.

    Nothing is published: the last lines say which command does that.
    """
    study, ledger = Study(folder=output), Ledger(ledger_file)
    study.check(ours=study.trials.exists())
    declared = _schema(file, schema, sensitive, names(quasi), output)
    table = read(file, declared)
    if epsilon is None:
        ledger.note_look(declared.name, LOOK, table.digest)
    kinds = [find_method(name) for name in dict.fromkeys(method or ())]
    pilot = {"epsilon": epsilon, "share": pilot_share, "new_pilot": new_pilot, "ledger": ledger}
    frontier = study.try_all(table, kinds or None, workers=workers, **pilot)
    recommendation = frontier.recommend(
        max_p_loss=max_p_loss, max_breach=max_breach, max_query_error=max_query_error, allow_exact=allow_exact
    )
    files = write_report(frontier, output, recommendation)
    if schema is None:
        files.append(place(output / PROPOSED, to_toml(declared)))
    publishing = _publishing(recommendation, file, schema or output / PROPOSED, study, ledger_file)
    if as_json:
        claim = recommendation.claim
        about = {"label": recommendation.trial.method.label, "claim": claim.spec(), "sentence": claim.sentence()}
        bought = None if frontier.pilot is None else {"folder": str(study.pilot), **asdict(frontier.pilot.choice)}
        written = {"files": list(map(str, files)), "pilot": bought, "publish": publishing}
        print_json({**about, **asdict(recommendation.entry()), **written})
        return
    _show(recommendation)
    if frontier.pilot:
        charged = charge(frontier.pilot.release, ledger)
        say(f"The pilot: {study.pilot}. {charged['sentence'] if charged else ''}")
        say(f"The report, on the pilot alone, which may be published: {study.report}")
    else:
        say(f"For your eyes only, the trials: {study.trials}")
        say(f"For your eyes only, the report: {study.report}")
    say("Nothing is published yet. To publish what is recommended:")
    say(publishing, indent=INDENT)


def _publishing(recommendation: Recommendation, file: Path, schema: Path, study: Study, ledger: Path | None) -> str:
    """The command that publishes what is recommended."""
    method = recommendation.trial.method
    words = ["sfumato", "publish", str(file), "--schema", str(schema), "--method", method.name]
    words += options_for(method)
    words += ["--pilot", str(study.pilot)] if recommendation.choice else []
    words += ["--ledger", str(ledger)] if ledger else []
    return shlex.join([*words, "-o", str(study.release)])


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
    say(f"Claim: {recommendation.claim.sentence()}.")
    heading("How good is it?")
    explained(
        ((judged.verdict, MEASURES[judged.measure].title, number(judged.value)), judged.sentence)
        for judged in recommendation.verdicts
    )
    say()
