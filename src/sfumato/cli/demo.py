"""`sfumato demo`: the whole story on a made-up town."""

from pathlib import Path

from typer import Option

from sfumato.cli.budget import charge, show_charge
from sfumato.cli.options import output_option
from sfumato.cli.show import note, say
from sfumato.cli.study import Study
from sfumato.data import read
from sfumato.errors import ParameterError
from sfumato.files import place
from sfumato.privacy.ledger import Ledger
from sfumato.release import Release
from sfumato.release.query import parse_query
from sfumato.report.frontier.page import write_report
from sfumato.samples.town import SCHEMA_PATH, residents
from sfumato.trials.frontier import Frontier

EXAMPLE = "sfumato demo --rows 2000 -o sfumato-demo"
QUESTION = "age >= 60 and sex = 'Female' and condition in ('Heart disease', 'Diabetes')"


def command(
    rows: int = Option(5_000, min=100, max=1_000_000, help="How many residents the town has."),
    output: Path = output_option("FOLDER", "Where to write everything.", default=Path("sfumato-demo")),
) -> None:
    """See the whole story on built-in data, in under a minute.

    A made-up town is written to the folder; every method is tried on it, attacked and used; the recommended release is
    published, verified and asked. Running it again replaces only what it wrote itself.
    """
    study = Study(folder=output)
    data, schema = _write_town(study, rows)
    table = read(data, schema)
    say(f"1. {data} is a made-up town of {table.n:,} residents, described by {schema}.")
    note("Trying every method; this takes some seconds.")
    _tell(study, study.try_all(table, None, None))


def _write_town(study: Study, rows: int) -> tuple[Path, Path]:
    """The town's table and schema, in a folder that is new or an earlier demo's."""
    data, schema = study.folder / "town.csv", study.folder / "town.toml"
    text = SCHEMA_PATH.read_text(encoding="utf-8")
    ours = schema.is_file() and schema.read_bytes() == text.encode()
    for path in (data, schema):
        if path.exists() and not ours:
            raise ParameterError(f"{path}: this is not what the demo writes; choose another folder with -o")
    study.check(ours=ours)
    study.folder.mkdir(parents=True, exist_ok=True)
    place(schema, text)
    place(data, residents(rows).write_csv())
    return data, schema


def _tell(study: Study, frontier: Frontier) -> None:
    recommendation = frontier.recommend()
    write_report(frontier, study.folder, recommendation)
    quasi = ", ".join(axis.name for axis in frontier.table.schema.quasi)
    alone = frontier.references.original["singled_out"]
    say(f"   {alone:.0%} of them are alone with their {quasi}: who knows these finds their condition in the table.")
    say(f"2. {len(frontier.trials)} ways to publish the table were tried, attacked and used.")
    say(f"3. {recommendation.trial.method.label} is recommended, {recommendation.rule}:")
    for judged in recommendation.verdicts:
        title = frontier.measures[judged.measure].title
        say(f"{judged.verdict}  {title}. {judged.sentence}", indent=5)
    ledger = Ledger(study.folder / "ledger.sqlite")
    charged = charge(study.publish(recommendation, ledger), ledger)
    release = Release.load(study.release).verified()
    told = "Its claim was recomputed from the published files and holds" if charged is None else "Its claim is"
    say(f"4. The release is in {study.release}. {told}:")
    say(f"{release.claim.sentence()}.", indent=5)
    show_charge(charged)
    say(f"5. Its recipient asks for {QUESTION}:")
    truth = parse_query(QUESTION, frontier.table.schema).matches(frontier.table)
    say(f"the release says {release.query(QUESTION):,.1f}, the truth is {truth:,}.", indent=5)
    say(f"The report, with every trial and all figures: {study.report}")
