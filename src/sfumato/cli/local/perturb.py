"""`sfumato local perturb`: a file of true answers in, a file of noisy reports out."""

from pathlib import Path

from typer import Argument, Option

from sfumato.cli.options import Column, Json, output_option, refuse_existing
from sfumato.cli.show import print_json, say
from sfumato.collect.reports import read_answers, write_reports
from sfumato.collect.survey import read_survey

EXAMPLE = "sfumato local perturb people.csv --survey age.toml --column age -o reports.csv"


def command(
    file: Path = Argument(metavar="FILE", help="True answers: CSV (.gz too) or Parquet."),
    survey: Path = Option(
        metavar="TOML",
        help="What is asked: name, question, min, max and epsilon; also step, mechanism, smallest_batch and ends.",
    ),
    output: Path = output_option("FILE", "Where to: .csv, .csv.gz or .parquet."),
    column: Column = None,
    as_json: Json = False,
) -> None:
    """Add noise to a column of true answers, each on its own.

    Every row becomes one report in the survey's units; other columns are left behind. Run it once: a second run draws
    fresh noise, and two reports about one person tell more than one.
    """
    asked = read_survey(survey)
    refuse_existing(output)
    answers, name = read_answers(file, asked, column)
    write_reports(output, name, asked.perturb(answers))
    claim = asked.channel.claim
    if as_json:
        print_json({"reports": str(output), "count": len(answers), "claim": claim.spec(), "sentence": claim.sentence()})
        return
    say(f"{output}: {len(answers):,} reports.")
    say(f"Claim: {claim.sentence()}." + ("" if asked.step == 1 else f" A step is {asked.step}."))
    for assumption in claim.assumptions:
        say(f"Assumes: {assumption}.")
