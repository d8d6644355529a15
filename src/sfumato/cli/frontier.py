"""`sfumato frontier`: try every method, and recommend what to publish."""

import shlex
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from typer import Option

from sfumato.cli.budget import charge
from sfumato.cli.options import File, Json, LedgerFile, Quasi, names, output_option
from sfumato.cli.parameters import options_for
from sfumato.cli.reading import Engine, read_people
from sfumato.cli.show import INDENT, explained, heading, note, number, print_json, progress_bar, say
from sfumato.cli.study import Study
from sfumato.data.opening import hide_secrets, is_address
from sfumato.data.propose import propose, to_toml
from sfumato.errors import ParameterError
from sfumato.files import place
from sfumato.measures.measure import MEASURES
from sfumato.methods import Method, find_method
from sfumato.privacy.ledger import Ledger
from sfumato.report.frontier.page import write_report
from sfumato.report.numbers import format_unit
from sfumato.schema import Schema
from sfumato.trials.audience import FLOORS
from sfumato.trials.choice import TITLES
from sfumato.trials.frontier import Frontier
from sfumato.trials.pilot import SHARE
from sfumato.trials.recommendation import Recommendation

EXAMPLE = "sfumato frontier people.csv --schema people.toml --epsilon 1 -o out"
PROPOSED = "schema.toml"


def command(
    *,
    file: File,
    output: Path = output_option("FOLDER", "Where to write the report, the trials and the pilot, if one is bought."),
    schema: Path | None = Option(None, metavar="TOML", help="The schema of the table."),
    sensitive: list[str] | None = Option(None, metavar="A,B", help="The sensitive column, or several."),
    quasi: Quasi = None,
    audience: str | None = Option(
        None, metavar="|".join(FLOORS), help="Who receives it, which sets the floor under privacy; public by default."
    ),
    predict: str | None = Option(None, metavar="COLUMN", help="What recipients will predict, in place of counting."),
    queries: Path | None = Option(None, metavar="FILE", help="What they will count: a query on each line."),
    epsilon: float | None = Option(
        None, help="Pay for the choice: a share of this buys a pilot, on which everything is tried; the rest is left."
    ),
    pilot_share: float = Option(SHARE, help="The share of epsilon that buys the pilot."),
    new_pilot: bool = Option(False, "--new-pilot", help="Buy another pilot in place of the one in the folder."),
    beforehand: bool = Option(
        False, "--beforehand", help="Say that epsilon and share were chosen before anybody saw measures of these rows."
    ),
    max_p_loss: float | None = Option(
        None, help="The largest belief shift to allow for anyone, in place of the floor."
    ),
    max_breach: float | None = Option(None, help="The largest gain of a statistical adversary to allow."),
    max_query_error: float | None = Option(None, help="The largest median error of counts to allow; 0.3 by default."),
    allow_exact: bool = Option(False, "--allow-exact", help="Recommend releases that show who is in the table, too."),
    method: list[str] | None = Option(None, metavar="NAME", help="Try only this method; may be repeated."),
    workers: int | None = Option(None, min=1, help="Processes; one per core by default."),
    ledger_file: LedgerFile = None,
    as_json: Json = False,
    by: Engine,
) -> None:
    """Try every method on a table and recommend what to publish.

    Every method runs at many settings, and every release is measured. Recommended is the most useful that keeps the
    floor of its audience; where none does and is of use, advice is given instead. Give a schema, or name the sensitive
    column to have one proposed. Finished trials are stored as they end; the same command goes on where an earlier one
    stopped.

    With --epsilon, all that happens on a synthetic table, the pilot, which a share of epsilon buys once; the promise of
    what is published then covers how it was chosen. Without it, trials run on the rows themselves: the report is for
    your eyes only, and a release under noise says that choosing its setting is not covered.

    Nothing is published: the last lines say which command does that.
    """
    study, ledger = Study(folder=output), Ledger(ledger_file)
    study.check(ours=study.trials.exists() or study.pilot_trials.exists())
    if schema is None and by.elsewhere:
        raise ParameterError("--engine spark needs --schema; sfumato init proposes one from a part of the rows")
    declared = _schema(by, file, schema, names(sensitive), names(quasi), output)
    table = read_people(file, declared, by)
    kinds = [find_method(name) for name in dict.fromkeys(method or ())]
    pilot = {"epsilon": epsilon, "share": pilot_share, "new_pilot": new_pilot, "beforehand": beforehand}
    use = {"audience": audience or "public", "predict": predict, "queries": queries}
    frontier = study.try_all(table, kinds or None, workers=workers, ledger=ledger, **use, **pilot)
    with progress_bar() as progress:
        recommendation = frontier.recommend(
            audience=audience,  # type: ignore[arg-type]
            max_p_loss=max_p_loss,
            max_breach=max_breach,
            max_query_error=max_query_error,
            allow_exact=allow_exact,
            progress=progress,
        )
    rows = [hide_secrets(file) if is_address(file) else file, *by.words]
    published_by = partial(_publishing, frontier, rows, schema or output / PROPOSED, study, ledger_file, queries)
    files = write_report(frontier, output, recommendation, command=published_by)
    if schema is None:
        files.append(place(output / PROPOSED, to_toml(declared)))
    advised = _advised(recommendation, study)
    files += [advised] if advised else []
    publishing = published_by(recommendation.chosen.method) if recommendation.trial else None
    if as_json:
        bought = None if frontier.pilot is None else {"folder": str(study.pilot), **asdict(frontier.pilot.choice)}
        written = {"files": list(map(str, files)), "pilot": bought}
        instead = {one.role: published_by(one.trial.method) for one in recommendation.candidates}
        commands = {"publish": publishing, "publish_instead": instead, "schema": str(advised) if advised else None}
        print_json({**_about(recommendation), **asdict(recommendation.entry()), **written, **commands})
        return
    _show(recommendation)
    if frontier.pilot:
        charged = charge(frontier.pilot.release, ledger)
        say(f"The pilot: {study.pilot}. {charged['sentence'] if charged else ''}")
        if frontier.pilot.caution:
            say(frontier.pilot.caution)
        say(f"The report, on the pilot alone, which may be published: {study.report}")
    else:
        say(f"For your eyes only, the trials: {study.trials}")
        say(f"For your eyes only, the report: {study.report}")
    if advised:
        again = "; this buys another pilot" if frontier.pilot else ""
        say(f"Nothing is recommended, and nothing is published. To follow the advice, written as a schema{again}:")
        use = {"--audience": audience, "--predict": predict, "--queries": queries}
        options = {**use, "--epsilon": epsilon, "--ledger": ledger_file}
        say(_following(rows, advised, study, options), indent=INDENT)
    elif publishing:
        say("Nothing is published yet. To publish what is recommended:")
        say(publishing, indent=INDENT)
    else:
        say("Nothing is recommended, and nothing is published.")


