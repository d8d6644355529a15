"""`sfumato commute evaluate`: what synthetic flows get wrong, and what a promise costs."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

import typer
from typer import Option

from sfumato.cli.commute.options import Columns, DataSet, FlowsFile, PlacesFile, Unit, kilometres, refuse_idle
from sfumato.cli.commute.settings import Settings
from sfumato.cli.options import Json, LedgerFile, names, output_option
from sfumato.cli.reading import Text
from sfumato.cli.show import note, number, print_columns, print_json, progress_bar, say
from sfumato.cli.study import INTERRUPTED
from sfumato.data.flows import Flows
from sfumato.data.opening import split_part
from sfumato.data.places import KILOMETRES
from sfumato.errors import UnsatisfiableError
from sfumato.measures.flows.evaluation import LOOK, evaluate
from sfumato.privacy.ledger import Ledger
from sfumato.release.envelope import refuse_inside_release
from sfumato.report.flows.page import write
from sfumato.trials.flows.comparison import Run, flows_document
from sfumato.trials.flows.sweep import USUAL_RADIUS, Sweep

EXAMPLE = "sfumato commute evaluate flows.csv --places places.csv --name town --regions tract -o evaluation"
SIMULATED = "Tried with simulated noise: nothing was published, and nothing spent."
SHOWN = ("short_error", "distance_error", "distance_variation")


def command(
    *,
    flows: FlowsFile,
    places: PlacesFile,
    name: DataSet,
    output: Path = output_option("FOLDER", "Where the report is written."),
    releases: list[Path] | None = Option(
        None,
        "--release",
        metavar="FOLDER",
        help="Synthetic flows to evaluate: a folder, or a file as other tools make it; may be repeated. Without "
        "any, usual settings are tried with simulated noise.",
    ),
    tries: list[str] | None = Option(
        None,
        "--try",
        metavar="OPTIONS",
        help="Settings of your own to try with simulated noise, in place of the usual ones: options of "
        "synthesize in quotes, such as '--epsilon 4.6 --radius 10mi'; may be repeated.",
    ),
    regions: list[str] | None = Option(None, metavar="A,B", help="Columns of regions, the finest first."),
    radius: str | None = Option(None, metavar="DISTANCE", help="The radius to try, such as 10mi."),
    short: str | None = Option(None, metavar="DISTANCE", help="What counts as a short commute; by default 6.23mi."),
    seeds: int = Option(1, min=1, help="How often every setting is tried."),
    unit: Unit = "km",
    columns: Columns,
    ledger_file: LedgerFile = None,
    as_json: Json = False,
    spelling: Text,
) -> None:
    """See what synthetic flows get wrong, and what a promise costs.

    For the publisher's eyes. Writes report.html with figures by number of workers, for all and for short commutes,
    evaluation.json and evaluation.csv. Without --release, usual settings are tried at several promises.

    The ledger notes that measures of these flows were seen: noise does not cover a setting that is chosen after that.
    """
    refuse_inside_release(output)
    limit = None if short is None else kilometres(short, unit, "--short") / KILOMETRES[unit]
    levels = names(regions)
    known = columns.places(places)
    original = columns.flows(spelling.source(flows), known)
    for level in levels:
        known.partition(level)
    around = USUAL_RADIUS if radius is None else kilometres(radius, unit)
    sweep = Sweep(radius=around, unit=unit, short=limit, regions=levels, seeds=tuple(range(1, seeds + 1)))
    Ledger(ledger_file).note_look(name, LOOK, original.digest)
    figures, complete = None, True
    if releases:
        refuse_idle("--radius with --release", radius is not None)
        refuse_idle("--seeds with --release", seeds > 1)
        refuse_idle("--try with --release", bool(tries))
        runs = [_published(path, columns, original, sweep) for path in releases]
    elif tries:
        refuse_idle("--radius with --try", radius is not None)
        chosen = [(text, Settings.parse(text).synthesizer(known)) for text in dict.fromkeys(tries)]
        runs, complete = _tried((sweep.run(original, one, text, options=text) for text, one in chosen), len(chosen))
    else:
        runs, complete = _tried(sweep.runs(original), len(sweep.settings()))
        figures = [run.label for run in runs if run.label in sweep.figures()]
    made = flows_document(Path(split_part(flows)[0]).name, "" if releases else SIMULATED, runs, figures)
    written = write(made, output, runs[0].evaluations[0].csv())
    if as_json:
        print_json({"report": str(output / "report.html"), "runs": [asdict(run) for run in made.runs]})
    else:
        _show(runs, levels)
        say(f"Written to {output}: {', '.join(path.name for path in written)}.")
    if not complete:
        raise typer.Exit(INTERRUPTED)


def _tried(trying: Iterable[Run], total: int) -> tuple[list[Run], bool]:
    """The runs, and whether all were made: an interrupt leaves those that were."""
    runs: list[Run] = []
    refused, complete = dict[str, list[str]](), True
    try:
        with progress_bar() as progress:
            for done, tried in enumerate(trying, start=1):
                if tried.refused is None:
                    runs.append(tried)
                else:
                    refused.setdefault(tried.refused, []).append(tried.label)
                progress("trying settings", done, total)
    except KeyboardInterrupt:
        if not runs:
            raise
        complete = False
        note(f"Interrupted: the report shows the {len(runs)} of {total} settings that were tried.")
    for reason, labels in refused.items():
        note(f"{'; '.join(labels)}: {reason}.")
    if not runs:
        raise UnsatisfiableError("none of the settings fits these flows")
    return runs, complete


def _published(path: Path, columns: Columns, original: Flows, sweep: Sweep) -> Run:
    release, synthetic = columns.release(path, original.places)
    if (synthetic.total, len(synthetic)) != (original.total, len(original)):
        note(
            f"{path} has {synthetic.total:,} people at {len(synthetic):,} destinations, the original "
            f"{original.total:,} at {len(original):,}: errors are over the destinations that both have."
        )
    found = evaluate(
        original, synthetic, regions=sweep.regions, unit=sweep.unit, short=sweep.short, within=release.reach
    )
    cost = release.claim.cost
    spent: dict[str, Any] = {"epsilon": float(cost.epsilon), "delta": float(cost.delta)} if cost else {}
    return Run(label=str(path), evaluations=[found], **spent)


def _show(runs: Sequence[Run], levels: tuple[str, ...]) -> None:
    suffix = f"_{levels[0]}" if levels else ""
    wanted = [*SHOWN, f"common_part{suffix}", f"top_origins{suffix}"]
    about = {name: one.measure for name, one in runs[0].evaluations[0].measurements.items()}
    shown = [name for name in wanted if name in about]
    means = [(run.label, run.summary()[0]) for run in runs]
    print_columns(
        ["", *(f"{about[name].title} ({about[name].unit})" for name in shown)],
        [[label, *(number(mean[name]) if isfinite(mean[name]) else "-" for name in shown)] for label, mean in means],
    )
