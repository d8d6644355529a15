"""`sfumato reproduce`: the papers figure by figure, and a verdict on everything they state."""

import os
from dataclasses import asdict
from pathlib import Path

import typer
from typer import Argument, Option

from sfumato.cli.options import Json, output_option
from sfumato.cli.show import heading, note, print_json, progress_bar, say
from sfumato.cli.study import INTERRUPTED
from sfumato.errors import ParameterError
from sfumato.release.envelope import refuse_inside_release
from sfumato.report.reproduction.document import VERDICTS, Reproduction
from sfumato.report.reproduction.page import write
from sfumato.reproduce.data import Data
from sfumato.reproduce.experiment import Experiment, Mode
from sfumato.reproduce.paper import Paper
from sfumato.reproduce.papers import PAPERS
from sfumato.reproduce.results import reproduction
from sfumato.reproduce.running import STORE_NAME, Plan
from sfumato.reproduce.summary import write_summary

EXAMPLE = "sfumato reproduce li2009 --figure 2a -o reproduction"
SHORT = 300
"""Letters of what was measured that a terminal shows."""


def command(
    paper: str | None = Argument(None, metavar="PAPER", help=f"One of {', '.join(PAPERS)}."),
    every: bool = Option(False, "--all", help="Reproduce every paper."),
    figure: str | None = Option(
        None, metavar="FIGURE", help="One figure by its number, such as 2a, or another experiment by its name."
    ),
    output: Path = output_option("FOLDER", "Where to write pages, charts and tables.", default=Path("reproduction")),
    data: Path | None = Option(
        None, metavar="FOLDER", help="The folder with the data; without it, the one that SFUMATO_DATA names."
    ),
    quick: bool = Option(False, "--quick", help="Small samples, few settings and seeds: to see that all works."),
    seed: int = Option(1, min=1, help="Another number makes an independent run."),
    workers: int | None = Option(None, min=1, help="Processes; one per core by default."),
    as_json: Json = False,
) -> None:
    """Reproduce the papers figure by figure, and judge what they say.

    Writes index.html with every statement, what the paper prints, what was measured and whether it holds; a page for
    each paper; and each figure as PNG, SVG and CSV. Without a paper, they and their figures are listed.

    Each run is stored as it ends; the same command goes on where an earlier one stopped. A full run of everything
    takes about half an hour on two cores.
    """
    chosen = _choose(paper, every, figure)
    if not chosen:
        _list(as_json)
        return
    refuse_inside_release(output)
    plan = Plan(
        mode=Mode(quick=quick, first_seed=seed),
        data=Data.find(data, quick=quick),
        chosen=chosen,
        store=output / STORE_NAME,
    )
    _run(plan, workers or os.cpu_count() or 1)
    found = reproduction(plan)
    written = [*write(found, output), *write_summary(found, output)]
    if as_json:
        statements = [asdict(one) for one in found.statements]
        print_json({"statements": statements, "files": [str(path) for path in written]})
        return
    _show(found)
    say(f"The pages, with every figure: {output / 'index.html'}")


def _choose(paper: str | None, every: bool, figure: str | None) -> list[tuple[Paper, Experiment]]:
    if every and (paper or figure):
        raise ParameterError("--all reproduces every paper; leave out the paper and --figure")
    if paper is None and figure is not None:
        raise ParameterError("--figure needs a paper, such as: sfumato reproduce li2009 --figure 2a")
    if paper is not None and paper not in PAPERS:
        raise ParameterError(f"there is no paper {paper!r}; expected one of {', '.join(PAPERS)}")
    papers = list(PAPERS.values()) if every else [PAPERS[paper]] if paper else []
    return [(one, experiment) for one in papers for experiment in one.choose(figure)]


def _list(as_json: bool) -> None:
    if as_json:
        print_json({name: [one.name for one in paper.experiments] for name, paper in PAPERS.items()})
        return
    for name, paper in PAPERS.items():
        heading(f"{name}: {paper.title} ({len(paper.statements)} statements)")
        for one in paper.experiments:
            say(f"--figure {one.name.removeprefix('figure-')}: {one.title}", indent=2)


def _run(plan: Plan, workers: int) -> None:
    reached = (0, 0)
    try:
        with progress_bar() as show:

            def progress(label: str, done: int, total: int) -> None:
                nonlocal reached
                reached = (done, total)
                show(label, done, total)

            plan.run(workers, progress)
    except KeyboardInterrupt:
        done, total = reached
        note(
            f"Interrupted; {done:,} of {total:,} runs are stored in {plan.store}; run the same command again to go on."
        )
        raise typer.Exit(INTERRUPTED) from None


def _show(found: Reproduction) -> None:
    for paper in found.papers:
        counts = ", ".join(f"{paper.count(verdict)} {words}" for verdict, words in VERDICTS.items())
        heading(f"{paper.name}: {len(paper.statements)} statements; {counts}")
        for one in paper.statements:
            short = one.measured if len(one.measured) <= SHORT else f"{one.measured[:SHORT]}…"
            printed = "" if one.printed == "–" else f" Printed: {one.printed}."
            say(f"{VERDICTS[one.verdict]}: {one.says}.{printed} Measured: {short}.", indent=2)
    if found.quick:
        note("A quick run on small samples: it shows that everything works, and no verdict counts.")
