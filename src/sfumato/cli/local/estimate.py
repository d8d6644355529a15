"""`sfumato local estimate`: from noisy reports, in files or a database, to how true answers are distributed."""

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typer import Argument, Option

from sfumato.cli.options import Column, Json, output_option, refuse_existing
from sfumato.cli.reading import Engine
from sfumato.cli.show import heading, note, print_columns, print_json, say, to_json
from sfumato.collect.reports import count_reports
from sfumato.collect.survey import Survey, read_survey
from sfumato.errors import ParameterError
from sfumato.estimation.estimate import Solver, estimate
from sfumato.files import place

EXAMPLE = "sfumato local estimate reports.csv --survey age.toml"
MAX_LINES = 40
"""How many lines of a distribution fit a screen; of a longer one only the quartiles are shown."""
BAR_WIDTH = 30
UNEXPECTED_NOISE = (
    "These reports do not look as if they got this noise: it may have been left out, have been another one, or many "
    "reports were forged. Do not trust the estimate."
)


def command(
    *,
    files: list[Path] | None = Argument(
        None, metavar="[FILE]...", help="Reports: CSV (.gz too) or Parquet. Those of several files are taken together."
    ),
    survey: Path | None = Option(None, metavar="TOML", help="The survey of the files."),
    database: str | None = Option(None, metavar="FILE|URL", help="A collector's database, in place of files."),
    name: str | None = Option(None, help="The survey in the database."),
    column: Column = None,
    solver: Solver = Option(
        "likelihood",
        "--estimate",
        help="The likeliest distribution; the unbiased one, which may be negative; plain updates, to be stopped "
        "early; or smoothed ones, which help smooth distributions and hurt heaped ones.",
    ),
    steps: int | None = Option(None, help="Stop after so many steps."),
    confidence: float = Option(0.95, help="Of the intervals."),
    output: Path | None = output_option("FILE", "Write the distribution: .csv, or .json for all.", default=None),
    as_json: Json = False,
    by: Engine,
) -> None:
    """Estimate how true answers are distributed from noisy reports.

    With error bars for every value, the cumulative distribution, the mean and the quartiles, and a bound on how far the
    estimate is from the likeliest one.
    """
    if output:
        if output.suffix not in (".csv", ".json"):
            raise ParameterError(f"{output}: the name of an estimate ends in .csv or .json")
        refuse_existing(output)
    asked, counts = _reports(files or [], survey, database, name, column, by)
    asked.refuse_few(int(counts.sum()))
    found = estimate(
        counts, asked.channel, solver=solver, steps=steps, confidence=confidence, values=asked.answers()
    ).document()
    found["survey"] = asked.spec()
    if output:
        place(output, to_json(found) + "\n" if output.suffix == ".json" else _csv(found))
    if as_json:
        print_json(found)
        return
    _show(found, asked)
    if not found["fits"]:
        note(UNEXPECTED_NOISE)
    if output:
        note(f"Written to {output}.")


def _reports(
    files: list[Path], survey: Path | None, database: str | None, name: str | None, column: str | None, by: Engine
) -> tuple[Survey, NDArray[np.int64]]:
    """The survey, and how often each report occurs in files or in a database."""
    if database is None:
        if not files or survey is None or name is not None:
            raise ParameterError("say which reports: files with --survey, or --database with --name")
        asked = read_survey(survey)
        return asked, count_reports(map(by.open, files), asked, column)
    if files or survey is not None or column is not None or name is None or by.words:
        raise ParameterError("a database is named with --database and --name alone; files need --survey")
    from sfumato.collect.collector.storage import Storage

    with closing(Storage.existing(database)) as storage:
        stored = storage.survey(name)
        if stored is None:
            known = ", ".join(repr(other.name) for other, _ in storage.surveys()) or "none"
            raise ParameterError(f"{storage}: there is no survey {name!r}; there are {known}")
        return stored, storage.histogram(stored)


def _csv(found: dict[str, Any]) -> str:
    lines = ["value,share,low,high,cumulative,cumulative_low,cumulative_high"]
    for cell, upto in zip(found["cells"], found["cdf"], strict=True):
        numbers = (cell["share"], cell["low"], cell["high"], upto["share"], upto["low"], upto["high"])
        lines.append(",".join([str(cell["value"]), *(f"{number:.9g}" for number in numbers)]))
    return "\n".join(lines) + "\n"


def _show(found: dict[str, Any], asked: Survey) -> None:
    say(f"{asked.question} {found['reports']:,} reports, {asked.mechanism} noise, {asked.channel.claim}.")
    mean = found["mean"]
    say(f"Mean {mean['value']:,.4g} ({mean['low']:,.4g} to {mean['high']:,.4g}).")
    for quantile in found["quantiles"]:
        within = f"({quantile['low']:,} to {quantile['high']:,})"
        say(f"{quantile['share']:.0%} have at most {quantile['value']:,} {within}.")
    cells = found["cells"]
    if len(cells) <= MAX_LINES:
        heading("Share of people")
        most = max(cell["share"] for cell in cells) or 1.0
        print_columns(
            ("value", "share", f"{found['confidence']:.0%} interval", ""),
            (
                (
                    str(cell["value"]),
                    f"{cell['share']:.2%}",
                    f"{cell['low']:.2%} to {cell['high']:.2%}",
                    "█" * round(BAR_WIDTH * max(cell["share"], 0) / most),
                )
                for cell in cells
            ),
        )
    else:
        note(f"{len(cells)} values are too many to list here; write them with -o FILE.csv, or use --json.")
    note(_certificate(found))


def _certificate(found: dict[str, Any]) -> str:
    forged = found["one_report_moves"]
    weight = "" if forged is None else f" One forged report can weigh as much as {forged:.3g} people."
    if found["estimate"] == "inversion":
        return f"This is the unbiased estimate; single cells may be negative.{weight}"
    if found["gap"] is None:
        return f"How near the likeliest distribution this is, is not known.{weight}"
    if found["reached"]:
        return f"This is the likeliest distribution, to {found['gap']:.1g} in the log likelihood per report.{weight}"
    why = "Smoothed on purpose" if found["estimate"] == "smooth" else "Stopped early"
    return f"{why}: the log likelihood per report can be up to {found['gap']:.2g} higher.{weight}"