def _about(recommendation: Recommendation) -> dict[str, Any]:
    """What is recommended, in JSON."""
    if recommendation.trial is None:
        return {"label": None, "sentence": None}
    claim = recommendation.claim
    return {"label": recommendation.chosen.method.label, "claim": claim.spec(), "sentence": claim.sentence()}


def _advised(recommendation: Recommendation, study: Study) -> Path | None:
    """The file with the schema that is advised; one of an earlier run goes."""
    advice = recommendation.advice
    if advice is None or advice.schema is None:
        study.advised.unlink(missing_ok=True)
        return None
    return place(study.advised, to_toml(advice.schema_for(recommendation.table.schema)))


def _following(rows: list[str], schema: Path, study: Study, options: dict[str, Any]) -> str:
    """The command that tries everything again under the schema that is advised."""
    words = ["sfumato", "frontier", *rows, "--schema", str(schema)]
    words += [str(word) for option in options.items() if option[1] is not None for word in option]
    return shlex.join([*words, "-o", str(study.folder.with_name(f"{study.folder.name}-advised"))])


def _publishing(
    frontier: Frontier,
    rows: list[str],
    schema: Path,
    study: Study,
    ledger: Path | None,
    queries: Path | None,
    method: Method,
) -> str:
    """The command that publishes by a method that was tried."""
    words = ["sfumato", "publish", *rows, "--schema", str(schema), "--method", method.name]
    words += options_for(method, queries)
    words += ["--pilot", str(study.pilot)] if frontier.pilot else []
    words += ["--beforehand"] if frontier.beforehand else []
    words += ["--ledger", str(ledger)] if ledger else []
    return shlex.join([*words, "-o", str(study.release)])


def _schema(
    by: Engine, file: str, schema: Path | None, sensitive: tuple[str, ...], quasi: tuple[str, ...], output: Path
) -> Schema:
    if (schema is None) == (not sensitive):
        raise ParameterError("give either --schema, or --sensitive to have a schema proposed")
    if schema is not None:
        if quasi:
            raise ParameterError("--quasi means nothing with --schema; the schema names the quasi-identifiers")
        return Schema.load(schema)
    proposed = propose(by.source(file), sensitive, quasi)
    kept = output / PROPOSED
    if kept.exists() and kept.read_bytes() != to_toml(proposed).encode():
        raise ParameterError(f"{kept}: this differs from what would be proposed; give --schema {kept} to use it")
    note(f"The schema was proposed from the rows; look it through in {kept}, and give it as --schema next time.")
    return proposed


def _show(recommendation: Recommendation) -> None:
    """The setting, why it was chosen, how good it is and what could be had instead; or what would help."""
    if recommendation.trial is None:
        heading("Nothing recommended")
    else:
        heading(f"Recommended: {recommendation.chosen.method.label}, {recommendation.rule}")
    for sentence in recommendation.why:
        say(sentence)
    if recommendation.trial is None:
        _show_advice(recommendation)
        return
    say(f"Claim: {recommendation.claim.sentence()}.")
    if len(recommendation.candidates) > 1:
        heading("What else keeps all that is asked?")
        explained(((TITLES[one.role], one.trial.method.label), one.sentence) for one in recommendation.candidates)
    heading("How good is it?")
    known = MEASURES | {recommendation.standard.purpose.measure.name: recommendation.standard.purpose.measure}
    explained(
        (
            (judged.verdict, about.title, f"{number(judged.value, about.unit)} {format_unit(about.unit)}"),
            judged.sentence,
        )
        for judged in recommendation.verdicts
        for about in [known[judged.measure]]
    )
    say()


def _show_advice(recommendation: Recommendation) -> None:
    if recommendation.advice is None:
        return
    heading("What would help?")
    say(recommendation.advice.sentence)
    for line in recommendation.advice.toml.splitlines():
        say(line, indent=INDENT)
    heading("What each column costs, and what else was tried")
    for sentence in (*(one.sentence for one in recommendation.advice.columns), *recommendation.advice.more):
        say(sentence)
    say()
