"""`sfumato demo`: the whole story on a made-up town."""

import math
from pathlib import Path

import numpy as np
from typer import Option

from sfumato.cli.budget import charge, show_charge
from sfumato.cli.options import output_option
from sfumato.cli.show import note, number, say
from sfumato.cli.study import Study
from sfumato.data import read
from sfumato.errors import ParameterError
from sfumato.files import place
from sfumato.privacy.ledger import Ledger
from sfumato.publish.publication import draw, publication_of
from sfumato.release import Release
from sfumato.release.folder import refuse_target
from sfumato.release.query import parse_query
from sfumato.report.frontier.page import write_report
from sfumato.samples.town import SCHEMA_PATH, residents
from sfumato.trials.frontier import Frontier
from sfumato.trials.recommendation import Recommendation
from sfumato.trials.rehearsal import COMPARED
from sfumato.trials.trial import run_trial

EXAMPLE = "sfumato demo --rows 2000 -o sfumato-demo"
QUESTION = "age >= 60 and sex = 'Female' and condition in ('Heart disease', 'Diabetes')"
EPSILON = 3.0


def command(
    rows: int = Option(5_000, min=100, max=1_000_000, help="How many residents the town has."),
    output: Path = output_option("FOLDER", "Where to write everything.", default=Path("sfumato-demo")),
) -> None:
    """See the whole story on built-in data, in under a minute.

    A made-up town is written to the folder; a pilot is bought, on which every method is tried, attacked and used; the
    recommended release is published, verified and asked. Running it again draws nothing anew and replaces only what it
    wrote itself.
    """
    study = Study(folder=output)
    data, schema, same = _write_town(study, rows)
    table, ledger = read(data, schema), Ledger(study.folder / "ledger.sqlite")
    say(f"1. {data} is a made-up town of {table.n:,} residents, described by {schema}.")
    note("Trying every method; this takes some seconds.")
    _tell(study, study.try_all(table, epsilon=EPSILON, ledger=ledger, new_pilot=not same), ledger)


def _write_town(study: Study, rows: int) -> tuple[Path, Path, bool]:
    """The town's table and schema, in a folder that is new or an earlier demo's, and whether both were there."""
    data, schema = study.folder / "town.csv", study.folder / "town.toml"
    text, town = SCHEMA_PATH.read_text(encoding="utf-8"), residents(rows).write_csv()
    ours = schema.is_file() and schema.read_bytes() == text.encode()
    for path in (data, schema):
        if path.exists() and not ours:
            raise ParameterError(f"{path}: this is not what the demo writes; choose another folder with -o")
    study.check(study.release.name, ours=ours)
    refuse_target(study.release, replace=True)
    same = data.exists() and data.read_bytes() == town.encode()
    study.folder.mkdir(parents=True, exist_ok=True)
    place(schema, text)
    place(data, town)
    return data, schema, same


def _tell(study: Study, frontier: Frontier, ledger: Ledger) -> None:
    recommendation = frontier.recommend(advise=False)
    if recommendation.trial is None:
        note("Nothing is fit to publish of so small a town; the demo goes on with what is most useful.")
        recommendation = frontier.recommend(max_p_loss=math.inf, max_query_error=math.inf)
    write_report(frontier, study.folder, recommendation)
    table, pilot = recommendation.table, frontier.pilot
    assert pilot
    alone = np.count_nonzero(table.weights == 1) / table.n
    quasi = ", ".join(axis.name for axis in table.schema.quasi)
    say(f"   {alone:.0%} of them are alone with their {quasi}: who knows these finds their condition in the table.")
    say(
        f"2. A pilot, a synthetic town that cost ε = {pilot.choice.epsilon:g} of {EPSILON:g}, is in {study.pilot}. "
        f"{len(frontier.trials)} ways to publish were tried, attacked and used on it, none on the residents themselves."
    )
    say(f"3. {recommendation.chosen.method.label} is recommended, {recommendation.rule}:")
    for judged in recommendation.verdicts:
        title = frontier.measures[judged.measure].title
        say(f"{judged.verdict}  {title}. {judged.sentence}", indent=5)
    release = _published(study, recommendation, ledger)
    say(f"4. The release is in {study.release}. Its claim covers how it was chosen:")
    say(f"{release.claim.sentence()}.", indent=5)
    show_charge(charge(release, ledger))
    say(f"5. Its recipient asks for {QUESTION}:")
    truth = parse_query(QUESTION, table.schema).matches(table)
    say(f"{release.answer(QUESTION).sentence} The truth is {truth:,}.", indent=5)
    say("6. Nobody is in this town, so one may look how far the pilot's figures were from those on the residents:")
    real = run_trial(table, recommendation.chosen.method).measures
    for name in COMPARED:
        tried = recommendation.chosen.measures[name]
        say(f"{frontier.measures[name].title}: {number(tried)} on the pilot, {number(real[name])} in truth.", indent=5)
    say(f"The report, with every trial and all figures: {study.report}")


def _published(study: Study, recommendation: Recommendation, ledger: Ledger) -> Release:
    """The recommended release: the one that is there, if an earlier demo published it, or a new one in its place."""
    method, table, choice = recommendation.chosen.method, recommendation.table, recommendation.choice
    if study.release.exists():
        found = Release.load(study.release)
        if found.claim.choice == choice and found.provenance.parameters == method.provenance().parameters:
            return found
    with publication_of(
        method, table, study.release, ledger=ledger, replace_release=True, choice=choice
    ) as publication:
        release = draw(publication, method, table)
        publication.write(release)
    return Release.load(study.release)
